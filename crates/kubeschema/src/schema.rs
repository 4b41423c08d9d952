//! A schema: the part of OpenAPI and JSON schema that Kubernetes and CRDs use.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The type of values; none where any will do.
    pub(crate) kind: Option<Type>,
    /// True if null is a value, beside being none.
    pub(crate) is_nullable: bool,
    /// The schemas of fields.
    pub(crate) properties: BTreeMap<String, Schema>,
    /// The schema of other fields.
    pub(crate) additional: Additional,
    /// The fields that have to be there.
    pub(crate) required: Vec<String>,
    /// The schema of items.
    pub(crate) items: Option<Box<Schema>>,
    /// The list type, which identifies items.
    pub(crate) list: ListType,
    /// The format of a string or number.
    pub(crate) format: Option<Format>,
    /// A reference to a schema of the same set by name.
    pub(crate) reference: Option<Arc<str>>,
    /// True if the value is an embedded resource with `apiVersion`, `kind` and `metadata`.
    pub(crate) is_resource: bool,
    /// Rules that only CRDs and JSON schemas have.
    pub(crate) rules: Option<Box<Rules>>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A mapping.
    Object,
    /// A list.
    Array,
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// An amount: `100m`, `1Gi`, 2.
    Quantity,
    /// A number or a text, as ports are.
    IntOrString,
    /// Null and nothing else.
    Null,
}

/// The schema of fields that are not named.
#[derive(Clone, Debug, Default)]
pub(crate) enum Additional {
    /// Anything.
    #[default]
    Any,
    /// Null is allowed.
    Refused,
    /// A schema.
    Schema(Box<Schema>),
}

/// The list type, which identifies items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Plain,
    /// No two are equal.
    Set,
    /// No two have the same values of these fields.
    Map(Vec<String>),
}

/// The format of a string or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Int32,
    Base64,
    DateTime,
}

/// Rules that only CRDs and JSON schemas have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// The values that there are, as JSON.
    pub(crate) values: Option<Vec<String>>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) length: Range,
    pub(crate) items: Range,
    pub(crate) fields: Range,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
    /// True if there are rules in CEL, which only the API server evaluates.
    pub(crate) has_expressions: bool,
}

/// A regular expression and how it was written.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    pub(crate) expression: Arc<goregex::Regex>,
}

/// The least or the most that a number may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) is_exclusive: bool,
}

/// Number of allowed items.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
}

impl Type {
    /// The type's name in a schema.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "quantity" => Self::Quantity,
            "int-or-string" => Self::IntOrString,
            "null" => Self::Null,
            _ => return None,
        })
    }

    /// Returns the expected type as words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Object => "a mapping",
            Self::Array => "a list",
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Quantity => "a quantity such as `100m` or `1Gi`",
            Self::IntOrString => "an integer or a string",
            Self::Null => "null",
        }
    }
}

impl Format {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "int32" => Self::Int32,
            "byte" => Self::Base64,
            "date-time" => Self::DateTime,
            _ => return None,
        })
    }
}

impl Rules {
    /// Returns true if they ask for nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let ranges = [self.length, self.items, self.fields];
        self.values.is_none()
            && self.pattern.is_none()
            && self.minimum.is_none()
            && self.maximum.is_none()
            && self.multiple_of.is_none()
            && ranges.iter().all(|range| range.least.is_none() && range.most.is_none())
            && self.all_of.is_empty()
            && self.any_of.is_empty()
            && self.one_of.is_empty()
            && self.not.is_none()
            && !self.has_expressions
    }
}
