//! Checks that the schema of a CRD is structural and consistent.

use goregex::Regex;
use serde_json::{Map, Value, json};

use super::below;
use crate::apiserver::failure::Cause;

/// All that `JSONSchemaProps` has; what else a schema says is lost on the way to the server.
const KEYWORDS: &[&str] = &[
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Keywords that a CRD may not use at all.
const FORBIDDEN: &[&str] =
    &["$ref", "$schema", "additionalItems", "definitions", "dependencies", "id", "patternProperties"];

/// Keywords that define structure and are not allowed in alternatives.
const STRUCTURE: &[&str] = &["additionalProperties", "default", "description", "nullable", "type"];

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// Removes what is no keyword, and says what it was.
pub(in crate::apiserver) fn drop_unknown_keywords(schema: &mut Value, path: &str) -> Vec<String> {
    let mut dropped = Vec::new();
    let Some(fields) = schema.as_object_mut() else { return dropped };
    fields.retain(|keyword, _| {
        let is_known = KEYWORDS.contains(&keyword.as_str());
        if !is_known {
            dropped.push(below(path, keyword));
        }
        is_known
    });
    for (place, inner) in parts_mut(fields) {
        dropped.extend(drop_unknown_keywords(inner, &format!("{path}.{place}")));
    }
    dropped
}

fn parts_mut(fields: &mut Map<String, Value>) -> Vec<(String, &mut Value)> {
    let mut parts = Vec::new();
    for (keyword, value) in fields {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                parts.extend(
                    properties.iter_mut().map(|(name, value)| (format!("properties[{name}]"), value)),
                );
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                let numbered = all.iter_mut().enumerate();
                parts.extend(numbered.map(|(index, value)| (format!("{keyword}[{index}]"), value)));
            }
            ("items" | "additionalProperties" | "not", value) => parts.push((keyword.clone(), value)),
            _ => {}
        }
    }
    parts
}

/// Why the server would not take a schema.
pub(in crate::apiserver) fn faults(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    if schema["type"] != "object" {
        let why = "must be object at the root";
        causes.push(if schema["type"].is_null() {
            Cause::required(format!("{path}.type"), why)
        } else {
            Cause::invalid(format!("{path}.type"), &schema["type"], why)
        });
    }
    check_part(schema, path, &mut causes);
    causes
}

fn check_part(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let at = |keyword: &str| format!("{path}.{keyword}");
    for keyword in FORBIDDEN.iter().filter(|keyword| schema.get(**keyword).is_some()) {
        causes.push(Cause::forbidden(at(keyword), &format!("{keyword} is not supported")));
    }
    if schema["uniqueItems"] == true {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(at("uniqueItems"), why));
    }
    check_type(schema, path, causes);
    if schema["additionalProperties"].is_object() && schema["properties"].is_object() {
        let why = "must not be used together with additionalProperties";
        causes.push(Cause::forbidden(at("properties"), why));
    }
    if schema["additionalProperties"] == false {
        causes.push(Cause::forbidden(at("additionalProperties"), "must not be set to false"));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && let Err(error) = Regex::new(pattern)
    {
        causes.push(Cause::invalid(
            at("pattern"),
            &json!(pattern),
            &format!("must be a valid regular expression: {error}"),
        ));
    }
    check_list(schema, path, causes);
    check_default(schema, path, causes);
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for (index, one) in schema[keyword].as_array().into_iter().flatten().enumerate() {
            check_alternative(schema, one, &format!("{path}.{keyword}[{index}]"), causes);
        }
    }
    if let Some(not) = schema.get("not") {
        check_alternative(schema, not, &at("not"), causes);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        check_part(inner, &format!("{path}.properties[{name}]"), causes);
    }
    for keyword in ["items", "additionalProperties"] {
        if schema[keyword].is_object() {
            check_part(&schema[keyword], &at(keyword), causes);
        }
    }
}

fn check_type(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let place = format!("{path}.type");
    let is_free = ["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"]
        .iter()
        .any(|keyword| schema[*keyword] == true);
    match &schema["type"] {
        Value::Null if is_free => {}
        Value::Null => causes.push(Cause::required(place, "must not be empty for specified object fields")),
        Value::String(one) if TYPES.contains(&one.as_str()) => {
            if schema["x-kubernetes-int-or-string"] == true {
                causes.push(Cause::invalid(
                    place,
                    &schema["type"],
                    "must be empty if x-kubernetes-int-or-string is true",
                ));
            } else if one == "array" && !schema["items"].is_object() {
                causes.push(Cause::required(format!("{path}.items"), "must be specified"));
            }
        }
        other => {
            let supported: Vec<Value> = TYPES.iter().map(|one| json!(one)).collect();
            causes.push(Cause::unsupported(place, other, &supported));
        }
    }
}

fn check_list(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let kind = &schema["x-kubernetes-list-type"];
    if kind.is_null() {
        return;
    }
    let place = format!("{path}.x-kubernetes-list-type");
    if schema["type"] != "array" {
        causes.push(Cause::invalid(
            format!("{path}.type"),
            &schema["type"],
            "must be array if x-kubernetes-list-type is specified",
        ));
    }
    if !["atomic", "set", "map"].iter().any(|one| kind == one) {
        causes.push(Cause::unsupported(place, kind, &[json!("atomic"), json!("set"), json!("map")]));
    }
    if kind != "map" {
        return;
    }
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    if keys.is_none_or(Vec::is_empty) {
        let why = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(format!("{path}.x-kubernetes-list-map-keys"), why));
    }
    let items = &schema["items"];
    for key in keys.into_iter().flatten().filter_map(Value::as_str) {
        let property = &items["properties"][key];
        if property.is_null() {
            let why = "entries must all be names of item properties";
            causes.push(Cause::invalid(format!("{path}.x-kubernetes-list-map-keys"), &json!(key), why));
            continue;
        }
        let required = items["required"].as_array().is_some_and(|all| all.iter().any(|one| one == key));
        if !required && property.get("default").is_none() {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.push(Cause::required(format!("{path}.items.properties[{key}].default"), why));
        }
    }
}

fn check_default(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(default) = schema.get("default") else { return };
    let place = format!("{path}.default");
    for cause in super::check(schema, default) {
        let field = if cause.field.is_empty() { place.clone() } else { below(&place, &cause.field) };
        causes.push(Cause { field, ..cause });
    }
    let mut pruned = default.clone();
    if !super::shape::prune_part(schema, &mut pruned).is_empty() {
        causes.push(Cause::invalid(place, default, "must be equal to the pruned default"));
    }
}

/// Checks that an alternative only restricts fields that the schema itself defines.
fn check_alternative(outer: &Value, one: &Value, path: &str, causes: &mut Vec<Cause>) {
    let is_int_or_string = outer["x-kubernetes-int-or-string"] == true;
    for keyword in STRUCTURE.iter().filter(|keyword| one.get(**keyword).is_some()) {
        if !(*keyword == "type" && is_int_or_string) {
            causes.push(Cause::forbidden(format!("{path}.{keyword}"), "must be empty to be structural"));
        }
    }
    for (name, inner) in one["properties"].as_object().into_iter().flatten() {
        let place = format!("{path}.properties[{name}]");
        match outer["properties"].get(name) {
            Some(known) => check_alternative(known, inner, &place, causes),
            None => causes.push(Cause::required(place, "because it is defined in an alternative")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(field: &Value) -> Vec<String> {
        let schema = json!({"type": "object", "properties": {"a": field}});
        faults(&schema, "s").into_iter().map(|cause| cause.field).collect()
    }

    /// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
    #[test]
    fn only_structural_schemas_are_taken() {
        let cases = [
            (json!({}), "s.properties[a].type"),
            (json!({"type": "text"}), "s.properties[a].type"),
            (json!({"type": "array"}), "s.properties[a].items"),
            (
                json!({"type": "object", "additionalProperties": false}),
                "s.properties[a].additionalProperties",
            ),
            (json!({"$ref": "#/x", "type": "object"}), "s.properties[a].$ref"),
            (json!({"type": "string", "pattern": "("}), "s.properties[a].pattern"),
            (json!({"type": "string", "default": 1}), "s.properties[a].default"),
            (json!({"type": "string", "anyOf": [{"type": "string"}]}), "s.properties[a].anyOf[0].type"),
            (
                json!({"type": "object", "oneOf": [{"required": ["x"], "properties": {"x": {}}}]}),
                "s.properties[a].oneOf[0].properties[x]",
            ),
            (
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}}}),
                "s.properties[a].items.properties[k].default",
            ),
        ];
        for (field, want) in cases {
            assert_eq!(told(&field), [want], "{field}");
        }
        for good in [
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "oneOf": [{"required": ["x"]}]}),
        ] {
            assert_eq!(told(&good), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn what_is_no_keyword_is_lost() {
        let mut schema = json!({"type": "object", "properties": {"const": {"type": "string", "const": "x"}}});
        assert_eq!(drop_unknown_keywords(&mut schema, "s"), ["s.properties[const].const"]);
        assert_eq!(schema, json!({"type": "object", "properties": {"const": {"type": "string"}}}));
    }
}
