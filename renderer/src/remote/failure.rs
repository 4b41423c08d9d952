//! Why something remote could not be had, as the engine wants to hear it.

use std::io;
use std::path::Path;

pub(super) use gitremote::{Error as Failure, ErrorKind, Result};
use kustomize::RemoteError;

use crate::error::{self, Error};

/// The cache could not be read or written.
pub(super) fn cache_failure(doing: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::disk(doing, path, error)
        .during("the cache cannot be used")
        .hint("name another folder with --cache-dir")
}

/// There is nowhere to put what has to be on the disk.
pub(super) fn no_cache() -> Failure {
    let reason = "there is no place for a cache: neither HOME nor XDG_CACHE_HOME is set";
    Failure::new(ErrorKind::Unavailable, reason).hint("name a folder with --cache-dir")
}

/// The same for the engine.
pub(super) fn remote_error(failure: &Failure) -> RemoteError {
    let kind = match failure.kind() {
        ErrorKind::Invalid => kustomize::ErrorKind::Invalid,
        ErrorKind::NotFound => kustomize::ErrorKind::NotFound,
        ErrorKind::Denied | ErrorKind::Refused => kustomize::ErrorKind::Denied,
        ErrorKind::Limit => kustomize::ErrorKind::Limit,
        ErrorKind::Unavailable | ErrorKind::Conflict => kustomize::ErrorKind::Unavailable,
    };
    RemoteError { kind, message: failure.message().into_owned(), hint: failure.help().map(str::to_owned) }
}

/// What is named and cannot be had is for its author to mend.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let error = Self::new(error::ErrorKind::Input, failure.message());
        match failure.help() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
