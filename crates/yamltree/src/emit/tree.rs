//! Trees of the values that Go decodes.
//!
//! Input: a node without aliases. Output: a new tree with the same values and spans. [`to_json_tree`] builds what kyaml
//! makes of a resource that a JSON patch has changed: numbers spelled as Go prints floats, timestamps as strings, every
//! string in the style in which go-yaml writes it. [`map_values`] lets the caller make the scalars. Both reject what has
//! no JSON.

use std::mem;

use super::analysis::{Analysis, NEWLINE, classes};
use super::quoting::reads_as_string;
use super::values::walk;
use super::walk::{KeyOrder, Scalar, Sink};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::node::{Entry, Kind, Node, Style};
use crate::number::push_yaml_float;
use diagnostic::Span;

/// Returns the tree that Go holds after it has converted a node to JSON and back, and the spans of the numbers that lose
/// digits on the way. Scalars are read as for [`to_json`](crate::to_json).
///
/// # Errors
/// If the node has no JSON.
pub fn to_json_tree(node: &Node, dialect: Dialect) -> Result<(Node, Vec<Span>), Error> {
    let mut inexact = Vec::new();
    let value = |value: &Scalar<'_>, span| {
        if is_inexact(value) {
            inexact.push(span);
        }
        json_scalar(value)
    };
    let tree = Builder::build(node, dialect, KeyOrder::Natural, string, value)?;
    Ok((tree, inexact))
}

/// Builds a tree of the values of a node, with the keys of each mapping in byte order. `key` and `value` make the scalars;
/// they get the spans of the old ones.
///
/// # Errors
/// If the node has no JSON.
pub fn map_values(
    node: &Node,
    dialect: Dialect,
    key: impl Fn(&str) -> Node,
    mut value: impl FnMut(&Scalar<'_>) -> Node,
) -> Result<Node, Error> {
    Builder::build(node, dialect, KeyOrder::Bytes, key, |scalar, _| value(scalar))
}

struct Builder<K, V> {
    done: Node,
    /// The open collections, with the keys whose values are being read.
    open: Vec<(Node, Option<Node>)>,
    /// The span of the current node.
    span: Span,
    key: K,
    value: V,
}

impl<K: Fn(&str) -> Node, V: FnMut(&Scalar<'_>, Span) -> Node> Builder<K, V> {
    fn build(node: &Node, dialect: Dialect, order: KeyOrder, key: K, value: V) -> Result<Node, Error> {
        let mut builder = Self { done: Node::default(), open: Vec::new(), span: Span::NONE, key, value };
        walk(node, dialect, order, &mut builder)?;
        Ok(builder.done)
    }

    fn start(&mut self, collection: Node) {
        self.open.push((collection.at(self.span), None));
    }

    fn end(&mut self) {
        if let Some((collection, _)) = self.open.pop() {
            self.add(collection);
        }
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.done = node,
            Some((collection, key)) => match &mut collection.kind {
                Kind::Mapping(entries) => {
                    entries.push(Entry { key: mem::take(key).unwrap_or_default(), value: node });
                }
                Kind::Sequence(items) => items.push(node),
                Kind::Scalar(_) | Kind::Alias(_) => {}
            },
        }
    }
}

impl<K: Fn(&str) -> Node, V: FnMut(&Scalar<'_>, Span) -> Node> Sink for Builder<K, V> {
    fn enter(&mut self, span: Span) {
        self.span = span;
    }

    fn mapping_start(&mut self, _empty: bool) {
        self.start(Node::mapping(Vec::new()));
    }

    fn mapping_end(&mut self) {
        self.end();
    }

    fn sequence_start(&mut self, _empty: bool) {
        self.start(Node::sequence(Vec::new()));
    }

    fn sequence_end(&mut self) {
        self.end();
    }

    fn key(&mut self, key: &str, span: Span) -> Result<(), Error> {
        if let Some((_, open)) = self.open.last_mut() {
            *open = Some((self.key)(key).at(span));
        }
        Ok(())
    }

    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), Error> {
        let node = (self.value)(value, span).at(span);
        self.add(node);
        Ok(())
    }
}

/// Returns true for an integer that a float64 cannot hold.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the loss is what is asked for"
)]
fn is_inexact(value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Int(int) => *int as f64 as i128 != i128::from(*int),
        Scalar::Uint(uint) => *uint as f64 as i128 != i128::from(*uint),
        _ => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the loss is what upstream does")]
fn json_scalar(value: &Scalar<'_>) -> Node {
    match value {
        Scalar::Null => Node::null(),
        Scalar::Bool(value) => Node::plain(if *value { "true" } else { "false" }),
        Scalar::Int(int) => number(*int as f64),
        Scalar::Uint(uint) => number(*uint as f64),
        Scalar::Float(float) => number(*float),
        Scalar::Timestamp(timestamp) => string(&timestamp.to_string()),
        Scalar::Str(text) => string(text),
    }
}

fn number(float: f64) -> Node {
    let mut text = String::new();
    push_yaml_float(&mut text, float);
    Node::plain(&text)
}

/// Makes a string in the style in which go-yaml writes it.
fn string(text: &str) -> Node {
    let classes = classes(text);
    let analysis = Analysis::of(text, classes, Dialect::V3);
    let mut node = Node::string(text);
    node.style = if classes & NEWLINE != 0 {
        if analysis.block { Style::Literal } else { Style::DoubleQuoted }
    } else if !reads_as_string(text, Dialect::V3) {
        Style::DoubleQuoted
    } else if analysis.block_plain {
        Style::Plain
    } else if analysis.single_quoted {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    };
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ParseOptions;
    use crate::parse::parse_first;

    fn tree(text: &str) -> (String, usize) {
        let node = parse_first(text, 0, &ParseOptions::default()).unwrap().unwrap().root;
        let (tree, inexact) = to_json_tree(&node, Dialect::V3).unwrap();
        let mut out = String::new();
        crate::to_kyaml(&tree, crate::EmitOptions::KYAML, &mut out);
        (out, inexact.len())
    }

    /// As kyaml's `FromMap` prints what `encoding/json` decodes.
    #[test]
    fn scalars_are_spelled_anew() {
        let text = "a: 0x10\nb: 1000000\nc: 2001-01-01\nd: yes\ne: 'x'\nf: ~\ng: True\nh: 1.50\ni: \"a: b\"\nj: \"1\"\n";
        let wanted = "a: 16\nb: 1e+06\nc: \"2001-01-01T00:00:00Z\"\nd: \"yes\"\ne: x\nf: null\ng: true\nh: 1.5\ni: 'a: b'\nj: \"1\"\n";
        assert_eq!(tree(text), (wanted.to_owned(), 0));
    }

    #[test]
    fn large_numbers_lose_their_last_digits() {
        assert_eq!(
            tree("[9007199254740992, 9007199254740993]"),
            ("- 9.007199254740992e+15\n- 9.007199254740992e+15\n".to_owned(), 1)
        );
    }

    #[test]
    fn places_are_kept() {
        let text = "a:\n- b: 7\n";
        let node = parse_first(text, 3, &ParseOptions::default()).unwrap().unwrap().root;
        let (tree, _) = to_json_tree(&node, Dialect::V3).unwrap();
        let value = &tree.get("a").unwrap().items().unwrap()[0].get("b").unwrap();
        assert_eq!((value.span, tree.span), (Span { source: 3, start: 8, end: 9 }, node.span));
    }
}
