//! Errors of edits.

use diagnostic::{Error, ErrorKind};
use yamltree::Span;

/// Returns the error of a value that exists and must not, or cannot, be edited.
pub(crate) fn refused(message: impl Into<String>, span: Span) -> Error {
    Error::new(ErrorKind::Denied, message).at(span)
}
