//! YAML: values to text as `sigs.k8s.io/yaml` and go-yaml v3 write them, and back.
//!
//! `toYaml` goes through JSON, so it shows what Go's JSON encoder makes of a value. Texts are read by YAML 1.1.

mod pretty;

use std::borrow::Cow;

use gostd::base64;
use gotemplate::{CallError, Context, Function, Map, Str, Type, Value};
use yamltree::{
    Dialect, DuplicateKeys, Expansion, Node, ParseOptions, Scalar, SigsWriter, Sink, Span, decode,
    parse_first, send_values, sort_by_key_order,
};

pub(super) const FUNCS: &[Function] = &[
    Function::new("fromYaml", &[Type::String], from_yaml),
    Function::new("fromYamlArray", &[Type::String], from_yaml_array),
    Function::new("mustToYaml", &[Type::Any], must_to_yaml_function),
    Function::new("toYaml", &[Type::Any], to_yaml_function),
    Function::new("toYamlPretty", &[Type::Any], pretty::to_yaml_pretty),
];

/// Maximum number of lists and maps that may be within each other: beyond this a value is taken for one that contains itself.
const DEEPEST: usize = 1000;

/// Nothing for what cannot be written.
fn to_yaml_function(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(to_yaml(&args[0], context.options().limits.output).unwrap_or_default().into())
}

fn must_to_yaml_function(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(to_yaml(&args[0], context.options().limits.output)?.into())
}

/// A value as YAML, without the line break at its end.
///
/// # Errors
/// Go's words about what has no JSON, or when it is longer than `limit` bytes.
pub fn to_yaml(value: &Value, limit: usize) -> Result<String, CallError> {
    let mut out = String::new();
    let mut writer = SigsWriter::new(&mut out);
    let mut walk = Walk { sink: &mut writer, left: limit, depth: 0 };
    walk.value(value)?;
    writer.end();
    if out.ends_with('\n') {
        out.pop();
    }
    Ok(out)
}

/// Sends a value to a sink as what it is in JSON.
struct Walk<'s, S> {
    sink: &'s mut S,
    /// Number of bytes that may still be written.
    left: usize,
    depth: usize,
}

impl<S: Sink> Walk<'_, S> {
    fn value(&mut self, value: &Value) -> Result<(), CallError> {
        match value {
            Value::Nil => self.scalar(&Scalar::Null),
            Value::Bool(truth) => self.scalar(&Scalar::Bool(*truth)),
            Value::Int(_, number) => self.scalar(&Scalar::Int(*number)),
            Value::Uint(_, number) => self.scalar(&uint(*number)),
            Value::Float(number) => {
                let scalar = Scalar::float(*number, Span::NONE).map_err(|error| no_json(&error.go_text()))?;
                self.scalar(&scalar)
            }
            Value::Complex(..) => Err(no_json(&format!("json: unsupported type: {}", value.type_name()))),
            Value::Str(text) => self.scalar(&Scalar::Str(json_text(text))),
            Value::Bytes(bytes) => self.scalar(&Scalar::Str(base64::encode(bytes).into())),
            Value::List(list) if list.is_nil() => self.scalar(&Scalar::Null),
            Value::Map(map) if map.is_nil() => self.scalar(&Scalar::Null),
            Value::List(list) => {
                self.enter(value)?;
                let items = list.items();
                self.sink.sequence_start(items.is_empty());
                for item in items.iter() {
                    self.value(item)?;
                }
                self.sink.sequence_end();
                self.depth -= 1;
                Ok(())
            }
            Value::Map(map) => {
                let entries = map.entries();
                self.entries(value, entries.iter().map(|(key, value)| (json_text(key), value)).collect())
            }
            Value::Object(object) if object.is_nil() => self.scalar(&Scalar::Null),
            Value::Object(object) => match object.marshalled().or_else(|| object.underlying()) {
                Some(plain) => self.value(&plain),
                None => {
                    let fields = object.fields();
                    let entries = fields.iter().map(|(name, value)| (Cow::Borrowed(*name), value)).collect();
                    self.entries(value, entries)
                }
            },
        }
    }

    fn entries(&mut self, of: &Value, mut entries: Vec<(Cow<'_, str>, &Value)>) -> Result<(), CallError> {
        self.enter(of)?;
        sort_by_key_order(&mut entries, |(key, _)| key);
        self.sink.mapping_start(entries.is_empty());
        for (key, value) in &entries {
            self.spend(key.len())?;
            self.sink.key(key, Span::NONE).map_err(|error| no_yaml(&error))?;
            self.value(value)?;
        }
        self.sink.mapping_end();
        self.depth -= 1;
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) -> Result<(), CallError> {
        self.spend(if let Scalar::Str(text) = scalar { text.len() } else { 1 })?;
        self.sink.value(scalar, Span::NONE).map_err(|error| no_yaml(&error))
    }

    fn enter(&mut self, value: &Value) -> Result<(), CallError> {
        self.depth += 1;
        self.spend(1)?;
        if self.depth > DEEPEST {
            return Err(cycle(value));
        }
        Ok(())
    }

    /// Counts what is written, and what indents it.
    fn spend(&mut self, bytes: usize) -> Result<(), CallError> {
        match self.left.checked_sub(bytes + self.depth) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(CallError::limit("YAML is longer than the output of a template may be")),
        }
    }
}

/// Returns what cannot be written as JSON.
fn no_json(reason: &str) -> CallError {
    format!("error marshaling into JSON: {reason}").into()
}

/// Returns what can be written as JSON, but then not be read as YAML.
fn no_yaml(error: &yamltree::Error) -> CallError {
    format!("error converting JSON to YAML: {}", error.go_text()).into()
}

fn cycle(value: &Value) -> CallError {
    no_json(&format!("json: unsupported value: encountered a cycle via {}", value.type_name()))
}

fn uint(number: u64) -> Scalar<'static> {
    i64::try_from(number).map_or(Scalar::Uint(number), Scalar::Int)
}

/// A text as JSON holds it: each byte that is not UTF-8 is replaced.
fn json_text(text: &Str) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(text) {
        return text.into();
    }
    let mut valid = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        valid.push_str(chunk.valid());
        valid.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    valid.into()
}

fn from_yaml(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(match read_argument(args) {
        Ok(Value::Nil) => Value::map::<&str>([]),
        Ok(value) => map_or_error(value, DECODING),
        Err(reason) => error_map(reason),
    })
}

fn from_yaml_array(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(match read_argument(args) {
        Ok(Value::Nil) => Value::list(Vec::new()),
        Ok(value) => list_or_error(value, DECODING),
        Err(reason) => Value::list(vec![reason.into()]),
    })
}

const DECODING: &str = "error unmarshaling JSON: while decoding JSON: ";

/// A map with what went wrong, as the functions without `must` return it.
pub(super) fn error_map(reason: String) -> Value {
    Value::map([("Error", reason.into())])
}

/// The map that was read, or one that says why there is none. Null is a nil one.
pub(super) fn map_or_error(value: Value, prefix: &str) -> Value {
    match value {
        Value::Map(_) => value,
        Value::Nil => Map::nil(Type::MAP).into(),
        other => error_map(unfit(&other, "map[string]interface {}", prefix)),
    }
}

/// The list that was read, or one that says why there is none. Null is a nil one.
pub(super) fn list_or_error(value: Value, prefix: &str) -> Value {
    match value {
        Value::List(_) => value,
        Value::Nil => gotemplate::List::nil(Type::LIST).into(),
        other => Value::list(vec![unfit(&other, "[]interface {}", prefix).into()]),
    }
}

fn unfit(value: &Value, target: &str, prefix: &str) -> String {
    let found = match value {
        Value::Map(_) => "object",
        Value::List(_) => "array",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    format!("{prefix}json: cannot unmarshal {found} into Go value of type {target}")
}

fn read_argument(args: &[Value]) -> Result<Value, String> {
    read(args[0].as_str().map(Str::as_bytes).unwrap_or_default())
}

/// The first document of a text.
///
/// # Errors
/// Go's words about a text that is no YAML.
pub fn read(bytes: &[u8]) -> Result<Value, String> {
    let converting = |error: yamltree::Error| format!("error converting YAML to JSON: {}", error.go_text());
    let text = decode(bytes, 0).map_err(converting)?;
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let document = parse_first(&text, 0, &options).map_err(converting)?;
    let Some(mut root) = document.map(|document| document.root) else { return Ok(Value::Nil) };
    root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(converting)?;
    node_value(&root).map_err(converting)
}

/// The value that Go decodes from a tree without aliases.
///
/// # Errors
/// If Go cannot convert the YAML to JSON.
pub fn node_value(node: &Node) -> Result<Value, yamltree::Error> {
    let mut builder = Builder::default();
    send_values(node, Dialect::V2, &mut builder)?;
    Ok(builder.done)
}

#[derive(Default)]
struct Builder {
    done: Value,
    open: Vec<Open>,
}

/// An open collection.
enum Open {
    Map(Vec<(Str, Value)>, Str),
    List(Vec<Value>),
}

impl Builder {
    fn add(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.done = value,
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => entries.push((std::mem::take(key), value)),
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            None => {}
            Some(Open::Map(entries, _)) => self.add(Value::map(entries)),
            Some(Open::List(items)) => self.add(Value::list(items)),
        }
    }
}

impl Sink for Builder {
    fn mapping_start(&mut self, _empty: bool) {
        self.open.push(Open::Map(Vec::new(), Str::default()));
    }

    fn mapping_end(&mut self) {
        self.close();
    }

    fn sequence_start(&mut self, _empty: bool) {
        self.open.push(Open::List(Vec::new()));
    }

    fn sequence_end(&mut self) {
        self.close();
    }

    fn key(&mut self, text: &str, _: Span) -> Result<(), yamltree::Error> {
        if let Some(Open::Map(_, key)) = self.open.last_mut() {
            *key = text.into();
        }
        Ok(())
    }

    fn value(&mut self, value: &Scalar<'_>, _: Span) -> Result<(), yamltree::Error> {
        #[expect(clippy::cast_precision_loss, reason = "every number that comes through JSON is a float64")]
        self.add(match value {
            Scalar::Null => Value::Nil,
            Scalar::Bool(truth) => Value::Bool(*truth),
            Scalar::Int(int) => Value::Float(*int as f64),
            Scalar::Uint(uint) => Value::Float(*uint as f64),
            Scalar::Float(float) => Value::Float(*float),
            Scalar::Timestamp(timestamp) => timestamp.to_string().into(),
            Scalar::Str(text) => text.as_ref().into(),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::rendered;

    /// As Helm writes and reads them.
    #[test]
    fn yaml_goes_through_json() {
        for (template, wanted) in [
            (
                r#"{{ toYaml (dict "a10" 1 "a9" (list 1 (dict "b" "x")) "y" "yes" "f" 1e7) }}"#,
                "a9:\n- 1\n- b: x\na10: 1\nf: 10000000\n\"y\": \"yes\"",
            ),
            (r#"{{ toYaml nil }} {{ toYaml (list) }} {{ toYaml (dict) }}"#, "null [] {}"),
            (
                r#"{{ toYamlPretty (dict "a" (list 1 2) "f" 12345678.0) }}"#,
                "a:\n  - 1\n  - 2\nf: 1.2345678e+07",
            ),
            (
                r#"{{ fromYaml "- a" }}"#,
                "map[Error:error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}]",
            ),
            (
                r#"{{ fromYamlArray "a: 1" }}"#,
                "[error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into Go value of type []interface {}]",
            ),
            (
                r#"{{ fromYaml "null" | toJson }} {{ fromYamlArray "~" | toJson }} {{ fromJson "null" | toJson }}"#,
                "{} [] null",
            ),
            (
                r#"{{ toYamlPretty (dict "b" (toDate "2006-01-02" "2020-05-06")) }}"#,
                "b: 2020-05-06T00:00:00Z",
            ),
            (r#"{{ fromYaml "" }} {{ fromYaml "yes: 010\nb: [1, null]" }}"#, "map[] map[b:[1 <nil>] true:8]"),
            (
                r#"{{ fromYaml "a: b: c" }}"#,
                "map[Error:error converting YAML to JSON: yaml: mapping values are not allowed in this context]",
            ),
            (
                r#"{{ fromJson "[1]" }} {{ fromJsonArray "[1,\"a\"]" }} {{ toJson (dict "a" "<&>") }}"#,
                "map[Error:json: cannot unmarshal array into Go value of type map[string]interface {}] [1 a] {\"a\":\"\\u003c\\u0026\\u003e\"}",
            ),
        ] {
            assert_eq!(rendered(template), wanted, "{template}");
        }
    }

    #[test]
    fn a_map_that_contains_itself_is_not_written() {
        assert_eq!(
            rendered(r#"{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toYaml $d }}{{ $_ := unset $d "a" }}"#),
            ""
        );
    }
}
