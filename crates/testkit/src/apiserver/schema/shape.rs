//! Brings an object into the shape of its schema: unknown fields go, defaults come.

use serde_json::{Map, Value};

use super::{below, is_true};

/// Removes the fields that a schema does not know, and says which.
pub(in crate::apiserver) fn prune(schema: &Value, object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    prune_value(schema, object, "", true, &mut dropped);
    dropped
}

/// The same for a value that is only a part of an object.
pub(super) fn prune_part(schema: &Value, value: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    prune_value(schema, value, "", false, &mut dropped);
    dropped
}

fn prune_value(schema: &Value, value: &mut Value, path: &str, is_object: bool, dropped: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(schema, fields, path, is_object, dropped),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                prune_value(&schema["items"], item, &format!("{path}[{index}]"), false, dropped);
            }
        }
        _ => {}
    }
}

/// `is_object`: it is an object of Kubernetes, whose type and metadata no schema has to name.
fn prune_fields(
    schema: &Value,
    fields: &mut Map<String, Value>,
    path: &str,
    is_object: bool,
    dropped: &mut Vec<String>,
) {
    let is_object = is_object || is_true(schema, "x-kubernetes-embedded-resource");
    let keeps_all = is_true(schema, "x-kubernetes-preserve-unknown-fields");
    let others = &schema["additionalProperties"];
    for field in fields.keys().cloned().collect::<Vec<_>>() {
        if is_object && ["apiVersion", "kind", "metadata"].contains(&field.as_str()) {
            continue;
        }
        let place = below(path, &field);
        let known = schema["properties"].get(&field).or_else(|| others.is_object().then_some(others));
        match known {
            Some(known) => prune_value(known, &mut fields[&field], &place, false, dropped),
            None if keeps_all || *others == true => {}
            None => {
                fields.remove(&field);
                dropped.push(place);
            }
        }
    }
}

/// Fills in the defaults of a schema. A null where none may be gives way to the default, or goes.
pub(in crate::apiserver) fn default(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
                let Some(default) = schema.get("default") else { continue };
                let is_absent = match fields.get(field) {
                    None => true,
                    Some(Value::Null) => !is_true(schema, "nullable"),
                    Some(_) => false,
                };
                if is_absent {
                    fields.insert(field.clone(), default.clone());
                }
            }
            fields.retain(|field, value| {
                let schema = super::of_field(schema, field);
                !value.is_null() || schema.is_null() || is_true(schema, "nullable")
            });
            for (field, value) in fields.iter_mut() {
                default(super::of_field(schema, field), value);
            }
        }
        Value::Array(items) => {
            for item in items {
                default(&schema["items"], item);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "image": {"type": "string"},
            "interval": {"type": "string", "default": "5m"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "items": {"type": "array", "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "on": {"type": "boolean", "default": true}}}},
        }}}})
    }

    /// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
    #[test]
    fn unknown_fields_go_and_the_objects_own_stay() {
        let mut object = json!({
            "apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "data": 1,
            "spec": {"image": "a", "x": 1, "any": {"y": 1}, "labels": {"z": "1"}, "items": [{"name": "n", "w": 1}]},
        });
        assert_eq!(prune(&schema(), &mut object), ["data", "spec.items[0].w", "spec.x"]);
        assert_eq!(object["spec"]["any"], json!({"y": 1}));
        assert_eq!(object["spec"]["labels"], json!({"z": "1"}));
        assert_eq!(object["metadata"], json!({"name": "x"}));
    }

    /// Defaults come where their object is: an absent `spec` stays absent.
    #[test]
    fn defaults_come_where_their_object_is() {
        let mut object =
            json!({"spec": {"interval": null, "items": [{"name": "n"}, {"name": "m", "on": false}]}});
        default(&schema(), &mut object);
        let want =
            json!({"interval": "5m", "items": [{"name": "n", "on": true}, {"name": "m", "on": false}]});
        assert_eq!(object["spec"], want);
        let mut null = json!({"spec": {"image": null}});
        default(&schema(), &mut null);
        assert_eq!(null, json!({"spec": {"interval": "5m"}}));
        let mut empty = json!({});
        default(&schema(), &mut empty);
        assert_eq!(empty, json!({}));
    }
}
