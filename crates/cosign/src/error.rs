//! The crate's error is [`diagnostic::Error`].

pub(crate) use diagnostic::{Error, ErrorKind, Result};
