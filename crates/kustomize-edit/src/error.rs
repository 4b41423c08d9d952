//! Why an edit is not made: Kustomize's sentence, and where in the file.

use std::fmt;

use yamltree::Span;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An edit that is not made.
#[derive(Clone, Debug)]
pub struct Error {
    message: String,
    span: Option<Span>,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, hint: None }
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
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

impl From<yamledit::Error> for Error {
    fn from(error: yamledit::Error) -> Self {
        Self {
            message: match error.message().strip_prefix("not YAML: ") {
                Some(fault) => format!("invalid Kustomization: yaml: {fault}"),
                None => error.message().to_owned(),
            },
            span: error.span(),
            hint: error.help().map(str::to_owned),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
