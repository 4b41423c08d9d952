//! Errors of the cache for remote resources.

use std::io;
use std::path::Path;

use diagnostic::{Error, ErrorKind};

/// Returns the error of a cache that cannot be read or written.
pub(super) fn cache_failure(action: &str, path: &Path, error: &io::Error) -> Error {
    gitremote::error::disk(action, path, error)
        .prefix("cannot use the cache")
        .hint("choose another directory with --cache-dir")
}

/// Returns the error of a machine without a directory for the cache.
pub(super) fn no_cache() -> Error {
    Error::new(ErrorKind::Unavailable, "no cache directory: neither HOME nor XDG_CACHE_HOME is set")
        .hint("choose a directory with --cache-dir")
}
