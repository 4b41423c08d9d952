//! The drafts of JSON Schema: how each is named, where its schemas hold schemas, and what it says of itself.

use crate::json::{Json, NodeId};

/// A draft, the later the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    V4,
    V6,
    V7,
    V2019,
    V2020,
}

/// The form of a keyword that contains schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Schema,
    Schemas,
    /// A schema, or an array of them.
    SchemaOrSchemas,
    /// An object whose values are schemas.
    Fields,
    /// An object whose values are schemas or arrays of names.
    FieldsOrNames,
}

/// The keywords that hold schemas, with the first draft that has them. Later drafts go on looking into those that were
/// given up.
const SUBSCHEMAS: &[(&str, Holds, Draft)] = &[
    ("$defs", Holds::Fields, Draft::V2019),
    ("additionalItems", Holds::Schema, Draft::V4),
    ("additionalProperties", Holds::Schema, Draft::V4),
    ("allOf", Holds::Schemas, Draft::V4),
    ("anyOf", Holds::Schemas, Draft::V4),
    ("contains", Holds::Schema, Draft::V6),
    ("contentSchema", Holds::Schema, Draft::V2019),
    ("definitions", Holds::Fields, Draft::V4),
    ("dependencies", Holds::FieldsOrNames, Draft::V4),
    ("dependentSchemas", Holds::Fields, Draft::V2019),
    ("else", Holds::Schema, Draft::V7),
    ("if", Holds::Schema, Draft::V7),
    ("items", Holds::SchemaOrSchemas, Draft::V4),
    ("not", Holds::Schema, Draft::V4),
    ("oneOf", Holds::Schemas, Draft::V4),
    ("patternProperties", Holds::Fields, Draft::V4),
    ("prefixItems", Holds::Schemas, Draft::V2020),
    ("properties", Holds::Fields, Draft::V4),
    ("propertyNames", Holds::Schema, Draft::V6),
    ("then", Holds::Schema, Draft::V7),
    ("unevaluatedItems", Holds::Schema, Draft::V2019),
    ("unevaluatedProperties", Holds::Schema, Draft::V2019),
];

/// The schemas of schemas, by address, as json-schema.org publishes them.
const METASCHEMAS: &[(&str, &str)] = &[
    ("json-schema.org/draft-04/schema", include_str!("metaschemas/draft-04/schema")),
    ("json-schema.org/draft-06/schema", include_str!("metaschemas/draft-06/schema")),
    ("json-schema.org/draft-07/schema", include_str!("metaschemas/draft-07/schema")),
    ("json-schema.org/draft/2019-09/schema", include_str!("metaschemas/draft/2019-09/schema")),
    ("json-schema.org/draft/2019-09/meta/core", include_str!("metaschemas/draft/2019-09/meta/core")),
    (
        "json-schema.org/draft/2019-09/meta/applicator",
        include_str!("metaschemas/draft/2019-09/meta/applicator"),
    ),
    (
        "json-schema.org/draft/2019-09/meta/validation",
        include_str!("metaschemas/draft/2019-09/meta/validation"),
    ),
    (
        "json-schema.org/draft/2019-09/meta/meta-data",
        include_str!("metaschemas/draft/2019-09/meta/meta-data"),
    ),
    ("json-schema.org/draft/2019-09/meta/format", include_str!("metaschemas/draft/2019-09/meta/format")),
    ("json-schema.org/draft/2019-09/meta/content", include_str!("metaschemas/draft/2019-09/meta/content")),
    ("json-schema.org/draft/2020-12/schema", include_str!("metaschemas/draft/2020-12/schema")),
    ("json-schema.org/draft/2020-12/meta/core", include_str!("metaschemas/draft/2020-12/meta/core")),
    (
        "json-schema.org/draft/2020-12/meta/applicator",
        include_str!("metaschemas/draft/2020-12/meta/applicator"),
    ),
    (
        "json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("metaschemas/draft/2020-12/meta/unevaluated"),
    ),
    (
        "json-schema.org/draft/2020-12/meta/validation",
        include_str!("metaschemas/draft/2020-12/meta/validation"),
    ),
    (
        "json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("metaschemas/draft/2020-12/meta/meta-data"),
    ),
    (
        "json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("metaschemas/draft/2020-12/meta/format-annotation"),
    ),
    (
        "json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("metaschemas/draft/2020-12/meta/format-assertion"),
    ),
    ("json-schema.org/draft/2020-12/meta/content", include_str!("metaschemas/draft/2020-12/meta/content")),
];

impl Draft {
    /// The default draft of a schema.
    pub(super) const LATEST: Self = Self::V2020;

    /// The draft that a `$schema` names.
    pub(super) fn named(url: &str) -> Option<Self> {
        let url = url.strip_suffix('#').unwrap_or(url);
        let address = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        Some(match address {
            "json-schema.org/schema" => Self::LATEST,
            "json-schema.org/draft/2020-12/schema" => Self::V2020,
            "json-schema.org/draft/2019-09/schema" => Self::V2019,
            "json-schema.org/draft-07/schema" => Self::V7,
            "json-schema.org/draft-06/schema" => Self::V6,
            "json-schema.org/draft-04/schema" => Self::V4,
            _ => return None,
        })
    }

    /// The address of its metaschema.
    pub(super) fn url(self) -> &'static str {
        match self {
            Self::V4 => "http://json-schema.org/draft-04/schema",
            Self::V6 => "http://json-schema.org/draft-06/schema",
            Self::V7 => "http://json-schema.org/draft-07/schema",
            Self::V2019 => "https://json-schema.org/draft/2019-09/schema",
            Self::V2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The keyword that gives a schema its address.
    pub(super) fn id_key(self) -> &'static str {
        if self == Self::V4 { "id" } else { "$id" }
    }

    /// The address that a schema gives itself, without a fragment.
    pub(super) fn id<'j>(self, json: &'j Json<'_>, node: NodeId) -> Option<&'j str> {
        if self < Self::V2019 && json.member(node, "$ref").is_some() {
            return None;
        }
        let id = json.text(json.member(node, self.id_key())?)?;
        Some(id.split('#').next().unwrap_or_default()).filter(|id| !id.is_empty())
    }

    /// Returns what a keyword holds, if that is schemas.
    pub(super) fn holds(self, keyword: &str) -> Option<Holds> {
        let at = SUBSCHEMAS.binary_search_by(|(found, ..)| (*found).cmp(keyword)).ok()?;
        let (_, holds, since) = SUBSCHEMAS[at];
        (since <= self).then_some(holds)
    }
}

/// The text of a metaschema at an address.
pub(super) fn metaschema(url: &str) -> Option<&'static str> {
    let address = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let address =
        if address == "json-schema.org/schema" { &Draft::LATEST.url()["https://".len()..] } else { address };
    METASCHEMAS.iter().find(|(found, _)| *found == address).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_can_be_searched() {
        assert!(SUBSCHEMAS.is_sorted_by(|left, right| left.0 < right.0));
        assert_eq!(Draft::V7.holds("$defs"), None);
        assert_eq!(Draft::V2020.holds("definitions"), Some(Holds::Fields));
    }

    #[test]
    fn drafts_are_known_by_their_addresses() {
        for draft in [Draft::V4, Draft::V6, Draft::V7, Draft::V2019, Draft::V2020] {
            assert_eq!(Draft::named(draft.url()), Some(draft));
            assert!(metaschema(draft.url()).is_some());
        }
        assert_eq!(Draft::named("https://json-schema.org/draft-07/schema#"), Some(Draft::V7));
        assert_eq!(Draft::named("http://json-schema.org/draft-07/schema#/x"), None);
        assert_eq!(Draft::named("http://example.com/schema"), None);
    }
}
