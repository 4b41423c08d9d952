//! `templatePatch`: a strategic merge into an Application (controllers/template/patch.go, apimachinery's
//! strategicpatch).
//!
//! In: an Application and the rendered text of a patch. Out: the patched Application, with its own project, and what of
//! the patch Argo CD passes over. Refused: a text that is no mapping, values of another type than the field's, and what a
//! strategic merge cannot do: a map or list within `valuesObject` that both sides have.

use yamltree::{Dialect, DuplicateKeys, Expansion, ParseOptions, Span};

use super::application::APPLICATION;
use super::schema::{Input, Remarks, Shape, decode};
use super::tree::{Entries, Kind, Tree};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList/";
const ELEMENT_ORDER: &str = "$setElementOrder/";

/// The only list that is merged and not replaced (apimachinery's `ObjectMeta`).
const MERGED_LIST: &str = "finalizers";

/// The patched Application, and the fields of the patch that no Application has.
pub(crate) fn apply(application: Tree, text: &str, span: Span) -> Result<(Tree, Vec<String>), String> {
    let patch = read(text, span)?;
    let mut remarks = Remarks::default();
    decode(patch.clone(), APPLICATION, Input::Json, &mut remarks).map_err(|mismatch| mismatch.message)?;
    let project = application.get("spec").and_then(|spec| spec.get("project")).cloned();
    let patched = match patch.kind {
        Kind::Map(patch) => merge(application, patch, APPLICATION)?,
        _ => application,
    };
    let mut patched = decode(patched, APPLICATION, Input::Json, &mut Remarks::default())
        .map_err(|mismatch| mismatch.message)?;
    keep_project(&mut patched, project);
    let unknown = remarks.unknown.into_iter().map(|(name, _)| name).filter(|name| !name.starts_with('$'));
    Ok((patched, unknown.collect()))
}

/// The patch as JSON has it: a text in braces has to be JSON, all else is YAML (utils.go `ConvertYAMLToJSON`).
fn read(text: &str, span: Span) -> Result<Tree, String> {
    if text.trim_start().starts_with('{') {
        let json = serde_json::from_str(text)
            .map_err(|error| format!("it starts with a brace but is not valid JSON: {error}"))?;
        return Ok(Tree::of_json(json, span));
    }
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let read = || {
        let Some(document) = yamltree::parse_first(text, span.source, &options)? else { return Ok(None) };
        let mut root = document.root;
        root.expand_aliases(Expansion::Decoded(Dialect::V2))?;
        Tree::of_node(&root).map(Some)
    };
    let tree = read().map_err(|error: yamltree::Error| format!("invalid YAML: {}", error.go_text()))?;
    Ok(tree.unwrap_or_default())
}

fn keep_project(application: &mut Tree, project: Option<Tree>) {
    let spec = application.entries_mut().map(|entries| {
        entries
            .entry("spec".to_owned())
            .or_insert_with(|| Tree { kind: Kind::Map(Entries::new()), ..Tree::default() })
    });
    if let Some(entries) = spec.and_then(Tree::entries_mut) {
        match project {
            Some(project) => drop(entries.insert("project".to_owned(), project)),
            None => drop(entries.remove("project")),
        }
    }
}

fn merge(mut original: Tree, mut patch: Entries, shape: Shape) -> Result<Tree, String> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.text() {
            Some("replace") => Ok(original.with(Kind::Map(patch))),
            Some("delete") => Ok(original.with(Kind::Map(Entries::new()))),
            _ => Err(format!("`{DIRECTIVE}` is `replace` or `delete`")),
        };
    }
    let Some(entries) = original.entries_mut() else { return Ok(original) };
    if let Some(keys) = patch.remove(RETAIN_KEYS) {
        retain(entries, &patch, &keys)?;
    }
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix(DELETE_FROM_LIST) {
            delete_from(entries, list, &value);
        } else if key.starts_with(ELEMENT_ORDER) {
            return Err(format!("`{key}` is not supported here"));
        } else if value.is_null() {
            entries.remove(&key);
        } else {
            merge_entry(entries, &key, value, shape)?;
        }
    }
    Ok(original)
}

fn merge_entry(entries: &mut Entries, key: &str, value: Tree, shape: Shape) -> Result<(), String> {
    let merged = match (entries.remove(key), value) {
        (Some(original @ Tree { kind: Kind::Map(_), .. }), Tree { kind: Kind::Map(patch), .. }) => {
            Some(merge(original, patch, known(shape, key)?)?)
        }
        (Some(Tree { kind: Kind::List(original), span, key: at }), Tree { kind: Kind::List(patch), .. }) => {
            known(shape, key)?;
            let items = if key == MERGED_LIST { merge_texts(original, patch) } else { patch };
            Some(Tree { kind: Kind::List(items), span, key: at })
        }
        (_, value) => without_directives(value),
    };
    if let Some(merged) = merged {
        entries.insert(key.to_owned(), merged);
    }
    Ok(())
}

/// The shape of a map or list that both sides have. What is in a `valuesObject` has no type that could say how.
fn known(shape: Shape, key: &str) -> Result<Shape, String> {
    match shape {
        Shape::Map(inner) => Some(*inner),
        _ => shape.field(key).map(|field| field.shape),
    }
    .ok_or_else(|| {
        format!(
            "a strategic merge cannot merge `{key}`, which the Application has already: its type is unknown"
        )
    })
}

/// A new value: nulls in it mean nothing, and what has a directive is no value.
fn without_directives(mut tree: Tree) -> Option<Tree> {
    tree.kind = match tree.kind {
        Kind::Map(entries) if entries.contains_key(DIRECTIVE) => return None,
        Kind::Map(entries) => {
            let kept = entries.into_iter().filter(|(_, value)| !value.is_null());
            Kind::Map(kept.filter_map(|(key, value)| Some((key, without_directives(value)?))).collect())
        }
        Kind::List(items) => Kind::List(items.into_iter().filter_map(without_directives).collect()),
        kind => kind,
    };
    Some(tree)
}

fn retain(entries: &mut Entries, patch: &Entries, keys: &Tree) -> Result<(), String> {
    let Kind::List(keys) = &keys.kind else { return Err(format!("`{RETAIN_KEYS}` must be a list of keys")) };
    let keys: Vec<&str> = keys.iter().filter_map(Tree::text).collect();
    let is_set = |(key, value): &(&String, &Tree)| !value.is_null() && !key.starts_with('$');
    if let Some((key, _)) = patch.iter().filter(is_set).find(|(key, _)| !keys.contains(&key.as_str())) {
        return Err(format!("`{key}` is set and is not in `{RETAIN_KEYS}`"));
    }
    entries.retain(|key, _| keys.contains(&key.as_str()));
    Ok(())
}

fn delete_from(entries: &mut Entries, list: &str, deleted: &Tree) {
    let Kind::List(deleted) = &deleted.kind else { return };
    if let Some(Tree { kind: Kind::List(items), .. }) = entries.get_mut(list) {
        items.retain(|item| !deleted.iter().any(|each| each.text().is_some() && each.text() == item.text()));
    }
}

/// Both lists without repetitions: those of the patch in its order, and before each the original's own that stand before
/// it there.
fn merge_texts(original: Vec<Tree>, patch: Vec<Tree>) -> Vec<Tree> {
    let order: Vec<String> = original.iter().filter_map(|item| item.text().map(str::to_owned)).collect();
    let position = |item: &Tree| order.iter().position(|each| Some(each.as_str()) == item.text());
    let without_repetitions = |items: Vec<Tree>| {
        let mut kept: Vec<Tree> = Vec::new();
        for item in items {
            if !kept.iter().any(|each| each.text() == item.text()) {
                kept.push(item);
            }
        }
        kept
    };
    let patch = without_repetitions(patch);
    let own = |item: &Tree| !patch.iter().any(|each| each.text() == item.text());
    let mut own =
        without_repetitions(original).into_iter().filter(own).collect::<Vec<_>>().into_iter().peekable();
    let mut merged = Vec::new();
    for item in patch {
        while let Some(next) = own.next_if(|next| position(&item).is_some_and(|at| position(next) < Some(at)))
        {
            merged.push(next);
        }
        merged.push(item);
    }
    merged.extend(own);
    merged
}

#[cfg(test)]
mod tests {
    use super::super::schema::encode;
    use super::*;

    const APP: &str = r#"{"metadata": {"name": "a", "labels": {"x": "1"}, "finalizers": ["f1", "f2"]},
        "spec": {"project": "p", "destination": {"name": "c"},
                 "source": {"repoURL": "r", "helm": {"valueFiles": ["a"], "valuesObject": {"m": {"x": 1}, "l": [1], "s": "t"}}}}}"#;

    fn patched(patch: &str) -> Result<serde_json::Value, String> {
        let application = Tree::of_json(serde_json::from_str(APP).unwrap(), Span::NONE);
        apply(application, patch, Span::NONE)
            .map(|(tree, _)| serde_json::from_str(&encode(&tree, APPLICATION).json()).unwrap())
    }

    #[test]
    fn maps_are_merged_and_lists_replaced() {
        let json = patched(
            "metadata: {labels: {b: '2', x: null}}\nspec:\n  project: other\n  source: {helm: {valueFiles: [b], valuesObject: {s: 5, new: {deep: null, k: v}}}}\n",
        )
        .unwrap();
        assert_eq!(json["metadata"]["labels"].to_string(), r#"{"b":"2"}"#);
        assert_eq!(json["spec"]["project"], "p");
        assert_eq!(
            json["spec"]["source"]["helm"].to_string(),
            r#"{"valueFiles":["b"],"valuesObject":{"l":[1],"m":{"x":1},"new":{"k":"v"},"s":5}}"#
        );
    }

    #[test]
    fn a_patch_of_nothing_changes_nothing() {
        for patch in ["", "  \n", "# nothing\n", "null", "{}"] {
            assert_eq!(patched(patch).unwrap()["metadata"]["labels"]["x"], "1", "{patch:?}");
        }
    }

    #[test]
    fn what_cannot_be_merged_is_refused() {
        for (patch, want) in [
            ("hello world", "`the document` must be a mapping"),
            ("- a", "`the document` must be a mapping"),
            ("{spec: {}}", "not valid JSON"),
            ("a: b: c", "invalid YAML"),
            ("spec: {source: {helm: {valuesObject: {m: {z: 2}}}}}", "cannot merge `m`"),
            ("spec: {source: {helm: {valuesObject: {l: [2]}}}}", "cannot merge `l`"),
            ("spec: {source: {path: 5}}", "`path` must be a string"),
            ("spec: {$patch: merge}", "`$patch` is `replace` or `delete`"),
            ("metadata: {$setElementOrder/finalizers: []}", "not supported"),
        ] {
            let message = patched(patch).unwrap_err();
            assert!(message.contains(want), "{patch}: {message}");
        }
    }

    #[test]
    fn finalizers_are_merged() {
        let finalizers = |patch: &str| patched(patch).unwrap()["metadata"]["finalizers"].to_string();
        assert_eq!(finalizers("metadata: {finalizers: [f3]}"), r#"["f3","f1","f2"]"#);
        assert_eq!(finalizers("metadata: {finalizers: [f3, f2, f3]}"), r#"["f3","f1","f2"]"#);
        assert_eq!(finalizers("metadata: {finalizers: [f2, f1]}"), r#"["f2","f1"]"#);
        assert_eq!(finalizers("metadata: {$deleteFromPrimitiveList/finalizers: [f1]}"), r#"["f2"]"#);
    }

    #[test]
    fn directives_replace_and_delete() {
        let json = patched(
            "metadata: {labels: {$patch: replace, z: '1'}}\nspec: {source: {helm: {$patch: delete}}}",
        )
        .unwrap();
        assert_eq!(json["metadata"]["labels"].to_string(), r#"{"z":"1"}"#);
        assert_eq!(json["spec"]["source"].to_string(), r#"{"helm":{},"repoURL":"r"}"#);
        let json = patched("spec: {source: {$retainKeys: [path, repoURL], path: q}}").unwrap();
        assert_eq!(json["spec"]["source"].to_string(), r#"{"path":"q","repoURL":"r"}"#);
    }

    #[test]
    fn unknown_fields_are_told() {
        let application = Tree::of_json(serde_json::from_str(APP).unwrap(), Span::NONE);
        let (_, unknown) = apply(application, "spec: {soruce: {}}", Span::NONE).unwrap();
        assert_eq!(unknown, ["soruce"]);
    }
}
