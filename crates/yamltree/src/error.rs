//! The error of a document, with its span.

use std::fmt;

use diagnostic::Span;

/// Why a document was refused, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no YAML, or no YAML that the wanted form can hold.
    Invalid,
    /// The text is larger, deeper or more aliased than is allowed.
    Limit,
}

/// A refusal, with go-yaml's own wording as the message.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    span: Span,
    /// The line that go-yaml names, 0 where it names none; `None` where the error is not go-yaml's own.
    go_line: Option<u32>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, span: Span) -> Self {
        Self { kind, message: message.into(), span, go_line: Some(0) }
    }

    pub(crate) fn with_go_line(mut self, line: u32) -> Self {
        self.go_line = Some(line);
        self
    }

    /// Marks an error of the code around go-yaml, kyaml or `encoding/json`, which is printed as it is.
    pub(crate) fn into_kyaml(mut self) -> Self {
        self.go_line = None;
        self
    }

    /// The kind of refusal.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns what is wrong, without the place: `found character that cannot start any token`.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error as the real tool prints it: `yaml: line 3: did not find expected key`. Its line is often one too low, or
    /// that of the collection that the fault is in, or missing; [`Self::span`] is exact.
    #[must_use]
    pub fn go_text(&self) -> String {
        match self.go_line {
            None => self.message.clone(),
            Some(0) => format!("yaml: {}", self.message),
            Some(line) => format!("yaml: line {line}: {}", self.message),
        }
    }

    /// Returns where it is wrong.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for diagnostic::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Invalid => diagnostic::ErrorKind::Invalid,
            ErrorKind::Limit => diagnostic::ErrorKind::Limit,
        };
        Self::new(kind, error.message).at(error.span)
    }
}
