//! Holds a value against a schema.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use goregex::Regex;
use serde_json::{Map, Value, json};

use super::{ListKind, below, is_true, key_of, list_kind};
use crate::apiserver::failure::Cause;

/// Returns what breaks the schema.
pub(in crate::apiserver) fn check(schema: &Value, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_value(schema, value, "", &mut causes);
    causes
}

fn check_value(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    if value.is_null() && (is_true(schema, "nullable") || !schema.is_object()) {
        return;
    }
    let found = type_of(value);
    let allowed = schema["type"].as_str().unwrap_or_default();
    let is_allowed = match allowed {
        _ if is_true(schema, "x-kubernetes-int-or-string") => ["integer", "string"].contains(&found),
        "" => true,
        "number" => ["integer", "number"].contains(&found),
        _ => allowed == found,
    };
    if !is_allowed {
        let wanted = if allowed.is_empty() { "integer,string" } else { allowed };
        causes.push(Cause::wrong_type(path, found, wanted));
        return;
    }
    match value {
        Value::Object(fields) => check_fields(schema, fields, path, causes),
        Value::Array(items) => check_items(schema, items, path, causes),
        Value::String(text) => check_text(schema, text, path, causes),
        Value::Number(_) => check_number(schema, value, path, causes),
        _ => {}
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        causes.push(Cause::unsupported(path, value, values));
    }
    check_alternatives(schema, value, path, causes);
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        // Go decodes a number without a fraction as an integer.
        Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_fields(schema: &Value, fields: &Map<String, Value>, path: &str, causes: &mut Vec<Cause>) {
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(required) {
            causes.push(Cause::required(below(path, required), ""));
        }
    }
    for (field, value) in fields {
        check_value(super::of_field(schema, field), value, &below(path, field), causes);
    }
    if let Some(most) = schema["maxProperties"].as_u64().filter(|most| fields.len() as u64 > *most) {
        causes.push(Cause::too_many(path, fields.len(), most));
    }
    if let Some(least) = schema["minProperties"].as_u64().filter(|least| (fields.len() as u64) < *least) {
        let why = format!("{path} in body should have at least {least} properties");
        causes.push(Cause::invalid(path, &json!(fields.len()), &why));
    }
}

fn check_items(schema: &Value, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
    if let Some(most) = schema["maxItems"].as_u64().filter(|most| items.len() as u64 > *most) {
        causes.push(Cause::too_many(path, items.len(), most));
    }
    if let Some(least) = schema["minItems"].as_u64().filter(|least| (items.len() as u64) < *least) {
        let why = format!("{path} in body should have at least {least} items");
        causes.push(Cause::invalid(path, &json!(items.len()), &why));
    }
    for (index, item) in items.iter().enumerate() {
        check_value(&schema["items"], item, &format!("{path}[{index}]"), causes);
    }
    let kind = list_kind(schema);
    let mut known = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let key = match &kind {
            ListKind::Atomic => return,
            ListKind::Set => item.clone(),
            ListKind::Map(keys) => key_of(schema, keys, item),
        };
        if !known.insert(key.to_string()) {
            causes.push(Cause::duplicate(format!("{path}[{index}]"), &key));
        }
    }
}

fn check_text(schema: &Value, text: &str, path: &str, causes: &mut Vec<Cause>) {
    let value = json!(text);
    let length = text.chars().count() as u64;
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
        causes.push(Cause::too_long(path, most));
    }
    if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
        let why = format!("{path} in body should be at least {least} chars long");
        causes.push(Cause::invalid(path, &value, &why));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        // A pattern that is none was refused with its definition.
        let matches = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
        if !matches {
            causes.push(Cause::invalid(path, &value, &format!("{path} in body should match '{pattern}'")));
        }
    }
    if let Some(format) = schema["format"].as_str()
        && !has_format(text, format)
    {
        let why = format!("{path} in body must be of type {format}: {text:?}");
        causes.push(Cause::invalid(path, &value, &why));
    }
}

/// Formats that the real server does not know are no constraint there either.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok() && text.contains('T'),
        // Not one of a CRD's: `metav1.MicroTime`, which Go reads by a layout with just six digits.
        "micro-time" => {
            let fraction = text.rsplit_once('.').map_or("", |(_, rest)| rest);
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            digits == 6 && text.parse::<jiff::Timestamp>().is_ok()
        }
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "byte" => STANDARD.decode(text).is_ok(),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        _ => true,
    }
}

fn check_number(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let number = value.as_f64().unwrap_or_default();
    if let Some(least) = schema["minimum"].as_f64() {
        let exclusive = is_true(schema, "exclusiveMinimum");
        if number < least || exclusive && number == least {
            let words = if exclusive { "greater than" } else { "greater than or equal to" };
            causes.push(Cause::invalid(path, value, &format!("{path} in body should be {words} {least}")));
        }
    }
    if let Some(most) = schema["maximum"].as_f64() {
        let exclusive = is_true(schema, "exclusiveMaximum");
        if number > most || exclusive && number == most {
            let words = if exclusive { "less than" } else { "less than or equal to" };
            causes.push(Cause::invalid(path, value, &format!("{path} in body should be {words} {most}")));
        }
    }
    if schema["format"] == "int32" && !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) {
        causes.push(Cause::invalid(path, value, &format!("{path} in body must be of type int32: {value}")));
    }
}

/// `allOf`, `anyOf`, `oneOf`, `not`.
fn check_alternatives(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let holds = |one: &Value| {
        let mut faults = Vec::new();
        check_value(one, value, path, &mut faults);
        faults.is_empty()
    };
    for one in schema["allOf"].as_array().into_iter().flatten() {
        check_value(one, value, path, causes);
    }
    let mut refuse = |why: &str| {
        causes.push(Cause::invalid(path, &json!(""), &format!("{path:?} {why}")));
    };
    if schema["anyOf"].as_array().is_some_and(|any| !any.iter().any(holds)) {
        refuse("must validate at least one schema (anyOf)");
    }
    match schema["oneOf"].as_array().map(|one| one.iter().filter(|one| holds(one)).count()) {
        Some(0) => refuse("must validate one and only one schema (oneOf). Found none valid"),
        Some(count) if count > 1 => {
            refuse(&format!(
                "must validate one and only one schema (oneOf). Found {count} valid alternatives"
            ));
        }
        _ => {}
    }
    if schema.get("not").is_some_and(holds) {
        refuse("must not validate the schema (not)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(schema: &Value, value: &Value) -> Vec<String> {
        check(schema, value).iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    /// The words are those of kube-openapi, which operators know from `kubectl apply`.
    #[test]
    fn a_value_is_held_against_its_schema() {
        let schema = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        let cases = [
            (
                json!({"type": "string"}),
                json!(1),
                r#"Invalid value: "integer": a in body must be of type string: "integer""#,
            ),
            (
                json!({"type": "string"}),
                json!(null),
                r#"Invalid value: "null": a in body must be of type string: "null""#,
            ),
            (
                json!({"type": "string", "enum": ["x", "y"]}),
                json!("z"),
                r#"Unsupported value: "z": supported values: "x", "y""#,
            ),
            (
                json!({"type": "string", "minLength": 1}),
                json!(""),
                r#"Invalid value: "": a in body should be at least 1 chars long"#,
            ),
            (
                json!({"type": "string", "maxLength": 1}),
                json!("xx"),
                "Too long: may not be more than 1 bytes",
            ),
            (
                json!({"type": "string", "pattern": "^x$"}),
                json!("y"),
                r#"Invalid value: "y": a in body should match '^x$'"#,
            ),
            (
                json!({"type": "array", "minItems": 1}),
                json!([]),
                "Invalid value: 0: a in body should have at least 1 items",
            ),
            (
                json!({"type": "array", "maxItems": 1}),
                json!([1, 2]),
                "Too many: 2: must have at most 1 items",
            ),
            (
                json!({"type": "integer", "minimum": 1}),
                json!(0),
                "Invalid value: 0: a in body should be greater than or equal to 1",
            ),
            (
                json!({"type": "string", "format": "date-time"}),
                json!("x"),
                r#"Invalid value: "x": a in body must be of type date-time: "x""#,
            ),
        ];
        for (one, value, want) in cases {
            assert_eq!(told(&schema(one), &json!({"a": value})), [format!("a: {want}")]);
        }
        for (one, value) in [
            (json!({"type": "string", "nullable": true}), json!(null)),
            (json!({"type": "number"}), json!(1)),
            (json!({"x-kubernetes-int-or-string": true}), json!("10%")),
            (json!({"type": "string", "format": "duration-of-ours"}), json!("x")),
        ] {
            assert_eq!(told(&schema(one), &json!({"a": value})), Vec::<String>::new());
        }
    }

    #[test]
    fn lists_by_key_hold_each_key_once() {
        let schema = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["alias"],
            "items": {"type": "object", "required": ["alias"], "properties": {"alias": {"type": "string"}}}});
        let twice = json!([{"alias": "web"}, {"alias": "db"}, {"alias": "web"}]);
        assert_eq!(told(&schema, &twice), [r#"[2]: Duplicate value: {"alias":"web"}"#]);
        assert_eq!(told(&schema, &json!([{}])), ["[0].alias: Required value"]);
    }

    /// https://github.com/kubernetes/kubernetes/issues/112193: Go's layout wants just six digits.
    #[test]
    fn micro_times_have_six_digits() {
        let schema = json!({"type": "string", "format": "micro-time"});
        assert!(check(&schema, &json!("2026-01-01T00:00:00.000000Z")).is_empty());
        for bad in ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123456789Z"] {
            assert_eq!(check(&schema, &json!(bad)).len(), 1, "{bad}");
        }
    }
}
