//! Writes a string as a YAML scalar.
//!
//! In: the text, the style that the place had, and whether flow brackets surround it. Out: the same style, except that
//! what would not stay a string without quotes gets double ones.

use std::fmt::Write as _;

use yamltree::Style;

use crate::schema::reads_as_string;

/// The position of a string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The style of the old scalar.
    pub(crate) style: Style,
    /// True if it lies within `[…]` or `{…}`.
    pub(crate) in_flow: bool,
    /// True if a tag makes it a string whatever it looks like.
    pub(crate) is_tagged: bool,
}

/// A string as a scalar in block style: in the given quotes, or in double quotes where it would not be a string, or not
/// all of it, without any.
#[must_use]
pub fn scalar(text: &str, style: Style) -> String {
    write(text, Slot { style, in_flow: false, is_tagged: false })
}

pub(crate) fn write(text: &str, slot: Slot) -> String {
    match slot.style {
        Style::SingleQuoted if !text.contains(needs_escape) => format!("'{}'", text.replace('\'', "''")),
        Style::Plain if is_plain(text, slot.in_flow) && (slot.is_tagged || reads_as_string(text)) => {
            text.to_owned()
        }
        _ => double_quoted(text),
    }
}

/// Returns true if a text without quotes is one scalar, with all of the text.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let starts = match first {
        '-' | '?' | ':' => chars.next().is_some_and(|second| second != ' '),
        first => !",[]{}#&*!|>'\"%@` ".contains(first),
    };
    let is_marker =
        |marker: &str| text.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    starts
        && !text.contains(needs_escape)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !is_marker("---")
        && !is_marker("...")
        && !(in_flow && text.contains([',', '[', ']', '{', '}']))
}

/// Returns true for characters that need an escape in double quotes, or that end a line.
fn needs_escape(char: char) -> bool {
    matches!(char, '\0'..'\x20' | '\x7F'..'\u{A0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            char if needs_escape(char) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, style: Style, in_flow: bool) -> String {
        write(text, Slot { style, in_flow, is_tagged: false })
    }

    #[test]
    fn quotes_stay_as_they_were() {
        assert_eq!(written("v1", Style::Plain, false), "v1");
        assert_eq!(written("v1", Style::SingleQuoted, false), "'v1'");
        assert_eq!(written("v1", Style::DoubleQuoted, false), "\"v1\"");
        assert_eq!(written("it's", Style::SingleQuoted, false), "'it''s'");
        assert_eq!(written("a\\\"", Style::DoubleQuoted, false), "\"a\\\\\\\"\"");
        assert_eq!(written("a\nb", Style::SingleQuoted, false), "\"a\\nb\"");
    }

    #[test]
    fn quotes_are_added_where_plain_text_would_be_something_else() {
        for text in [
            "",
            "1.20",
            "on",
            " a",
            "a ",
            "a:",
            "a: b",
            "a #b",
            "#a",
            "- a",
            "-",
            "? a",
            "*a",
            "&a",
            "!a",
            "|a",
            ">a",
            "%a",
            "@a",
            "`a",
            "'a'",
            "\"a\"",
            "[a",
            "{a",
            ",a",
            "---",
            "... a",
            "a\tb",
            "a\u{2028}b",
        ] {
            assert!(written(text, Style::Plain, false).starts_with('"'), "{text:?}");
        }
        for text in
            ["a:b", "a#b", "-a", "?a", ":a", "a'b", "a\"b", "a, b", "a[0]", "it's", "é", "----a", "a b"]
        {
            assert_eq!(written(text, Style::Plain, false), text);
        }
        for text in ["a, b", "a[0]", "a}"] {
            assert!(written(text, Style::Plain, true).starts_with('"'), "{text:?}");
        }
    }

    #[test]
    fn a_tag_makes_quotes_needless() {
        let slot = Slot { style: Style::Plain, in_flow: false, is_tagged: true };
        assert_eq!(write("1.20", slot), "1.20");
        assert_eq!(write("a: b", slot), "\"a: b\"");
    }
}
