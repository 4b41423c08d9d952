//! TOML as BurntSushi's library writes it, and back.
//!
//! In a map plain values come before tables, both by name; a table is indented by two spaces for each that it is in.

use std::fmt::Write as _;

use gotemplate::time::{Time, Zone};
use gotemplate::{CallError, Context, Function, List, Map, Now, Str, Type, Value, fmt};

use super::yaml::error_map;

pub(super) const FUNCS: &[Function] = &[
    Function::new("fromToml", &[Type::String], from_toml),
    Function::new("mustToToml", &[Type::Any], must_to_toml),
    Function::new("toToml", &[Type::Any], to_toml),
];

/// How many lists and tables may be within each other.
const DEEPEST: usize = 1000;

const NO_KEY: &str = "toml: top-level values must be Go maps or structs";
const NIL_ITEM: &str = "toml: cannot encode array with nil element";

/// The text, or what is wrong with the value.
fn to_toml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[0], Value::Nil) {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    Ok(encode(&args[0], context.options().limits.output)
        .map_or_else(|error| error.to_string().into(), Value::from))
}

fn must_to_toml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[0], Value::Nil) {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    Ok(encode(&args[0], context.options().limits.output)?.into())
}

fn encode(value: &Value, limit: usize) -> Result<Vec<u8>, CallError> {
    let mut writer = Writer { out: Vec::new(), limit };
    writer.entry(&Key { outer: None, name: b"", depth: 0 }, value)?;
    Ok(writer.out)
}

/// The names that lead to a table, the last one first.
struct Key<'k> {
    outer: Option<&'k Self>,
    name: &'k [u8],
    /// How many names there are.
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

/// What a value is to TOML.
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

/// The table, or one that says what is wrong with the text.
fn from_toml(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = args[0].as_str().map(Str::to_text).unwrap_or_default();
    Ok(match text.parse::<toml::Table>() {
        Ok(table) => Value::Map(map(table)),
        Err(error) => error_map(reason(&text, &error)),
    })
}

fn reason(text: &str, error: &toml::de::Error) -> String {
    let span = error.span().unwrap_or_default();
    let line =
        text.as_bytes()[..span.start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let mut reason = format!("toml: line {line}");
    match text.get(span) {
        Some(key) if error.message().starts_with("duplicate key") => {
            let _ = write!(reason, " (last key {key:?}): Key '{key}' has already been defined.");
        }
        _ => {
            let _ = write!(reason, ": {}", error.message());
        }
    }
    reason
}

fn map(table: toml::Table) -> Map {
    Map::new(table.into_iter().map(|(key, item)| (key, value(item))))
}

fn value(item: toml::Value) -> Value {
    match item {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => Value::int64(number),
        toml::Value::Float(number) => Value::Float(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(time) => Value::object(point(&time)),
        toml::Value::Array(items) => array(items),
        toml::Value::Table(table) => Value::Map(map(table)),
    }
}

/// A list of nothing but tables has a type of its own.
fn array(items: Vec<toml::Value>) -> Value {
    const TABLES: Type = Type::Slice(&Type::MAP);
    let only_tables = !items.is_empty() && items.iter().all(toml::Value::is_table);
    let items = items.into_iter().map(value).collect();
    if only_tables { List::typed(TABLES, items).into() } else { Value::list(items) }
}

const DATE_LOCAL: &str = "date-local";
const TIME_LOCAL: &str = "time-local";
const DATETIME_LOCAL: &str = "datetime-local";

/// The point in time. What is missing of it shows in the name of its zone, which is UTC by another name; a time
/// without a date is one of the year 0.
fn point(written: &toml::value::Datetime) -> Time {
    let (year, month, day) = written
        .date
        .map_or((0, 1, 1), |date| (i64::from(date.year), i64::from(date.month), i64::from(date.day)));
    let clock = written.time.map_or(0, |time| {
        i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second.unwrap_or(0))
    });
    let zone = match (written.offset, written.date, written.time) {
        (Some(toml::value::Offset::Z), ..) => Zone::Utc,
        (Some(toml::value::Offset::Custom { minutes }), ..) => {
            Zone::Fixed("".into(), i32::from(minutes) * 60)
        }
        (None, Some(_), Some(_)) => Zone::Fixed(DATETIME_LOCAL.into(), 0),
        (None, Some(_), None) => Zone::Fixed(DATE_LOCAL.into(), 0),
        (None, None, _) => Zone::Fixed(TIME_LOCAL.into(), 0),
    };
    let offset = if let Zone::Fixed(_, seconds) = zone { i64::from(seconds) } else { 0 };
    let seconds = days(year, month, day) * 86_400 + clock - offset;
    let nanoseconds = written.time.and_then(|time| time.nanosecond).unwrap_or(0);
    Time::unix(Now { seconds, nanoseconds }, zone)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar: years begin in March here, so that leap days end them.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month < 3);
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
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

#[cfg(test)]
mod tests {
    use crate::funcs::testing::rendered;

    /// As `toToml` of Helm writes them.
    #[test]
    fn tables_come_after_plain_values() {
        for (template, wanted) in [
            (
                r#"{{ toToml (dict "b" 1 "t" (dict "u" (dict "v" true) "k" 1) "z" 1.0 "y" 1e6 "n" nil) }}"#,
                "b = 1\ny = 1e+06\nz = 1.0\n\n[t]\n  k = 1\n  [t.u]\n    v = true\n",
            ),
            (
                r#"{{ toToml (dict "l" (list 1 "a" 2.5 (dict "q" 1 "r" (list)))) }}"#,
                "l = [1, \"a\", 2.5, {q = 1, r = []}]\n",
            ),
            (
                r#"{{ toToml (dict "a" (list (dict "b" (list (dict "c" 1) (dict "d" 2))))) }}"#,
                "[[a]]\n\n  [[a.b]]\n    c = 1\n\n  [[a.b]]\n    d = 2\n",
            ),
            (r#"{{ toToml (dict "l" (list nil)) }}"#, "toml: cannot encode array with nil element"),
            (r#"{{ toToml (list (dict "a" 1)) }}"#, "toml: top-level values must be Go maps or structs"),
            (r#"{{ toToml (list 1 2) }}"#, "[1, 2]"),
            (r#"{{ toToml (dict "a b" "x\"y\n\x00\x7fé") }}"#, "\"a b\" = \"x\\\"y\\n\\u0000\\u007fé\"\n"),
        ] {
            assert_eq!(rendered(template), wanted, "{template}");
        }
    }

    #[test]
    fn times_keep_what_they_lack() {
        let toml = r"a=1979-05-27T07:32:00Z\nb=1979-05-27\nc=07:32:00\nd=1979-05-27T07:32:00-07:00\ne=1979-05-27T07:32:00";
        assert_eq!(
            rendered(&format!(r#"{{{{ fromToml "{toml}" }}}}"#)),
            "map[a:1979-05-27 07:32:00 +0000 UTC b:1979-05-27 00:00:00 +0000 date-local \
             c:0000-01-01 07:32:00 +0000 time-local d:1979-05-27 07:32:00 -0700 -0700 \
             e:1979-05-27 07:32:00 +0000 datetime-local]"
        );
        assert_eq!(
            rendered(&format!(r#"{{{{ toToml (fromToml "{toml}") }}}}"#)),
            "a = 1979-05-27T07:32:00Z\nb = 1979-05-27\nc = 07:32:00\nd = 1979-05-27T07:32:00-07:00\n\
             e = 1979-05-27T07:32:00\n"
        );
    }

    #[test]
    fn integers_of_toml_stay_integers() {
        let template = r#"{{ fromToml "a = 1\nb = 2.5\n[t]\nx = true" }} {{ typeOf (fromToml "a = 1").a }}"#;
        assert_eq!(rendered(template), "map[a:1 b:2.5 t:map[x:true]] int64");
        assert_eq!(
            rendered(r#"{{ fromToml "a = 1\na = 2" }}"#),
            "map[Error:toml: line 2 (last key \"a\"): Key 'a' has already been defined.]"
        );
    }
}
