//! The crate's error is [`diagnostic::Error`].

pub(crate) use diagnostic::{Error, ErrorKind, Result};

use yamltree::Span;

/// Returns the error of a value that exists and must not, or cannot, be edited.
pub(crate) fn refused(message: impl Into<String>, span: Span) -> Error {
    Error::new(ErrorKind::Denied, message).at(span)
}

/// Returns the error of a text that is not YAML.
pub(crate) fn not_yaml(error: yamltree::Error) -> Error {
    Error::from(error).prefix("not YAML")
}
