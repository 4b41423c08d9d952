//! Why a forge did not do what was asked: a sentence that names the forge and what was being done, what a caller decides
//! by, and what to do about it. No text of it holds a token.

use std::fmt;
use std::time::Duration;

/// The result of what this module does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration or the request is not one that can be: an address, a branch, a label.
    Invalid,
    /// The token is missing, wrong or has expired.
    Unauthorized,
    /// The token is known, and may not do this.
    Forbidden,
    /// There is no such repository, or the token may not see it.
    NotFound,
    /// There is such a request already.
    AlreadyExists,
    /// The forge asks to come back later.
    RateLimited,
    /// There is no answer, or none but that the forge is out of order.
    Unavailable,
    /// The answer is not what the forge's documentation says, or too large.
    Unreadable,
}

/// Why it failed.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    retry_after: Option<Duration>,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, retry_after: None }))
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(super) fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// What a caller decides by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// How long the forge wants to be left alone, where it says so.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::RateLimited | ErrorKind::Unavailable => crate::ErrorKind::Environment,
            _ => crate::ErrorKind::Input,
        };
        let Inner { message, hint, .. } = *error.0;
        let error = Self::new(kind, message);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
