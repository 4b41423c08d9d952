//! Content that a file does not have yet, and its text.

use yamltree::{Dialect, Entry, Kind, Node, Resolved, Style, Tag};

use crate::scalar::{self, Slot};
use crate::schema::is_string;

/// Content to be added to a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A string, quoted where it would not read as one.
    String(String),
    /// `true` or `false`.
    Bool(bool),
    /// A scalar of another type, as it is written: a number, `null`.
    Plain(String),
    /// Keys with their values.
    Mapping(Vec<(String, Content)>),
    /// Items.
    Sequence(Vec<Content>),
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl Content {
    /// A mapping of strings.
    #[must_use]
    pub fn strings(entries: &[(&str, &str)]) -> Self {
        Self::Mapping(entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect())
    }

    /// A whole number.
    #[must_use]
    pub fn integer(number: i64) -> Self {
        Self::Plain(number.to_string())
    }

    /// The content of a node without aliases, as go-yaml's version 2 reads it.
    pub(crate) fn of(node: &Node) -> Self {
        match &node.kind {
            Kind::Scalar(text) | Kind::Alias(text) => match node.resolved(Dialect::V2) {
                Ok(Resolved::Bool(value)) => Self::Bool(value),
                Ok(Resolved::Str | Resolved::Binary) => Self::String(text.to_string()),
                _ => Self::Plain(text.to_string()),
            },
            Kind::Sequence(items) => Self::Sequence(items.iter().map(Self::of).collect()),
            Kind::Mapping(entries) => {
                let entry =
                    |entry: &Entry| (entry.key.text().unwrap_or_default().to_owned(), Self::of(&entry.value));
                Self::Mapping(entries.iter().map(entry).collect())
            }
        }
    }

    /// Returns true if a node is this content.
    pub(crate) fn is(&self, node: &Node) -> bool {
        match (self, &node.kind) {
            (Self::String(text), Kind::Scalar(read)) => read == text && is_string(node),
            (Self::Bool(value), Kind::Scalar(_)) => [Dialect::V2, Dialect::V3]
                .iter()
                .all(|dialect| node.resolved(*dialect).is_ok_and(|read| read == Resolved::Bool(*value))),
            (Self::Plain(text), Kind::Scalar(read)) => {
                read == text && node.style == Style::Plain && node.tag == Tag::Implicit
            }
            (Self::Mapping(wanted), Kind::Mapping(entries)) => {
                wanted.len() == entries.len()
                    && wanted
                        .iter()
                        .zip(entries)
                        .all(|((key, value), entry)| entry.key.text() == Some(key) && value.is(&entry.value))
            }
            (Self::Sequence(wanted), Kind::Sequence(items)) => {
                wanted.len() == items.len() && wanted.iter().zip(items).all(|(value, item)| value.is(item))
            }
            _ => false,
        }
    }
}

/// The layout of content in block style.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'t> {
    /// The line break.
    pub(crate) line_break: &'t str,
    /// Indentation of a list behind its key.
    pub(crate) list_indent: usize,
}

impl Layout<'_> {
    /// The entry of a block mapping at a column, without the column's blanks and the last line break.
    pub(crate) fn entry(self, out: &mut String, key: &str, value: &Content, column: usize) {
        out.push_str(&string(key, Style::Plain, false));
        out.push(':');
        match value {
            Content::Mapping(entries) if !entries.is_empty() => {
                self.new_line(out, column + 2);
                self.mapping(out, entries, column + 2);
            }
            Content::Sequence(items) if !items.is_empty() => {
                for item in items {
                    self.new_line(out, column + self.list_indent);
                    self.item(out, item, column + self.list_indent, 1);
                }
            }
            scalar => {
                out.push(' ');
                self.scalar(out, scalar, column + 2);
            }
        }
    }

    /// Writes the value after a colon or a dash; a string of several lines goes below, at a column.
    fn scalar(self, out: &mut String, value: &Content, column: usize) {
        let Content::String(text) = value else { return flow(out, value, false) };
        let Some(header) = block_header(text) else { return flow(out, value, false) };
        out.push_str(header);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.new_line(out, if line.is_empty() { 0 } else { column });
            out.push_str(line);
        }
    }

    /// Writes a collection in block style whose first key or dash is at a column.
    pub(crate) fn collection(self, out: &mut String, value: &Content, column: usize) {
        match value {
            Content::Mapping(entries) if !entries.is_empty() => self.mapping(out, entries, column),
            Content::Sequence(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.new_line(out, column);
                    }
                    self.item(out, item, column, 1);
                }
            }
            scalar => flow(out, scalar, false),
        }
    }

    /// The item of a block sequence whose dash is at a column, with so many blanks behind the dash.
    pub(crate) fn item(self, out: &mut String, item: &Content, column: usize, gap: usize) {
        out.push('-');
        out.extend(std::iter::repeat_n(' ', gap));
        match item {
            Content::Mapping(entries) if !entries.is_empty() => self.mapping(out, entries, column + 1 + gap),
            scalar => self.scalar(out, scalar, column + 1 + gap),
        }
    }

    fn mapping(self, out: &mut String, entries: &[(String, Content)], column: usize) {
        for (at, (key, value)) in entries.iter().enumerate() {
            if at > 0 {
                self.new_line(out, column);
            }
            self.entry(out, key, value, column);
        }
    }

    pub(crate) fn new_line(self, out: &mut String, column: usize) {
        out.push_str(self.line_break);
        out.extend(std::iter::repeat_n(' ', column));
    }
}

/// Content in flow style; `as_json` puts everything in double quotes.
pub(crate) fn flow(out: &mut String, value: &Content, as_json: bool) {
    match value {
        Content::String(text) => {
            let style = if as_json { Style::DoubleQuoted } else { Style::Plain };
            // Text that is valid within brackets is valid outside too.
            out.push_str(&string(text, style, true));
        }
        Content::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Content::Plain(text) => out.push_str(text),
        Content::Mapping(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                flow_entry(out, key, value, as_json);
            }
            out.push('}');
        }
        Content::Sequence(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                flow(out, item, as_json);
            }
            out.push(']');
        }
    }
}

/// `key: value` in flow style.
pub(crate) fn flow_entry(out: &mut String, key: &str, value: &Content, as_json: bool) {
    out.push_str(&string(key, if as_json { Style::DoubleQuoted } else { Style::Plain }, true));
    out.push_str(": ");
    flow(out, value, as_json);
}

fn string(text: &str, style: Style, in_flow: bool) -> String {
    scalar::write(text, Slot { style, in_flow, is_tagged: false })
}

/// Returns how a text of several lines is written as a block of them; `None` where that could change it.
fn block_header(text: &str) -> Option<&'static str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_plain = |char: char| matches!(char, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{2030}'..='\u{d7ff}');
    let starts_plainly = body.starts_with(|char: char| !char.is_whitespace());
    let is_block = text.contains('\n')
        && starts_plainly
        && !body.ends_with('\n')
        && text.chars().all(is_plain)
        && !body.split('\n').any(|line| line.starts_with('\t'));
    is_block.then_some(if text.ends_with('\n') { "|" } else { "|-" })
}
