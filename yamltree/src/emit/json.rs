//! JSON as Go's `encoding/json` writes what go-yaml decodes.
//!
//! In: a node without aliases. Out: one JSON value, keys in byte order. It refuses what has no JSON; see the walk.

use std::fmt::Write as _;

use super::walk::{KeyOrder, Sink, Value, walk};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::node::Node;
use crate::number::push_json_float;
use crate::source::Span;

/// Who reads the YAML and how the JSON shall look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonOptions {
    /// How scalars are read. [`Dialect::V2`] is `sigs.k8s.io/yaml`'s `YAMLToJSON`, which makes strings of the keys
    /// that are none and lets a later key override an earlier one; [`Dialect::V3`] is kyaml's `MarshalJSON`, which
    /// refuses both.
    pub dialect: Dialect,
    /// Whether `<`, `>` and `&` are escaped, as `json.Marshal` does.
    pub escape_html: bool,
    /// Whether whole numbers become floats, as they do when Go decodes JSON without a type and encodes it once more.
    pub floats: bool,
    /// The spaces of a level; `None` for everything on one line.
    pub indent: Option<usize>,
}

impl JsonOptions {
    /// `json.Marshal` of what kyaml decodes.
    pub const KYAML: Self = Self { dialect: Dialect::V3, escape_html: true, floats: false, indent: None };
    /// `YAMLToJSON` of `sigs.k8s.io/yaml`.
    pub const SIGS: Self = Self { dialect: Dialect::V2, escape_html: true, floats: false, indent: None };
}

/// Appends a node as JSON, without a line break at its end; nothing if the node is refused.
pub fn to_json(node: &Node, options: JsonOptions, out: &mut String) -> Result<(), Error> {
    let before = out.len();
    let mut writer = JsonWriter { out, options, depth: 0, next: Next::Value };
    walk(node, options.dialect, KeyOrder::Bytes, &mut writer).inspect_err(|_| out.truncate(before))
}

struct JsonWriter<'o> {
    out: &'o mut String,
    options: JsonOptions,
    depth: usize,
    next: Next,
}

/// What the next value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The document's, or that of a key.
    Value,
    /// The first in a collection.
    First,
    /// Another one in a collection.
    Other,
}

impl JsonWriter<'_> {
    /// Writes what stands before a value or a key.
    fn separate(&mut self) {
        if self.next == Next::Other {
            self.out.push(',');
        }
        if self.next != Next::Value {
            self.line();
        }
    }

    fn line(&mut self) {
        if let Some(indent) = self.options.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * self.depth));
        }
    }

    fn start(&mut self, bracket: char) {
        self.separate();
        self.out.push(bracket);
        self.depth += 1;
        self.next = Next::First;
    }

    fn end(&mut self, bracket: char) {
        self.depth -= 1;
        if self.next == Next::Other {
            self.line();
        }
        self.out.push(bracket);
        self.next = Next::Other;
    }
}

impl Sink for JsonWriter<'_> {
    fn mapping_start(&mut self, _empty: bool) {
        self.start('{');
    }

    fn mapping_end(&mut self) {
        self.end('}');
    }

    fn sequence_start(&mut self, _empty: bool) {
        self.start('[');
    }

    fn sequence_end(&mut self) {
        self.end(']');
    }

    fn key(&mut self, key: &str, _span: Span) -> Result<(), Error> {
        self.separate();
        push_json_string(self.out, key, self.options.escape_html);
        self.out.push_str(if self.options.indent.is_some() { ": " } else { ":" });
        self.next = Next::Value;
        Ok(())
    }

    fn value(&mut self, value: &Value<'_>, _span: Span) -> Result<(), Error> {
        self.separate();
        let _ = match value {
            Value::Null => self.out.write_str("null"),
            Value::Bool(value) => write!(self.out, "{value}"),
            #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
            Value::Int(int) if self.options.floats => {
                push_json_float(self.out, *int as f64);
                Ok(())
            }
            #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
            Value::Uint(uint) if self.options.floats => {
                push_json_float(self.out, *uint as f64);
                Ok(())
            }
            Value::Int(int) => write!(self.out, "{int}"),
            Value::Uint(uint) => write!(self.out, "{uint}"),
            Value::Timestamp(timestamp) => write!(self.out, "\"{timestamp}\""),
            Value::Float(float) => {
                push_json_float(self.out, *float);
                Ok(())
            }
            Value::Str(text) => {
                push_json_string(self.out, text, self.options.escape_html);
                Ok(())
            }
        };
        self.next = Next::Other;
        Ok(())
    }
}

/// Appends a string in quotes, escaped as `encoding/json` does.
pub fn push_json_string(out: &mut String, text: &str, escape_html: bool) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| needs_look(byte, escape_html)) {
        out.push_str(&rest[..at]);
        let mut after = rest[at..].chars();
        let Some(char) = after.next() else { break };
        push_json_char(out, char, escape_html);
        rest = after.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a byte starts a character that may be escaped. `0xE2` starts U+2028 and U+2029, among many others.
fn needs_look(byte: u8, escape_html: bool) -> bool {
    byte < b' ' || matches!(byte, b'"' | b'\\' | 0xE2) || (escape_html && matches!(byte, b'<' | b'>' | b'&'))
}

fn push_json_char(out: &mut String, char: char, escape_html: bool) {
    let short = match char {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{08}' => "\\b",
        '\u{0C}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\0'..='\u{1F}' | '\u{2028}' | '\u{2029}' => {
            let _ = write!(out, "\\u{:04x}", u32::from(char));
            return;
        }
        '<' | '>' | '&' if escape_html => {
            let _ = write!(out, "\\u{:04x}", u32::from(char));
            return;
        }
        _ => return out.push(char),
    };
    out.push_str(short);
}
