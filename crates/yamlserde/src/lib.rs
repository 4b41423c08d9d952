//! Deserializes YAML with serde, strictly, with the location of every error.
//!
//! Input: a YAML text. Output: a value of any type that serde can deserialize. Rejects unknown fields, duplicate keys,
//! several documents, and what the type rejects. A string field gets a scalar as it is written, so that `constraint: 1.20`
//! is not 1.2.
//!
//! ```
//! use yamlserde::{Spanned, YamlFile};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Config {
//!     version: Spanned<String>,
//! }
//!
//! let config: Config = YamlFile::new("config.yaml", "version: 1.20\n").read()?;
//! assert_eq!((config.version.value.as_str(), config.version.start), ("1.20", 9));
//! let error = YamlFile::new("config.yaml", "versoin: 1.20\n").read::<Config>().err().expect("an error");
//! assert!(error.message().contains("versoin"));
//! # Ok::<(), diagnostic::Error>(())
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use diagnostic::{Error, Location};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use yamltree::{
    Dialect, DuplicateKeys, Entry, Expansion, Kind, Node, ParseOptions, Resolved, Source, SourceId, Span,
};

/// A value with where it is written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its first byte.
    pub start: u32,
}

/// The struct name by which [`Spanned`] asks the deserializer for an offset.
const SPANNED: &str = "$yamlserde::Spanned";
const START: &str = "$start";
const VALUE: &str = "$value";

/// A text that places are told in.
#[derive(Clone, Debug)]
pub struct YamlFile {
    source: Arc<Source>,
    /// By which spans name the text.
    id: SourceId,
}

impl YamlFile {
    /// A file's text under the name that a user would give it.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        Self::with_id(Arc::new(Source { name: path.to_owned(), text: Arc::from(text) }), 0)
    }

    /// A text whose nodes' spans have a number, where nodes of several texts come together.
    #[must_use]
    pub fn with_id(source: Arc<Source>, id: SourceId) -> Self {
        Self { source, id }
    }

    /// The text with its name.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Returns the location of a byte.
    #[must_use]
    pub fn location(&self, start: u32) -> Location {
        Location::new(&self.source, start, start)
    }

    /// Reads the only document of the text.
    ///
    /// # Errors
    /// If the text is not YAML, or does not fit the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let mut documents = self.documents()?.into_iter();
        let start = Span { source: self.id, start: 0, end: 0 };
        let root = documents.next().ok_or_else(|| self.error("the file is empty", start))?;
        if let Some(second) = documents.next() {
            return Err(self.error("the file has more than one document", second.span));
        }
        self.read_node(&root)
    }

    /// The roots of all documents of the text.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn documents(&self) -> Result<Vec<Node>, Error> {
        let options = ParseOptions { duplicate_keys: DuplicateKeys::Refuse, ..ParseOptions::default() };
        let refuse = |error: &yamltree::Error| self.error(error.message(), error.span());
        let documents =
            yamltree::parse(&self.source.text, self.id, &options).map_err(|error| refuse(&error))?;
        let expanded = |document: yamltree::Document| {
            let mut root = document.root;
            root.expand_aliases(Expansion::Decoded(Dialect::V3)).map_err(|error| refuse(&error))?;
            Ok(root)
        };
        documents.into_iter().map(expanded).collect()
    }

    /// Reads a part of the text.
    ///
    /// # Errors
    /// If the node does not fit the type.
    pub fn read_node<T: DeserializeOwned>(&self, node: &Node) -> Result<T, Error> {
        T::deserialize(Reader(node))
            .map_err(|fault| self.error(fault.message, fault.span.unwrap_or(node.span)))
    }

    /// Says what is wrong at some bytes of the text.
    pub fn error(&self, message: impl Into<String>, span: Span) -> Error {
        Error::invalid(message).at(Location { source: Arc::clone(&self.source), span })
    }
}

/// A deserialization error, with its span once known.
#[derive(Debug)]
struct Fault {
    message: String,
    span: Option<Span>,
}

impl Fault {
    /// Says where, unless something inside has said so.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

/// Gives a node to what wants a value.
#[derive(Clone, Copy)]
struct Reader<'n>(&'n Node);

impl<'n> Reader<'n> {
    fn give<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Fault> {
        let node = self.0;
        match &node.kind {
            Kind::Sequence(items) => visitor.visit_seq(Items(items.iter())),
            Kind::Mapping(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
            Kind::Scalar(text) => match node.resolved(Dialect::V3).map_err(de::Error::custom)? {
                Resolved::Null => visitor.visit_unit(),
                Resolved::Bool(value) => visitor.visit_bool(value),
                Resolved::Int(value) => visitor.visit_i64(value),
                Resolved::Uint(value) => visitor.visit_u64(value),
                Resolved::Float(value) => visitor.visit_f64(value),
                Resolved::Timestamp(_) | Resolved::Binary | Resolved::Str => visitor.visit_str(text),
            },
            Kind::Alias(name) => Err(Fault::custom(format_args!("the alias `{name}` has no anchor"))),
        }
    }

    fn is_null(self) -> bool {
        matches!(self.0.resolved(Dialect::V3), Ok(Resolved::Null))
    }

    /// The text of a scalar that is not null.
    fn text(self) -> Option<&'n str> {
        self.0.text().filter(|_| !self.is_null())
    }
}

impl Deserializer<'static> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.give(visitor).map_err(|fault| fault.at(self.0.span))
    }

    fn deserialize_str<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_str(text).map_err(|fault: Fault| fault.at(self.0.span)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'static>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'static>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let choice = match &self.0.kind {
            Kind::Mapping(entries) if entries.len() == 1 => {
                Some(Choice { name: Reader(&entries[0].key), value: Some(Reader(&entries[0].value)) })
            }
            _ => self.text().map(|_| Choice { name: self, value: None }),
        };
        let chosen = match choice {
            Some(choice) => visitor.visit_enum(choice),
            None => Err(Fault::custom("expected exactly one word or field")),
        };
        chosen.map_err(|fault| fault.at(self.0.span))
    }

    fn deserialize_struct<V: Visitor<'static>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == SPANNED {
            return visitor.visit_map(PlaceOf { node: self.0, given: 0 });
        }
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        <W: Visitor<'static>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// An enum variant: a plain string, or the only key of a mapping with its value.
struct Choice<'n> {
    name: Reader<'n>,
    value: Option<Reader<'n>>,
}

impl<'n> EnumAccess<'static> for Choice<'n> {
    type Error = Fault;
    type Variant = Given<'n>;

    fn variant_seed<S: DeserializeSeed<'static>>(self, seed: S) -> Result<(S::Value, Self::Variant), Fault> {
        Ok((seed.deserialize(self.name)?, Given(self.value)))
    }
}

/// The value of a variant.
struct Given<'n>(Option<Reader<'n>>);

impl VariantAccess<'static> for Given<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0 {
            None => Ok(()),
            Some(value) => Err(Fault::custom("expected a single word").at(value.0.span)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'static>>(self, seed: S) -> Result<S::Value, Fault> {
        seed.deserialize(self.0.ok_or_else(|| Fault::custom("this word requires a value"))?)
    }

    fn tuple_variant<V: Visitor<'static>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'static>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.0.ok_or_else(|| Fault::custom("this word requires fields"))?.deserialize_any(visitor)
    }
}

struct Items<'n>(std::slice::Iter<'n, Node>);

impl SeqAccess<'static> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'static>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.0.next().map(|item| seed.deserialize(Reader(item))).transpose()
    }
}

struct Entries<'n> {
    entries: std::slice::Iter<'n, Entry>,
    value: Option<&'n Node>,
}

impl MapAccess<'static> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'static>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        seed.deserialize(Reader(&entry.key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'static>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let value = self.value.take().ok_or_else(|| Fault::custom("a value without its key"))?;
        seed.deserialize(Reader(value))
    }
}

/// A node as a mapping of its place and its value.
struct PlaceOf<'n> {
    node: &'n Node,
    given: usize,
}

impl MapAccess<'static> for PlaceOf<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'static>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(key) = [START, VALUE].get(self.given) else { return Ok(None) };
        let key: StrDeserializer<'_, Fault> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'static>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        self.given += 1;
        if self.given > 1 {
            return seed.deserialize(Reader(self.node));
        }
        let start: de::value::U32Deserializer<Fault> = self.node.span.start.into_deserializer();
        seed.deserialize(start)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
            type Value = Spanned<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value with its place")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spanned<T>, A::Error> {
                map.next_key::<String>()?;
                let start = map.next_value()?;
                map.next_key::<String>()?;
                Ok(Spanned { start, value: map.next_value()? })
            }
        }
        deserializer.deserialize_struct(SPANNED, &[START, VALUE], Parts(PhantomData))
    }
}

/// Omits the position from the schema.
#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Sample {
        text: String,
        number: Option<u32>,
        #[serde(default)]
        list: Vec<Spanned<Inner>>,
        end: Option<End>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        on: bool,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum End {
        First,
        Last,
    }

    fn read(text: &str) -> Result<Sample, Error> {
        YamlFile::new("f.yaml", text).read()
    }

    #[test]
    fn values_have_their_places_and_texts_are_as_written() {
        let text = "text: 1.20\nnumber: ~\nend: last\nlist:\n- on: true\n-  &a {on: false}\n- *a\n";
        let sample = read(text).unwrap();
        assert_eq!((sample.text.as_str(), sample.number, sample.end), ("1.20", None, Some(End::Last)));
        let places: Vec<String> = sample
            .list
            .iter()
            .map(|item| YamlFile::new("f", text).location(item.start).to_string())
            .collect();
        assert_eq!(places[0], "f:5:3");
        assert_eq!(sample.list.iter().map(|item| item.value.on).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn a_fault_has_its_place() {
        for (text, place, message) in [
            ("text: a\nnumbr: 1\n", "f.yaml:2:1", "unknown field `numbr`, expected one of"),
            ("number: 1\n", "f.yaml:1:1", "missing field `text`"),
            ("text: a\nnumber: -1\n", "f.yaml:2:9", "integer `-1`"),
            ("text: [a]\n", "f.yaml:1:7", "expected a string"),
            ("text: ~\n", "f.yaml:1:7", "expected a string"),
            ("text: a\nend: middle\n", "f.yaml:2:6", "unknown variant `middle`"),
            ("text: a\nend: {}\n", "f.yaml:2:6", "exactly one word"),
            ("text: a\nend: {last: 1}\n", "f.yaml:2:13", "expected a single word"),
            ("text: a\nlist:\n- {on: true, off: 1}\n", "f.yaml:3:14", "unknown field `off`"),
            ("text: a\ntext: b\n", "f.yaml:2:1", "already"),
            ("text: a\n---\ntext: b\n", "f.yaml:3:1", "more than one document"),
            ("text: \"a\n", "f.yaml:", "unexpected end"),
            ("", "f.yaml:1:1", "empty"),
            ("text: *a\n", "f.yaml:1:7", "anchor"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().starts_with(place), "{text}: {error}");
            assert!(error.message().contains(message), "{text}: {error}");
        }
    }
}
