//! Field ownership: sets of paths as in `managedFields` (`fieldsV1`), of a value by its schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::schema::{self, ListKind};

/// One step on the way to a field, as `fieldsV1` writes it: `f:spec`, `k:{"name":"web"}`, `v:"x"`.
pub(super) type Path = Vec<String>;

/// Fields of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(BTreeSet<Path>);

/// Fields that nobody owns: what an object is, and what the server writes.
const UNOWNED: &[&[&str]] = &[
    &["f:apiVersion"],
    &["f:kind"],
    &["f:metadata", "f:creationTimestamp"],
    &["f:metadata", "f:deletionGracePeriodSeconds"],
    &["f:metadata", "f:deletionTimestamp"],
    &["f:metadata", "f:generateName"],
    &["f:metadata", "f:generation"],
    &["f:metadata", "f:managedFields"],
    &["f:metadata", "f:name"],
    &["f:metadata", "f:namespace"],
    &["f:metadata", "f:resourceVersion"],
    &["f:metadata", "f:selfLink"],
    &["f:metadata", "f:uid"],
];

impl Fields {
    /// All fields of an object that can have an owner.
    pub(super) fn of(schema: &Value, object: &Value) -> Self {
        let mut fields = Self::default();
        collect(schema, object, &mut Vec::new(), &mut fields.0);
        fields.0.retain(|path| {
            let starts =
                |start: &&[&str]| start.len() <= path.len() && start.iter().zip(path).all(|(a, b)| a == b);
            !UNOWNED.iter().any(starts) && path.as_slice() != ["f:metadata"]
        });
        fields
    }

    /// Reads `fieldsV1`.
    pub(super) fn read(text: &Value) -> Self {
        let mut fields = Self::default();
        read_into(text, &mut Vec::new(), &mut fields.0);
        fields
    }

    /// Writes `fieldsV1`.
    pub(super) fn write(&self) -> Value {
        let mut top = Map::new();
        for path in &self.0 {
            let mut place = &mut top;
            for step in path {
                let next = place.entry(step.clone()).or_insert_with(|| json!({}));
                place = next.as_object_mut().expect("only objects are put there");
            }
            // Beside others below it, a field is told by a dot.
            place.insert(".".to_owned(), json!({}));
        }
        for value in top.values_mut() {
            without_lone_dots(value);
        }
        Value::Object(top)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.0.contains(path)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn remove(&mut self, others: &Self) {
        self.0.retain(|path| !others.0.contains(path));
    }

    pub(super) fn add(&mut self, others: &Self) {
        self.0.extend(others.0.iter().cloned());
    }

    pub(super) fn filtered(&self, keep: impl Fn(&Path) -> bool) -> Self {
        Self(self.0.iter().filter(|path| keep(path)).cloned().collect())
    }
}

fn collect(schema: &Value, value: &Value, path: &mut Path, fields: &mut BTreeSet<Path>) {
    let is_atomic = schema["x-kubernetes-map-type"] == "atomic";
    match (value, schema::list_kind(schema)) {
        (Value::Object(all), _) if !all.is_empty() && !is_atomic => {
            for (field, value) in all {
                path.push(format!("f:{field}"));
                collect(schema::of_field(schema, field), value, path, fields);
                path.pop();
            }
        }
        (Value::Array(items), ListKind::Map(keys)) if !items.is_empty() => {
            for item in items {
                path.push(format!("k:{}", schema::key_of(schema, &keys, item)));
                fields.insert(path.clone());
                collect(&schema["items"], item, path, fields);
                path.pop();
            }
        }
        (Value::Array(items), ListKind::Set) if !items.is_empty() => {
            for item in items {
                path.push(format!("v:{item}"));
                fields.insert(path.clone());
                path.pop();
            }
        }
        _ => {
            fields.insert(path.clone());
        }
    }
}

fn read_into(text: &Value, path: &mut Path, fields: &mut BTreeSet<Path>) {
    let inner = text.as_object().filter(|inner| !inner.is_empty());
    let Some(inner) = inner else {
        fields.insert(path.clone());
        return;
    };
    for (step, value) in inner {
        if step == "." {
            fields.insert(path.clone());
            continue;
        }
        path.push(step.clone());
        read_into(value, path, fields);
        path.pop();
    }
}

fn without_lone_dots(value: &mut Value) {
    let Some(fields) = value.as_object_mut() else { return };
    if fields.len() == 1 {
        fields.remove(".");
    }
    for (step, inner) in fields.iter_mut() {
        if step != "." {
            without_lone_dots(inner);
        }
    }
}

/// The value at a path.
pub(super) fn get<'v>(schema: &Value, value: &'v Value, path: &[String]) -> Option<&'v Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value) };
    if let Some(field) = step.strip_prefix("f:") {
        return get(schema::of_field(schema, field), value.get(field)?, rest);
    }
    let item = value.as_array()?.iter().find(|item| is_item(schema, item, step))?;
    get(&schema["items"], item, rest)
}

/// Removes what is at a path.
pub(super) fn remove(schema: &Value, value: &mut Value, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    if let Some(field) = step.strip_prefix("f:") {
        match value.as_object_mut() {
            Some(fields) if rest.is_empty() => {
                fields.remove(field);
            }
            Some(fields) => {
                if let Some(inner) = fields.get_mut(field) {
                    remove(schema::of_field(schema, field), inner, rest);
                }
            }
            None => {}
        }
        return;
    }
    let Some(items) = value.as_array_mut() else { return };
    let Some(index) = items.iter().position(|item| is_item(schema, item, step)) else { return };
    if rest.is_empty() {
        items.remove(index);
    } else {
        remove(&schema["items"], &mut items[index], rest);
    }
}

fn is_item(schema: &Value, item: &Value, step: &str) -> bool {
    match schema::list_kind(schema) {
        ListKind::Map(keys) => step == format!("k:{}", schema::key_of(schema, &keys, item)),
        _ => step == format!("v:{item}"),
    }
}

/// Returns what an object comes to with what is applied to it.
pub(super) fn merge(schema: &Value, live: &Value, applied: &Value) -> Value {
    let is_atomic = schema["x-kubernetes-map-type"] == "atomic";
    match (live, applied, schema::list_kind(schema)) {
        (Value::Object(live), Value::Object(applied), _) if !is_atomic => {
            let mut merged = live.clone();
            for (field, value) in applied {
                let schema = schema::of_field(schema, field);
                let value = live.get(field).map_or_else(|| value.clone(), |live| merge(schema, live, value));
                merged.insert(field.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(applied), ListKind::Map(keys)) => {
            let mut merged = live.clone();
            for item in applied {
                let key = schema::key_of(schema, &keys, item);
                match merged.iter_mut().find(|known| schema::key_of(schema, &keys, known) == key) {
                    Some(known) => *known = merge(&schema["items"], known, item),
                    None => merged.push(item.clone()),
                }
            }
            Value::Array(merged)
        }
        (Value::Array(live), Value::Array(applied), ListKind::Set) => {
            let added = applied.iter().filter(|item| !live.contains(item));
            Value::Array(live.iter().chain(added).cloned().collect())
        }
        _ => applied.clone(),
    }
}

/// A path as conflicts name it: `.spec.images[name="web"].tag`.
pub(super) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for step in path {
        match step.split_once(':') {
            Some(("f", field)) => text.push_str(&format!(".{field}")),
            Some(("k", key)) => {
                let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
                let pairs: Vec<String> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
                text.push_str(&format!("[{}]", pairs.join(",")));
            }
            Some((_, value)) => text.push_str(&format!("[={value}]")),
            None => text.push_str(step),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({"properties": {"spec": {"properties": {
            "images": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            "plain": {}, "tags": {"x-kubernetes-list-type": "set"},
        }}}})
    }

    /// The form of https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
    #[test]
    fn fields_are_written_as_managed_fields_are() {
        let object = json!({
            "kind": "K", "metadata": {"name": "x", "labels": {"a": "b"}},
            "spec": {"images": [{"name": "web", "tag": "1"}], "plain": [{"x": 1}], "tags": ["v"]},
        });
        let fields = Fields::of(&schema(), &object);
        let want = json!({
            "f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {
                "f:images": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:tag": {}}},
                "f:plain": {}, "f:tags": {"v:\"v\"": {}},
            },
        });
        assert_eq!(fields.write(), want);
        assert_eq!(Fields::read(&want), fields);
        let tag =
            fields.iter().find(|path| path.last().is_some_and(|step| step == "f:tag")).expect("it is there");
        assert_eq!(shown(tag), ".spec.images[name=\"web\"].tag");
        assert_eq!(get(&schema(), &object, tag), Some(&json!("1")));
    }

    #[test]
    fn lists_are_merged_by_their_kind() {
        let live =
            json!({"spec": {"images": [{"name": "web", "tag": "1", "x": 1}], "plain": [1], "tags": ["a"]}});
        let applied = json!({"spec": {"images": [{"name": "web", "tag": "2"}, {"name": "db"}], "plain": [2], "tags": ["b"]}});
        let want = json!({"spec": {"images": [{"name": "web", "tag": "2", "x": 1}, {"name": "db"}], "plain": [2], "tags": ["a", "b"]}});
        assert_eq!(merge(&schema(), &live, &applied), want);
    }
}
