//! Objects as they are compared and shown.
//!
//! In: an object as it was rendered. Out: its tree without values of Secrets and without what nobody writes by intent:
//! `status`, `metadata.creationTimestamp`, `metadata.managedFields`; and trees as YAML and as JSON.

use std::mem;

use argocd::diffing::Normalizer;
use argocd::objects::{Key, Object};
use serde_json::Value;
use yamltree::{Entry, Kind, Node, Tag, to_sigs_yaml};

use crate::mask::Masks;
use crate::model::ObjectId;

/// The annotations by which a hook is known.
const HOOKS: &[&str] = &["argocd.argoproj.io/hook", "helm.sh/hook"];

/// Returns the key by which objects are paired: without the version, and with the prefix of a generated name.
pub(crate) fn key(object: &Object) -> Key {
    let mut key = object.key();
    if key.name.is_empty() && !object.generate_name().is_empty() {
        key.name = format!("{}*", object.generate_name());
    }
    key
}

/// Returns the id of an object in a review.
pub(crate) fn id(object: &Object) -> ObjectId {
    let Key { kind, namespace, name, .. } = key(object);
    ObjectId { kind, namespace, name, api_version: object.api_version().to_owned() }
}

/// The tree that is compared and shown.
pub(crate) fn prepared(object: &Object, normalizer: Option<&Normalizer>, masks: &mut Masks<'_>) -> Node {
    let mut object = object.clone();
    if let Some(normalizer) = normalizer {
        normalizer.normalize(&mut object);
    }
    let mut node = mem::take(object.node_mut());
    // A CRD's or a workload's status is what a cluster said once.
    node.remove("status");
    if let Some(metadata) = node.get_mut("metadata") {
        metadata.remove("creationTimestamp");
        metadata.remove("managedFields");
    }
    masks.mask(&mut node);
    node
}

/// Returns true if Argo CD or Helm runs the object instead of keeping it.
pub(crate) fn is_hook(object: &Object) -> bool {
    HOOKS.iter().any(|hook| object.annotation(hook).is_some())
}

/// Returns true if two trees are the same, also by the order of their lists and keys.
pub(crate) fn is_same(one: &Node, other: &Node) -> bool {
    match (one.entries(), other.entries()) {
        (Some(these), Some(those)) => {
            these.len() == those.len()
                && these.iter().zip(those).all(|(this, that)| {
                    this.key.text() == that.key.text() && is_same(&this.value, &that.value)
                })
        }
        (None, None) => match (one.items(), other.items()) {
            (Some(these), Some(those)) => {
                these.len() == those.len() && these.iter().zip(those).all(|(this, that)| is_same(this, that))
            }
            (None, None) => is_text(one) == is_text(other) && one.text() == other.text(),
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if a scalar is a string.
pub(crate) fn is_text(node: &Node) -> bool {
    node.tag == Tag::Str
}

/// Returns true for a null.
pub(crate) fn is_null(node: &Node) -> bool {
    node.tag == Tag::Null
}

/// A tree as YAML, as Kubernetes' tools write it.
pub(crate) fn yaml(node: &Node) -> String {
    let mut yaml = String::new();
    match to_sigs_yaml(node, &mut yaml) {
        Ok(()) => yaml,
        // Such as NaN. The rest of the review is still useful.
        Err(error) => format!("# cannot be written as YAML: {}\n", error.message()),
    }
}

/// A tree as JSON's values.
pub(crate) fn value_of(node: &Node) -> Value {
    match &node.kind {
        Kind::Mapping(entries) => {
            let fields = entries
                .iter()
                .map(|entry| (entry.key.text().unwrap_or_default().to_owned(), value_of(&entry.value)));
            Value::Object(fields.collect())
        }
        Kind::Sequence(items) => items.iter().map(value_of).collect(),
        Kind::Scalar(_) if is_null(node) => Value::Null,
        // A plain scalar of an object is spelled as in JSON.
        Kind::Scalar(text) if !is_text(node) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
        }
        Kind::Scalar(text) | Kind::Alias(text) => Value::String(text.to_string()),
    }
}

/// JSON's values as YAML, as Kubernetes' tools write it.
pub(crate) fn yaml_of(value: &Value) -> String {
    yaml(&node_of(value))
}

fn node_of(value: &Value) -> Node {
    match value {
        Value::Null => Node::null(),
        Value::Bool(_) | Value::Number(_) => Node::plain(&value.to_string()),
        Value::String(text) => Node::string(text),
        Value::Array(items) => Node::sequence(items.iter().map(node_of).collect()),
        Value::Object(fields) => {
            Node::mapping(fields.iter().map(|(key, value)| Entry::new(key, node_of(value))).collect())
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use argocd::objects::{Object, read};
    use yamltree::Source;

    pub(crate) fn objects(text: &str) -> Vec<Object> {
        read(&Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() })).unwrap()
    }

    pub(crate) fn object(text: &str) -> Object {
        objects(text).remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::object;
    use super::*;

    #[test]
    fn names_that_the_cluster_makes_are_told_by_their_beginning() {
        let job =
            object("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-, namespace: a}\n");
        assert_eq!(id(&job).to_string(), "Job a/migrate-*");
        assert_eq!(id(&job).group(), "batch");
    }

    #[test]
    fn text_and_number_are_not_the_same() {
        let (one, other) = (object("kind: A\na: '1'\n"), object("kind: A\na: 1\n"));
        assert!(!is_same(one.node(), other.node()));
        assert!(is_same(one.node(), &one.node().clone()));
    }
}
