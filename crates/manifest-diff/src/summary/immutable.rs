//! Fields that the API server lets nobody change: applying the change is refused, until the object is deleted.

use yamltree::Node;

use super::Difference;
use crate::compare::{Change, Quantity};
use crate::model::{Level, Rule, Summary};

/// Fields of kinds that cannot change once the object is there: group, kind, the beginning of the path, and what of it
/// may change all the same.
struct Immutable {
    group: &'static str,
    kind: &'static str,
    path: &'static [&'static str],
    but: &'static [&'static [&'static str]],
}

const fn all(group: &'static str, kind: &'static str, path: &'static [&'static str]) -> Immutable {
    Immutable { group, kind, path, but: &[] }
}

/// The validation of Kubernetes 1.34: `Validate*Update` of `pkg/apis/*/validation`.
const IMMUTABLE: &[Immutable] = &[
    all("apps", "Deployment", &["spec", "selector"]),
    all("apps", "DaemonSet", &["spec", "selector"]),
    all("apps", "ReplicaSet", &["spec", "selector"]),
    Immutable {
        group: "apps",
        kind: "StatefulSet",
        path: &["spec"],
        but: &[
            &["spec", "replicas"],
            &["spec", "ordinals"],
            &["spec", "template"],
            &["spec", "updateStrategy"],
            &["spec", "revisionHistoryLimit"],
            &["spec", "persistentVolumeClaimRetentionPolicy"],
            &["spec", "minReadySeconds"],
        ],
    },
    all("batch", "Job", &["spec", "selector"]),
    all("batch", "Job", &["spec", "completions"]),
    all("batch", "Job", &["spec", "completionMode"]),
    all("batch", "Job", &["spec", "podFailurePolicy"]),
    all("batch", "Job", &["spec", "backoffLimitPerIndex"]),
    all("batch", "Job", &["spec", "managedBy"]),
    all("batch", "Job", &["spec", "template"]),
    Immutable {
        group: "",
        kind: "Pod",
        path: &["spec"],
        but: &[
            &["spec", "containers", "*", "image"],
            &["spec", "initContainers", "*", "image"],
            &["spec", "activeDeadlineSeconds"],
            &["spec", "terminationGracePeriodSeconds"],
            &["spec", "tolerations"],
        ],
    },
    Immutable {
        group: "",
        kind: "PersistentVolumeClaim",
        path: &["spec"],
        but: &[&["spec", "resources", "requests"], &["spec", "volumeAttributesClassName"]],
    },
    all("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
    all("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"]),
    all("storage.k8s.io", "StorageClass", &["provisioner"]),
    all("storage.k8s.io", "StorageClass", &["parameters"]),
    all("storage.k8s.io", "StorageClass", &["reclaimPolicy"]),
    all("storage.k8s.io", "StorageClass", &["volumeBindingMode"]),
    all("scheduling.k8s.io", "PriorityClass", &["value"]),
    all("scheduling.k8s.io", "PriorityClass", &["preemptionPolicy"]),
    all("node.k8s.io", "RuntimeClass", &["handler"]),
    all("networking.k8s.io", "IngressClass", &["spec", "controller"]),
    all("discovery.k8s.io", "EndpointSlice", &["addressType"]),
    all("apiextensions.k8s.io", "CustomResourceDefinition", &["spec", "scope"]),
    all("apiextensions.k8s.io", "CustomResourceDefinition", &["spec", "group"]),
    all("", "Secret", &["type"]),
];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    // Hooks are deleted before they are made anew.
    if !difference.is_one_object() || difference.is_hook {
        return;
    }
    for change in difference.changes {
        let Some(why) = refusal(difference, change) else { continue };
        let (level, message) = if is_replaced(difference.head) {
            (
                Level::Warning,
                format!("{why}: the object is deleted and made anew (`Force=true,Replace=true`)"),
            )
        } else {
            (Level::Error, why)
        };
        summary.findings.push(difference.finding_at(Rule::ImmutableField, level, message, change));
    }
}

/// Why a change is refused, if it is.
fn refusal(difference: &Difference<'_>, change: &Change) -> Option<String> {
    let id = difference.id;
    let (group, kind) = (id.group(), id.kind.as_str());
    let cannot = || Some(format!("the field `{}` of a {kind} cannot change", shown(change)));
    match (group, kind) {
        ("", "Service") => cluster_ip(change),
        ("", "ConfigMap" | "Secret") if is_frozen(difference.base) => {
            let is_content =
                ["data", "binaryData", "immutable"].iter().any(|field| change.path.starts_with(&[field]));
            is_content.then(|| format!("the {kind} is `immutable`"))
        }
        ("", "PersistentVolumeClaim") if is_shrunk(change) => {
            Some("a PersistentVolumeClaim cannot become smaller".to_owned())
        }
        _ => {
            let rule = IMMUTABLE.iter().find(|rule| {
                rule.group == group
                    && rule.kind == kind
                    && change.path.starts_with(rule.path)
                    && !rule.but.iter().any(|but| change.path.starts_with(but))
            });
            rule.and_then(|_| cannot())
        }
    }
}

/// The path that is told: the list or mapping that cannot change, not each thing in it.
fn shown(change: &Change) -> String {
    let depth = if change.path.starts_with(&["spec"]) { 2 } else { 1 };
    let keys: Vec<&str> =
        change.path.segments().iter().map_while(crate::compare::Segment::key).take(depth).collect();
    keys.join(".")
}

fn cluster_ip(change: &Change) -> Option<String> {
    let is_address =
        change.path.starts_with(&["spec", "clusterIP"]) || change.path.starts_with(&["spec", "clusterIPs"]);
    // A field that is removed from the manifest keeps its value.
    (is_address && change.new.is_some()).then(|| "the address of a Service cannot change".to_owned())
}

fn is_shrunk(change: &Change) -> bool {
    let amount = |node: Option<&Node>| node.and_then(Node::text).and_then(Quantity::parse);
    change.path.starts_with(&["spec", "resources", "requests", "storage"])
        && amount(change.new.as_ref()) < amount(change.old.as_ref())
}

fn is_frozen(object: Option<&Node>) -> bool {
    object.and_then(|object| object.get("immutable")).and_then(Node::text) == Some("true")
}

fn is_replaced(object: Option<&Node>) -> bool {
    let options = object
        .and_then(|object| object.lookup(&["metadata", "annotations", "argocd.argoproj.io/sync-options"]))
        .and_then(Node::text)
        .unwrap_or_default();
    let has = |option: &str| options.split(',').any(|given| given.trim() == option);
    has("Replace=true") && has("Force=true")
}

#[cfg(test)]
mod tests {
    use crate::summary::testing::findings;

    fn check(api_version: &str, kind: &str, base: &str, head: &str) -> Vec<String> {
        let object =
            |rest: &str| format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n{rest}\n");
        findings(&object(base), &object(head))
    }

    #[test]
    fn changes_that_are_refused() {
        for (api_version, kind, base, head, want) in [
            (
                "apps/v1",
                "Deployment",
                "spec: {selector: {matchLabels: {a: b}}}",
                "spec: {selector: {matchLabels: {a: c}}}",
                "Error the field `spec.selector` of a Deployment cannot change",
            ),
            (
                "apps/v1",
                "StatefulSet",
                "spec: {volumeClaimTemplates: [{spec: {a: 1}}]}",
                "spec: {volumeClaimTemplates: [{spec: {a: 2}}]}",
                "Error the field `spec.volumeClaimTemplates` of a StatefulSet cannot change",
            ),
            (
                "apps/v1",
                "StatefulSet",
                "spec: {serviceName: a}",
                "spec: {serviceName: b}",
                "Error the field `spec.serviceName` of a StatefulSet cannot change",
            ),
            (
                "v1",
                "Service",
                "spec: {type: ClusterIP}",
                "spec: {clusterIP: None}",
                "Error the address of a Service cannot change",
            ),
            (
                "v1",
                "PersistentVolumeClaim",
                "spec: {storageClassName: a}",
                "spec: {storageClassName: b}",
                "Error the field `spec.storageClassName` of a PersistentVolumeClaim cannot change",
            ),
            (
                "v1",
                "PersistentVolumeClaim",
                "spec: {resources: {requests: {storage: 1Gi}}}",
                "spec: {resources: {requests: {storage: 1G}}}",
                "Error a PersistentVolumeClaim cannot become smaller",
            ),
            (
                "v1",
                "ConfigMap",
                "immutable: true\ndata: {a: b}",
                "immutable: true\ndata: {a: c}",
                "Error the ConfigMap is `immutable`",
            ),
            (
                "batch/v1",
                "Job",
                "spec: {template: {spec: {a: b}}}",
                "spec: {template: {spec: {a: c}}}",
                "Error the field `spec.template` of a Job cannot change",
            ),
        ] {
            assert_eq!(check(api_version, kind, base, head), [want]);
        }
    }

    #[test]
    fn changes_that_are_taken() {
        for (api_version, kind, base, head) in [
            ("apps/v1", "StatefulSet", "spec: {replicas: 1}", "spec: {replicas: 2}"),
            ("v1", "Service", "spec: {clusterIP: None}", "spec: {}"),
            (
                "v1",
                "PersistentVolumeClaim",
                "spec: {resources: {requests: {storage: 1Gi}}}",
                "spec: {resources: {requests: {storage: 2Gi}}}",
            ),
            ("v1", "ConfigMap", "data: {a: b}", "data: {a: c}"),
            ("example.com/v1", "Deployment", "spec: {selector: a}", "spec: {selector: b}"),
        ] {
            assert!(check(api_version, kind, base, head).is_empty(), "{kind} {head}");
        }
    }

    #[test]
    fn an_object_that_is_made_anew_is_a_warning() {
        let job = |image: &str| {
            format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a, annotations: {{argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}}}}\nspec: {{template: {image}}}\n"
            )
        };
        assert_eq!(
            findings(&job("a"), &job("b")),
            [
                "Warning the field `spec.template` of a Job cannot change: the object is deleted and made anew (`Force=true,Replace=true`)"
            ]
        );
    }
}
