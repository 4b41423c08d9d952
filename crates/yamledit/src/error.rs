//! Why an edit is not made, and where.

use std::fmt;

use yamltree::Span;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller may decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no YAML.
    NotYaml,
    /// What a path names is not there.
    Missing,
    /// It is there and must not, or cannot, be edited; or the path itself is malformed.
    Refused,
    /// The edited text does not read as planned.
    Unproven,
}

/// An edit that is not made.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    span: Option<Span>,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), span: None, hint: None }
    }

    pub(crate) fn refused(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorKind::Refused, message).at(span)
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What a caller may decide by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where it is, when that is in the file.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        self.span
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<yamltree::Error> for Error {
    fn from(error: yamltree::Error) -> Self {
        Self::new(ErrorKind::NotYaml, format!("not YAML: {}", error.message())).at(error.span())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
