//! The messages are those of `helm template` 4.3.1, where several faults can come in any order in that of the keys.

use super::*;
use crate::values::testing::{chart, user};

fn verdict(schema: &str, values: &str) -> Result<(), String> {
    let mut root = chart("c", values, vec![]);
    root.schema = Some(schema.as_bytes().into());
    let values = root.values.clone();
    validate_values(&root, &values, &user("{}"), &mut Vec::new()).map_err(|error| error.message().to_owned())
}

/// `wanted` is what follows the chart's name, empty where the values are good.
#[track_caller]
fn check(schema: &str, values: &str, wanted: &str) {
    let header = "values don't meet the specifications of the schema(s) in the following chart(s):\nc:\n";
    let found = verdict(schema, values).err().unwrap_or_default();
    let found = found.strip_prefix(header).unwrap_or(&found);
    assert_eq!(found.trim_end(), wanted, "{schema} {values}");
}

#[test]
fn values_of_any_type() {
    for (schema, values, wanted) in [
        (r#"{"properties": {"a": {"type": "integer"}}}"#, "a: x\n", "- at '/a': got string, want integer"),
        (
            r#"{"properties": {"a": {"type": ["integer", "null"]}}}"#,
            "a: 1.5\n",
            "- at '/a': got number, want null or integer",
        ),
        (r#"{"properties": {"a": {"minimum": 10}}}"#, "a: 1.5\n", "- at '/a': minimum: got 1.5, want 10"),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 1234\n",
            "- at '/a': minimum: got 1,234, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 1234567.5\n",
            "- at '/a': minimum: got 1.2345675×10⁰⁶, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 0.00001234\n",
            "- at '/a': minimum: got 1.234×10⁻⁰⁵, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 1e21\n",
            "- at '/a': minimum: got 1×10²¹, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 12345678.123456\n",
            "- at '/a': minimum: got 1.2345678123456×10⁰⁷, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: -5\n",
            "- at '/a': minimum: got -5, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 1e-7\n",
            "- at '/a': minimum: got 1×10⁻⁰⁷, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"minimum": 1e+30}}}"#,
            "a: 123456789012\n",
            "- at '/a': minimum: got 1.23456789012×10¹¹, want 1×10³⁰",
        ),
        (
            r#"{"properties": {"a": {"maximum": 1234567.25}}}"#,
            "a: 1234567890.5\n",
            "- at '/a': maximum: got 1.2345678905×10⁰⁹, want 1.23456725×10⁰⁶",
        ),
        (
            r#"{"properties": {"a": {"enum": [1, 2.5, "x", null, true]}}}"#,
            "a: 5\n",
            "- at '/a': value must be one of 1, 2.5, 'x', <nil>, true",
        ),
        (r#"{"properties": {"a": {"enum": ["x"]}}}"#, "a: 5\n", "- at '/a': value must be 'x'"),
        (r#"{"properties": {"a": {"enum": [{"a": 1}, 2]}}}"#, "a: 5\n", "- at '/a': 'enum' failed"),
        (
            r#"{"properties": {"a": {"const": "it's \"q\" é\n"}}}"#,
            "a: 5\n",
            r#"- at '/a': value must be 'it\'s "q" é\n'"#,
        ),
        (r#"{"properties": {"a": {"const": [1]}}}"#, "a: 5\n", "- at '/a': 'const' failed"),
        (
            r#"{"properties": {"a": {"pattern": "^v\\d'\"$"}}}"#,
            "a: \"x'\\\"\\n\"\n",
            r#"- at '/a': 'x\'"\n' does not match pattern '^v\\d\'"$'"#,
        ),
        ("false", "a: 1", "- at '': false schema"),
        (
            r#"{"properties": {"a": {"exclusiveMinimum": 5, "exclusiveMaximum": 5}}}"#,
            "a: 5\n",
            "- at '/a': exclusiveMinimum: got 5, want 5\n- at '/a': exclusiveMaximum: got 5, want 5",
        ),
        (r#"{"properties": {"a": {"format": "regex", "type": "string"}}}"#, "a: \"(\"\n", ""),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn objects() {
    for (schema, values, wanted) in [
        (
            r#"{"required": ["z", "y"], "additionalProperties": false}"#,
            "a: 1\nb: 2\n",
            "- at '': missing properties 'z', 'y'\n- at '': additional properties 'a', 'b' not allowed",
        ),
        (r#"{"required": ["z"]}"#, "a: 1\nb: 2\n", "- at '': missing property 'z'"),
        (
            r#"{"properties": {"a/b~c": {"type": "null"}}}"#,
            "a/b~c: 1\n",
            "- at '/a~1b~0c': got number, want null",
        ),
        (r#"{"properties": {"a": false}}"#, "a: 5\n", "- at '/a': false schema"),
        (
            r#"{"properties": {"a": {"propertyNames": {"maxLength": 1}, "minProperties": 3, "maxProperties": 1, "dependentRequired": {"xx": ["q", "w"]}}}}"#,
            "a: {xx: 1, y: 2}\n",
            "- at '/a': minProperties: got 2, want 3\n- at '/a': maxProperties: got 2, want 1\n- at '/a': invalid propertyName 'true'\n  - at '': maxLength: got 4, want 1\n- at '/a': invalid propertyName 'xx'\n  - at '': maxLength: got 2, want 1\n- at '/a': properties 'q', 'w' required, if 'xx' exists",
        ),
        (
            r#"{"properties": {"a": {"unevaluatedProperties": false, "properties": {"x": {}}}}}"#,
            "a: {x: 1, y: 2}\n",
            "- at '/a/true': false schema",
        ),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn combined_schemas() {
    for (schema, values, wanted) in [
        (
            r#"{"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]}}}"#,
            "a: {x: s}\n",
            "- at '/a': 'anyOf' failed\n  - at '/a': got object, want string\n  - at '/a/x': got string, want integer",
        ),
        (
            r#"{"properties": {"a": {"oneOf": [{"type": "number"}, {"minimum": 1}]}}}"#,
            "a: 5\n",
            "- at '/a': 'oneOf' failed, subschemas 0, 1 matched",
        ),
        (
            r#"{"properties": {"a": {"oneOf": [{"type": "string"}, {"maximum": 1}]}}}"#,
            "a: 5\n",
            "- at '/a': 'oneOf' failed, none matched\n  - at '/a': got number, want string\n  - at '/a': maximum: got 5, want 1",
        ),
        (
            r#"{"properties": {"a": {"allOf": [{"type": "string"}, {"maximum": 1}]}}}"#,
            "a: 5\n",
            "- at '/a': 'allOf' failed\n  - at '/a': got number, want string\n  - at '/a': maximum: got 5, want 1",
        ),
        (r#"{"properties": {"a": {"not": {"type": "number"}}}}"#, "a: 5\n", "- at '/a': 'not' failed"),
        (
            r#"{"properties": {"a": {"if": {"type": "number"}, "then": {"minimum": 6}, "else": {"type": "string"}}}}"#,
            "a: 5\n",
            "- at '/a': minimum: got 5, want 6",
        ),
        (r#"{"properties": {"a": {"multipleOf": 0.1}}}"#, "a: 0.3\n", ""),
        (
            r#"{"properties": {"a": {"multipleOf": 0.1}}}"#,
            "a: 0.35\n",
            "- at '/a': multipleOf: got 0.35, want 0.1",
        ),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn references() {
    for (schema, values, wanted) in [
        (
            r##"{"$defs": {"d": {"type": "string", "minLength": 3}}, "properties": {"a": {"$ref": "#/$defs/d"}}}"##,
            "a: 5\n",
            "- at '/a': got number, want string",
        ),
        (
            r##"{"$defs": {"d": {"minimum": 6, "multipleOf": 2}}, "properties": {"a": {"$ref": "#/$defs/d"}}}"##,
            "a: 5\n",
            "- at '/a': validation failed\n  - at '/a': minimum: got 5, want 6\n  - at '/a': multipleOf: got 5, want 2",
        ),
        (
            r##"{"properties": {"a": {"$ref": "#/definitions/nope"}}}"##,
            "a: 1\n",
            r#"json-pointer in "file:///values.schema.json#/definitions/nope" not found"#,
        ),
        (
            r##"{"properties": {"a": {"$ref": "#nope"}}}"##,
            "a: 1\n",
            r#"anchor in "file:///values.schema.json#nope" not found in schema "file:///values.schema.json""#,
        ),
        (
            r#"{"properties": {"a": {"$ref": "other.json"}}}"#,
            "a: 1\n",
            r#"failing loading "file:///other.json": open /other.json: no such file or directory"#,
        ),
        (r#"{"properties": {"a": {"$ref": "urn:x:y"}}}"#, "a: 1\n", ""),
        (
            r##"{"$ref": "#"}"##,
            "a: 1\n",
            r#"- at '': both /$ref and  resolve to "file:///values.schema.json#" causing reference cycle"#,
        ),
        (
            r##"{"properties": {"a": {"$ref": "#/properties/a"}}}"##,
            "a: 1\n",
            r#"- at '/a': both /properties/a/$ref and /properties/a resolve to "file:///values.schema.json#/properties/a" causing reference cycle"#,
        ),
        (
            r##"{"$id": "https://x.y/z", "$ref": "#/$defs/q", "$defs": {"q": {"type": "array"}}}"##,
            "a: 1\n",
            "- at '': got object, want array",
        ),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn arrays() {
    for (schema, values, wanted) in [
        (
            r#"{"properties": {"a": {"uniqueItems": true, "minItems": 5, "maxItems": 1, "items": {"type": "string"}, "contains": {"const": 9}}}}"#,
            "a: [1, 1]\n",
            "- at '/a': minItems: got 2, want 5\n- at '/a': maxItems: got 2, want 1\n- at '/a': items at 0 and 1 are equal\n- at '/a/0': got number, want string\n- at '/a/1': got number, want string\n- at '/a': no items match contains schema\n  - at '/a/0': value must be 9\n  - at '/a/1': value must be 9",
        ),
        (
            r#"{"properties": {"a": {"prefixItems": [{"type": "string"}], "items": false}}}"#,
            "a: [1, 2]\n",
            "- at '/a/0': got number, want string\n- at '/a/1': false schema",
        ),
        (
            r#"{"properties": {"a": {"contains": {"type": "string"}, "minContains": 2}}}"#,
            "a: [x, 1]\n",
            "- at '/a': min 2 items required to match contains schema, but matched 1 items at 0\n  - at '/a/1': got number, want string",
        ),
        (
            r#"{"properties": {"a": {"contains": {"type": "number"}, "maxContains": 1}}}"#,
            "a: [1, 2, x, 3]\n",
            "- at '/a': max 1 items required to match contains schema, but matched 3 items at 0 1 3",
        ),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn older_drafts() {
    check(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": [{"type": "string"}], "additionalItems": false}, "b": {"format": "email"}, "c": {"format": "date-time"}, "d": {"format": "ipv4"}, "e": {"format": "uri"}, "f": {"dependencies": {"x": ["y"]}}, "g": {"format": "hostname"}}}"#,
        "a: [1, 2]\nb: x\nc: y\nd: 1.2.3.x\ne: foo\nf: {x: 1}\ng: a_b\n",
        "- at '/a': validation failed\n  - at '/a/0': got number, want string\n  - at '/a': last 1 additionalItem(s) not allowed\n- at '/b': 'x' is not valid email: missing @\n- at '/d': '1.2.3.x' is not valid ipv4: strconv.Atoi: parsing \"x\": invalid syntax\n- at '/e': 'foo' is not valid uri: relative url\n- at '/f': properties 'y' required, if 'x' exists\n- at '/g': 'a_b' is not valid hostname: invalid character '_'",
    );
}

#[test]
fn texts_that_are_no_json() {
    for (schema, values, wanted) in [
        ("{", "a: 1\n", "unexpected EOF"),
        (r#"{"a":1} x"#, "a: 1\n", "invalid character after top-level value"),
        ("", "a: 1", "EOF"),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn schemas_that_their_metaschema_refuses() {
    for (schema, values, wanted) in [
        (
            "[]",
            "a: 1",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': got array, want boolean or object",
        ),
        (
            "null",
            "a: 1",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': got null, want boolean or object",
        ),
        (
            r#""x""#,
            "a: 1",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': got string, want boolean or object",
        ),
        (
            r#"{"type": "foo"}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/type': 'anyOf' failed\n    - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n    - at '/type': got string, want array",
        ),
        (
            r#"{"type": 1, "minimum": "x"}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '': validation failed\n    - at '/minimum': got string, want number\n    - at '/type': 'anyOf' failed\n      - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n      - at '/type': got number, want array",
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "foo", "properties": {"a": {"minLength": -1}}}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'http://json-schema.org/draft-07/schema#'\n- at '/properties/a/minLength': 'allOf' failed\n  - at '/properties/a/minLength': minimum: got -1, want 0\n- at '/type': 'anyOf' failed\n  - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n  - at '/type': got string, want array",
        ),
        (
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "required": []}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'http://json-schema.org/draft-04/schema#'\n- at '/required': minItems: got 0, want 1",
        ),
        (
            r#"{"properties": {"a": {"pattern": "("}}}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/properties/a': 'allOf' failed\n    - at '/properties/a/pattern': '(' is not valid regex: error parsing regexp: missing closing ): `(`",
        ),
        (
            r#"{"properties": {"a": {"patternProperties": {"(": {}}}}}"#,
            "a: 1\n",
            "\"file:///values.schema.json#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n- at '': 'allOf' failed\n  - at '/properties/a': 'allOf' failed\n    - at '/properties/a/patternProperties': invalid propertyName '('\n      - at '': '(' is not valid regex: error parsing regexp: missing closing ): `(`",
        ),
    ] {
        check(schema, values, wanted);
    }
}

#[test]
fn sub_charts_have_their_own_schemas() {
    let mut kid = chart("kid", "a: x\n", vec![]);
    kid.schema =
        Some(br#"{"properties": {"a": {"type": "integer"}}, "additionalProperties": false}"#[..].into());
    let mut root = chart("c", "b: 1\nkid: {a: z}\n", vec![kid]);
    root.schema = Some(br#"{"required": ["q"]}"#[..].into());
    let values = root.values.clone();
    let error = validate_values(&root, &values, &user("{}"), &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.message(),
        "values don't meet the specifications of the schema(s) in the following chart(s):\n\
         c:\n- at '': missing property 'q'\nkid:\n- at '/a': got string, want integer\n"
    );
    // A property that is missing has no place; the value that is wrong has.
    assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("c/values.yaml:2:7"));
}

#[test]
fn each_value_that_is_wrong_has_a_place() {
    let mut root = chart("c", "a: {b: [1, x]}\nc: 1\n", vec![]);
    let schema =
        r#"{"properties": {"a": {"properties": {"b": {"items": {"type": "number"}}}}, "c": {"minimum": 5}}}"#;
    root.schema = Some(schema.as_bytes().into());
    let given = user("c: 2\n");
    let values =
        crate::values::coalesce(&root, &given, crate::HelmVersion::V4, &mut Vec::new()).expect("values");
    let error = validate_values(&root, &values.to_table(), &given, &mut Vec::new()).unwrap_err();
    assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("c/values.yaml:1:12"));
    let trail = error
        .chain()
        .iter()
        .map(|step| (step.note.as_str(), step.location.as_ref().map(ToString::to_string)));
    assert_eq!(
        trail.collect::<Vec<_>>(),
        [("at '/c': minimum: got 2, want 5", Some("user.yaml:1:1".to_owned()))]
    );
}

#[test]
fn a_fault_of_the_schema_has_a_place_in_it() {
    let mut root = chart("c", "a: 1\n", vec![]);
    root.schema = Some(b"{\n  \"$ref\": \"#/nope\"\n}"[..].into());
    let values = root.values.clone();
    let error = validate_values(&root, &values, &user("{}"), &mut Vec::new()).unwrap_err();
    assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("values.schema.json:1:1"));
}

/// Nothing that is not there is fetched; of names nothing is asked.
#[test]
fn nothing_is_fetched() {
    let found = verdict(r#"{"$ref": "https://example.com/schema.json"}"#, "a: 1\n");
    let wanted = "failing loading \"https://example.com/schema.json\": schemas are not fetched";
    assert!(found.is_err_and(|message| message.ends_with(wanted)));
    let mut root = chart("c", "a: 1\n", vec![]);
    root.schema = Some(br#"{"properties": {"a": {"$ref": "urn:x:y"}}}"#[..].into());
    let (values, mut warnings) = (root.values.clone(), Vec::new());
    validate_values(&root, &values, &user("{}"), &mut warnings).expect("good values");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn hostile_schemas_come_to_an_end() {
    let chain: Vec<String> =
        (0..5000).map(|at| format!(r##""s{at}": {{"$ref": "#/$defs/s{}"}}"##, at + 1)).collect();
    let deep = format!(r##"{{"$ref": "#/$defs/s0", "$defs": {{{}, "s5000": true}}}}"##, chain.join(","));
    let pairs: Vec<String> = (0..40)
        .map(|at| {
            let next = format!(r##"{{"$ref": "#/$defs/s{}"}}"##, at + 1);
            format!(r#""s{at}": {{"anyOf": [{next}, {next}]}}"#)
        })
        .collect();
    let wide = format!(r##"{{"$ref": "#/$defs/s0", "$defs": {{{}, "s40": false}}}}"##, pairs.join(","));
    for schema in [deep, wide] {
        let mut root = chart("c", "a: 1\n", vec![]);
        root.schema = Some(schema.as_bytes().into());
        let values = root.values.clone();
        let error = validate_values(&root, &values, &user("{}"), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
}
