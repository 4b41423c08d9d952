//! A tree as Go holds it after JSON: what kyaml makes of a resource that a JSON patch has touched.
//!
//! In: a node without aliases. Out: the same values as a new tree, with the places of the old one: numbers as floats
//! print, timestamps as text, every string in the style in which go-yaml writes it. It refuses what has no JSON; see
//! the walk.

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

/// The tree that Go holds after it has turned a node into JSON and back, and the places of the numbers that are no
/// longer the same. How the node's scalars are read is as for [`to_json`](crate::to_json).
pub fn to_json_tree(node: &Node, dialect: Dialect) -> Result<(Node, Vec<Span>), Error> {
    let mut builder = Builder::default();
    walk(node, dialect, KeyOrder::Natural, &mut builder)?;
    Ok((builder.done, builder.inexact))
}

#[derive(Default)]
struct Builder {
    done: Node,
    inexact: Vec<Span>,
    /// The open collections, with the keys whose values are being read.
    open: Vec<(Node, Option<Node>)>,
    /// The span of the current node.
    span: Span,
}

impl Builder {
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

impl Sink for Builder {
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
            *open = Some(string(key).at(span));
        }
        Ok(())
    }

    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), Error> {
        #[expect(clippy::cast_precision_loss, reason = "the loss is what upstream does")]
        let node = match value {
            Scalar::Null => Node::null(),
            Scalar::Bool(value) => Node::plain(if *value { "true" } else { "false" }),
            Scalar::Int(int) => {
                let float = *int as f64;
                #[expect(clippy::cast_possible_truncation, reason = "only compared")]
                if float as i128 != i128::from(*int) {
                    self.inexact.push(span);
                }
                number(float)
            }
            Scalar::Uint(uint) => {
                let float = *uint as f64;
                #[expect(clippy::cast_possible_truncation, reason = "only compared")]
                if float as i128 != i128::from(*uint) {
                    self.inexact.push(span);
                }
                number(float)
            }
            Scalar::Float(float) => number(*float),
            Scalar::Timestamp(timestamp) => string(&timestamp.to_string()),
            Scalar::Str(text) => string(text),
        };
        self.add(node.at(span));
        Ok(())
    }
}

fn number(float: f64) -> Node {
    let mut text = String::new();
    push_yaml_float(&mut text, float);
    Node::plain(&text)
}

/// A string in the style that it has once go-yaml has written and read it.
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
