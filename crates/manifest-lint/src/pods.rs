//! Pods in the objects that make them.
//!
//! Input: an object. Output: the spec of its pods, and their containers. Helm tests are skipped: no sync runs them.

use argocd::objects::Object;
use yamltree::Node;

/// The fields that contain a pod spec: group, kind, path.
const POD_SPECS: &[(&str, &str, &[&str])] = &[
    ("", "Pod", &["spec"]),
    ("", "ReplicationController", TEMPLATE),
    ("apps", "DaemonSet", TEMPLATE),
    ("apps", "Deployment", TEMPLATE),
    ("apps", "ReplicaSet", TEMPLATE),
    ("apps", "StatefulSet", TEMPLATE),
    ("argoproj.io", "Rollout", TEMPLATE),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ("batch", "Job", TEMPLATE),
    ("serving.knative.dev", "Service", TEMPLATE),
];

const TEMPLATE: &[&str] = &["spec", "template", "spec"];

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// A container of a pod.
pub(crate) struct Container<'o> {
    /// The container.
    pub(crate) node: &'o Node,
    /// The path of its field.
    pub(crate) path: String,
}

/// The specification of an object's pod, and its path.
pub(crate) fn spec(object: &Object) -> Option<(&Node, String)> {
    let is_it =
        |(group, kind, _): &&(&str, &str, &[&str])| *group == object.group() && *kind == object.kind();
    let (_, _, path) = POD_SPECS.iter().find(is_it)?;
    if object.annotation_list("helm.sh/hook").iter().any(|hook| hook.starts_with("test")) {
        return None;
    }
    Some((object.node().lookup(path)?, path.join(".")))
}

/// The containers of an object's pod.
pub(crate) fn containers(object: &Object) -> Vec<Container<'_>> {
    let Some((spec, path)) = spec(object) else { return Vec::new() };
    let mut found = Vec::new();
    for field in CONTAINERS {
        for (at, node) in spec.get(field).and_then(Node::items).into_iter().flatten().enumerate() {
            found.push(Container { node, path: format!("{path}.{field}[{at}]") });
        }
    }
    found
}
