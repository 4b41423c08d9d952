//! Why a registry did not give what was asked for: one sentence that names the image and the host, what a caller can
//! decide by, and what to do about it. No text of it holds a credential or the address that a redirect led to.

use std::fmt;
use std::time::Duration;

/// The result of what this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for is not well-formed: a reference, a setting, a certificate.
    Invalid,
    /// The registry wants credentials, or other ones.
    Unauthorized,
    /// The registry knows who asks, and says no.
    Denied,
    /// There is no such repository.
    NameUnknown,
    /// There is no such tag or manifest.
    ManifestUnknown,
    /// There is no such blob.
    BlobUnknown,
    /// The registry asks to come back later than one is willing to wait.
    RateLimited,
    /// There is no answer, or none but that the registry is out of order.
    Unreachable,
    /// No secure connection can be made.
    Tls,
    /// The answer is larger than allowed.
    TooLarge,
    /// The content is not what its digest says.
    DigestMismatch,
    /// The answer is not one that the protocol allows.
    Protocol,
    /// Credentials could not be had from where they are kept.
    Credentials,
    /// The cache cannot be read or written, or the caller's file cannot.
    Disk,
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
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, retry_after: None }))
    }

    /// That credentials cannot be had from where they are kept. What is kept there must not be in the reason.
    #[must_use]
    pub fn no_credentials(place: &str, reason: &str) -> Self {
        Self::new(ErrorKind::Credentials, format!("no credentials can be had from `{place}`: {reason}"))
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says when to come back.
    pub(crate) fn retry_in(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Says what was being done.
    pub(crate) fn during(mut self, doing: impl fmt::Display) -> Self {
        self.0.message = format!("{doing}: {}", self.0.message);
        self
    }

    /// What a caller decides by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// How long the registry wants to be left alone, where it says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
