//! Why a command failed: one sentence, where it is wrong, and what to do about it.

use std::fmt;
use std::io;
use std::path::Path;

pub use yamlserde::Place;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The author of the input: a file, a list of tags, a policy.
    Input,
    /// Who typed the command.
    Usage,
    /// Who runs the machine: disk, network, a program that is missing.
    Environment,
}

/// What it is about, where that matters to who is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// Nothing in particular: something says what it may not.
    #[default]
    Invalid,
    /// Two claim the same image of the same Application.
    Conflict,
    /// An object that is named is not there.
    Missing,
    /// An object that is named is not for who names it.
    Denied,
    /// A Secret with credentials is not there, or has not what is needed.
    Credentials,
}

/// A failed command.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    cause: Cause,
    message: String,
    hint: Option<String>,
    place: Option<Place>,
}

impl Error {
    /// Who has to act, and why.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            cause: Cause::default(),
            message: message.into(),
            hint: None,
            place: None,
        }))
    }

    /// What the author of the input has to mend.
    #[must_use]
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// A failure of the disk at a path. A file that is not there is the fault of who named it.
    #[must_use]
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
                ErrorKind::Input
            }
            _ => ErrorKind::Environment,
        };
        Self::new(kind, format!("cannot {doing} `{}`: {error}", path.display()))
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says what it was about.
    #[must_use]
    pub fn during(mut self, what: &str) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    /// Says something by another name.
    #[must_use]
    pub(crate) fn renaming(mut self, old: &str, new: &str) -> Self {
        self.0.message = self.0.message.replace(old, new);
        self.0.hint = self.0.hint.map(|hint| hint.replace(old, new));
        self
    }

    /// Says what it is about.
    #[must_use]
    pub(crate) fn caused_by(mut self, cause: Cause) -> Self {
        self.0.cause = cause;
        self
    }

    /// What it is about.
    #[must_use]
    pub(crate) fn cause(&self) -> Cause {
        self.0.cause
    }

    /// Says where it is wrong.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
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
}

impl From<yamlserde::Error> for Error {
    fn from(error: yamlserde::Error) -> Self {
        Self::input(error.message).at(Place::from(&error.place))
    }
}

impl From<oci_registry::Error> for Error {
    fn from(error: oci_registry::Error) -> Self {
        // What cannot be had is for who named it to mend; only the disk is for who runs the machine.
        let kind = match error.kind() {
            oci_registry::ErrorKind::Disk => ErrorKind::Environment,
            _ => ErrorKind::Input,
        };
        let mut ours = Self::new(kind, error.message());
        if error.kind() == oci_registry::ErrorKind::Credentials {
            ours = ours.caused_by(Cause::Credentials);
        }
        match error.help() {
            Some(help) => ours.hint(help),
            None => ours,
        }
    }
}

impl From<cosign::Error> for Error {
    fn from(error: cosign::Error) -> Self {
        let kind = match error.kind() {
            cosign::ErrorKind::Registry(oci_registry::ErrorKind::Disk) => ErrorKind::Environment,
            _ => ErrorKind::Input,
        };
        let ours = Self::new(kind, error.message());
        match error.help() {
            Some(help) => ours.hint(help),
            None => ours,
        }
    }
}

impl From<gitremote::Error> for Error {
    fn from(error: gitremote::Error) -> Self {
        let ours = Self::input(error.message());
        match error.help() {
            Some(help) => ours.hint(help),
            None => ours,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
