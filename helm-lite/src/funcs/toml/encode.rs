//! Writing: in goes a value, out comes TOML as BurntSushi's library lays it out.
//!
//! Of a map plain values come before tables, both by name; a table is indented by two spaces for each that it is in.
//! Refused are lists with a null, and values that are nested too deeply.

use gotemplate::time::Time;
use gotemplate::{CallError, Str, Value, fmt};

use super::{DATE_LOCAL, DATETIME_LOCAL, TIME_LOCAL};

/// Maximum number of lists and tables that may be within each other.
const DEEPEST: usize = 1000;

const NO_KEY: &str = "toml: top-level values must be Go maps or structs";
const NIL_ITEM: &str = "toml: cannot encode array with nil element";

/// A value as TOML.
///
/// # Errors
/// The library's words about what it cannot write, or when it is longer than `limit` bytes.
pub(super) fn encode(value: &Value, limit: usize) -> Result<Vec<u8>, CallError> {
    let mut writer = Writer { out: Vec::new(), limit };
    writer.entry(&Key { outer: None, name: b"", depth: 0 }, value)?;
    Ok(writer.out)
}

/// The names that lead to a table, the last one first.
struct Key<'k> {
    outer: Option<&'k Self>,
    name: &'k [u8],
    /// Number of names.
    depth: usize,
}

impl<'k> Key<'k> {
    fn add(&'k self, name: &'k [u8]) -> Self {
        Self { outer: Some(self), name, depth: self.depth + 1 }
    }

    fn push_path(&self, out: &mut Vec<u8>) {
        let Some(outer) = self.outer else { return };
        if outer.depth > 0 {
            outer.push_path(out);
            out.push(b'.');
        }
        push_key(out, self.name);
    }
}

/// The TOML type of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Nothing,
    Plain,
    Table,
    /// A list of nothing but tables, of which there is one.
    Tables,
}

fn form(value: &Value, depth: usize) -> Result<Form, CallError> {
    if depth > DEEPEST {
        return Err(CallError::limit("toml: lists and tables are nested too deeply"));
    }
    Ok(match value {
        Value::Nil => Form::Nothing,
        Value::Map(map) if map.is_nil() => Form::Nothing,
        Value::Map(_) => Form::Table,
        Value::List(list) => {
            let items = list.items();
            let mut only_tables = !items.is_empty();
            for item in items.iter() {
                match form(item, depth + 1)? {
                    Form::Nothing => return Err(NIL_ITEM.into()),
                    Form::Table => {}
                    Form::Plain | Form::Tables => only_tables = false,
                }
            }
            if only_tables { Form::Tables } else { Form::Plain }
        }
        Value::Object(object) if object.is_nil() => Form::Nothing,
        Value::Object(object) => match (object.marshalled(), object.underlying()) {
            (None, Some(plain)) => form(&plain, depth + 1)?,
            (Some(Value::Map(_)), _) => Form::Table,
            (None, None) if !object.fields().is_empty() => Form::Table,
            _ => Form::Plain,
        },
        _ => Form::Plain,
    })
}

struct Writer {
    out: Vec<u8>,
    limit: usize,
}

impl Writer {
    fn entry(&mut self, key: &Key<'_>, value: &Value) -> Result<(), CallError> {
        if self.out.len() > self.limit {
            return Err(CallError::limit(format!("template output is longer than {} bytes", self.limit)));
        }
        match form(value, key.depth)? {
            Form::Nothing => Ok(()),
            Form::Table => self.table(key, value),
            Form::Tables if key.depth == 0 => Err(NO_KEY.into()),
            Form::Tables => self.tables(key, value),
            Form::Plain => {
                self.indent(key.depth.saturating_sub(1));
                if key.depth > 0 {
                    push_key(&mut self.out, key.name);
                    self.out.extend_from_slice(b" = ");
                }
                self.element(value, key.depth)?;
                if key.depth > 0 {
                    self.out.push(b'\n');
                }
                Ok(())
            }
        }
    }

    fn indent(&mut self, levels: usize) {
        self.out.extend(std::iter::repeat_n(b' ', 2 * levels));
    }

    /// Ends a line, unless nothing was written.
    fn line(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn table(&mut self, key: &Key<'_>, value: &Value) -> Result<(), CallError> {
        if key.depth == 1 {
            self.line();
        }
        if key.depth > 0 {
            self.header(key, "[", "]");
        }
        self.entries(key, value)
    }

    fn tables(&mut self, key: &Key<'_>, value: &Value) -> Result<(), CallError> {
        let Value::List(list) = value.plain() else { return Ok(()) };
        for item in list.to_vec() {
            self.line();
            self.header(key, "[[", "]]");
            self.entries(key, &item)?;
        }
        Ok(())
    }

    fn header(&mut self, key: &Key<'_>, open: &str, close: &str) {
        self.indent(key.depth - 1);
        self.out.extend_from_slice(open.as_bytes());
        key.push_path(&mut self.out);
        self.out.extend_from_slice(close.as_bytes());
        self.out.push(b'\n');
    }

    fn entries(&mut self, key: &Key<'_>, value: &Value) -> Result<(), CallError> {
        let entries = entries(value);
        let mut tables = Vec::new();
        for (name, value) in &entries {
            match form(value, key.depth)? {
                Form::Table | Form::Tables => tables.push((name, value)),
                _ => self.entry(&key.add(name), value)?,
            }
        }
        tables.into_iter().try_for_each(|(name, value)| self.entry(&key.add(name), value))
    }

    /// A value on the line that is being written.
    fn element(&mut self, value: &Value, depth: usize) -> Result<(), CallError> {
        match form(value, depth)? {
            Form::Nothing => return Err(NIL_ITEM.into()),
            Form::Table => return self.inline_table(value, depth),
            Form::Plain | Form::Tables => {}
        }
        match value {
            Value::Str(text) => push_quoted(&mut self.out, text),
            Value::List(list) => return self.array(&list.to_vec(), depth),
            Value::Bytes(bytes) => {
                let items = bytes.iter().map(|byte| Value::int(i64::from(*byte))).collect::<Vec<_>>();
                return self.array(&items, depth);
            }
            Value::Float(number) => self.float(*number)?,
            Value::Object(object) => match (object.marshalled(), object.underlying()) {
                (Some(Value::Str(text)), _) => match value.as_object::<Time>() {
                    Some(time) => self.out.extend_from_slice(written(time).as_bytes()),
                    None => push_quoted(&mut self.out, &text),
                },
                (_, Some(plain)) => return self.element(&plain, depth + 1),
                _ => {}
            },
            Value::Complex(..) => {
                return Err(format!("toml: unsupported type: {}", value.type_name()).into());
            }
            _ => self.out.extend(fmt::sprint(std::slice::from_ref(value), self.limit)?),
        }
        Ok(())
    }

    fn array(&mut self, items: &[Value], depth: usize) -> Result<(), CallError> {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.extend_from_slice(b", ");
            }
            self.element(item, depth + 1)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn inline_table(&mut self, value: &Value, depth: usize) -> Result<(), CallError> {
        self.out.push(b'{');
        let mut first = true;
        for (name, value) in entries(value) {
            if form(&value, depth)? == Form::Nothing {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.out.extend_from_slice(b", ");
            }
            push_key(&mut self.out, &name);
            self.out.extend_from_slice(b" = ");
            self.element(&value, depth + 1)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// With a decimal point or an exponent, so that it is none of the integers.
    fn float(&mut self, number: f64) -> Result<(), CallError> {
        if number.is_nan() {
            self.out.extend_from_slice(b"nan");
        } else if number.is_infinite() {
            self.out.extend_from_slice(if number > 0.0 { b"inf" } else { b"-inf" });
        } else {
            let text = fmt::sprint(&[Value::Float(number)], self.limit)?;
            let is_whole = !text.iter().any(|byte| matches!(byte, b'.' | b'e'));
            self.out.extend_from_slice(&text);
            if is_whole {
                self.out.extend_from_slice(b".0");
            }
        }
        Ok(())
    }
}

/// The entries of a table, by name.
fn entries(value: &Value) -> Vec<(Str, Value)> {
    match value {
        Value::Map(map) => map.to_vec(),
        Value::Object(object) => match object.marshalled().or_else(|| object.underlying()) {
            Some(plain) => entries(&plain),
            None => object.fields().into_iter().map(|(name, value)| (name.into(), value)).collect(),
        },
        _ => Vec::new(),
    }
}

fn push_key(out: &mut Vec<u8>, key: &[u8]) {
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.iter().all(bare) {
        out.extend_from_slice(key);
    } else {
        push_quoted(out, key);
    }
}

fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x00..0x20 | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

/// A time as TOML has it: what it lacks is known by the name of its zone.
fn written(time: &Time) -> String {
    let text = time.to_string();
    let layout: &[u8] = match text.rsplit(' ').next() {
        Some(DATE_LOCAL) => b"2006-01-02",
        Some(TIME_LOCAL) => b"15:04:05.999999999",
        Some(DATETIME_LOCAL) => b"2006-01-02T15:04:05.999999999",
        _ => b"2006-01-02T15:04:05.999999999Z07:00",
    };
    String::from_utf8_lossy(&time.format(layout)).into_owned()
}
