//! Fields that mean the same whether they are written or not.
//!
//! In: a field that one side has, and the mapping of the other side that lacks it. Out: whether the field says what the
//! API server would fill in. Only fields whose default is one and the same in every version of Kubernetes; `replicas` is
//! none of them, as an autoscaler may own it.

use yamltree::Node;

use super::path::Path;

/// A default: the kinds that have it (any, if none is named), the end of the path, and the value as JSON writes it.
struct Default {
    kinds: &'static [&'static str],
    path: &'static [&'static str],
    value: &'static str,
}

const fn any(path: &'static [&'static str], value: &'static str) -> Default {
    Default { kinds: &[], path, value }
}

const fn of(kinds: &'static [&'static str], path: &'static [&'static str], value: &'static str) -> Default {
    Default { kinds, path, value }
}

/// The lists of containers of a pod.
const CONTAINERS: &[&str] = &["containers", "initContainers", "ephemeralContainers"];

/// Defaults in each container.
const OF_CONTAINERS: &[(&str, &str)] = &[
    ("args", "[]"),
    ("command", "[]"),
    ("env", "[]"),
    ("envFrom", "[]"),
    ("ports", "[]"),
    ("resources", "{}"),
    ("securityContext", "{}"),
    ("stdin", "false"),
    ("terminationMessagePath", "/dev/termination-log"),
    ("terminationMessagePolicy", "File"),
    ("tty", "false"),
    ("volumeMounts", "[]"),
];

/// Defaults in each pod.
const OF_PODS: &[(&str, &str)] = &[
    ("affinity", "{}"),
    ("dnsPolicy", "ClusterFirst"),
    ("hostIPC", "false"),
    ("hostNetwork", "false"),
    ("hostPID", "false"),
    ("imagePullSecrets", "[]"),
    ("initContainers", "[]"),
    ("nodeSelector", "{}"),
    ("schedulerName", "default-scheduler"),
    ("securityContext", "{}"),
    ("terminationGracePeriodSeconds", "30"),
    ("tolerations", "[]"),
    ("topologySpreadConstraints", "[]"),
    ("volumes", "[]"),
];

const WORKLOADS: &[&str] = &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"];

const DEFAULTS: &[Default] = &[
    any(&["metadata", "labels"], "{}"),
    any(&["metadata", "annotations"], "{}"),
    any(&["metadata", "finalizers"], "[]"),
    any(&["metadata", "ownerReferences"], "[]"),
    any(&["ports", "*", "protocol"], "TCP"),
    any(&["httpGet", "scheme"], "HTTP"),
    any(&["fieldRef", "apiVersion"], "v1"),
    any(&["livenessProbe", "successThreshold"], "1"),
    any(&["livenessProbe", "failureThreshold"], "3"),
    any(&["livenessProbe", "periodSeconds"], "10"),
    any(&["livenessProbe", "timeoutSeconds"], "1"),
    any(&["livenessProbe", "initialDelaySeconds"], "0"),
    any(&["readinessProbe", "successThreshold"], "1"),
    any(&["readinessProbe", "failureThreshold"], "3"),
    any(&["readinessProbe", "periodSeconds"], "10"),
    any(&["readinessProbe", "timeoutSeconds"], "1"),
    any(&["readinessProbe", "initialDelaySeconds"], "0"),
    any(&["startupProbe", "successThreshold"], "1"),
    any(&["startupProbe", "failureThreshold"], "3"),
    any(&["startupProbe", "periodSeconds"], "10"),
    any(&["startupProbe", "timeoutSeconds"], "1"),
    any(&["startupProbe", "initialDelaySeconds"], "0"),
    any(&["volumeMounts", "*", "readOnly"], "false"),
    any(&["configMap", "defaultMode"], "420"),
    any(&["secret", "defaultMode"], "420"),
    any(&["projected", "defaultMode"], "420"),
    of(WORKLOADS, &["spec", "template", "spec", "restartPolicy"], "Always"),
    of(&["Pod"], &["spec", "restartPolicy"], "Always"),
    of(&["Deployment", "StatefulSet", "DaemonSet"], &["spec", "revisionHistoryLimit"], "10"),
    of(WORKLOADS, &["spec", "minReadySeconds"], "0"),
    of(&["Deployment"], &["spec", "progressDeadlineSeconds"], "600"),
    of(&["Deployment"], &["spec", "paused"], "false"),
    of(&["Deployment"], &["spec", "strategy"], "{}"),
    of(&["StatefulSet"], &["spec", "podManagementPolicy"], "OrderedReady"),
    of(&["StatefulSet", "DaemonSet"], &["spec", "updateStrategy"], "{}"),
    of(&["CronJob"], &["spec", "concurrencyPolicy"], "Allow"),
    of(&["CronJob"], &["spec", "suspend"], "false"),
    of(&["CronJob"], &["spec", "successfulJobsHistoryLimit"], "3"),
    of(&["CronJob"], &["spec", "failedJobsHistoryLimit"], "1"),
    of(&["Job"], &["spec", "backoffLimit"], "6"),
    of(&["Job"], &["spec", "completions"], "1"),
    of(&["Job"], &["spec", "parallelism"], "1"),
    of(&["Job"], &["spec", "suspend"], "false"),
    of(&["Service"], &["spec", "type"], "ClusterIP"),
    of(&["Service"], &["spec", "sessionAffinity"], "None"),
    of(&["Service"], &["spec", "publishNotReadyAddresses"], "false"),
    of(&["PersistentVolumeClaim"], &["spec", "volumeMode"], "Filesystem"),
    of(&["StatefulSet"], &["volumeClaimTemplates", "*", "spec", "volumeMode"], "Filesystem"),
    of(&["PersistentVolume"], &["spec", "volumeMode"], "Filesystem"),
    of(&["StorageClass"], &["reclaimPolicy"], "Delete"),
    of(&["StorageClass"], &["volumeBindingMode"], "Immediate"),
    of(&["ConfigMap", "Secret"], &["data"], "{}"),
    of(&["ConfigMap", "Secret"], &["binaryData"], "{}"),
    of(&["ConfigMap", "Secret"], &["immutable"], "false"),
    of(&["Secret"], &["type"], "Opaque"),
    of(&["Role", "ClusterRole"], &["rules"], "[]"),
    of(&["RoleBinding", "ClusterRoleBinding"], &["subjects"], "[]"),
    of(&["PriorityClass"], &["globalDefault"], "false"),
    of(&["PriorityClass"], &["preemptionPolicy"], "PreemptLowerPriority"),
];

/// Returns true if a field of one side says what the other side, which lacks it, means.
pub(super) fn is_default(kind: &str, path: &Path, value: &Node, other: &Node) -> bool {
    let Some(key) = path.last_key() else { return false };
    if CONTAINERS.iter().any(|list| path.ends_with(&[list, "*", "*"])) {
        let is_listed = OF_CONTAINERS.iter().any(|(of, default)| *of == key && says(value, default));
        return is_listed || (key == "imagePullPolicy" && pull_policy(other) == value.text());
    }
    if is_pod_spec(kind, path) && OF_PODS.iter().any(|(of, default)| *of == key && says(value, default)) {
        return true;
    }
    if kind == "Service" && path.starts_with(&["spec", "ports", "*", "targetPort"]) {
        return other.get("port").is_some_and(|port| port.text() == value.text());
    }
    DEFAULTS.iter().any(|default| {
        (default.kinds.is_empty() || default.kinds.contains(&kind))
            && path.ends_with(default.path)
            && (default.kinds.is_empty() || default.path[0] != "spec" || path.starts_with(&["spec"]))
            && says(value, default.value)
    })
}

fn is_pod_spec(kind: &str, path: &Path) -> bool {
    path.ends_with(&["template", "spec", "*"])
        || (kind == "Pod" && path.segments().len() == 2 && path.starts_with(&["spec"]))
}

fn says(value: &Node, default: &str) -> bool {
    match default {
        "{}" => value.entries().is_some_and(Vec::is_empty),
        "[]" => value.items().is_some_and(Vec::is_empty),
        _ => value.text() == Some(default),
    }
}

/// When the image of a container is pulled if it does not say so.
fn pull_policy(container: &Node) -> Option<&'static str> {
    let image = container.get("image")?.text()?;
    let is_fixed = image.contains('@');
    let name = image.rsplit('/').next().unwrap_or_default();
    let tag = name.split_once(':').map_or("latest", |(_, tag)| tag);
    Some(if is_fixed || tag != "latest" { "IfNotPresent" } else { "Always" })
}
