//! Schemas as the API server takes them from a CRD: structural ones. In: the schema of a type, with all that it refers to
//! inside. Out: the same in OpenAPI's words.
//!
//! - Null is no value: the API server drops it where a field may be absent.
//! - Fields that are not known are dropped, and not refused, so nothing is said of them.
//! - What serde takes for an absent field is our matter. What the API server is to write into objects stands as `x-default`
//!   in the types, and becomes `default`.

use schemars::Schema;
use serde_json::{Map, Value};

const SERVER_DEFAULT: &str = "x-default";

/// The structural schema.
pub(super) fn schema(schema: Schema) -> Value {
    let mut value = schema.to_value();
    visit(&mut value);
    value
}

fn visit(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    unite(fields);
    for key in ["title", "default"] {
        fields.remove(key);
    }
    if let Some(default) = fields.remove(SERVER_DEFAULT) {
        fields.insert("default".to_owned(), default);
    }
    if fields.get("additionalProperties") == Some(&Value::Bool(false)) {
        fields.remove("additionalProperties");
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = one_line(description);
    }
    refuse_null(fields);
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(visit);
        if properties.is_empty() {
            fields.remove("properties");
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            visit(inner);
        }
    }
}

/// A value or null is the value: what is said of both stays.
fn unite(fields: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = fields.get("anyOf") else { return };
    let is_null = |part: &Value| part["type"] == "null";
    let mut others = parts.iter().filter(|part| !is_null(part));
    if let (Some(Value::Object(only)), None) = (others.next(), others.next()) {
        let only = only.clone();
        fields.remove("anyOf");
        for (key, value) in only {
            fields.entry(key).or_insert(value);
        }
    }
}

/// Takes null out of types and values.
fn refuse_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(value) = fields.remove("const") {
        fields.insert("enum".to_owned(), Value::Array(vec![value]));
    }
}

/// Lines of a comment are no lines of a description; its paragraphs are.
fn one_line(description: &str) -> String {
    let paragraphs = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[expect(dead_code, reason = "only its schema is looked at")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// Of two
        /// lines.
        #[schemars(extend("x-default" = true))]
        flag: Option<bool>,
        #[serde(default)]
        off: bool,
        word: Option<Word>,
        inner: Option<Inner>,
        list: Vec<Inner>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Left,
        Right,
    }

    /// The kind of value.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {}

    #[test]
    fn a_schema_becomes_structural() {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let made = schema(Sample::json_schema(&mut settings.into_generator()));
        let wanted = json!({
            "type": "object",
            "required": ["list"],
            "properties": {
                "flag": { "type": "boolean", "default": true, "description": "Of two lines." },
                "off": { "type": "boolean" },
                "word": { "type": "string", "enum": ["left", "right"] },
                "inner": { "type": "object", "description": "The kind of value." },
                "list": { "type": "array", "items": { "type": "object", "description": "The kind of value." } },
            },
        });
        assert_eq!(made, wanted, "{made:#}");
    }
}
