//! JSON values with the places that they were written at.
//!
//! In: a YAML node, or JSON. Out: what `sigs.k8s.io/yaml` hands to Go's JSON decoder, with spans. Refused: what has no
//! JSON.

use std::collections::BTreeMap;

use gotemplate::Value;
use yamltree::{Dialect, Entry, Node, Resolved, Scalar, Sink, Span, send_values};

/// A value, where it stands, and where the key stands that it belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) key: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Kind {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    List(Vec<Tree>),
    Map(Entries),
}

/// The entries of a map, in the order of their keys.
pub(crate) type Entries = BTreeMap<String, Tree>;

impl Kind {
    /// Returns what a value is, for a sentence that says what else was wanted.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Uint(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

impl Tree {
    /// Returns what a node is when Go has read it.
    pub(crate) fn of_node(node: &Node) -> Result<Self, yamltree::Error> {
        Self::of_node_in(node, &|_| None)
    }

    /// The same for a node whose numbers are spelled as in JSON, where it is known what they were read as.
    pub(crate) fn of_node_in(node: &Node, origin: &OriginOf<'_>) -> Result<Self, yamltree::Error> {
        let mut builder = Builder { done: Self::default(), open: Vec::new(), span: Span::NONE, origin };
        send_values(node, Dialect::V2, &mut builder)?;
        Ok(builder.done)
    }

    /// JSON that was written at one place.
    pub(crate) fn of_json(json: serde_json::Value, span: Span) -> Self {
        use serde_json::Value as Json;
        let kind = match json {
            Json::Null => Kind::Null,
            Json::Bool(truth) => Kind::Bool(truth),
            Json::Number(number) => number
                .as_i64()
                .map(Kind::Int)
                .or_else(|| number.as_u64().map(Kind::Uint))
                .unwrap_or_else(|| Kind::Float(number.as_f64().unwrap_or_default())),
            Json::String(text) => Kind::Text(text),
            Json::Array(items) => {
                Kind::List(items.into_iter().map(|item| Self::of_json(item, span)).collect())
            }
            Json::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, Self::of_json(value, span)));
                Kind::Map(entries.collect())
            }
        };
        Self { kind, span, key: span }
    }

    /// The same place with another value.
    pub(crate) fn with(&self, kind: Kind) -> Self {
        Self { kind, span: self.span, key: self.key }
    }

    pub(crate) fn of_text(text: impl Into<String>) -> Self {
        Self { kind: Kind::Text(text.into()), ..Self::default() }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.get(key)
    }

    pub(crate) fn entries(&self) -> Option<&Entries> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub(crate) fn entries_mut(&mut self) -> Option<&mut Entries> {
        match &mut self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entries below a key; none where it is not there.
    pub(crate) fn entries_of(&self, key: &str) -> impl Iterator<Item = (&String, &Self)> {
        self.get(key).and_then(Self::entries).into_iter().flatten()
    }

    /// The items below a key; none where it is not there.
    pub(crate) fn items_of(&self, key: &str) -> &[Self] {
        match self.get(key).map(|tree| &tree.kind) {
            Some(Kind::List(items)) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text below a key; empty where it is not there.
    pub(crate) fn text_of(&self, key: &str) -> &str {
        self.get(key).and_then(Self::text).unwrap_or_default()
    }

    /// Returns true if a key is there with `true`.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        matches!(self.get(key).map(|tree| &tree.kind), Some(Kind::Bool(true)))
    }

    /// Returns what Go decodes from it into an `any`: numbers are `float64`s.
    #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Nil,
            Kind::Bool(truth) => Value::Bool(*truth),
            Kind::Int(number) => Value::Float(*number as f64),
            Kind::Uint(number) => Value::Float(*number as f64),
            Kind::Float(number) => Value::Float(*number),
            Kind::Text(text) => text.as_str().into(),
            Kind::List(items) => Value::list(items.iter().map(Self::to_value).collect()),
            Kind::Map(entries) => {
                Value::map(entries.iter().map(|(key, value)| (key.as_str(), value.to_value())))
            }
        }
    }

    /// The node that it is, with the same places.
    pub(crate) fn to_node(&self) -> Node {
        let node = match &self.kind {
            Kind::Null => Node::null(),
            Kind::Bool(truth) => Node::plain(if *truth { "true" } else { "false" }),
            Kind::Int(number) => Node::plain(&number.to_string()),
            Kind::Uint(number) => Node::plain(&number.to_string()),
            Kind::Float(number) => Node::plain(&json_number(*number)),
            Kind::Text(text) => Node::string(text),
            Kind::List(items) => Node::sequence(items.iter().map(Self::to_node).collect()),
            Kind::Map(entries) => Node::mapping(
                entries
                    .iter()
                    .map(|(key, value)| Entry {
                        key: Node::string(key).at(value.key),
                        value: value.to_node(),
                    })
                    .collect(),
            ),
        };
        node.at(self.span)
    }
}

/// A float as Go writes it into JSON: whole ones have no fraction.
fn json_number(number: f64) -> String {
    /// Below it every whole number is a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return format!("{number:.0}");
    }
    gotemplate::fmt::format_float(number, b'g', None)
}

#[cfg(test)]
impl Tree {
    /// The value as JSON.
    pub(crate) fn json(&self) -> String {
        let mut json = String::new();
        yamltree::to_json(&self.to_node(), yamltree::JsonOptions::SIGS, &mut json).unwrap();
        json
    }
}

/// Returns the value of a span's text, if known.
pub(crate) type OriginOf<'o> = dyn Fn(Span) -> Option<Resolved> + 'o;

struct Builder<'b> {
    done: Tree,
    /// The open collections, each with the key whose value is being read.
    open: Vec<(Tree, String, Span)>,
    span: Span,
    origin: &'b OriginOf<'b>,
}

impl Builder<'_> {
    fn start(&mut self, kind: Kind) {
        let tree = Tree { kind, span: self.span, key: Span::NONE };
        self.open.push((tree, String::new(), Span::NONE));
    }

    fn end(&mut self) {
        if let Some((tree, ..)) = self.open.pop() {
            self.add(tree);
        }
    }

    fn add(&mut self, mut tree: Tree) {
        let Some((parent, name, key)) = self.open.last_mut() else { return self.done = tree };
        match &mut parent.kind {
            Kind::List(items) => items.push(tree),
            Kind::Map(entries) => {
                tree.key = *key;
                entries.insert(std::mem::take(name), tree);
            }
            _ => {}
        }
    }
}

impl Sink for Builder<'_> {
    fn enter(&mut self, span: Span) {
        self.span = span;
    }

    fn mapping_start(&mut self, _empty: bool) {
        self.start(Kind::Map(Entries::new()));
    }

    fn mapping_end(&mut self) {
        self.end();
    }

    fn sequence_start(&mut self, _empty: bool) {
        self.start(Kind::List(Vec::new()));
    }

    fn sequence_end(&mut self) {
        self.end();
    }

    fn key(&mut self, text: &str, span: Span) -> Result<(), yamltree::Error> {
        if let Some((_, name, key)) = self.open.last_mut() {
            text.clone_into(name);
            *key = span;
        }
        Ok(())
    }

    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), yamltree::Error> {
        let kind = match value {
            Scalar::Null => Kind::Null,
            Scalar::Bool(truth) => Kind::Bool(*truth),
            // `2e+06` is a float, and so another text than 2000000 where a text is wanted.
            Scalar::Int(number) => match (self.origin)(span) {
                Some(Resolved::Float(float)) => Kind::Float(float),
                _ => Kind::Int(*number),
            },
            Scalar::Uint(number) => Kind::Uint(*number),
            Scalar::Float(number) => Kind::Float(*number),
            Scalar::Timestamp(timestamp) => Kind::Text(timestamp.to_string()),
            Scalar::Str(text) => Kind::Text(text.to_string()),
        };
        self.add(Tree { kind, span, key: Span::NONE });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_keys_have_their_places() {
        let text = "a: {b: [1, 2.0, yes]}\n";
        let node = yamltree::parse_first(text, 0, &yamltree::ParseOptions::default()).unwrap().unwrap().root;
        let tree = Tree::of_node(&node).unwrap();
        let list = tree.get("a").unwrap().get("b").unwrap();
        assert_eq!((list.key.start, list.span.start), (4, 7));
        let items = tree.get("a").unwrap().items_of("b");
        assert_eq!(items[2].span.start, 16);
        assert_eq!(tree.json(), r#"{"a":{"b":[1,2,true]}}"#);
    }

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        assert_eq!(json_number(3.0), "3");
        assert_eq!(json_number(-0.5), "-0.5");
        assert_eq!(json_number(1e30), "1e+30");
    }
}
