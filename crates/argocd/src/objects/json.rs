//! Values of JSON one after another.
//!
//! In: a text. Out: a node for each value up to the first place that is no JSON. Only the values as a whole have places.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use yamltree::{Entry, Node, Scalar, SourceId, Span};

use super::values::{boolean, number};

/// The values at the beginning of a text; none unless it begins with a brace.
pub(super) struct Values<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
}

impl<'t> Values<'t> {
    pub(super) fn new(text: &'t str, source: SourceId) -> Self {
        Self { text, source, at: 0 }
    }

    /// Returns where the values end.
    pub(super) fn end(&self) -> usize {
        self.at
    }
}

impl Iterator for Values<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        let rest = &self.text[self.at..];
        let value = rest.trim_start();
        if self.at == 0 && !value.starts_with('{') {
            return None;
        }
        let start = self.at + (rest.len() - value.len());
        let mut stream = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        let Value(mut node) = stream.next()?.ok()?;
        self.at = start + stream.byte_offset();
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        node.span = Span { source: self.source, start: place(start), end: place(self.at) };
        Some(node)
    }
}

struct Value(Node);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Self)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(number(&Scalar::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(number(&Scalar::Uint(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(number(&Scalar::Float(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::string(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(Value(node)) = items.next_element()? {
            nodes.push(node);
        }
        Ok(Node::sequence(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, Value(value))) = map.next_entry::<String, _>()? {
            entries.push(Entry { key: Node::string(&key), value });
        }
        Ok(Node::mapping(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_json_does() {
        let mut values = Values::new(" {\"a\": \"\\ud83d\\ude00\"}[1, 2.50] x", 0);
        let first = values.next().unwrap();
        assert_eq!(first.get("a").and_then(Node::text), Some("😀"));
        assert_eq!((first.span.start, first.span.end), (1, 22));
        let second = values.next().unwrap();
        assert_eq!(second.items().unwrap()[1].text(), Some("2.5"));
        assert!(values.next().is_none());
        assert_eq!(values.end(), 31);
        assert!(Values::new("[1]", 0).next().is_none());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
        assert!(Values::new(&deep, 0).next().is_none());
    }
}
