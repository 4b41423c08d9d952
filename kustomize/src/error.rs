//! What is wrong with the user's files, where, and what led there.

use std::fmt;

use yamltree::{Place, Span};

use crate::sources::Sources;
use crate::world::ChartError;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a build failed, as far as a caller decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file of the user's is wrong.
    Invalid,
    /// A file or folder that is named does not exist.
    NotFound,
    /// The input asks for something that is not allowed: a path outside the root, a disabled plugin.
    Denied,
    /// The input is larger, deeper or more entangled than is allowed.
    Limit,
    /// The input asks for something that this program does not do.
    Unsupported,
    /// Something outside failed: the network, a remote repository, the disk.
    Unavailable,
}

/// A failed build: one sentence, its place, and the chain of files that led there.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    span: Span,
    trail: Vec<Step>,
    place: Option<Place>,
}

/// One link of the chain that led to an error, innermost first.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was being done: `in the base`, `first defined here`.
    pub note: String,
    span: Span,
    /// Where it was asked for, when that is in a file.
    pub place: Option<Place>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            hint: None,
            span: Span::NONE,
            trail: Vec::new(),
            place: None,
        }))
    }

    /// A fault of the user's input.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Says where it is wrong, unless a place nearer to the fault is known already.
    pub(crate) fn at(mut self, span: Span) -> Self {
        if !self.0.span.is_some() {
            self.0.span = span;
        }
        self
    }

    /// Says where it is wrong in place of what was known: the text had no file of its own.
    pub(crate) fn moved(mut self, span: Span) -> Self {
        self.0.span = span;
        self
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Adds the next outer link of the chain: what led here and where it is written.
    pub(crate) fn via(mut self, note: impl Into<String>, span: Span) -> Self {
        // Where the fault itself stands needs no second mention.
        if span != self.0.span {
            self.0.trail.push(Step { note: note.into(), span, place: None });
        }
        self
    }

    /// Puts words before the sentence.
    pub(crate) fn prefix(mut self, words: impl fmt::Display) -> Self {
        self.0.message = format!("{words}: {}", self.0.message);
        self
    }

    /// Ties the spans to the files that were read, so that the error can be shown.
    pub(crate) fn located(mut self, sources: &Sources) -> Self {
        // What came from outside has its place already.
        let place = |known: Option<Place>, span| known.or_else(|| sources.place(span));
        self.0.place = place(self.0.place.take(), self.0.span);
        for step in &mut self.0.trail {
            step.place = place(step.place.take(), step.span);
        }
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence, without its place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it is wrong, before that is tied to a file.
    #[cfg(test)]
    pub(crate) fn span(&self) -> Span {
        self.0.span
    }

    /// What to do about it, when there is something to say.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Where it is wrong, when that is in a file.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What led there, innermost first.
    #[must_use]
    pub fn trail(&self) -> &[Step] {
        &self.0.trail
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

impl From<ChartError> for Error {
    fn from(error: ChartError) -> Self {
        let ChartError { message, hint, place, trail } = error;
        let step = |(note, place)| Step { note, span: Span::NONE, place };
        Self(Box::new(Inner {
            kind: ErrorKind::Unavailable,
            message,
            hint,
            span: Span::NONE,
            trail: trail.into_iter().map(step).collect(),
            place,
        }))
    }
}

impl From<yamltree::Error> for Error {
    fn from(error: yamltree::Error) -> Self {
        let kind = match error.kind() {
            yamltree::ErrorKind::Invalid => ErrorKind::Invalid,
            yamltree::ErrorKind::Limit => ErrorKind::Limit,
        };
        Self::new(kind, error.message()).at(error.span())
    }
}
