//! A stream of documents as Kubernetes reads one, and lists taken apart.
//!
//! In: a text of YAML or JSON. Out: an object for each document that holds one; empty documents and `null` do not
//! count. A text that begins with a brace is JSON values one after another, and YAML from where it is no JSON any more.
//! Of YAML between two separators only the first document counts. Refused: what is no YAML, content behind a separator
//! on its line, and documents that are no objects.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{
    Dialect, DuplicateKeys, ErrorKind, Expansion, MAX_TEXT_LEN, Node, ParseOptions, Source, Span, parse_first,
};

use super::json::Values;
use super::values::is_null;
use super::{Object, Sources, place_of};

/// The file's number in spans.
const ID: u32 = 0;

/// The objects of a text, lists taken apart.
///
/// # Errors
/// See [`documents`] and [`flatten`].
pub fn read(source: &Arc<Source>) -> Result<Vec<Object>> {
    flatten(documents(source)?)
}

/// The objects of a text, one for each document.
///
/// # Errors
/// If a document is no YAML or no object.
pub fn documents(source: &Arc<Source>) -> Result<Vec<Object>> {
    match documents_until_fault(source) {
        (objects, None) => Ok(objects),
        (_, Some(fault)) => Err(fault),
    }
}

/// The objects of a text up to the first document that is none, and what is wrong with that.
#[must_use]
pub fn documents_until_fault(source: &Arc<Source>) -> (Vec<Object>, Option<Error>) {
    let mut objects = Vec::new();
    let fault = add_documents(source, &mut objects).err();
    (objects, fault)
}

fn add_documents(source: &Arc<Source>, objects: &mut Vec<Object>) -> Result<()> {
    let sources: Sources = [Arc::clone(source)].into();
    let text: &str = &source.text;
    if text.len() > MAX_TEXT_LEN {
        return Err(Error::invalid(format!("`{}` has more than {MAX_TEXT_LEN} bytes", source.name)));
    }
    let mut add = |node: &Node| -> Result<()> {
        objects.push(Object::new(node, &sources)?);
        Ok(())
    };
    let mut values = Values::new(text, ID);
    for value in &mut values {
        if !is_null(&value) {
            add(&value)?;
        }
    }
    let rest = values.end();
    for chunk in chunks(&text[rest..]).map_err(|at| separator_fault(&sources, rest + at))? {
        let start = rest + chunk.start;
        if let Some(root) = document(&text[start..rest + chunk.end], start, &sources)? {
            add(&root)?;
        }
    }
    Ok(())
}

/// The document between two separators; `None` where nothing is written.
fn document(text: &str, start: usize, sources: &Sources) -> Result<Option<Node>> {
    // As Kubernetes reads lines, the last one ends too, and how lines end does not count.
    let text = if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) };
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        offset: offset(start),
        ..ParseOptions::default()
    };
    let refuse = |error: yamltree::Error| {
        let sentence = match error.kind() {
            ErrorKind::Invalid => format!("invalid YAML: {}", error.message()),
            ErrorKind::Limit => error.message().to_owned(),
        };
        Error::invalid(sentence).at(place_of(sources, error.span()))
    };
    let Some(mut document) = parse_first(&text, ID, &options).map_err(refuse)? else { return Ok(None) };
    document.root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(refuse)?;
    let root = document.root;
    let is_empty = matches!(root.resolved(Dialect::V2), Ok(yamltree::Resolved::Null));
    Ok((!is_empty).then_some(root))
}

/// The runs of lines between lines that begin with `---`; where such a line has more than a comment, its place.
fn chunks(text: &str) -> Result<Vec<Range<usize>>, usize> {
    let mut chunks = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let line_start = at;
        at += line.len();
        let Some(rest) = line.strip_prefix("---") else { continue };
        let rest = rest.trim_end();
        if !rest.trim_start().is_empty() && !rest.trim_start().starts_with('#') {
            return Err(line_start);
        }
        if line_start > start {
            chunks.push(start..line_start);
        }
        start = at;
    }
    if at > start {
        chunks.push(start..at);
    }
    Ok(chunks)
}

fn separator_fault(sources: &Sources, at: usize) -> Error {
    let span = Span { source: ID, start: offset(at), end: offset(at + 3) };
    Error::invalid("`---` has more than a comment behind it on its line")
        .at(place_of(sources, span))
        .hint("put the content on the next line")
}

/// Texts are shorter than 4 GiB.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Puts the items of lists in the place of the lists: of whatever has `items` that are a list. A list of null is
/// nothing.
///
/// # Errors
/// If an item is no object.
pub fn flatten(objects: Vec<Object>) -> Result<Vec<Object>> {
    let mut flat = Vec::with_capacity(objects.len());
    for mut object in objects {
        match object.node.get("items") {
            Some(items) if items.is_sequence() => {
                let list = object.node.get_mut("items").and_then(Node::items_mut).map(std::mem::take);
                for item in list.unwrap_or_default() {
                    flat.push(Object::of_json(item, Arc::clone(&object.sources))?);
                }
            }
            Some(items) if is_null(items) && !has_content(&object) => {}
            _ => flat.push(object),
        }
    }
    Ok(flat)
}

/// Returns true if an object with `items: null` is more than an empty list.
fn has_content(object: &Object) -> bool {
    object.node.get("spec").is_some() || object.node.get("status").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Arc<Source> {
        Arc::new(Source { name: "all.yaml".to_owned(), text: text.into() })
    }

    fn names(text: &str) -> String {
        let objects = read(&source(text)).unwrap();
        objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn fault(text: &str) -> String {
        read(&source(text)).unwrap_err().to_string()
    }

    fn object(name: &str) -> String {
        format!("kind: A\nmetadata: {{name: {name}}}\n")
    }

    fn json(name: &str) -> String {
        format!(r#"{{"kind":"A","metadata":{{"name":"{name}"}}}}"#)
    }

    /// Expected values: what `helm lint` of Helm 4.3.1, which reads by the same decoder, names the objects of such texts.
    #[test]
    fn json_goes_over_into_yaml() {
        let (a, b, c) = (json("a"), json("b"), object("c"));
        for (text, want) in [
            ("{kind: A, metadata: {name: a}}".to_owned(), "A/a"),
            (a.replace("}}", "},}"), "A/a"),
            (format!("{a}\n---\n{c}"), "A/a A/c"),
            (format!("{a}---\n{c}"), "A/a A/c"),
            (format!("{a}\n# c\n---\n{c}"), "A/a A/c"),
            (format!("{a}\n{b}"), "A/a A/b"),
            (format!("{a}{b} null"), "A/a A/b"),
            // What follows a document without a separator is not looked at.
            (format!("# c\n{a}\n{b}"), "A/a"),
            (format!("{c}---\n{a} {b}\n"), "A/c A/a"),
            (format!("{c}...\nfoo: [\n---\n{b}"), "A/c A/b"),
        ] {
            assert_eq!(names(&text), want, "{text}");
        }
    }

    #[test]
    fn empty_documents_do_not_count() {
        for text in ["", "\n", "---\n---\n", "# only a comment\n---\nnull\n--- # nothing\n~\n", "null"] {
            assert_eq!(names(text), "", "{text:?}");
        }
        assert_eq!(names("---\r\nkind: A\r\n--- # b\r\nkind: B"), "A/without a name B/without a name");
    }

    #[test]
    fn of_equal_keys_the_last_counts() {
        assert_eq!(names("kind: A\nkind: B\nmetadata: {name: x}\n"), "B/x");
        assert_eq!(names(r#"{"kind":"A","kind":"B","metadata":{"name":"x"}}"#), "B/x");
    }

    #[test]
    fn anything_with_items_is_a_list() {
        let list = "kind: List\nitems:\n- kind: A\n  metadata: {name: a}\n- kind: List\n  items: []\n";
        // A list in a list stays one.
        assert_eq!(names(list), "A/a List/without a name");
        assert_eq!(names("kind: Any\nspec: {}\nitems: [{kind: B, metadata: {name: b}}]\n"), "B/b");
        assert_eq!(names("kind: List\nitems: null\n"), "");
        assert_eq!(names("kind: Any\nmetadata: {name: c}\nitems: null\nspec: {}\n"), "Any/c");
        assert_eq!(names("kind: Any\nmetadata: {name: c}\nitems: {}\n"), "Any/c");
    }

    #[test]
    fn faults_have_their_places() {
        for (text, want) in [
            ("kind: A\n--- x\n", "all.yaml:2:1: `---` has more than a comment behind it on its line"),
            ("kind: A\n---\n- kind: A\n", "all.yaml:3:1: expected a Kubernetes object (a mapping)"),
            ("---\napiVersion: v1\nname: a\n", "all.yaml:2:1: the object lacks `kind`"),
            ("a: b: c\n", "all.yaml:1:5: invalid YAML: mapping values are not allowed in this context"),
            ("kind: List\nitems:\n- null\n", "all.yaml:3:3: expected a Kubernetes object (a mapping)"),
            ("kind: A\napiVersion: a/b/c\n", "all.yaml:2:13: invalid apiVersion `a/b/c`"),
            ("{\"kind\": \"A\"}\n{\"name\": 1}", "all.yaml:2:1: the object lacks `kind`"),
        ] {
            assert_eq!(fault(text), want);
        }
    }
}
