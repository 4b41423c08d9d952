//! Why something remote could not be had, in words that carry no secrets.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::time::Duration;

use kustomize::{ErrorKind, RemoteError};

use crate::redact::redact;

pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A clause that says why, and who has to act.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    kind: ErrorKind,
    reason: String,
    hint: Option<String>,
    timed_out: bool,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), hint: None, timed_out: false }
    }

    /// The server did not answer in time.
    pub(super) fn timed_out(timeout: Duration) -> Self {
        let reason = format!("there is no answer within {timeout:?}");
        Self { timed_out: true, ..Self::new(ErrorKind::Unavailable, reason) }
    }

    /// The cache could not be read or written.
    pub(super) fn cache(doing: &str, path: &Path, error: &io::Error) -> Self {
        let reason = format!("the cache cannot be used: cannot {doing} `{}`: {error}", path.display());
        Self::new(ErrorKind::Unavailable, reason).hint("name another folder with --cache-dir")
    }

    /// Says what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what was being done.
    pub(super) fn during(mut self, doing: impl Display) -> Self {
        self.reason = format!("{doing}: {}", self.reason);
        self
    }

    pub(super) fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether more patience could have helped.
    pub(super) fn is_timeout(&self) -> bool {
        self.timed_out
    }
}

impl From<Failure> for RemoteError {
    fn from(failure: Failure) -> Self {
        let Failure { kind, reason, hint, .. } = failure;
        // What servers and libraries say may repeat the address that they were given.
        Self { kind, message: redact(&reason).into_owned(), hint }
    }
}

/// What is at the bottom of an error of gix's.
pub(super) fn cause(error: &gix::Error) -> String {
    let broke_off = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    if error.downcast_any_ref().is_some_and(broke_off) {
        return "the connection ended in the middle of an answer".to_owned();
    }
    innermost(error.probable_cause())
}

/// The error at the bottom, which says most: `connection refused`, not `error sending request`.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
