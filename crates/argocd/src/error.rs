//! Why something cannot be done: one sentence, where it is wrong, and what to do about it.

use std::fmt;

use yamltree::Place;

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the author of a file has to mend.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    message: String,
    hint: Option<String>,
    place: Option<Place>,
}

impl Error {
    /// What is wrong, in a sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Inner { message: message.into(), hint: None, place: None }))
    }

    /// Says where, unless that is known more closely.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
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

    /// Where it is wrong, when that is in a file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
}

impl From<yamlserde::Error> for Error {
    fn from(error: yamlserde::Error) -> Self {
        Self::new(error.message).at(Some(error.place))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{}: ", place.location())?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
