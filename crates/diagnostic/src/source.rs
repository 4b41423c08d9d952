//! Files that were read, and spans of their text.

use std::fmt;
use std::sync::Arc;

/// The number of a file among those that one run has read. Assigned by the caller that reads the files; see [`Source`].
pub type SourceId = u32;

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of a value that was not read from a file.
    pub const NONE: Span = Span { source: SourceId::MAX, start: 0, end: 0 };

    /// Returns true if the span is in a file.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.source != SourceId::MAX
    }
}

impl Default for Span {
    fn default() -> Self {
        Self::NONE
    }
}

/// A file that was read, kept so that a span can be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the user would write it.
    pub name: String,
    /// The content.
    pub text: Arc<str>,
}

impl Source {
    /// Returns the line and column of a byte, both counted from one; a column is a character.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        // A byte order mark is not a column.
        let before = self.text[..offset].trim_start_matches('\u{FEFF}');
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

impl Source {
    /// Returns the offset of a line and column, both counted from one; a column is a character.
    fn offset(&self, line: usize, column: usize) -> u32 {
        let start = match line.checked_sub(2) {
            None => 0,
            Some(breaks) => {
                self.text.match_indices('\n').nth(breaks).map_or(self.text.len(), |(at, _)| at + 1)
            }
        };
        let rest = self.text[start..].split('\n').next().unwrap_or_default();
        let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        u32::try_from(start + within).unwrap_or(u32::MAX)
    }
}

/// Shows the name only: the text may be long, and secret.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A span together with its file, so that it can be shown.
#[derive(Clone, Debug)]
pub struct Location {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes concerned.
    pub span: Span,
}

impl Location {
    /// Returns the location of the bytes `start..end` of a file.
    #[must_use]
    pub fn new(source: &Arc<Source>, start: u32, end: u32) -> Self {
        Self { source: Arc::clone(source), span: Span { source: 0, start, end } }
    }
}

impl Location {
    /// Returns the location of a line and column of a file that another library parsed; both count from one.
    #[must_use]
    pub fn at_line(name: &str, text: &str, line: usize, column: usize) -> Self {
        let source = Arc::new(Source { name: name.to_owned(), text: text.into() });
        let start = source.offset(line, column);
        Self::new(&source, start, start)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.source.name
    }

    /// Returns the line and column, both counted from one; a column is a character.
    #[must_use]
    pub fn line_column(&self) -> (usize, usize) {
        self.source.line_column(self.span.start)
    }
}

/// `path:line:column`
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.source.name)
    }
}

/// Two locations are equal if they name the same bytes of a file of the same name.
impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        let same = |left: &Span, right: &Span| (left.start, left.end) == (right.start, right.end);
        same(&self.span, &other.span) && self.source.name == other.source.name
    }
}

impl Eq for Location {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_column_lead_to_the_byte_and_back() {
        let text = "\u{FEFF}é: 1\nüü: x\n";
        for (line, column, byte) in [(2, 1, "üü"), (2, 5, "x"), (2, 99, "\n")] {
            let location = Location::at_line("f", text, line, column);
            assert!(text[location.span.start as usize..].starts_with(byte), "{line}:{column}");
        }
        assert_eq!(Location::at_line("f", text, 2, 5).to_string(), "f:2:5");
        assert_eq!(Location::at_line("f", text, 9, 1).span.start as usize, text.len());
        assert_eq!(
            Location::new(&Arc::new(Source { name: "f".to_owned(), text: text.into() }), 3, 3).to_string(),
            "f:1:1"
        );
    }
}
