//! Deleting what is no longer there: which objects, and in which wave.
//!
//! In: the objects that there are and those that shall be. Out: a task for each that goes. Waves run backwards: what was
//! made in the lowest wave goes in the highest.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::hook::{self, Phase, Role};
use super::{Action, Options, Task};
use crate::objects::{Key, Object, Scopes};

/// Tasks for the objects of `options.old` that are none of the new resources. A hook is no resource.
pub(super) fn tasks<'o>(new: &'o [Object], options: &Options<'o>) -> Vec<Task<'o>> {
    let scopes = Scopes::of(new.iter().chain(options.old));
    let key = |object: &Object| key(object, options.namespace, &scopes);
    let wanted: HashSet<Key> =
        new.iter().filter(|object| hook::role(object) == Role::Resource).map(key).collect();
    let is_gone = |object: &&Object| hook::role(object) == Role::Resource && !wanted.contains(&key(object));
    let mut tasks: Vec<Task<'o>> = options.old.iter().filter(is_gone).map(Task::prune).collect();
    mirror(&mut tasks);
    tasks
}

/// Returns what an object is known by in the cluster.
fn key(object: &Object, namespace: &str, scopes: &Scopes) -> Key {
    let mut key = object.key();
    if !scopes.is_namespaced(&key.group, &key.kind) {
        key.namespace.clear();
    } else if key.namespace.is_empty() {
        key.namespace.push_str(namespace);
    }
    key
}

/// Swaps the lowest wave with the highest, the next with the one before it, and so on.
fn mirror(tasks: &mut [Task<'_>]) {
    let waves: BTreeSet<i64> = tasks.iter().map(|task| task.wave).collect();
    let mirrored: HashMap<i64, i64> = waves.iter().copied().zip(waves.iter().rev().copied()).collect();
    for task in tasks {
        task.wave = mirrored.get(&task.wave).copied().unwrap_or(task.wave);
    }
}

/// Puts those that are to go last behind the last wave of the phase.
pub(super) fn put_last(tasks: &mut [Task<'_>], options: &Options<'_>) {
    let waves = tasks.iter().filter(|task| task.phase == Phase::Sync).map(|task| task.wave);
    let last = waves.fold(0, i64::max).saturating_add(1);
    for task in tasks.iter_mut().filter(|task| task.action == Action::Prune) {
        let is_last = task.object.is_some_and(|object| hook::option(object, "PruneLast") == Some("true"));
        if options.prune_last || is_last {
            task.wave = last;
        }
    }
}
