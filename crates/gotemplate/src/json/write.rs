//! Writing: in goes a value, out comes its text as Go encodes it.

use std::fmt::Write as _;

use gostd::base64;
use gostd::characters;

use crate::error::CallError;
use crate::fmt::format_float;
use crate::value::Value;

/// Maximum number of lists and maps that may be within each other.
const DEEPEST: usize = 1000;

/// The layout of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if `<`, `>` and `&` are escaped, which Go does unless it is told not to.
    pub escape_html: bool,
    /// The indentation of each level; without it, one line.
    pub indent: Option<&'static str>,
}

impl Style {
    /// As `json.Marshal`.
    pub const COMPACT: Self = Self { escape_html: true, indent: None };
    /// As `json.MarshalIndent` with two spaces.
    pub const PRETTY: Self = Self { escape_html: true, indent: Some("  ") };
    /// As an encoder that was told not to escape HTML.
    pub const RAW: Self = Self { escape_html: false, indent: None };
}

/// Writes a value as JSON.
///
/// # Errors
/// Go's words about a value that JSON has none for, or if the text is longer than `limit` bytes.
pub fn encode(value: &Value, style: Style, limit: usize) -> Result<Vec<u8>, CallError> {
    let mut writer = Writer { out: String::new(), style, limit, depth: 0 };
    writer.value(value)?;
    Ok(writer.out.into_bytes())
}

struct Writer {
    out: String,
    style: Style,
    limit: usize,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) -> Result<(), CallError> {
        if self.out.len() > self.limit {
            return Err(CallError::limit(format!("template output is longer than {} bytes", self.limit)));
        }
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Bool(truth) => self.write(truth),
            Value::Int(_, number) => self.write(number),
            Value::Uint(_, number) => self.write(number),
            Value::Float(number) => self.float(*number)?,
            Value::Str(text) => self.string(text),
            Value::Bytes(bytes) => self.write(format_args!("\"{}\"", base64::encode(bytes))),
            Value::List(list) if list.is_nil() => self.out.push_str("null"),
            Value::Map(map) if map.is_nil() => self.out.push_str("null"),
            Value::List(list) => {
                self.enter(value)?;
                self.items(&list.items())?;
            }
            Value::Map(map) => {
                self.enter(value)?;
                let entries = map.entries();
                self.entries(entries.iter().map(|(key, value)| (key.as_bytes(), value)))?;
            }
            Value::Object(object) if object.is_nil() => self.out.push_str("null"),
            Value::Object(object) => {
                let fields = object.json_fields();
                let plain = || object.marshalled().or_else(|| object.underlying());
                if let Some(plain) = fields.is_none().then(plain).flatten() {
                    return self.value(&plain);
                }
                self.enter(value)?;
                let fields = fields.unwrap_or_else(|| object.fields());
                self.entries(fields.iter().map(|(name, value)| (name.as_bytes(), value)))?;
            }
            Value::Complex(..) => {
                return Err(CallError::new(format!("json: unsupported type: {}", value.type_name())));
            }
        }
        Ok(())
    }

    fn write(&mut self, text: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.out, "{text}");
    }

    fn enter(&mut self, value: &Value) -> Result<(), CallError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(CallError::new(format!(
                "json: unsupported value: encountered a cycle via {}",
                value.type_name()
            )));
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value]) -> Result<(), CallError> {
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index);
            self.value(item)?;
        }
        self.leave(items.is_empty(), ']');
        Ok(())
    }

    fn entries<'a>(&mut self, entries: impl Iterator<Item = (&'a [u8], &'a Value)>) -> Result<(), CallError> {
        self.out.push('{');
        let mut empty = true;
        for (index, (key, value)) in entries.enumerate() {
            empty = false;
            self.separate(index);
            self.string(key);
            self.out.push_str(if self.style.indent.is_some() { ": " } else { ":" });
            self.value(value)?;
        }
        self.leave(empty, '}');
        Ok(())
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
        self.line();
    }

    fn leave(&mut self, empty: bool, bracket: char) {
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.out.push(bracket);
    }

    /// The end of a line and the indentation of the next, if there are lines.
    fn line(&mut self) {
        if let Some(indent) = self.style.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(indent, self.depth));
        }
    }

    fn float(&mut self, number: f64) -> Result<(), CallError> {
        if !number.is_finite() {
            let text = format_float(number, b'g', None);
            return Err(CallError::new(format!("json: unsupported value: {text}")));
        }
        let magnitude = number.abs();
        if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
            let text = format_float(number, b'e', None);
            // A negative exponent of one digit has no zero before it.
            self.out.push_str(&text.replace("e-0", "e-"));
        } else {
            self.write(number);
        }
        Ok(())
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for character in characters(bytes) {
            self.character(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.out.push('"');
    }

    fn character(&mut self, c: char) {
        match c {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\u{8}' => self.out.push_str("\\b"),
            '\u{c}' => self.out.push_str("\\f"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '<' | '>' | '&' if !self.style.escape_html => self.out.push(c),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                self.write(format_args!("\\u{:04x}", u32::from(c)));
            }
            _ => self.out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{List, Map, Type};

    fn written(value: &Value, style: Style) -> String {
        String::from_utf8(encode(value, style, 10_000).unwrap()).unwrap()
    }

    // The answers are those of `toRawJson` and `toPrettyJson` in Helm 4.3.1.
    #[test]
    fn numbers_have_exponents_where_javascript_has_them() {
        let numbers = [1e21, 1e20, 1e-6, 1e-7, 123_456_789.5, -0.0, 0.1, 1e100, 1e-10];
        let list = Value::list(numbers.map(Value::Float).to_vec());
        let text = "[1e+21,100000000000000000000,0.000001,1e-7,123456789.5,-0,0.1,1e+100,1e-10]";
        assert_eq!(written(&list, Style::RAW), text);
    }

    #[test]
    fn html_is_escaped_unless_raw() {
        let value = Value::from("<&>\u{2028}\u{7f}\u{1}é😀");
        assert_eq!(written(&value, Style::COMPACT), "\"\\u003c\\u0026\\u003e\\u2028\u{7f}\\u0001é😀\"");
        assert_eq!(written(&value, Style::RAW), "\"<&>\\u2028\u{7f}\\u0001é😀\"");
        assert_eq!(written(&Value::from(vec![0xff]), Style::RAW), "\"\u{fffd}\"");
    }

    #[test]
    fn empty_lists_and_maps_stay_on_their_line() {
        let map = Value::map([("a", Value::list(vec![])), ("c", Value::list(vec![Value::int(1)]))]);
        assert_eq!(written(&map, Style::PRETTY), "{\n  \"a\": [],\n  \"c\": [\n    1\n  ]\n}");
        assert_eq!(written(&List::nil(Type::LIST).into(), Style::PRETTY), "null");
    }

    #[test]
    fn what_json_has_no_value_for_is_refused() {
        let refused = |value: &Value| encode(value, Style::RAW, 10_000).unwrap_err().to_string();
        assert_eq!(refused(&f64::INFINITY.into()), "json: unsupported value: +Inf");
        assert_eq!(refused(&Value::Complex(0.0, 1.0)), "json: unsupported type: complex128");
        let knot = Map::new([("a", Value::Nil)]);
        knot.insert("a", knot.clone().into());
        assert_eq!(
            refused(&knot.clone().into()),
            "json: unsupported value: encountered a cycle via map[string]interface {}"
        );
        knot.remove("a");
    }
}
