//! Types that comments give to lists, which kyaml reads: `items: # {"type": "array", "x-kubernetes-patch-strategy": …}`.
//!
//! In: a document with its comments. Out: the comments on the lists that they stand at, and later the types that they
//! hold. A comment that holds none is only a comment.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use yamltree::{Comment, Entry, Kind, Node, SourceId};

use super::{Schema, Type, openapi};
use crate::json;

/// Types that comments hold, beside those of a schema.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) schema: Schema,
    shapes: HashMap<String, u32>,
}

/// Returns true if a text can hold a comment that matters: only lists that a patch adds to are affected.
pub(crate) fn may_matter(text: &str) -> bool {
    text.contains(openapi::PATCH_STRATEGY)
}

/// Puts the comments of a document on the lists that they are for: behind a list's key, or alone on the line above it.
/// `text` begins at `offset` of the file.
pub(crate) fn attach(root: &mut Node, comments: &[Comment], text: &str, offset: u32) {
    let part = |start: u32, end: u32| {
        let place = |at: u32| at.checked_sub(offset).map(|at| at as usize);
        text.get(place(start)?..place(end)?)
    };
    let types: Vec<(&Comment, &str)> = comments
        .iter()
        .filter_map(|comment| {
            Some((comment, part(comment.span.start, comment.span.end)?.trim_start_matches('#')))
        })
        .filter(|(_, text)| text.trim_start().starts_with('{') && may_matter(text))
        .collect();
    let is_for = |comment: &Comment, key: &Node| {
        let between = if comment.own_line {
            part(comment.span.end, key.span.start).is_some_and(|between| between.trim().is_empty())
        } else {
            part(key.span.end, comment.span.start).is_some_and(|between| between.trim() == ":")
        };
        between && key.span.source == comment.span.source
    };
    visit(root, &mut |Entry { key, value }| {
        if value.is_sequence()
            && let Some((_, text)) = types.iter().find(|(comment, _)| is_for(comment, key))
        {
            value.set_comment(text);
        }
    });
}

fn visit(node: &mut Node, see: &mut impl FnMut(&mut Entry)) {
    match &mut node.kind {
        Kind::Mapping(entries) => entries.iter_mut().for_each(|entry| {
            see(entry);
            visit(&mut entry.value, see);
        }),
        Kind::Sequence(items) => items.iter_mut().for_each(|item| visit(item, see)),
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

impl Written {
    /// The types in the comments of trees; `None` where there are no comments.
    pub(crate) fn of(trees: &[&Node], schema: &Schema) -> Option<Self> {
        let mut comments = Vec::new();
        trees.iter().for_each(|tree| collect(tree, &mut comments));
        if comments.is_empty() {
            return None;
        }
        schema.asked.fields.store(true, Ordering::Relaxed);
        comments.sort_unstable();
        comments.dedup();
        let types: Vec<(&str, Node)> = comments
            .into_iter()
            .filter_map(|text| Some((text, json::parse(text, SourceId::MAX).ok()?)))
            .collect();
        let (tables, shapes) = openapi::with_types(schema.tables.clone(), &types);
        Some(Self { schema: Schema::of(tables, schema.is_chosen), shapes })
    }

    /// The type that a comment on a list holds.
    pub(crate) fn type_of(&self, list: &Node) -> Option<Type<'_>> {
        let shape = *self.shapes.get(list.comment()?)?;
        Some(Type { tables: &self.schema.tables, shape })
    }
}

fn collect<'n>(node: &'n Node, comments: &mut Vec<&'n str>) {
    comments.extend(node.comment());
    match &node.kind {
        Kind::Mapping(entries) => entries.iter().for_each(|entry| collect(&entry.value, comments)),
        Kind::Sequence(items) => items.iter().for_each(|item| collect(item, comments)),
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use yamltree::{ParseOptions, parse_first};

    use super::*;

    fn read(text: &str) -> Node {
        let options = ParseOptions { comments: true, offset: 7, ..ParseOptions::default() };
        let mut document = parse_first(text, 0, &options).expect("YAML").expect("a document");
        attach(&mut document.root, &document.comments, text, 7);
        document.root
    }

    fn keys(text: &str, field: &str) -> Option<Vec<String>> {
        let root = read(text);
        let written = Written::of(&[&root], &Schema::builtin())?;
        let keys = written.type_of(root.get(field)?)?.merge_keys()?;
        Some(keys.iter().map(str::to_owned).collect())
    }

    const BY_NAME: &str = r##"{"type": "array", "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"}, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"}"##;

    #[test]
    fn a_comment_gives_a_list_its_type() {
        assert_eq!(
            keys(&format!("a:\n- b: 1\nx: # {BY_NAME}\n- name: n\n"), "x"),
            Some(vec!["name".to_owned()])
        );
        assert_eq!(keys(&format!("a: 1\n# {BY_NAME}\nx:\n- name: n\n"), "x"), Some(vec!["name".to_owned()]));
    }

    #[test]
    fn items_have_the_types_of_the_schema() {
        let root = read(&format!("x: # {BY_NAME}\n- name: n\n"));
        let written = Written::of(&[&root], &Schema::builtin()).expect("a comment");
        let list = root.get("x").and_then(|list| written.type_of(list)).expect("a type");
        assert!(list.items().and_then(|item| item.field("ports")).and_then(Type::merge_keys).is_some());
    }

    #[test]
    fn other_comments_mean_nothing() {
        for text in [
            "x: # a list\n- 1\n".to_owned(),
            "x: # {\"type\": \"array\"}\n- 1\n".to_owned(),
            format!("x:\n- 1 # {BY_NAME}\n"),
            format!("x: # {BY_NAME} and more\n- 1\n"),
        ] {
            assert_eq!(keys(&text, "x"), None, "{text}");
        }
    }
}
