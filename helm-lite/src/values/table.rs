//! Values as they are read: tables that do not change, shared by charts, renderings and threads.
//!
//! Each value knows where it is written. Numbers have the type that templates see: `float64` in files, `int64` from
//! `--set`. To copy a table is to count one more holder, so that merging costs only what differs.

use std::sync::Arc;

use compact_str::CompactString;
use gotemplate::Map;
use yamltree::{SourceId, Span};

use crate::json::{Json, NodeId, Value};

/// A mapping of values, in the order of its keys' bytes: Helm's word for it.
#[derive(Clone, Debug, Default)]
pub struct Table(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    entries: Vec<Entry>,
    has_null: bool,
}

/// A key with its value.
pub(crate) type Entry = (CompactString, Item);

/// A value and where it is written.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value.
    pub data: Data,
    /// In a mapping from the start of its key; [`Span::NONE`] where nobody wrote it.
    pub span: Span,
}

/// A value as Go holds it.
#[derive(Clone, Debug)]
pub enum Data {
    /// `nil`
    Null,
    /// `bool`
    Bool(bool),
    /// `int64`, which only `--set` makes.
    Int(i64),
    /// `float64`
    Float(f64),
    /// `string`
    Str(CompactString),
    /// A `string` that is no UTF-8: the content of a file of `--set-file`.
    Bytes(Arc<[u8]>),
    /// `[]interface {}`
    List(Arc<Vec<Item>>),
    /// `map[string]interface {}`
    Table(Table),
}

impl Table {
    /// A table of entries that are sorted by their keys' bytes, each key once.
    pub(crate) fn from_sorted(entries: Vec<Entry>) -> Self {
        debug_assert!(entries.is_sorted_by(|left, right| left.0 < right.0), "a table's keys are sorted");
        let has_null = entries.iter().any(|(_, item)| match &item.data {
            Data::Null => true,
            Data::Table(table) => table.has_null(),
            _ => false,
        });
        Self(Arc::new(Inner { entries, has_null }))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Item> {
        let at = self.entries().binary_search_by(|(found, _)| found.as_str().cmp(key)).ok()?;
        Some(&self.entries()[at].1)
    }

    /// The value at a path of keys.
    #[must_use]
    pub fn lookup(&self, path: &[&str]) -> Option<&Item> {
        let (last, tables) = path.split_last()?;
        tables.iter().try_fold(self, |table, key| table.get(key)?.data.as_table())?.get(last)
    }

    /// The entries, in the order of the keys' bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Item)> {
        self.entries().iter().map(|(key, item)| (key.as_str(), item))
    }

    /// Returns how many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns true if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The map for templates, which nothing else holds.
    #[must_use]
    pub fn to_map(&self) -> Map {
        Map::new(self.entries().iter().map(|(key, item)| (key.as_str(), item.data.to_value())))
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0.entries
    }

    /// Returns true if this or a table in it, though not one in a list, has a key that is null.
    pub(crate) fn has_null(&self) -> bool {
        self.0.has_null
    }

    /// The table without keys that are null, here and in the tables in it, but not in lists.
    pub(crate) fn without_nulls(&self) -> Self {
        if !self.has_null() {
            return self.clone();
        }
        let kept = self.entries().iter().filter(|(_, item)| !item.data.is_null());
        let entries = kept.map(|(key, item)| {
            let data = match &item.data {
                Data::Table(table) => Data::Table(table.without_nulls()),
                data => data.clone(),
            };
            (key.clone(), Item { data, span: item.span })
        });
        Self::from_sorted(entries.collect())
    }
}

impl Item {
    /// A value of JSON with its place; none where a number is too large for Go.
    pub(crate) fn from_json(json: &Json<'_>, node: NodeId, source: SourceId) -> Option<Self> {
        let data = match json.value(node) {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(text) => Data::Float(text.parse().ok().filter(|number: &f64| number.is_finite())?),
            Value::Str(text) => Data::Str(CompactString::new(text)),
            Value::Array(_) => {
                let items = json.items(node).iter().map(|item| Self::from_json(json, *item, source));
                Data::List(Arc::new(items.collect::<Option<_>>()?))
            }
            Value::Object(_) => {
                let members = json.members(node).iter().map(|(key, member)| {
                    Some((CompactString::new(key), Self::from_json(json, *member, source)?))
                });
                Data::Table(Table::from_sorted(members.collect::<Option<_>>()?))
            }
        };
        let place = json.place(node);
        Some(Self { data, span: Span { source, start: place.start, end: place.end } })
    }
}

impl Data {
    /// Returns true if this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The table, if this is one.
    #[must_use]
    pub fn as_table(&self) -> Option<&Table> {
        match self {
            Self::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The type as Go's `%T` prints it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int64",
            Self::Float(_) => "float64",
            Self::Str(_) | Self::Bytes(_) => "string",
            Self::List(_) => "[]interface {}",
            Self::Table(_) => "map[string]interface {}",
        }
    }

    /// The value for templates; lists and maps in it are held by nothing else.
    #[must_use]
    pub fn to_value(&self) -> gotemplate::Value {
        use gotemplate::Value;
        match self {
            Self::Null => Value::Nil,
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::int64(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Str(text) => Value::from(text.as_str()),
            Self::Bytes(bytes) => Value::from(bytes.to_vec()),
            Self::List(items) => Value::list(items.iter().map(|item| item.data.to_value()).collect()),
            Self::Table(table) => Value::Map(table.to_map()),
        }
    }
}
