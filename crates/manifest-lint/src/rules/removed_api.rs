//! Versions of kinds that the cluster does not serve any more.
//!
//! APIs that were removed. Since 1.32 the schemas of Kubernetes define them, before that the table here
//! (<https://kubernetes.io/docs/reference/using-api/deprecation-guide/>).

use std::collections::HashMap;

use argocd::objects::Object;
use findings::{Rule, Severity};
use kubeschema::{Availability, BuiltinSchemas, Gvk};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;
use crate::input::Target;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT011",
        name: "removed-api",
        meaning: "This version of Kubernetes no longer serves the kind: it rejects the object, and the sync fails.",
    },
    fix: "write it in a version that is served",
    run,
};

/// `GROUP/VERSION`, the kinds, the minor that deprecated them, the minor that removed them, and what takes their place.
const ENDS: &[(&str, &[&str], u32, u32, &str)] = &[
    ("extensions/v1beta1", &["DaemonSet", "Deployment", "ReplicaSet"], 8, 16, "apps/v1"),
    ("extensions/v1beta1", &["NetworkPolicy"], 9, 16, "networking.k8s.io/v1"),
    ("extensions/v1beta1", &["PodSecurityPolicy"], 11, 16, ""),
    ("extensions/v1beta1", &["Ingress"], 14, 22, "networking.k8s.io/v1"),
    ("apps/v1beta1", &["ControllerRevision", "Deployment", "StatefulSet"], 9, 16, "apps/v1"),
    (
        "apps/v1beta2",
        &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
        9,
        16,
        "apps/v1",
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        16,
        22,
        "admissionregistration.k8s.io/v1",
    ),
    ("apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"], 16, 22, "apiextensions.k8s.io/v1"),
    ("apiregistration.k8s.io/v1beta1", &["APIService"], 19, 22, "apiregistration.k8s.io/v1"),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest"], 19, 22, "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1beta1", &["Lease"], 19, 22, "coordination.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"], 19, 22, "networking.k8s.io/v1"),
    (
        "rbac.authorization.k8s.io/v1alpha1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        17,
        22,
        "rbac.authorization.k8s.io/v1",
    ),
    (
        "rbac.authorization.k8s.io/v1beta1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        17,
        22,
        "rbac.authorization.k8s.io/v1",
    ),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"], 14, 22, "scheduling.k8s.io/v1"),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        19,
        22,
        "storage.k8s.io/v1",
    ),
    ("storage.k8s.io/v1beta1", &["CSIStorageCapacity"], 24, 27, "storage.k8s.io/v1"),
    ("batch/v2alpha1", &["CronJob"], 20, 21, "batch/v1"),
    ("batch/v1beta1", &["CronJob"], 21, 25, "batch/v1"),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"], 21, 25, "discovery.k8s.io/v1"),
    ("events.k8s.io/v1beta1", &["Event"], 19, 25, "events.k8s.io/v1"),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"], 22, 25, "autoscaling/v2"),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"], 23, 26, "autoscaling/v2"),
    ("policy/v1beta1", &["PodDisruptionBudget"], 21, 25, "policy/v1"),
    ("policy/v1beta1", &["PodSecurityPolicy"], 21, 25, ""),
    ("node.k8s.io/v1beta1", &["RuntimeClass"], 22, 25, "node.k8s.io/v1"),
    (
        "flowcontrol.apiserver.k8s.io/v1beta1",
        &["FlowSchema", "PriorityLevelConfiguration"],
        23,
        26,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta2",
        &["FlowSchema", "PriorityLevelConfiguration"],
        26,
        29,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1beta3",
        &["FlowSchema", "PriorityLevelConfiguration"],
        29,
        32,
        "flowcontrol.apiserver.k8s.io/v1",
    ),
];

/// The end of a version of a kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is served, but will not be from a minor version on.
    Deprecated { removed: u32, replacement: &'static str },
    /// It is not served: since which minor version, and what takes its place, where that is known.
    Removed { since: u32, replacement: Option<&'static str> },
}

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    let mut versions = Versions::default();
    for (at, target, object) in index.objects() {
        let minor = versions.of(index, target);
        let Some(End::Removed { since, replacement }) = versions.end(minor, object) else { continue };
        let what = format!("{}, kind {}", object.api_version(), object.kind());
        let draft = FindingBuilder::new(index, at, object, Severity::Error)
            .message(format!("Kubernetes 1.{minor} does not serve {what}: removed in 1.{since}"));
        drafts.push(match replacement {
            Some("") => draft.hint("it has no replacement: remove it"),
            Some(version) => draft.hint(format!("use `apiVersion: {version}`")),
            None => draft,
        });
    }
}

/// The versions of Kubernetes that targets are for.
#[derive(Default)]
pub(super) struct Versions {
    /// The schemas of minors, where there are any.
    builtin: HashMap<u32, Option<BuiltinSchemas>>,
    newest: Option<u32>,
}

impl Versions {
    /// The minor version that a target is for; the newest that is known where nobody says.
    pub(super) fn of(&mut self, index: &Index<'_>, target: &Target) -> u32 {
        let of_cluster =
            target.deployment.as_ref().map(|deployment| deployment.cluster.kube_version.as_str());
        let said = of_cluster.filter(|version| !version.is_empty());
        let said = said.or(index.set.options.kube_version.as_deref()).and_then(minor);
        said.unwrap_or_else(|| {
            *self.newest.get_or_insert_with(|| {
                BuiltinSchemas::minors().last().and_then(|version| minor(version)).unwrap_or_default()
            })
        })
    }

    /// Returns how it ends with an object's version of its kind.
    pub(super) fn end(&mut self, minor: u32, object: &Object) -> Option<End> {
        let is_it = |(version, kinds, ..): &&(&str, &[&str], u32, u32, &str)| {
            *version == object.api_version() && kinds.contains(&object.kind())
        };
        if let Some((_, _, deprecated, removed, replacement)) = ENDS.iter().find(is_it) {
            return match minor {
                minor if minor >= *removed => {
                    Some(End::Removed { since: *removed, replacement: Some(*replacement) })
                }
                minor if minor >= *deprecated => Some(End::Deprecated { removed: *removed, replacement }),
                _ => None,
            };
        }
        let builtin = self
            .builtin
            .entry(minor)
            .or_insert_with(|| BuiltinSchemas::for_version(Some(&format!("1.{minor}"))).ok());
        match builtin.as_ref()?.availability(&Gvk::new(object.api_version(), object.kind())) {
            Availability::RemovedAfter(last) => {
                Some(End::Removed { since: self::minor(&last)? + 1, replacement: None })
            }
            Availability::Served | Availability::NotBefore(_) | Availability::Unknown => None,
        }
    }
}

/// 34 of `v1.34.2`.
fn minor(version: &str) -> Option<u32> {
    let digits: String =
        version.trim_start_matches('v').split('.').nth(1)?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    fn end(minor: u32, api_version: &str, kind: &str) -> Option<End> {
        let text = format!("apiVersion: {api_version}\nkind: {kind}\n");
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() });
        Versions::default().end(minor, &argocd::objects::read(&source).unwrap()[0])
    }

    #[test]
    fn the_table_and_the_schemas_say_when_it_ends() {
        let removed = |since, replacement| Some(End::Removed { since, replacement });
        assert_eq!(end(25, "batch/v1beta1", "CronJob"), removed(25, Some("batch/v1")));
        let deprecated = End::Deprecated { removed: 25, replacement: "batch/v1" };
        assert_eq!(end(24, "batch/v1beta1", "CronJob"), Some(deprecated));
        assert_eq!(end(20, "batch/v1beta1", "CronJob"), None);
        assert_eq!(end(25, "policy/v1beta1", "PodSecurityPolicy"), removed(25, Some("")));
        let kind = "ValidatingAdmissionPolicy";
        assert_eq!(end(34, "admissionregistration.k8s.io/v1beta1", kind), removed(34, None));
        assert_eq!(end(33, "admissionregistration.k8s.io/v1beta1", kind), None);
        assert_eq!(end(33, "example.com/v1", "Widget"), None);
    }

    /// Nothing in the table may be served by a version that the schemas know, or it would be wrong.
    #[test]
    fn the_table_does_not_contradict_the_schemas() {
        for version in BuiltinSchemas::minors() {
            let builtin = BuiltinSchemas::for_version(Some(&version)).unwrap();
            for (api_version, kinds, _, removed, _) in ENDS {
                let is_removed = minor(&version).unwrap() >= *removed;
                for kind in kinds.iter().filter(|_| is_removed) {
                    let gvk = Gvk::new(api_version, kind);
                    assert_ne!(builtin.availability(&gvk), Availability::Served, "{gvk} in {version}");
                }
            }
        }
    }
}
