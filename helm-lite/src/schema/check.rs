//! Tells whether a schema is what its metaschema asks for, at a glance.
//!
//! In: one schema, without those in it. Out: yes, or a doubt, which validation against the metaschema itself then
//! settles and words. That takes long for large schemas, and nearly all are sound.

use std::collections::HashSet;

use super::draft::{Draft, Holds};
use crate::json::{Json, NodeId, Value};

/// Returns true if there is no doubt about a schema. The schemas in it are looked at on their own.
pub(super) fn is_sound(json: &Json<'_>, node: NodeId, draft: Draft) -> bool {
    match json.value(node) {
        Value::Bool(_) => draft >= Draft::V6 || may_be_boolean(json, node),
        Value::Object(_) => {
            let glance = Glance { json, draft };
            json.members(node).iter().all(|(keyword, value)| glance.keyword(node, keyword, *value))
        }
        _ => false,
    }
}

/// Returns true if draft 4 takes a boolean for a schema where this one stands.
fn may_be_boolean(json: &Json<'_>, node: NodeId) -> bool {
    let Some(parent) = json.parent(node) else { return false };
    ["additionalItems", "additionalProperties"].iter().any(|key| json.member(parent, key) == Some(node))
}

struct Glance<'j, 't> {
    json: &'j Json<'t>,
    draft: Draft,
}

impl Glance<'_, '_> {
    fn keyword(&self, schema: NodeId, keyword: &str, value: NodeId) -> bool {
        if let Some(holds) = self.draft.holds(keyword) {
            return self.holds_schemas(keyword, holds, value);
        }
        let since = |draft| self.draft < draft;
        match keyword {
            "type" => self.is_type(value),
            "enum" => self.is_enum(value),
            "multipleOf" => self.number(value).is_some_and(|number| number > 0.0),
            "maximum" | "minimum" => self.number(value).is_some(),
            "exclusiveMaximum" | "exclusiveMinimum" if self.draft == Draft::V4 => {
                // There it says something about another keyword, which has to be there.
                let limit = if keyword == "exclusiveMaximum" { "maximum" } else { "minimum" };
                self.is_bool(value) && self.json.member(schema, limit).is_some()
            }
            "exclusiveMaximum" | "exclusiveMinimum" => self.number(value).is_some(),
            "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
                self.is_count(value)
            }
            "maxContains" | "minContains" => since(Draft::V2019) || self.is_count(value),
            "pattern" => self.json.text(value).is_some_and(is_pattern),
            "uniqueItems" => self.is_bool(value),
            "required" => {
                self.is_names(value) && (self.draft > Draft::V4 || !self.json.items(value).is_empty())
            }
            "dependentRequired" => since(Draft::V2019) || self.fields(value, |names| self.is_names(names)),
            "title" | "description" | "format" => self.is_text(value),
            "$comment" | "contentEncoding" | "contentMediaType" => since(Draft::V7) || self.is_text(value),
            "readOnly" => since(Draft::V7) || self.is_bool(value),
            "writeOnly" => since(Draft::V7) || self.is_bool(value),
            "deprecated" | "$recursiveAnchor" => since(Draft::V2019) || self.is_bool(value),
            "examples" => since(Draft::V6) || matches!(self.json.value(value), Value::Array(_)),
            "$schema" => self.json.text(value).is_some_and(|url| Draft::named(url).is_some()),
            "$id" if self.draft >= Draft::V2019 => {
                self.json.text(value).is_some_and(|id| is_plain_address(id) && !id.contains('#'))
            }
            "id" | "$id" | "$ref" | "$recursiveRef" | "$dynamicRef" => {
                self.json.text(value).is_some_and(is_plain_address)
            }
            "$anchor" | "$dynamicAnchor" => self.json.text(value).is_some_and(is_plain_anchor),
            "$vocabulary" => false,
            _ => true,
        }
    }

    fn holds_schemas(&self, keyword: &str, holds: Holds, value: NodeId) -> bool {
        let is_schema = |node: &NodeId| matches!(self.json.value(*node), Value::Object(_) | Value::Bool(_));
        let is_list = || {
            let items = self.json.items(value);
            !items.is_empty() && items.iter().all(is_schema)
        };
        match holds {
            Holds::Schema => is_schema(&value),
            Holds::Schemas => is_list(),
            Holds::SchemaOrSchemas => is_schema(&value) || (self.draft < Draft::V2020 && is_list()),
            Holds::Fields => {
                let is_regex = |key: &str| keyword != "patternProperties" || is_pattern(key);
                self.fields(value, |field| is_schema(&field))
                    && self.json.members(value).iter().all(|(key, _)| is_regex(key))
            }
            Holds::FieldsOrNames => self.fields(value, |field| is_schema(&field) || self.is_names(field)),
        }
    }

    fn fields(&self, value: NodeId, is_good: impl Fn(NodeId) -> bool) -> bool {
        matches!(self.json.value(value), Value::Object(_))
            && self.json.members(value).iter().all(|(_, field)| is_good(*field))
    }

    fn is_bool(&self, value: NodeId) -> bool {
        matches!(self.json.value(value), Value::Bool(_))
    }

    fn is_text(&self, value: NodeId) -> bool {
        self.json.text(value).is_some()
    }

    fn number(&self, value: NodeId) -> Option<f64> {
        match self.json.value(value) {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn is_count(&self, value: NodeId) -> bool {
        self.number(value).is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
    }

    fn is_names(&self, value: NodeId) -> bool {
        let mut seen = HashSet::new();
        let is_new = |item: &NodeId| self.json.text(*item).is_some_and(|name| seen.insert(name));
        matches!(self.json.value(value), Value::Array(_)) && self.json.items(value).iter().all(is_new)
    }

    fn is_type(&self, value: NodeId) -> bool {
        let is_name = |node: &NodeId| {
            let names = ["array", "boolean", "integer", "null", "number", "object", "string"];
            self.json.text(*node).is_some_and(|name| names.contains(&name))
        };
        let items = self.json.items(value);
        is_name(&value) || (!items.is_empty() && self.is_names(value) && items.iter().all(is_name))
    }

    /// Older drafts want an enumeration to have values, all of them different.
    fn is_enum(&self, value: NodeId) -> bool {
        let is_array = matches!(self.json.value(value), Value::Array(_));
        is_array && (self.draft >= Draft::V7 || (!self.json.items(value).is_empty() && self.is_names(value)))
    }
}

fn is_pattern(text: &str) -> bool {
    goregex::check(text).is_ok()
}

/// Returns true if a text surely is an address or a reference, and one without an escape.
fn is_plain_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/#$._~-".contains(&byte))
}

fn is_plain_anchor(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(text: &str, draft: Draft) -> bool {
        let mut json = Json::default();
        let root = json.read_all(text).expect("JSON");
        is_sound(&json, root, draft)
    }

    #[test]
    fn what_the_metaschemas_take_is_sound() {
        for text in [
            "true",
            "{}",
            r#"{"type": ["string", "null"], "minLength": 0, "maxLength": 2.0, "pattern": "^a", "x": 1}"#,
            r##"{"properties": {"a": true}, "required": ["a"], "$ref": "#/definitions/a", "enum": []}"##,
            r#"{"dependencies": {"a": ["b"], "c": {}}, "items": {}, "allOf": [{}]}"#,
        ] {
            assert!(sound(text, Draft::V7), "{text}");
        }
        assert!(sound(r#"{"items": [{}], "additionalItems": false}"#, Draft::V4));
        assert!(sound(r#"{"maximum": 1, "exclusiveMaximum": true}"#, Draft::V4));
    }

    #[test]
    fn what_they_may_refuse_is_doubtful() {
        for text in [
            "[]",
            r#"{"type": "text"}"#,
            r#"{"type": []}"#,
            r#"{"type": ["string", "string"]}"#,
            r#"{"minLength": -1}"#,
            r#"{"minLength": 1.5}"#,
            r#"{"pattern": "("}"#,
            r#"{"patternProperties": {"(": {}}}"#,
            r#"{"properties": {"a": 1}}"#,
            r#"{"required": "a"}"#,
            r#"{"allOf": []}"#,
            r#"{"multipleOf": 0}"#,
            r#"{"title": 1}"#,
        ] {
            assert!(!sound(text, Draft::V7), "{text}");
        }
        assert!(!sound(r#"{"items": [{}]}"#, Draft::V2020));
        assert!(!sound("true", Draft::V4));
        assert!(!sound(r#"{"required": []}"#, Draft::V4));
        assert!(!sound(r#"{"exclusiveMaximum": true}"#, Draft::V4));
    }
}
