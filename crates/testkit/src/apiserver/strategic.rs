//! Strategic merge patches of the built-in kinds, as far as their lists go: by key, as sets, or whole, with `$patch`.
//! Directives that order lists or keep keys are refused.

use serde_json::{Map, Value};

use super::failure::Failure;

/// Lists that are merged: the kind, or none for all; where they are; the field that tells their items apart, or none
/// where they are sets.
const MERGED: &[(Option<&str>, &str, Option<&str>)] = &[
    (None, "metadata.finalizers", None),
    (None, "metadata.ownerReferences", Some("uid")),
    (Some("CustomResourceDefinition"), "status.conditions", Some("type")),
    (Some("Namespace"), "status.conditions", Some("type")),
    (Some("ServiceAccount"), "imagePullSecrets", Some("name")),
    (Some("ServiceAccount"), "secrets", Some("name")),
];

/// Returns what an object of a kind comes to.
pub(super) fn patch(kind: &str, object: &Value, patch: &Value) -> Result<Value, Failure> {
    let mut patched = object.clone();
    merge(kind, "", &mut patched, patch)?;
    Ok(patched)
}

fn merge(kind: &str, path: &str, live: &mut Value, patch: &Value) -> Result<(), Failure> {
    let Value::Object(changes) = patch else {
        *live = patch.clone();
        return Ok(());
    };
    if changes.get("$patch").is_some_and(|how| how == "replace") {
        *live = Value::Object(without_directives(changes));
        return Ok(());
    }
    if !live.is_object() {
        *live = Value::Object(Map::new());
    }
    let fields = live.as_object_mut().expect("it is one");
    for (field, change) in changes {
        if field == "$patch" {
            continue;
        }
        if field.starts_with('$') {
            return Err(Failure::bad_request(format!("unable to apply the directive {field}")));
        }
        let place = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
        match (change, fields.get_mut(field)) {
            (Value::Null, _) => {
                fields.remove(field);
            }
            (Value::Object(inner), _) if inner.get("$patch").is_some_and(|how| how == "delete") => {
                fields.remove(field);
            }
            (Value::Array(changes), known) => {
                let live = known.and_then(|known| known.as_array().cloned()).unwrap_or_default();
                let list = merge_list(kind, &place, live, changes)?;
                fields.insert(field.clone(), Value::Array(list));
            }
            (change, Some(known)) => merge(kind, &place, known, change)?,
            (change, None) => {
                let mut made = Value::Null;
                merge(kind, &place, &mut made, change)?;
                fields.insert(field.clone(), made);
            }
        }
    }
    Ok(())
}

fn without_directives(fields: &Map<String, Value>) -> Map<String, Value> {
    fields
        .iter()
        .filter(|(field, _)| !field.starts_with('$'))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect()
}

fn merge_list(kind: &str, path: &str, live: Vec<Value>, changes: &[Value]) -> Result<Vec<Value>, Failure> {
    let is_it = |(of, place, _): &&(Option<&str>, &str, Option<&str>)| {
        of.is_none_or(|of| of == kind) && *place == path
    };
    let Some((.., key)) = MERGED.iter().find(is_it) else { return Ok(changes.to_vec()) };
    let Some(key) = key else {
        let added = changes.iter().filter(|item| !live.contains(item)).cloned().collect::<Vec<_>>();
        return Ok([live, added].concat());
    };
    let replaces = changes.iter().any(|item| item["$patch"] == "replace");
    let mut list = if replaces { Vec::new() } else { live };
    for change in changes.iter().filter(|item| item["$patch"] != "replace") {
        let Some(name) = change.get(*key) else {
            return Err(Failure::bad_request(format!(
                "map: {change} does not contain declared merge key: {key}"
            )));
        };
        let known = list.iter().position(|item| item.get(*key) == Some(name));
        match known {
            Some(index) if change["$patch"] == "delete" => {
                list.remove(index);
            }
            None if change["$patch"] == "delete" => {}
            Some(index) => merge(kind, path, &mut list[index], change)?,
            None => list.push(change.clone()),
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/
    #[test]
    fn lists_are_merged_by_their_keys() {
        let live = json!({
            "metadata": {"finalizers": ["a"], "labels": {"x": "1", "y": "2"}},
            "secrets": [{"name": "one"}, {"name": "two"}],
        });
        let change = json!({
            "metadata": {"finalizers": ["b"], "labels": {"x": null}},
            "secrets": [{"name": "one", "$patch": "delete"}, {"name": "three"}],
        });
        let want = json!({
            "metadata": {"finalizers": ["a", "b"], "labels": {"y": "2"}},
            "secrets": [{"name": "two"}, {"name": "three"}],
        });
        assert_eq!(patch("ServiceAccount", &live, &change).unwrap(), want);
        let whole = json!({"metadata": {"labels": {"$patch": "replace", "z": "3"}}});
        assert_eq!(patch("Secret", &live, &whole).unwrap()["metadata"]["labels"], json!({"z": "3"}));
        assert_eq!(patch("Secret", &live, &json!({"$retainKeys": []})).unwrap_err().code, 400);
    }
}
