//! The walk from a tree to the values that a Go program decodes from it.
//!
//! In: a node without aliases. Out: calls to a [`Sink`], with the keys of every mapping in the wanted order. It
//! refuses what Go refuses on the way from YAML to JSON: keys that are no strings, numbers that are not finite,
//! scalars that do not fit their tag, and keys that occur twice.
//!
//! It keeps its own stack, as a document may be nested deeper than a thread's stack is good for.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::go_syntax::go_syntax;
use super::order::{compare_keys, sort_by_key_order};
use super::reread::reread;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::node::{Entry, Kind, Node, Tag};
use crate::number::push_yaml_float32;
use crate::resolve::Resolved;
use crate::timestamp::Timestamp;
use diagnostic::Span;

/// A scalar as Go holds it on the way to JSON.
#[derive(Clone, Debug)]
pub enum Scalar<'v> {
    /// `nil`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above [`i64::MAX`].
    Uint(u64),
    /// Any other number; see [`Scalar::float`].
    Float(f64),
    /// A `time.Time`.
    Timestamp(Timestamp),
    /// A string.
    Str(Cow<'v, str>),
}

impl Scalar<'_> {
    /// Makes a float, which must be finite in JSON. `span` is its location, for the error.
    pub fn float(float: f64, span: Span) -> Result<Self, Error> {
        let name = match float {
            _ if float.is_nan() => "NaN",
            f64::INFINITY => "+Inf",
            f64::NEG_INFINITY => "-Inf",
            _ => return Ok(Self::Float(float)),
        };
        Err(invalid(format!("json: unsupported value: {name}"), span).into_kyaml())
    }
}

/// Receives values in document order: the keys of a mapping come sorted, each before its value.
///
/// `SigsWriter` and `JsonWriter` are the two.
pub trait Sink {
    /// The place of the node whose value or start comes next.
    fn enter(&mut self, span: Span) {
        let _ = span;
    }
    /// Starts a mapping.
    fn mapping_start(&mut self, empty: bool);
    /// Ends the innermost collection, which is a mapping.
    fn mapping_end(&mut self);
    /// Starts a sequence.
    fn sequence_start(&mut self, empty: bool);
    /// Ends the innermost collection, which is a sequence.
    fn sequence_end(&mut self);
    /// A mapping's key. `span` is its location, for errors.
    fn key(&mut self, key: &str, span: Span) -> Result<(), Error>;
    /// A scalar that is a value or an item.
    fn value(&mut self, value: &Scalar<'_>, span: Span) -> Result<(), Error>;
}

/// The order of a mapping's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// go-yaml v2's.
    Natural,
    /// `encoding/json`'s.
    Bytes,
}

/// Sends a tree's values to a sink up to the first fault on the way.
pub(super) fn walk_in_order(
    root: &Node,
    dialect: Dialect,
    order: KeyOrder,
    sink: &mut impl Sink,
) -> Result<(), Error> {
    let mut walk = Walk { dialect, order, sink, entries: Vec::new(), frames: Vec::new() };
    walk.node(root)?;
    while let Some(frame) = walk.frames.last_mut() {
        match frame {
            Frame::Sequence(items) => match items.next() {
                Some(item) => walk.node(item)?,
                None => {
                    walk.frames.pop();
                    walk.sink.sequence_end();
                }
            },
            Frame::Mapping { start, next } => match walk.entries.get(*next) {
                Some((key, value)) => {
                    let (key, value) = (key.clone(), *value);
                    *next += 1;
                    walk.sink.key(&key, value.key.span)?;
                    walk.node(&value.value)?;
                }
                None => {
                    let start = *start;
                    walk.entries.truncate(start);
                    walk.frames.pop();
                    walk.sink.mapping_end();
                }
            },
        }
    }
    Ok(())
}

struct Walk<'n, 's, S> {
    dialect: Dialect,
    order: KeyOrder,
    sink: &'s mut S,
    /// The sorted entries of all open mappings, one mapping after another.
    entries: Vec<(Cow<'n, str>, &'n Entry)>,
    frames: Vec<Frame<'n>>,
}

/// An open collection.
enum Frame<'n> {
    Sequence(std::slice::Iter<'n, Node>),
    /// A mapping whose entries run from `start` to the end of all entries.
    Mapping {
        start: usize,
        next: usize,
    },
}

impl<'n, S: Sink> Walk<'n, '_, S> {
    fn node(&mut self, node: &'n Node) -> Result<(), Error> {
        self.sink.enter(node.span);
        match &node.kind {
            Kind::Scalar(text) => {
                let value = scalar(node, text, self.dialect)?;
                self.sink.value(&value, node.span)
            }
            Kind::Sequence(items) => {
                self.sink.sequence_start(items.is_empty());
                self.frames.push(Frame::Sequence(items.iter()));
                Ok(())
            }
            Kind::Mapping(entries) => self.mapping(entries),
            Kind::Alias(name) => Err(invalid(
                format!("the alias `{name}` cannot be written here: only its value can"),
                node.span,
            )),
        }
    }

    fn mapping(&mut self, entries: &'n [Entry]) -> Result<(), Error> {
        let start = self.entries.len();
        let is_root = self.frames.is_empty();
        for entry in entries {
            if let Some(key) = key(entry, self.dialect, is_root)? {
                self.entries.push((key, entry));
            }
        }
        self.sort_from(start);
        match self.dialect {
            Dialect::V2 => self.drop_overridden(start),
            Dialect::V3 => self.refuse_duplicates(start)?,
        }
        self.sink.mapping_start(self.entries.len() == start);
        self.frames.push(Frame::Mapping { start, next: start });
        Ok(())
    }

    fn sort_from(&mut self, start: usize) {
        let entries = &mut self.entries[start..];
        match self.order {
            KeyOrder::Natural => {
                if !entries.is_sorted_by(|left, right| compare_keys(&left.0, &right.0) != Ordering::Greater) {
                    sort_by_key_order(entries, |(key, _)| key);
                }
            }
            KeyOrder::Bytes => entries.sort_by(|(left, _), (right, _)| left.cmp(right)),
        }
    }

    /// go-yaml v2 fills a Go map, where a later key overrides an earlier one.
    fn drop_overridden(&mut self, start: usize) {
        let mut kept = start;
        for at in start..self.entries.len() {
            if kept > start && self.entries[kept - 1].0 == self.entries[at].0 {
                kept -= 1;
            }
            self.entries.swap(kept, at);
            kept += 1;
        }
        self.entries.truncate(kept);
    }

    fn refuse_duplicates(&self, start: usize) -> Result<(), Error> {
        match self.entries[start..].windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(duplicate(&pair[1].1.key)),
            None => Ok(()),
        }
    }
}

/// The string that a key becomes; `None` where Go drops the entry.
fn key<'n>(entry: &'n Entry, dialect: Dialect, is_root: bool) -> Result<Option<Cow<'n, str>>, Error> {
    let Some(text) = entry.key.text() else {
        let message = format!("invalid map key: {}", go_syntax(&entry.key, dialect));
        return Err(invalid(message, entry.key.span));
    };
    let resolved = entry.key.resolved(dialect)?;
    match dialect {
        Dialect::V2 => key_as_string(text, resolved, entry).map(Some),
        // Kustomize decodes a resource into a Go map with string keys, so go-yaml takes any scalar as a string there.
        Dialect::V3 if is_root && resolved == Resolved::Null => Ok(None),
        // Kustomize decodes a resource into a Go map with string keys, so go-yaml takes any scalar as a string there.
        Dialect::V3 if is_root || is_string(&entry.key, resolved) => reread(&entry.key, text).map(Some),
        Dialect::V3 => {
            Err(invalid("json: unsupported type: map[interface {}]interface {}", entry.key.span).into_kyaml())
        }
    }
}

/// Returns true if go-yaml v3 tags a key as a string; a foreign tag does not count.
fn is_string(key: &Node, resolved: Resolved) -> bool {
    resolved == Resolved::Str && matches!(key.tag, Tag::Implicit | Tag::Str | Tag::Merge)
}

/// Returns how `sigs.k8s.io/yaml` makes a string of a key.
fn key_as_string<'n>(text: &'n str, resolved: Resolved, entry: &Entry) -> Result<Cow<'n, str>, Error> {
    let unsupported = |key: &str| {
        let value = go_syntax(&entry.value, Dialect::V2);
        invalid(format!("unsupported map key of type: {key}, value: {value}"), entry.key.span).into_kyaml()
    };
    Ok(match resolved {
        Resolved::Str | Resolved::Timestamp(_) => Cow::Borrowed(text),
        Resolved::Binary => Cow::Owned(binary(text, entry.key.span)?),
        Resolved::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
        Resolved::Int(int) => Cow::Owned(int.to_string()),
        Resolved::Float(float) if float.is_nan() => Cow::Borrowed(".nan"),
        Resolved::Float(float) if float.is_infinite() => {
            Cow::Borrowed(if float > 0.0 { ".inf" } else { "-.inf" })
        }
        Resolved::Float(float) => {
            let mut key = String::new();
            push_yaml_float32(&mut key, float);
            Cow::Owned(key)
        }
        Resolved::Uint(uint) => return Err(unsupported(&format!("uint64, key: {uint:#x}"))),
        Resolved::Null => return Err(unsupported("%!s(<nil>), key: <nil>")),
    })
}

fn scalar<'n>(node: &'n Node, text: &'n str, dialect: Dialect) -> Result<Scalar<'n>, Error> {
    Ok(match node.resolved(dialect)? {
        Resolved::Null => Scalar::Null,
        Resolved::Bool(value) => Scalar::Bool(value),
        Resolved::Int(int) => Scalar::Int(int),
        Resolved::Uint(uint) => Scalar::Uint(uint),
        Resolved::Float(float) => Scalar::float(float, node.span)?,
        Resolved::Timestamp(_) if dialect == Dialect::V2 => Scalar::Str(Cow::Borrowed(text)),
        Resolved::Timestamp(timestamp) if timestamp.is_beyond_json() => {
            let message = "json: error calling MarshalJSON for type time.Time: \
                Time.MarshalJSON: timezone hour outside of range [0,23]";
            return Err(invalid(message, node.span).into_kyaml());
        }
        Resolved::Timestamp(timestamp) => Scalar::Timestamp(timestamp),
        Resolved::Binary => Scalar::Str(Cow::Owned(binary(text, node.span)?)),
        Resolved::Str if dialect == Dialect::V3 => Scalar::Str(reread(node, text)?),
        Resolved::Str => Scalar::Str(Cow::Borrowed(text)),
    })
}

/// Decodes base64 to a string. As in Go's JSON, it has a replacement character for each byte that is not UTF-8.
pub(super) fn binary(text: &str, span: Span) -> Result<String, Error> {
    let bytes = gostd::base64::decode(text.as_bytes())
        .map_err(|_| invalid("!!binary value contains invalid base64 data", span))?;
    let mut string = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        string.push_str(chunk.valid());
        string.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Ok(string)
}

/// The refusal of a key that its mapping has already. Go also names two lines, but of a text that nobody sees.
pub(super) fn duplicate(key: &Node) -> Error {
    let name = gostd::quoted(key.text().unwrap_or_default().as_bytes());
    invalid(format!("mapping key {name} already defined"), key.span)
}

pub(super) fn invalid(message: impl Into<String>, span: Span) -> Error {
    Error::new(ErrorKind::Invalid, message, span)
}
