//! Errors of credentials. No message contains a credential, or the URL that a redirect led to.

use diagnostic::{Error, ErrorKind};

/// Returns the error of credentials that cannot be read from `source`. The reason must not contain what is kept there.
#[must_use]
pub fn no_credentials(source: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Credentials, format!("cannot read credentials from `{source}`: {reason}"))
}
