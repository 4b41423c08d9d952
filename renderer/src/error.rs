//! Why a command failed: one sentence, what to do about it, and the engine's error where it comes from one.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use yamltree::{Place, Source};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The author of the files: the input is wrong.
    Input,
    /// Who typed the command.
    Usage,
    /// Who runs the machine: disk, network, a program that is missing.
    Environment,
}

/// One link of the chain that led to an error.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was being done.
    pub note: String,
    /// Where it was asked for, when that is in a file.
    pub place: Option<Place>,
}

/// A failed command.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    place: Option<Place>,
    trail: Vec<Step>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hint: None, place: None, trail: Vec::new() }))
    }

    /// A failure of the disk at a path.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(ErrorKind::Environment, format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// Says where, unless that is known more closely.
    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// Leaves an end of the sentence away that does not hold here.
    pub(crate) fn without(mut self, end: &str) -> Self {
        let length = self.0.message.trim_end_matches(end).trim_end().len();
        self.0.message.truncate(length);
        self
    }

    /// Says what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says what was being done.
    pub(crate) fn step(mut self, note: String) -> Self {
        self.0.trail.push(Step { note, place: None });
        self
    }

    /// An edit that is not made to a kustomization file.
    pub(crate) fn edit(error: &kustomize_edit::Error, source: &Arc<Source>) -> Self {
        let place = error.span().map(|span| Place { source: Arc::clone(source), span });
        Self(Box::new(Inner {
            kind: ErrorKind::Input,
            message: error.message().to_owned(),
            hint: error.help().map(str::to_owned),
            place,
            trail: Vec::new(),
        }))
    }

    /// Who has to act.
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

impl From<kustomize::Error> for Error {
    fn from(error: kustomize::Error) -> Self {
        // What a kustomization names and cannot be had is its author's to mend, as with kustomize.
        let kind = ErrorKind::Input;
        let step = |step: &kustomize::Step| Step { note: step.note.clone(), place: step.place.clone() };
        Self(Box::new(Inner {
            kind,
            message: error.message().to_owned(),
            hint: error.help().map(str::to_owned),
            place: error.place().cloned(),
            trail: error.trail().iter().map(step).collect(),
        }))
    }
}

impl From<argocd::Error> for Error {
    fn from(error: argocd::Error) -> Self {
        Self(Box::new(Inner {
            kind: ErrorKind::Input,
            message: error.message().to_owned(),
            hint: error.help().map(str::to_owned),
            place: error.place().cloned(),
            trail: Vec::new(),
        }))
    }
}

impl From<helm_lite::Error> for Error {
    fn from(error: helm_lite::Error) -> Self {
        let kind = ErrorKind::Input;
        let step = |step: &helm_lite::Step| Step { note: step.note.clone(), place: step.place.clone() };
        Self(Box::new(Inner {
            kind,
            message: error.message().to_owned(),
            hint: error.help().map(str::to_owned),
            place: error.place().cloned(),
            trail: error.trail().iter().map(step).collect(),
        }))
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
