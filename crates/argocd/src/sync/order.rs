//! The order of tasks: phase, wave, kind, name; and what others depend on before them.
//!
//! In: tasks. Out: the same in the order in which they are applied. A Namespace stands before the first object in it and
//! a CRD before the first object of its kind, whatever their own waves; both take phase and wave of that object.

use std::collections::HashMap;

use super::{Action, Task};

/// Kinds in the order in which they are applied; all others come after them. The API group does not count.
const KINDS: &[&str] = &[
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

fn rank(kind: &str) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len())
}

/// Brings tasks in order. Those that are equal stay as they are, where Argo CD leaves it to chance.
pub(super) fn sort<'o>(mut tasks: Vec<Task<'o>>) -> Vec<Task<'o>> {
    tasks.sort_by(|left, right| {
        let of = |task: &Task<'o>| (task.phase, task.wave, rank(task.kind));
        of(left).cmp(&of(right)).then_with(|| left.sorted_name.cmp(right.sorted_name))
    });
    let tasks = before_dependents(tasks, namespace_made, namespace_used);
    let mut tasks = before_dependents(tasks, kind_made, kind_used);
    // Within a wave, what goes is deleted before anything is applied.
    for wave in tasks.chunk_by_mut(|left, right| (left.phase, left.wave) == (right.phase, right.wave)) {
        wave.sort_by_key(|task| task.action != Action::Prune);
    }
    tasks
}

type Of<'o, K> = fn(&Task<'o>) -> Option<K>;

/// Moves what makes something before the first task that uses it.
///
/// Argo CD moves tasks within the list one by one; here each is put down before its user, which comes to the same.
fn before_dependents<'o, K: Eq + std::hash::Hash>(
    mut tasks: Vec<Task<'o>>,
    made: Of<'o, K>,
    used: Of<'o, K>,
) -> Vec<Task<'o>> {
    let mut first_users: HashMap<K, usize> = HashMap::new();
    let mut before: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut is_moved = vec![false; tasks.len()];
    for at in 0..tasks.len() {
        if tasks[at].action == Action::Prune {
            continue;
        }
        if let Some(key) = made(&tasks[at]) {
            if let Some(&user) = first_users.get(&key) {
                (tasks[at].phase, tasks[at].wave) = (tasks[user].phase, tasks[user].wave);
                tasks[at].is_moved = true;
                before.entry(user).or_default().push(at);
                is_moved[at] = true;
            }
        } else if let Some(key) = used(&tasks[at]) {
            first_users.entry(key).or_insert(at);
        }
    }
    if before.is_empty() {
        return tasks;
    }
    let mut slots: Vec<Option<Task<'o>>> = tasks.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(slots.len());
    for at in 0..slots.len() {
        for dependency in before.remove(&at).unwrap_or_default() {
            sorted.extend(slots[dependency].take());
        }
        if !is_moved[at] {
            sorted.extend(slots[at].take());
        }
    }
    sorted
}

fn namespace_made<'o>(task: &Task<'o>) -> Option<&'o str> {
    (task.kind == "Namespace" && task.group.is_empty()).then_some(task.sorted_name)
}

fn namespace_used<'o>(task: &Task<'o>) -> Option<&'o str> {
    Some(task.sent_namespace).filter(|namespace| !namespace.is_empty())
}

/// The group and kind that a CRD defines.
fn kind_made<'o>(task: &Task<'o>) -> Option<(&'o str, &'o str)> {
    let crd = task.object.filter(|object| object.is_crd())?;
    let text = |path: &[&str]| crd.node().lookup(path).filter(|node| node.tag == yamltree::Tag::Str)?.text();
    Some((text(&["spec", "group"])?, text(&["spec", "names", "kind"])?))
}

fn kind_used<'o>(task: &Task<'o>) -> Option<(&'o str, &'o str)> {
    Some((task.group, task.kind))
}
