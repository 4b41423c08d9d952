//! Where a node came from: a file, and the bytes in it.

use std::sync::Arc;

/// The number of a file among those that one run has read. The caller hands them out; see [`Source`].
pub type SourceId = u32;

/// A run of bytes in one file.
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
    /// The place of a node that no file holds.
    pub const NONE: Span = Span { source: SourceId::MAX, start: 0, end: 0 };

    /// Whether the span stands in a file.
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
#[derive(Clone, Debug)]
pub struct Source {
    /// How the user would name the file.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
}

impl Source {
    /// The line and column of a byte, both counted from one; a column is a character.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A place in a file, with the file's text for an excerpt.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes concerned.
    pub span: Span,
}

impl Place {
    /// `path:line:column`
    #[must_use]
    pub fn location(&self) -> String {
        let (line, column) = self.source.line_column(self.span.start);
        format!("{}:{line}:{column}", self.source.name)
    }
}
