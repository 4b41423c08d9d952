//! Merging maps as the Go package mergo does: in go two maps, the first of which is written to.
//!
//! What the target lacks, or has empty, it takes from the source by reference. Maps in both are
//! merged in turn. A nil in the source counts only where everything is overwritten.

use crate::Context;
use crate::error::CallError;
use crate::value::{Map, Str, Type, Value};

/// What gives way to the source's values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwrite {
    /// What is empty: nil, zero, false, or a string, list or map without content.
    Empty,
    All,
}

/// How deep maps may be within each other; a map can contain itself.
const DEEPEST: usize = 100_000;

/// What is still to be done, the last first.
enum Task {
    Merge {
        target: Map,
        source: Map,
        depth: usize,
    },
    /// Decides about the map of one key after its entries have been merged.
    Settle {
        target: Map,
        old: Map,
        entry: Entry,
    },
}

/// An entry of the source, and of what type the values of that map are.
struct Entry {
    key: Str,
    value: Value,
    element: Type,
}

pub(super) fn merge_maps(
    context: &mut Context<'_>,
    target: &Map,
    source: &Map,
    overwrite: Overwrite,
) -> Result<(), CallError> {
    let mut tasks = vec![Task::Merge { target: target.clone(), source: source.clone(), depth: 0 }];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Merge { depth: DEEPEST.., .. } => {
                return Err(CallError::limit("maps to be merged are nested too deep"));
            }
            Task::Merge { target, source, depth } => {
                context.spend(source.len() as u64)?;
                let element = source.go_type().element();
                for (key, value) in source.to_vec() {
                    let entry = Entry { key, value, element };
                    merge_entry(&mut tasks, &target, entry, depth, overwrite)?;
                }
            }
            Task::Settle { target, old, entry } => {
                if old.is_empty() {
                    assign(&target, entry)?;
                }
            }
        }
    }
    Ok(())
}

fn merge_entry(
    tasks: &mut Vec<Task>,
    target: &Map,
    entry: Entry,
    depth: usize,
    overwrite: Overwrite,
) -> Result<(), CallError> {
    let all = overwrite == Overwrite::All;
    if matches!(entry.value, Value::Nil) {
        return if all { assign(target, entry) } else { Ok(()) };
    }
    let old = target.get(&entry.key);
    if let (Some(Value::Map(old)), Value::Map(source)) = (&old, &entry.value) {
        if !old.same(source) && !old.is_nil() {
            let merge = Task::Merge { target: old.clone(), source: source.clone(), depth: depth + 1 };
            tasks.push(Task::Settle { target: target.clone(), old: old.clone(), entry });
            tasks.push(merge);
            return Ok(());
        }
        if !old.is_empty() {
            return Ok(());
        }
    }
    if all || old.is_none_or(|old| is_empty(&old)) { assign(target, entry) } else { Ok(()) }
}

fn assign(target: &Map, entry: Entry) -> Result<(), CallError> {
    let element = target.go_type().element();
    if !entry.element.assignable_to(&element) {
        return Err(CallError::new(format!(
            "reflect.Value.SetMapIndex: value of type {} is not assignable to type {element}",
            entry.element
        )));
    }
    target.insert(entry.key, entry.value);
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    // A complex zero is not on mergo's list.
    !matches!(value, Value::Complex(..)) && !value.is_true()
}
