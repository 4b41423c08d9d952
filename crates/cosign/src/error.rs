//! Why an image does not count as signed: one sentence that names the image, what a caller can decide by, and what to do.

use std::fmt;

/// The result of what this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller decides by. Where signatures fail in several ways, the kind is the first of these that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A key cannot be used, or there is none.
    Key,
    /// The registry did not give all signatures that there may be.
    Registry(oci_registry::ErrorKind),
    /// There is a signature with one of the keys, and it is for something else.
    OtherDigest,
    /// There are signatures, and none with one of the keys.
    OtherKey,
    /// A signature is larger than signatures are, or there are more of them than anybody makes.
    TooLarge,
    /// A signature cannot be read.
    Malformed,
    /// There is no signature.
    NoSignature,
}

/// Why it failed.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None }))
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
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
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
