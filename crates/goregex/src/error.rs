//! Why a pattern was refused, in Go's words.

use std::fmt;
use std::ops::Range;

/// A pattern that Go's `regexp.Compile` refuses. Displays as Go prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    reason: Reason,
    expr: Vec<u8>,
    span: Range<usize>,
}

impl Error {
    pub(crate) fn new(reason: Reason, pattern: &[u8], span: Range<usize>) -> Self {
        // What is missing comes after the backslash, so Go quotes nothing.
        let quoted = if reason == Reason::TrailingBackslash { span.end..span.end } else { span.clone() };
        Error { reason, expr: pattern[quoted].to_vec(), span }
    }

    /// The bytes of the pattern that are at fault.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The same error for a pattern that had `before` bytes put in front of its `len` bytes.
    pub(crate) fn inside(mut self, before: usize, len: usize) -> Self {
        let place = |at: usize| at.saturating_sub(before).min(len);
        self.span = place(self.span.start)..place(self.span.end);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expr = String::from_utf8_lossy(&self.expr);
        write!(f, "error parsing regexp: {}: `{expr}`", self.reason.text())
    }
}

impl std::error::Error for Error {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    CharRange,
    Escape,
    Large,
    MissingBracket,
    MissingParen,
    MissingRepeatArgument,
    NamedCapture,
    NestingDepth,
    PerlOp,
    RepeatOp,
    RepeatSize,
    TrailingBackslash,
    UnexpectedParen,
    Utf8,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Reason::CharRange => "invalid character class range",
            Reason::Escape => "invalid escape sequence",
            Reason::Large => "expression too large",
            Reason::MissingBracket => "missing closing ]",
            Reason::MissingParen => "missing closing )",
            Reason::MissingRepeatArgument => "missing argument to repetition operator",
            Reason::NamedCapture => "invalid named capture",
            Reason::NestingDepth => "expression nests too deeply",
            Reason::PerlOp => "invalid or unsupported Perl syntax",
            Reason::RepeatOp => "invalid nested repetition operator",
            Reason::RepeatSize => "invalid repeat count",
            Reason::TrailingBackslash => "trailing backslash at end of expression",
            Reason::UnexpectedParen => "unexpected )",
            Reason::Utf8 => "invalid UTF-8",
        }
    }
}
