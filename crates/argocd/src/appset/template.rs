//! The template of a generator in front of that of the set (generator_spec_processor.go `mergeGeneratorTemplate`).
//!
//! In: two trees of a shape. Out: the first, in which what is empty is filled from the second. As mergo has it, `false`
//! and 0 are empty, behind a pointer too.

use super::schema::{Shape, Written};
use super::tree::{Kind, Tree};

/// Fills what is empty in a tree.
pub(crate) fn fill(mut tree: Tree, from: &Tree, shape: Shape) -> Tree {
    match (&mut tree.kind, &from.kind) {
        (Kind::Map(entries), Kind::Map(source)) if matches!(shape, Shape::Object(_)) => {
            for field in shape.fields() {
                let Some(theirs) = source.get(field.name) else { continue };
                let value = match entries.remove(field.name) {
                    Some(ours) if is_struct(field.shape) => fill(ours, theirs, field.shape),
                    Some(ours) if is_filled(&ours, theirs, field.shape, field.written) => {
                        fill(ours, theirs, field.shape)
                    }
                    _ => theirs.clone(),
                };
                entries.insert(field.name.to_owned(), value);
            }
        }
        (Kind::Map(entries), Kind::Map(source)) if matches!(shape, Shape::Map(_)) => {
            for (key, theirs) in source {
                let is_empty = entries.get(key).is_none_or(|ours| Shape::Text.is_empty(ours));
                if is_empty {
                    entries.insert(key.clone(), theirs.clone());
                }
            }
        }
        _ => {}
    }
    tree
}

fn is_struct(shape: Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Map(_))
}

/// Returns true if a value stays: it is not empty, or neither is what would take its place.
fn is_filled(ours: &Tree, theirs: &Tree, shape: Shape, written: Written) -> bool {
    !shape.is_empty(ours) || (written == Written::IfSet && shape.is_empty(theirs))
}

#[cfg(test)]
mod tests {
    use yamltree::Span;

    use super::super::application::TEMPLATE;
    use super::*;

    fn filled(ours: &str, theirs: &str) -> String {
        let tree = |json: &str| Tree::of_json(serde_json::from_str(json).unwrap(), Span::NONE);
        fill(tree(ours), &tree(theirs), TEMPLATE).json()
    }

    #[test]
    fn what_is_not_empty_stays() {
        let json = filled(
            r#"{"metadata": {"name": "", "labels": {"a": "1", "b": ""}},
                "spec": {"source": {"path": "p", "helm": {"skipCrds": false}},
                         "syncPolicy": {"automated": {"prune": false, "enabled": false}, "syncOptions": []}}}"#,
            r#"{"metadata": {"name": "n", "labels": {"a": "2", "b": "2", "c": "2"}},
                "spec": {"project": "p", "source": {"path": "q", "repoURL": "r", "helm": {"skipCrds": true}},
                         "syncPolicy": {"automated": {"prune": true}, "syncOptions": ["A=b"]}}}"#,
        );
        let want = r#"{"metadata":{"labels":{"a":"1","b":"2","c":"2"},"name":"n"},"spec":{"project":"p","source":{"helm":{"skipCrds":true},"path":"p","repoURL":"r"},"syncPolicy":{"automated":{"enabled":false,"prune":true},"syncOptions":["A=b"]}}}"#;
        assert_eq!(json, want);
    }

    #[test]
    fn what_has_no_type_is_one_value() {
        let json = filled(
            r#"{"spec": {"source": {"helm": {"valuesObject": {}}}}}"#,
            r#"{"spec": {"source": {"helm": {"valuesObject": {"a": 1}}}}}"#,
        );
        assert_eq!(json, r#"{"spec":{"source":{"helm":{"valuesObject":{}}}}}"#);
    }
}
