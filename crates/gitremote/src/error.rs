//! Errors of the disk, of time limits and of gix as [`diagnostic::Error`].

use std::io;
use std::path::Path;
use std::time::Duration;

use diagnostic::{Error, ErrorKind};

/// Returns the error of a server that did not answer in time.
#[must_use]
pub fn timed_out(timeout: Duration) -> Error {
    Error::new(ErrorKind::TimedOut, format!("no answer within {timeout:?}"))
}

/// Returns the error of a disk that failed at a path.
#[must_use]
pub fn disk(action: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {action} `{}`: {error}", path.display()))
}

/// Returns the root cause of a gix error.
pub(crate) fn cause(error: &gix::Error) -> String {
    let broke_off = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    if error.downcast_any_ref().is_some_and(broke_off) {
        return "the connection ended in the middle of an answer".to_owned();
    }
    innermost(error.probable_cause())
}

/// Returns the root cause of an error, which says most: `connection refused`, not `error sending request`.
#[must_use]
pub fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
