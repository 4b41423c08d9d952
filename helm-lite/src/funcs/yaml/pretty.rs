//! `toYamlPretty`: values to text as go-yaml v3 writes them, without the way through JSON.
//!
//! Refused are values that contain themselves, and texts longer than a template's output may be.

use std::borrow::Cow;

use gostd::base64;
use gotemplate::time::Time;
use gotemplate::{CallError, Context, Object, Str, Value};
use yamltree::{Dialect, EmitOptions, Emitter, Start, sort_by_key_order};

use super::{DEEPEST, cycle};

/// go-yaml v3 with two spaces a level: list items are indented too, and nothing is folded.
const PRETTY: EmitOptions = EmitOptions { dialect: Dialect::V3, indent: 2, compact_sequences: false };

pub(super) fn to_yaml_pretty(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut out = String::new();
    let mut emitter = Emitter::new(&mut out, PRETTY);
    let mut pretty = Pretty { emitter: &mut emitter, left: context.options().limits.output, depth: 0 };
    pretty.value(&args[0])?;
    emitter.document_end();
    if out.ends_with('\n') {
        out.pop();
    }
    Ok(out.into())
}

/// Writes a value as it is, without the way through JSON.
struct Pretty<'e, 'o> {
    emitter: &'e mut Emitter<'o>,
    left: usize,
    depth: usize,
}

impl Pretty<'_, '_> {
    fn value(&mut self, value: &Value) -> Result<(), CallError> {
        let size = value.as_str().map_or(1, |text| text.len());
        let left = self.left.checked_sub(size + self.depth);
        self.left =
            left.ok_or_else(|| CallError::limit("YAML is longer than the output of a template may be"))?;
        match value {
            Value::Nil => self.emitter.plain("null"),
            Value::Bool(truth) => self.emitter.plain(if *truth { "true" } else { "false" }),
            Value::Int(_, number) => self.emitter.plain(&number.to_string()),
            Value::Uint(_, number) => self.emitter.plain(&number.to_string()),
            Value::Float(number) => self.emitter.float(*number),
            Value::Complex(..) => return Err(format!("cannot marshal type: {}", value.type_name()).into()),
            Value::Str(text) => self.string(text),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::List(list) => self.items(value, &list.items())?,
            Value::Map(map) => {
                let entries = map.entries();
                self.entries(value, entries.iter().map(|(key, value)| (key.to_text(), value)).collect())?;
            }
            Value::Object(object) if object.is_nil() => self.emitter.plain("null"),
            Value::Object(object) => self.object(value, &**object)?,
        }
        Ok(())
    }

    fn string(&mut self, text: &Str) {
        match std::str::from_utf8(text) {
            Ok(text) => self.emitter.string(text),
            Err(_) => {
                let properties = yamltree::Properties { anchor: None, tag: Some("!!binary") };
                self.emitter.scalar(&base64::encode(text), yamltree::Style::Plain, properties);
            }
        }
    }

    /// A `[]uint8` is a list like any other here.
    fn bytes(&mut self, bytes: &Str) {
        self.emitter.sequence_start(Start { empty: bytes.is_empty(), ..Start::default() });
        for byte in bytes.iter() {
            self.emitter.plain(&byte.to_string());
        }
        self.emitter.sequence_end();
    }

    fn items(&mut self, of: &Value, items: &[Value]) -> Result<(), CallError> {
        self.enter(of)?;
        self.emitter.sequence_start(Start { empty: items.is_empty(), ..Start::default() });
        for item in items {
            self.value(item)?;
        }
        self.emitter.sequence_end();
        self.depth -= 1;
        Ok(())
    }

    fn entries(&mut self, of: &Value, mut entries: Vec<(Cow<'_, str>, &Value)>) -> Result<(), CallError> {
        self.enter(of)?;
        sort_by_key_order(&mut entries, |(key, _)| key);
        self.emitter.mapping_start(Start { empty: entries.is_empty(), ..Start::default() });
        for (key, value) in &entries {
            self.emitter.string(key);
            self.value(value)?;
        }
        self.emitter.mapping_end();
        self.depth -= 1;
        Ok(())
    }

    /// A struct's fields go by their names in small letters; a time is written as it is in JSON, without quotes.
    fn object(&mut self, of: &Value, object: &dyn Object) -> Result<(), CallError> {
        if let (Some(_), Some(Value::Str(text))) = (of.as_object::<Time>(), object.marshalled()) {
            self.emitter.plain(&text.to_text());
            return Ok(());
        }
        if let Some(plain) = object.underlying() {
            return self.value(&plain);
        }
        let fields = object.fields();
        self.enter(of)?;
        self.emitter.mapping_start(Start { empty: fields.is_empty(), ..Start::default() });
        for (name, value) in &fields {
            self.emitter.string(&name.to_lowercase());
            self.value(value)?;
        }
        self.emitter.mapping_end();
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self, value: &Value) -> Result<(), CallError> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(cycle(value)) } else { Ok(()) }
    }
}
