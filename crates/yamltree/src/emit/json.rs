//! JSON as Go's `encoding/json` writes what go-yaml decodes.
//!
//! Input: a node without aliases. Output: one JSON value, keys in byte order. Rejects what has no JSON; see `walk`.

use std::fmt::Write as _;

use super::values::walk;
use super::walk::{KeyOrder, Scalar, Sink};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::node::Node;
use crate::number::push_json_float;
use diagnostic::Span;

/// The options of converting YAML to JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonOptions {
    /// The dialect of scalars. [`Dialect::V2`] is `sigs.k8s.io/yaml`'s `YAMLToJSON`, which turns other keys into
    /// strings and lets a later key override an earlier one; [`Dialect::V3`] is kyaml's `MarshalJSON`, which rejects
    /// both.
    pub dialect: Dialect,
    /// True if `<`, `>` and `&` are escaped, as `json.Marshal` does.
    pub escape_html: bool,
    /// True if whole numbers become floats, as they do when Go decodes JSON without a type and encodes it once more.
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
    let mut writer = JsonWriter::new(out, options);
    walk(node, options.dialect, KeyOrder::Bytes, &mut writer).inspect_err(|_| out.truncate(before))
}

/// `json.Marshal`: writes what Go's JSON can hold. Its caller sorts the keys by bytes. How scalars would be read does
/// not matter to it.
#[derive(Debug)]
pub struct JsonWriter<'o> {
    out: &'o mut String,
    options: JsonOptions,
    depth: usize,
    next: Next,
}

/// The next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The document's, or that of a key.
    Value,
    /// The first in a collection.
    First,
    /// Another one in a collection.
    Other,
}

impl<'o> JsonWriter<'o> {
    /// A writer that appends one value to `out`.
    pub fn new(out: &'o mut String, options: JsonOptions) -> Self {
        Self { out, options, depth: 0, next: Next::Value }
    }

    /// Writes the separator before a value or a key.
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

    fn value(&mut self, value: &Scalar<'_>, _span: Span) -> Result<(), Error> {
        self.separate();
        let _ = match value {
            Scalar::Null => self.out.write_str("null"),
            Scalar::Bool(value) => write!(self.out, "{value}"),
            #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
            Scalar::Int(int) if self.options.floats => {
                push_json_float(self.out, *int as f64);
                Ok(())
            }
            #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
            Scalar::Uint(uint) if self.options.floats => {
                push_json_float(self.out, *uint as f64);
                Ok(())
            }
            Scalar::Int(int) => write!(self.out, "{int}"),
            Scalar::Uint(uint) => write!(self.out, "{uint}"),
            Scalar::Timestamp(timestamp) => write!(self.out, "\"{timestamp}\""),
            Scalar::Float(float) => {
                push_json_float(self.out, *float);
                Ok(())
            }
            Scalar::Str(text) => {
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

/// Returns true if a byte starts a character that may be escaped. `0xE2` starts U+2028 and U+2029, among many others.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, parse};

    fn json(yaml: &str, options: JsonOptions) -> Result<String, String> {
        let read = ParseOptions { dialect: options.dialect, ..ParseOptions::default() };
        let root = parse(yaml, 0, &read).unwrap().swap_remove(0).root;
        let mut out = String::new();
        to_json(&root, options, &mut out).map_err(|error| error.go_text())?;
        Ok(out)
    }

    #[track_caller]
    fn check(yaml: &str, options: JsonOptions, wanted: &str) {
        assert_eq!(json(yaml, options).as_deref(), Ok(wanted), "{yaml}");
    }

    #[track_caller]
    fn refused(yaml: &str, options: JsonOptions, wanted: &str) {
        assert_eq!(json(yaml, options).as_ref().map_err(String::as_str), Err(wanted), "{yaml}");
    }

    #[test]
    fn keys_are_in_byte_order() {
        check("b10: 1\nb9: 2\na: {}\nB: []\n", JsonOptions::KYAML, r#"{"B":[],"a":{},"b10":1,"b9":2}"#);
    }

    #[test]
    fn strings_are_escaped_as_go_does() {
        let text = r#"'"\"': "<&>\b\f\n\r\t\0\x1b\x7f\L\u00e9\U0001F600/""#;
        let escaped = r#"{"\"\\\"":"\u003c\u0026\u003e\b\f\n\r\t\u0000\u001b"#.to_owned() + "\u{7F}";
        check(text, JsonOptions::KYAML, &(escaped.clone() + r#"\u2028é😀/"}"#));
        let options = JsonOptions { escape_html: false, ..JsonOptions::KYAML };
        let escaped = escaped.replace("\\u003c\\u0026\\u003e", "<&>");
        check(text, options, &(escaped + r#"\u2028é😀/"}"#));
    }

    #[test]
    fn the_dialect_decides_what_is_a_boolean() {
        check("a: yes\nb: 2001-01-01\n", JsonOptions::SIGS, r#"{"a":true,"b":"2001-01-01"}"#);
        check("a: yes\nb: 2001-01-01\n", JsonOptions::KYAML, r#"{"a":"yes","b":"2001-01-01T00:00:00Z"}"#);
    }

    /// Expected values: what `sigs.k8s.io/yaml` answers through Helm's `fromYaml`.
    #[test]
    fn sigs_makes_strings_of_keys() {
        check(
            "1: a\n0x10: b\ntrue: c\n0.1: d\nno: e\n.inf: f\n",
            JsonOptions::SIGS,
            r#"{".inf":"f","0.1":"d","1":"a","16":"b","false":"e","true":"c"}"#,
        );
        check("a: 1\nb: 2\na: 3\n", JsonOptions::SIGS, r#"{"a":3,"b":2}"#);
        refused("? [a, b]\n: c\n", JsonOptions::SIGS, r#"yaml: invalid map key: []interface {}{"a", "b"}"#);
        refused(
            "? {a: b}\n: c\n",
            JsonOptions::SIGS,
            r#"yaml: invalid map key: map[interface {}]interface {}{"a":"b"}"#,
        );
        refused(
            "~: a\n",
            JsonOptions::SIGS,
            r#"unsupported map key of type: %!s(<nil>), key: <nil>, value: "a""#,
        );
    }

    #[test]
    fn binary_is_decoded_to_text() {
        check("a: !!binary aGnDqQ==\n", JsonOptions::KYAML, r#"{"a":"hié"}"#);
        // Go's JSON has one replacement for each byte that is not UTF-8, not one for each broken character.
        check("a: !!binary YeKAYg==\n", JsonOptions::SIGS, "{\"a\":\"a\u{FFFD}\u{FFFD}b\"}");
        refused("a: !!binary '!!'\n", JsonOptions::SIGS, "yaml: !!binary value contains invalid base64 data");
    }

    #[test]
    fn whole_numbers_may_become_floats() {
        let options = JsonOptions { floats: true, ..JsonOptions::KYAML };
        check(
            "[9007199254740993, 18446744073709551615, 1]",
            options,
            "[9007199254740992,18446744073709552000,1]",
        );
    }

    #[test]
    fn pretty_json_is_indented() {
        let options = JsonOptions { indent: Some(2), ..JsonOptions::KYAML };
        let wanted = "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}";
        check("b: {c: ~}\na: [1, {}, []]\n", options, wanted);
    }

    /// Kustomize's answers. Decoding comes before JSON, whatever the order of the keys; JSON goes by sorted keys.
    #[test]
    fn the_first_fault_is_named() {
        let options = JsonOptions::KYAML;
        refused("x: {a: .inf, z: !!int x}\n", options, "yaml: cannot decode !!str `x` as a !!int");
        refused(
            "x: {b: .inf, a: {1: c}}\n",
            options,
            "json: unsupported type: map[interface {}]interface {}",
        );
        refused("x: {b: {1: c}, a: -.inf}\n", options, "json: unsupported value: -Inf");
        refused("x: {a: 1, a: !!int x}\ny: !!int y\n", options, "yaml: cannot decode !!str `y` as a !!int");
        refused("x: {a: 1, a: !!int x}\ny: .nan\n", options, "yaml: mapping key \"a\" already defined");
        refused("x: {!foo k: v}\n", options, "json: unsupported type: map[interface {}]interface {}");
    }
}
