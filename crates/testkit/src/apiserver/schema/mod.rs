//! Structural schemas: what an object may hold. An object goes in, and comes out without what its schema does not know
//! and with its defaults; what breaks the schema is told field by field, in the words of the real server. Rules in CEL
//! (`x-kubernetes-validations`) are not worked out.

mod check;
mod shape;
mod structural;

pub(super) use check::check;
pub(super) use shape::{default, prune};
pub(super) use structural::{drop_unknown_keywords, faults};

use serde_json::Value;

/// The list type, which decides about merging and comparing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ListKind {
    /// As one value.
    Atomic,
    /// Each item once.
    Set,
    /// Each item by the values of these fields.
    Map(Vec<String>),
}

/// Returns how the list of a schema is merged.
pub(super) fn list_kind(schema: &Value) -> ListKind {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
            ListKind::Map(keys.filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => ListKind::Atomic,
    }
}

/// The schema of a field of an object; nothing is known of it where it is null.
pub(super) fn of_field<'s>(schema: &'s Value, field: &str) -> &'s Value {
    match schema["properties"].get(field) {
        Some(known) => known,
        None if schema["additionalProperties"].is_object() => &schema["additionalProperties"],
        None => &Value::Null,
    }
}

/// Returns what tells an item of a list from the others, by the fields that are its key; defaults count.
pub(super) fn key_of(schema: &Value, keys: &[String], item: &Value) -> Value {
    let value = |key: &String| {
        let value = item.get(key).cloned();
        let default = || schema["items"]["properties"][key]["default"].clone();
        (key.clone(), value.unwrap_or_else(default))
    };
    Value::Object(keys.iter().map(value).filter(|(_, value)| !value.is_null()).collect())
}

fn is_true(schema: &Value, keyword: &str) -> bool {
    schema[keyword] == true
}

/// The place of a field below another.
fn below(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}
