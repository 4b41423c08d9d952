//! Computes a status change as a JSON merge patch (RFC 7396).

use serde_json::{Map, Value};

/// The fields that only say when something was last looked at.
const TIMES: [&[&str]; 3] = [&["lastCheckedAt"], &["lastAutomationRunTime"], &["lastScanResult", "scanTime"]];

/// The difference of two statuses.
#[derive(Debug, PartialEq)]
pub(super) enum Difference {
    None,
    /// Only in when something was last looked at.
    Times(Value),
    Content(Value),
}

/// Returns what makes the one status the other.
pub(super) fn difference(before: &Value, after: &Value) -> Difference {
    let patch = patch(before, after);
    if patch == Value::Object(Map::new()) {
        return Difference::None;
    }
    let mut content = patch.clone();
    TIMES.iter().for_each(|path| remove(&mut content, path));
    match content == Value::Object(Map::new()) {
        true => Difference::Times(patch),
        false => Difference::Content(patch),
    }
}

/// Objects field by field; everything else as a whole. A field that goes is null.
fn patch(before: &Value, after: &Value) -> Value {
    let Value::Object(after) = after else { return after.clone() };
    let none = Map::new();
    let before = before.as_object().unwrap_or(&none);
    let mut patched = Map::new();
    for (name, value) in after {
        match before.get(name) {
            Some(known) if known == value => {}
            Some(known) => _ = patched.insert(name.clone(), patch(known, value)),
            None => _ = patched.insert(name.clone(), value.clone()),
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patched.insert(name.clone(), Value::Null);
    }
    Value::Object(patched)
}

fn remove(value: &mut Value, path: &[&str]) {
    let (Some(fields), [name, rest @ ..]) = (value.as_object_mut(), path) else { return };
    if rest.is_empty() {
        fields.remove(*name);
    } else if let Some(inner) = fields.get_mut(*name) {
        remove(inner, rest);
        if inner.as_object().is_some_and(Map::is_empty) {
            fields.remove(*name);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_has_what_changed_and_null_for_what_is_gone() {
        let before = json!({"a": 1, "b": {"x": 1, "y": 2}, "c": [1], "d": true});
        let after = json!({"a": 1, "b": {"x": 1, "y": 3}, "c": [2], "e": "new"});
        let wanted = json!({"b": {"y": 3}, "c": [2], "d": null, "e": "new"});
        assert_eq!(difference(&before, &after), Difference::Content(wanted));
        assert_eq!(difference(&Value::Null, &after), Difference::Content(after.clone()));
        assert_eq!(difference(&after, &after), Difference::None);
    }

    #[test]
    fn that_it_was_looked_at_is_no_news() {
        let status = |time: &str, revision: &str| {
            json!({
                "lastCheckedAt": time, "lastAutomationRunTime": time,
                "lastScanResult": {"scanTime": time, "revision": revision},
            })
        };
        let (one, other) = (status("1", "a"), status("2", "a"));
        assert!(matches!(difference(&one, &other), Difference::Times(_)));
        assert!(matches!(difference(&one, &status("2", "b")), Difference::Content(_)));
    }
}
