//! Paths to nodes: `image.tag`, `containers[0].image`, `annotations.example\.com/tag`.
//!
//! A dot separates keys, `\.` is a dot in a key, `[0]` is an item of a list; where a list is, so is `.0`. A path goes
//! only through nodes that are written there: a path through an alias or a merged key is rejected.

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Kind, Node, Span};

use crate::anchors::{Anchors, own};
use crate::error::refused;
use crate::file::File;

/// The maximum number of keys that an error suggests.
const MAX_SUGGESTIONS: usize = 6;

/// The way from the root of a document to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// If it is empty, has an empty key, or has brackets without a number.
    pub fn parse(path: &str) -> Result<Self> {
        let malformed = |why: &str| Error::new(ErrorKind::Denied, format!("the path `{path}` {why}"));
        let mut steps = Vec::new();
        let mut rest = path;
        loop {
            let (key, after) = split_key(rest);
            // `[0].tag` begins with an index; anywhere else a key comes first.
            if !(key.is_empty() && steps.is_empty() && after.starts_with('[')) {
                if key.is_empty() {
                    return Err(malformed("has an empty key")
                        .hint("write keys with dots between them, as in `image.tag`"));
                }
                steps.push(Step::Key(key));
            }
            rest = after;
            while let Some(inside) = rest.strip_prefix('[') {
                let (index, after) = inside.split_once(']').ok_or_else(|| malformed("lacks a `]`"))?;
                let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
                let index = index.parse().ok().filter(|_| is_number);
                steps.push(Step::Index(index.ok_or_else(|| {
                    malformed("has brackets without a number").hint("items count from `[0]`")
                })?));
                rest = after;
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None if rest.is_empty() => return Ok(Self { text: path.to_owned(), steps }),
                None => return Err(malformed("has characters after a `]`").hint("a dot goes there")),
            }
        }
    }

    /// The path of a single key, whatever its characters.
    #[must_use]
    pub fn key(key: &str) -> Self {
        Self { text: key.to_owned(), steps: vec![Step::Key(key.to_owned())] }
    }

    /// The path as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A key up to the dot or bracket behind it. A backslash takes its meaning from either.
fn split_key(path: &str) -> (String, &str) {
    let mut key = String::new();
    let mut chars = path.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '.' | '[' => return (key, &path[at..]),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '.' | '[' | '\\')) {
                Some((_, escaped)) => key.push(escaped),
                None => key.push('\\'),
            },
            char => key.push(char),
        }
    }
    (key, "")
}

/// The part of a path that a document has.
struct Miss<'f> {
    depth: usize,
    /// The last node found.
    node: &'f Node,
    error: Error,
}

/// The missing end of a path.
#[derive(Clone, Debug)]
pub struct MissingPath<'f> {
    /// The last mapping on its way; nothing where the file is empty.
    pub mapping: Option<&'f Node>,
    /// The keys that are missing below it, at least one.
    pub keys: Vec<&'f str>,
}

impl File<'_> {
    /// The node at a path, which exactly one document has.
    ///
    /// # Errors
    /// If no document has it, or two have; or when the path goes through an alias, a merged key or a key that is
    /// there twice.
    pub fn find(&self, path: &Path) -> Result<&Node> {
        let anchors = self.anchors();
        let mut found: Option<&Node> = None;
        let mut farthest: Option<Miss<'_>> = None;
        for document in self.documents() {
            match walk(&document.root, path, &anchors)? {
                Ok(node) if found.is_some() => {
                    return Err(refused(
                        format!("ambiguous path `{}`: two documents have it", path.text),
                        node.span,
                    ));
                }
                Ok(node) => found = Some(node),
                Err(miss) if farthest.as_ref().is_none_or(|far| far.depth < miss.depth) => {
                    farthest = Some(miss);
                }
                Err(_) => {}
            }
        }
        found.ok_or_else(|| match farthest {
            Some(miss) => miss.error,
            None => Error::new(ErrorKind::NotFound, "the file is empty"),
        })
    }

    /// Returns the deepest existing mapping on a path that does not exist, and the keys missing below it.
    ///
    /// # Errors
    /// As [`Self::find`]; and when a list or a value is in the way, or several documents could have it.
    pub fn missing_path<'f>(&'f self, path: &'f Path) -> Result<MissingPath<'f>> {
        let anchors = self.anchors();
        let mut misses = Vec::new();
        let is_empty = |node: &Node| node.span.start == node.span.end;
        for document in self.documents().iter().filter(|document| !is_empty(&document.root)) {
            match walk(&document.root, path, &anchors)? {
                Ok(node) => {
                    return Err(refused(format!("the path `{}` already exists", path.text), node.span));
                }
                Err(miss) => misses.push(miss),
            }
        }
        let depth = misses.iter().map(|miss| miss.depth).max().unwrap_or_default();
        misses.retain(|miss| miss.depth == depth);
        let mut keys = Vec::new();
        for step in &path.steps[depth..] {
            match (step, misses.first()) {
                (Step::Key(key), _) => keys.push(key.as_str()),
                (Step::Index(_), Some(miss)) => return Err(miss.error.clone()),
                (Step::Index(_), None) => return Err(Error::new(ErrorKind::NotFound, "the file is empty")),
            }
        }
        match misses.as_slice() {
            [] => Ok(MissingPath { mapping: None, keys }),
            [Miss { node, .. }] if node.entries().is_some() => Ok(MissingPath { mapping: Some(node), keys }),
            [miss] => Err(miss.error.clone()),
            [_, miss, ..] => Err(refused(
                format!("ambiguous path `{}`: several documents could hold it", path.text),
                miss.node.span,
            )),
        }
    }

    /// The node at a path that begins at a node of the file.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_below<'f>(&'f self, node: &'f Node, path: &Path) -> Result<&'f Node> {
        walk(node, path, &self.anchors())?.map_err(|miss| miss.error)
    }
}

fn walk<'f>(root: &'f Node, path: &Path, anchors: &Anchors<'f>) -> Result<Result<&'f Node, Miss<'f>>> {
    let mut node = root;
    for (depth, step) in path.steps.iter().enumerate() {
        let child = match (step, &node.kind) {
            (_, Kind::Alias(name)) => {
                return Err(refused(format!("the path goes through the alias `*{name}`"), node.span)
                    .hint(format!("name the path of the anchor `&{name}` instead")));
            }
            (Step::Key(key), Kind::Mapping(_)) => child_of_mapping(node, key, anchors)?,
            (Step::Key(key), Kind::Sequence(items)) => match key.parse() {
                Ok(index) if key.bytes().all(|byte| byte.is_ascii_digit()) => item(node, items, index),
                _ => Err(missing(format!("cannot find `{key}`: its parent is a list"), node.span)
                    .hint("use `[0]` for an item")),
            },
            (Step::Index(index), Kind::Sequence(items)) => item(node, items, *index),
            (Step::Key(key), Kind::Scalar(_)) => {
                Err(missing(format!("cannot find `{key}`: its parent is not a mapping"), node.span))
            }
            (Step::Index(index), _) => {
                Err(missing(format!("cannot find `[{index}]`: its parent is not a list"), node.span))
            }
        };
        match child {
            Ok(child) => node = child,
            Err(error) => return Ok(Err(Miss { depth, node, error })),
        }
    }
    Ok(Ok(node))
}

fn child_of_mapping<'f>(node: &'f Node, key: &str, anchors: &Anchors<'f>) -> Result<Result<&'f Node>> {
    if let Some(entry) = own(node, key)? {
        return Ok(Ok(&entry.value));
    }
    if let Some(found) = anchors.get(node, key)? {
        return Err(refused(
            format!("the key `{key}` is merged in from a mapping that other places share"),
            found.entry.key.span,
        )
        .hint(format!("name the path of the mapping itself, or give this one its own `{key}`")));
    }
    let entries = node.entries().map(Vec::as_slice).unwrap_or_default();
    let keys: Vec<String> = entries
        .iter()
        .filter_map(|entry| entry.key.text())
        .take(MAX_SUGGESTIONS)
        .map(|key| format!("`{key}`"))
        .collect();
    let error = missing(format!("missing key `{key}`"), node.span);
    let more = if entries.len() > keys.len() { ", …" } else { "" };
    Ok(Err(if keys.is_empty() { error } else { error.hint(format!("there are {}{more}", keys.join(", "))) }))
}

fn item<'f>(node: &Node, items: &'f [Node], index: usize) -> Result<&'f Node> {
    items
        .get(index)
        .ok_or_else(|| missing(format!("no item `[{index}]`: the list has {}", items.len()), node.span))
}

fn missing(message: String, span: Span) -> Error {
    Error::new(ErrorKind::NotFound, message).at(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, path: &str) -> Result<String> {
        let file = File::parse(text, 0)?;
        let node = file.find(&Path::parse(path)?)?;
        Ok(text[node.span.start as usize..node.span.end as usize].to_owned())
    }

    #[test]
    fn paths_lead_to_nodes() {
        let text = "a:\n  b.c: 1\n  '[x': 2\n  l: [p, {q: r}, [s]]\non: {0: zero}\nback\\slash: 3\n";
        for (path, wanted) in [
            (r"a.b\.c", "1"),
            (r"a.\[x", "2"),
            ("a.l[0]", "p"),
            ("a.l.0", "p"),
            ("a.l[1].q", "r"),
            ("a.l[2][0]", "s"),
            ("a.l.2.0", "s"),
            ("on.0", "zero"),
            (r"back\slash", "3"),
            (r"back\\slash", "3"),
        ] {
            assert_eq!(at(text, path).unwrap(), wanted, "{path}");
        }
        assert_eq!(at("- a\n- b: c\n", "[1].b").unwrap(), "c");
    }

    #[test]
    fn a_gap_is_below_the_last_mapping_on_the_way() {
        let gap = |text: &str, path: &str| {
            let (file, path) = (File::parse(text, 0)?, Path::parse(path)?);
            let gap = file.missing_path(&path)?;
            let start = gap.mapping.map(|node| node.span.start);
            Ok::<_, Error>((start, gap.keys.join(",")))
        };
        assert_eq!(gap("a:\n  b: 1\n", "a.c.d").unwrap(), (Some(5), "c,d".to_owned()));
        assert_eq!(gap("l:\n- x: 1\n", "l[0].y").unwrap(), (Some(5), "y".to_owned()));
        assert_eq!(gap("a: {}\n", "a.b").unwrap(), (Some(3), "b".to_owned()));
        assert_eq!(gap("\n", "a.b").unwrap(), (None, "a,b".to_owned()));
        assert_eq!(gap("a: {b: 1}\n---\nc: 1\n", "a.c").unwrap(), (Some(3), "c".to_owned()));
        for (text, path) in [
            ("l:\n- x: 1\n", "l[1].y"),
            ("l: []\n", "l.y"),
            ("a: 1\n", "a.b"),
            ("a:\n", "a.b"),
            ("\n", "a[0]"),
            ("a: 1\n---\nb: 1\n", "c"),
            ("a: &x {}\nb: *x\n", "b.c"),
            ("a: 1\n", "a"),
        ] {
            assert!(gap(text, path).is_err(), "{text} {path}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for path in ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[-1]", "a[+1]", "a[x]", "a[0]b", "a.[0]"] {
            assert_eq!(Path::parse(path).unwrap_err().kind(), ErrorKind::Denied, "{path}");
        }
        assert!(Path::parse("a[99999999999999999999]").is_err());
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let text = "a: {b: 1}\nl: [x]\nn:\n";
        for path in ["A", "a.c", "a.b.c", "a[0]", "a.b[0]", "l[1]", "l.1", "l.x", "l.+0", "n.x", "n[0]"] {
            assert_eq!(at(text, path).unwrap_err().kind(), ErrorKind::NotFound, "{path}");
        }
        assert_eq!(at("", "a").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(at(text, "a.c").unwrap_err().get_hint(), Some("there are `b`"));
    }

    #[test]
    fn the_document_that_comes_nearest_explains() {
        let error = at("a: {b: 1}\n---\nc: 1\n", "a.d").unwrap_err();
        assert_eq!(error.get_hint(), Some("there are `b`"));
    }

    #[test]
    fn shared_and_ambiguous_places_are_refused() {
        for (text, path) in [
            ("a: &a {b: 1}\nc: *a\n", "c.b"),
            ("a: &a [1]\nc: *a\n", "c[0]"),
            ("a: &a {b: 1}\nc: {<<: *a}\n", "c.b"),
            ("a: {b: 1, b: 2}\n", "a.b"),
            ("a: {b: 1}\na: {c: 2}\n", "a.b"),
            ("a: 1\n---\na: 2\n", "a"),
        ] {
            assert_eq!(at(text, path).unwrap_err().kind(), ErrorKind::Denied, "{text}");
        }
        assert_eq!(at("a: &a {b: 1}\nc: {<<: *a, b: 2}\n", "c.b").unwrap(), "2");
        assert_eq!(at("a: &a {b: 1}\nc: *a\n", "a.b").unwrap(), "1");
    }
}
