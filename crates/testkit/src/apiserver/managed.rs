//! `managedFields`: who has set what, by updates and by server-side apply, and whose fields an apply would take.
//!
//! Ownership is kept by the paths of values (`fields.rs`). What the real server does beyond that, as with entries of
//! managers that are too many, is not done.

use serde_json::{Value, json};

use super::failure::Failure;
use super::fields::{self, Fields, Path};
use super::metadata;

/// The author of a change, and the API operation.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) manager: String,
    pub(super) api_version: String,
    /// `status`, or nothing.
    pub(super) subresource: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    manager: String,
    operation: String,
    api_version: String,
    subresource: String,
    time: String,
    fields: Fields,
}

const UPDATE: &str = "Update";
const APPLY: &str = "Apply";

impl Entry {
    fn read(entry: &Value) -> Self {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        Self {
            manager: text("manager"),
            operation: text("operation"),
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: text("time"),
            fields: Fields::read(&entry["fieldsV1"]),
        }
    }

    fn write(&self) -> Value {
        let mut entry = json!({
            "manager": self.manager, "operation": self.operation, "apiVersion": self.api_version,
            "time": self.time, "fieldsType": "FieldsV1", "fieldsV1": self.fields.write(),
        });
        if !self.subresource.is_empty() {
            entry["subresource"] = self.subresource.as_str().into();
        }
        entry
    }

    /// As conflicts name it.
    fn shown(&self) -> String {
        let subresource = if self.subresource.is_empty() {
            String::new()
        } else {
            format!(" with subresource {:?}", self.subresource)
        };
        if self.operation == UPDATE {
            format!("{:?}{subresource} using {} at {}", self.manager, self.api_version, self.time)
        } else {
            format!("{:?}{subresource}", self.manager)
        }
    }
}

/// Takes the entry of an author out of those of an object.
fn take(entries: &mut Vec<Entry>, author: &Author, operation: &str) -> Entry {
    let is_theirs = |entry: &Entry| {
        entry.manager == author.manager
            && entry.operation == operation
            && entry.subresource == author.subresource
    };
    match entries.iter().position(is_theirs) {
        Some(index) => entries.remove(index),
        None => Entry {
            manager: author.manager.clone(),
            operation: operation.to_owned(),
            api_version: author.api_version.clone(),
            subresource: author.subresource.to_owned(),
            time: metadata::now(),
            fields: Fields::default(),
        },
    }
}

fn read(object: &Value) -> Vec<Entry> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten().map(Entry::read).collect()
}

/// Writes them in an order that only depends on them, so that what changes nothing is no change.
fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.sort_by_key(|entry| {
        [&entry.operation, &entry.time, &entry.manager, &entry.api_version, &entry.subresource]
            .map(String::clone)
    });
    let entries: Vec<Value> =
        entries.iter().filter(|entry| !entry.fields.is_empty()).map(Entry::write).collect();
    metadata::of(object).insert("managedFields".to_owned(), entries.into());
}

/// Notes who has changed what between two states of an object, of which the first may be null. An object that comes
/// with an empty list of managers gives up all that was known of them.
pub(super) fn note_update(schema: &Value, before: &Value, after: &mut Value, author: &Author) {
    let is_reset = after["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty);
    let mut entries = if is_reset { Vec::new() } else { read(before) };
    let old = Fields::of(schema, before);
    let new = Fields::of(schema, after);
    let changed = new.filtered(|path| {
        !old.contains(path) || fields::get(schema, before, path) != fields::get(schema, after, path)
    });
    let removed = old.filtered(|path| !new.contains(path));
    let mut mine = take(&mut entries, author, UPDATE);
    for entry in entries.iter_mut().chain([&mut mine]) {
        entry.fields.remove(&changed);
        entry.fields.remove(&removed);
    }
    if !changed.is_empty() {
        mine.time = metadata::now();
        mine.api_version.clone_from(&author.api_version);
    }
    mine.fields.add(&changed);
    entries.push(mine);
    write(after, entries);
}

/// Returns what a live object, which may be null, comes to when an author applies another to it.
pub(super) fn apply(
    schema: &Value,
    live: &Value,
    applied: &Value,
    author: &Author,
    force: bool,
) -> Result<Value, Failure> {
    let mut entries = read(live);
    let mut mine = take(&mut entries, author, APPLY);
    let wanted = Fields::of(schema, applied);
    let differs = |path: &Path| fields::get(schema, live, path) != fields::get(schema, applied, path);
    let taken =
        wanted.filtered(|path| differs(path) && entries.iter().any(|entry| entry.fields.contains(path)));
    if !taken.is_empty() && !force {
        let conflicts: Vec<(String, String)> = taken
            .iter()
            .flat_map(|path| {
                let owners = entries.iter().filter(|entry| entry.fields.contains(path));
                owners.map(|owner| (owner.shown(), fields::shown(path)))
            })
            .collect();
        return Err(Failure::owned_by_others(&conflicts));
    }
    for entry in &mut entries {
        entry.fields.remove(&taken);
    }
    let mut merged = if live.is_null() { applied.clone() } else { fields::merge(schema, live, applied) };
    let given_up = mine
        .fields
        .filtered(|path| !wanted.contains(path) && !entries.iter().any(|entry| entry.fields.contains(path)));
    for path in given_up.iter() {
        fields::remove(schema, &mut merged, path);
    }
    if mine.fields != wanted || wanted.iter().any(differs) {
        mine.time = metadata::now();
    }
    mine.api_version.clone_from(&author.api_version);
    mine.fields = wanted;
    entries.push(mine);
    write(&mut merged, entries);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(manager: &str) -> Author {
        Author { manager: manager.to_owned(), api_version: "v1".to_owned(), subresource: "" }
    }

    fn applied(live: &Value, by: &str, data: &Value, force: bool) -> Result<Value, Failure> {
        let object = json!({"kind": "ConfigMap", "metadata": {"name": "x"}, "data": data});
        apply(&json!({}), live, &object, &author(by), force)
    }

    /// The example of https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
    #[test]
    fn whose_field_it_is_must_be_asked_or_overruled() {
        let one = applied(&Value::Null, "one", &json!({"key": "a", "own": "1"}), false).unwrap();
        let failure = applied(&one, "two", &json!({"key": "b"}), false).unwrap_err();
        assert_eq!(failure.message, "Apply failed with 1 conflict: conflict with \"one\": .data.key");
        // The same value is owned by both.
        let both = applied(&one, "two", &json!({"key": "a"}), false).unwrap();
        assert!(applied(&both, "two", &json!({"key": "c"}), false).is_err());
        let forced = applied(&one, "two", &json!({"key": "b"}), true).unwrap();
        assert_eq!(forced["data"], json!({"key": "b", "own": "1"}));
        let owned: Vec<&Value> = forced["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| &entry["fieldsV1"])
            .collect();
        assert_eq!(owned, [&json!({"f:data": {"f:own": {}}}), &json!({"f:data": {"f:key": {}}})]);
    }

    #[test]
    fn what_is_not_applied_any_more_goes_unless_others_have_it() {
        let one = applied(&Value::Null, "one", &json!({"a": "1", "b": "2"}), false).unwrap();
        let two = applied(&one, "two", &json!({"b": "2"}), false).unwrap();
        let less = applied(&two, "one", &json!({}), false).unwrap();
        assert_eq!(less["data"], json!({"b": "2"}));
    }

    #[test]
    fn an_update_takes_the_fields_that_it_changes() {
        let one = applied(&Value::Null, "one", &json!({"a": "1", "b": "2"}), false).unwrap();
        let mut after = one.clone();
        after["data"]["a"] = json!("3");
        note_update(&json!({}), &one, &mut after, &author("kubectl"));
        let entries = after["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries[0]["fieldsV1"], json!({"f:data": {"f:b": {}}}));
        assert_eq!(entries[1]["fieldsV1"], json!({"f:data": {"f:a": {}}}));
        assert_eq!(entries[1]["operation"], "Update");
        let failure = applied(&after, "one", &json!({"a": "1", "b": "2"}), false).unwrap_err();
        assert!(failure.message.contains("conflict with \"kubectl\" using v1 at "), "{}", failure.message);
    }
}
