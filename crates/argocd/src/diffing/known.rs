//! The fields of built-in Kubernetes kinds that are quantities.
//!
//! In: an object. Out: the same with its quantities in their one form, so that `1000m` and `1` are no difference.

use yamltree::{Kind, Node};

use super::quantity::canonical;
use crate::objects::Object;

/// Quantities of a pod's spec: a path of fields, where `*` is every item or key.
const OF_PODS: &[&str] = &[
    "overhead/*",
    "resources/limits/*",
    "resources/requests/*",
    "containers/*/resources/limits/*",
    "containers/*/resources/requests/*",
    "containers/*/env/*/valueFrom/resourceFieldRef/divisor",
    "initContainers/*/resources/limits/*",
    "initContainers/*/resources/requests/*",
    "initContainers/*/env/*/valueFrom/resourceFieldRef/divisor",
    "volumes/*/emptyDir/sizeLimit",
    "volumes/*/ephemeral/volumeClaimTemplate/spec/resources/limits/*",
    "volumes/*/ephemeral/volumeClaimTemplate/spec/resources/requests/*",
];

/// The fields that contain a pod spec, by kind. Argo CD also knows that of Rollouts.
const POD_SPECS: &[(&str, &str, &str)] = &[
    ("", "Pod", "spec"),
    ("", "PodTemplate", "template/spec"),
    ("", "ReplicationController", "spec/template/spec"),
    ("apps", "DaemonSet", "spec/template/spec"),
    ("apps", "Deployment", "spec/template/spec"),
    ("apps", "ReplicaSet", "spec/template/spec"),
    ("apps", "StatefulSet", "spec/template/spec"),
    ("argoproj.io", "Rollout", "spec/template/spec"),
    ("batch", "CronJob", "spec/jobTemplate/spec/template/spec"),
    ("batch", "Job", "spec/template/spec"),
];

/// Other quantities of kinds.
const QUANTITIES: &[(&str, &str, &str)] = &[
    ("", "LimitRange", "spec/limits/*/default/*"),
    ("", "LimitRange", "spec/limits/*/defaultRequest/*"),
    ("", "LimitRange", "spec/limits/*/max/*"),
    ("", "LimitRange", "spec/limits/*/maxLimitRequestRatio/*"),
    ("", "LimitRange", "spec/limits/*/min/*"),
    ("", "PersistentVolume", "spec/capacity/*"),
    ("", "PersistentVolumeClaim", "spec/resources/limits/*"),
    ("", "PersistentVolumeClaim", "spec/resources/requests/*"),
    ("", "ResourceQuota", "spec/hard/*"),
    ("apps", "StatefulSet", "spec/volumeClaimTemplates/*/spec/resources/limits/*"),
    ("apps", "StatefulSet", "spec/volumeClaimTemplates/*/spec/resources/requests/*"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/containerResource/target/averageValue"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/external/target/averageValue"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/external/target/value"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/object/target/averageValue"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/object/target/value"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/pods/target/averageValue"),
    ("autoscaling", "HorizontalPodAutoscaler", "spec/metrics/*/resource/target/averageValue"),
];

/// Writes the quantities of an object in their one form.
pub(super) fn normalize(object: &mut Object) {
    let is = |group: &str, kind: &str| object.group() == group && object.kind() == kind;
    let paths: Vec<&str> =
        QUANTITIES.iter().filter(|(group, kind, _)| is(group, kind)).map(|(_, _, path)| *path).collect();
    let pods = POD_SPECS.iter().find(|(group, kind, _)| is(group, kind)).map(|(_, _, path)| *path);
    for path in paths {
        each(object.node_mut(), path, &mut write);
    }
    if let Some(pods) = pods {
        each(object.node_mut(), pods, &mut |spec| {
            for path in OF_PODS {
                each(spec, path, &mut write);
            }
        });
    }
}

/// Calls a function with every node at a path.
fn each(node: &mut Node, path: &str, visit: &mut dyn FnMut(&mut Node)) {
    if path.is_empty() {
        return visit(node);
    }
    let (field, rest) = path.split_once('/').unwrap_or((path, ""));
    match &mut node.kind {
        Kind::Mapping(entries) => {
            let all = entries.iter_mut().filter(|entry| field == "*" || entry.key.text() == Some(field));
            all.for_each(|entry| each(&mut entry.value, rest, visit));
        }
        Kind::Sequence(items) if field == "*" => {
            items.iter_mut().for_each(|item| each(item, rest, visit));
        }
        _ => {}
    }
}

fn write(node: &mut Node) {
    if let Some(canonical) = node.text().and_then(canonical) {
        *node = Node::string(&canonical).at(node.span);
    }
}
