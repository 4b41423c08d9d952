//! Merging maps as the Go package mergo does: in go two maps, the first of which is written to.
//!
//! Merges maps: the target takes missing or empty entries from the source by reference. Maps in both are merged
//! recursively. A nil in the source counts only if everything is overwritten.

use crate::Context;
use crate::error::CallError;
use crate::value::{Map, Str, Type, Value};

/// The values that the source overwrites.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwrite {
    /// Empty values: nil, zero, false, or an empty string, list or map.
    Empty,
    All,
}

/// Maximum depth to which maps may be within each other; a map can contain itself.
const DEEPEST: usize = 100_000;

/// Pending work, the last first.
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

#[cfg(test)]
mod tests {
    use crate::funcs::testing::check;

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ merge (dict "a" 1 "b" 0 "c" "" "d" nil "e" (list) "f" false) (dict "a" 2 "b" 2 "c" 2 "d" 2 "e" 2 "f" 2) }}"#,
            "map[a:1 b:2 c:2 d:2 e:2 f:2]",
        ),
        (
            r#"{{ merge (dict) (dict "a" nil) }}|{{ mergeOverwrite (dict "a" 1) (dict "a" nil) | toJson }}|{{ mergeOverwrite (dict "a" 1 "b" 1 "c" 1 "d" 1) (dict "a" "" "b" 0 "c" false "d" (list)) | toJson }}"#,
            r#"map[]|{"a":null}|{"a":"","b":0,"c":false,"d":[]}"#,
        ),
        (
            r#"{{ merge (dict "a" (dict "x" 1)) (dict "a" (dict "x" 2 "y" 3)) }}|{{ mergeOverwrite (dict "a" (dict "x" 1)) (dict "a" (dict "x" 2 "y" 3)) }}|{{ mergeOverwrite (dict "a" (dict "x" 1)) (dict "a" (dict)) }}"#,
            "map[a:map[x:1 y:3]]|map[a:map[x:2 y:3]]|map[a:map[x:1]]",
        ),
        (
            r#"{{ merge (dict "a" (dict)) (dict "a" (dict "x" nil)) | toJson }}|{{ merge (dict "a" (list 1)) (dict "a" (list 2 3)) }}|{{ mergeOverwrite (dict "a" (list 1)) (dict "a" (list 2 3)) }}|{{ merge (dict "a" (dict "x" 1)) (dict "a" 5) }}|{{ mergeOverwrite (dict "a" (dict "x" 1)) (dict "a" 5) }}|{{ mergeOverwrite (dict "a" 5) (dict "a" (dict "x" 1)) }}"#,
            r#"{"a":{"x":null}}|map[a:[1]]|map[a:[2 3]]|map[a:map[x:1]]|map[a:5]|map[a:map[x:1]]"#,
        ),
        (
            r#"{{ $s := dict "a" (dict "b" 1) }}{{ $t := merge (dict) $s }}{{ $_ := set $t.a "b" 2 }}{{ $s }}"#,
            "map[a:map[b:2]]",
        ),
        (
            r#"{{ $s := dict "a" (dict "b" 1) }}{{ $t := mergeOverwrite (dict) $s (dict "a" (dict "b" 3)) }}{{ $s }}{{ $t }}"#,
            "map[a:map[b:3]]map[a:map[b:3]]",
        ),
        (
            r#"{{ $d := dict "a" 1 }}{{ $m := merge $d (dict "b" 2) }}{{ $d }}|{{ merge nil (dict) }}|{{ merge nil (dict "a" 1) }}|{{ mustMerge (dict) (dict "a" 1) (dict "a" 2 "b" 3) }}|{{ mustMergeOverwrite (dict) (dict "a" 1) (dict "a" 2) }}"#,
            "map[a:1 b:2]|map[]|map[a:1]|map[a:1 b:3]|map[a:2]",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
