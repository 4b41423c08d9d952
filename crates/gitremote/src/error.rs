//! Why a remote could not be read or written, in words that carry no secrets.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::redact::redact;

/// What every call of this crate gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for is wrong in itself: an address, a name, a path, a commit.
    Invalid,
    /// The server or the repository has no such thing.
    NotFound,
    /// It is not allowed: by the server, or by this crate's own rules.
    Denied,
    /// It is larger or deeper than is allowed.
    Limit,
    /// A server, a disk or a program failed; later it may work.
    Unavailable,
    /// The server took the commits and refused them: a hook, a protected branch.
    Refused,
    /// Others push faster than we do.
    Conflict,
}

/// A clause that says why, and who has to act.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    reason: String,
    hint: Option<String>,
    timed_out: bool,
}

impl Error {
    /// Who has to act, and why.
    #[must_use]
    pub fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, reason: reason.into(), hint: None, timed_out: false }))
    }

    /// The server did not answer in time.
    #[must_use]
    pub fn timed_out(timeout: Duration) -> Self {
        let mut error = Self::new(ErrorKind::Unavailable, format!("there is no answer within {timeout:?}"));
        error.0.timed_out = true;
        error
    }

    /// The disk failed at a path.
    #[must_use]
    pub fn disk(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(ErrorKind::Unavailable, format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says what was being done.
    #[must_use]
    pub fn during(mut self, doing: impl Display) -> Self {
        self.0.reason = format!("{doing}: {}", self.0.reason);
        self
    }

    /// What a caller decides by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Why; what servers and libraries say may repeat the address that they were given, which this does not.
    #[must_use]
    pub fn message(&self) -> Cow<'_, str> {
        redact(&self.0.reason)
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Whether more patience could have helped.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.timed_out
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for Error {}

/// What is at the bottom of an error of gix's.
pub(crate) fn cause(error: &gix::Error) -> String {
    let broke_off = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    if error.downcast_any_ref().is_some_and(broke_off) {
        return "the connection ended in the middle of an answer".to_owned();
    }
    innermost(error.probable_cause())
}

/// The error at the bottom, which says most: `connection refused`, not `error sending request`.
#[must_use]
pub fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
