//! A secret that is only revealed by name and never printed.

use std::fmt;

use serde::Deserialize;

/// A value that does not print.
#[derive(Clone, Deserialize, PartialEq, Eq, Hash)]
#[serde(transparent)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Keeps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for where it is needed.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}
