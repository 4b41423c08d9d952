//! Normalizes the URL of a repository.
//!
//! `insteadOf` of whoever runs this is followed. Protocols other than https, http, ssh and file are refused, and so are
//! addresses without a host.

use diagnostic::{Error, ErrorKind, Result};
use gix::remote::Direction;
use gix::url::Scheme;

use crate::error::cause;
use crate::guard::permit_host;

/// The address to call for reading or writing, where its protocol is allowed.
pub(crate) fn resolve(
    written: &str,
    direction: Direction,
    configuration: &gix::Repository,
) -> Result<gix::Url> {
    let refused = |reason: String| Error::new(ErrorKind::Denied, reason);
    let url = gix::url::parse(written).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("the address is malformed: {}", cause(&error)))
    })?;
    // What has neither a scheme nor the colon of scp would be a path relative to wherever this runs.
    if url.scheme == Scheme::File && !written.starts_with("file://") {
        return Err(Error::new(ErrorKind::Invalid, "the address names no host")
            .hint("write it as https://host/path or user@host:path"));
    }
    let remote = configuration.remote_at(url).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("git's `insteadOf` cannot be applied: {}", cause(&error)))
    })?;
    let url = remote.url(direction).cloned();
    let url = url.ok_or_else(|| refused("git's configuration leaves no address to call".to_owned()))?;
    permit_host(url.host().unwrap_or_default())?;
    match url.scheme {
        Scheme::Https | Scheme::Http | Scheme::Ssh | Scheme::File => Ok(url),
        other => Err(refused(format!("the protocol `{}` is not allowed", other.as_str()))
            .hint("https, http, ssh and file are")),
    }
}
