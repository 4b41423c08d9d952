//! The error of all crates.

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::redact::redacted;
use crate::source::{Location, Span};

/// The kind of an error: one variant for each decision that a caller makes (exit code, gRPC code, retry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is wrong: a file, an option, a reference.
    Invalid,
    /// A file, directory, object, repository or image that is named does not exist.
    NotFound,
    /// The input asks for something that is not allowed, or a server forbids it.
    Denied,
    /// The input is larger, deeper or more entangled than a limit allows.
    Limit,
    /// The input asks for something that this program does not do.
    Unsupported,
    /// Something outside failed, such as the network or a server; a later attempt may succeed.
    Unavailable,
    /// Something outside did not answer in time.
    TimedOut,
    /// The command line is wrong.
    Usage,
    /// The machine failed: the disk, a program that is missing.
    Environment,
    /// A server requires credentials, or rejects those that were sent.
    Unauthorized,
    /// Credentials cannot be read from where they are kept.
    Credentials,
    /// A server asks for fewer requests; see [`Error::retry_after`].
    RateLimited,
    /// Two claim the same thing, or somebody else changed it at the same time.
    Conflict,
    /// The thing that was to be created exists.
    AlreadyExists,
    /// A git server received the commits and rejected them: a hook, a protected branch.
    Rejected,
    /// An answer is not one that the protocol allows.
    Protocol,
    /// No secure connection can be made.
    Tls,
    /// The content does not match its digest.
    DigestMismatch,
    /// A registry has no such repository.
    NameUnknown,
    /// A registry has no such tag or manifest.
    ManifestUnknown,
    /// A registry has no such blob.
    BlobUnknown,
    /// A public key is missing or cannot be used.
    Key,
    /// An image has no signature.
    NotSigned,
    /// None of an image's signatures was made with one of the keys.
    UntrustedSignature,
    /// A signature was made with one of the keys, for another digest.
    OtherDigest,
    /// A check of this program's own result failed: a bug.
    Internal,
}

impl ErrorKind {
    /// Returns the exit code of a program that fails with this kind.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Environment => 3,
            _ => 1,
        }
    }

    /// Returns the name as it is written in JSON: `NotFound`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// An error: what went wrong, where, what led there, and what to do about it.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    span: Span,
    location: Option<Location>,
    chain: Vec<Step>,
    retry_after: Option<Duration>,
}

/// One link of the chain that led to an error: an outer file, a template's caller.
#[derive(Clone, Debug)]
pub struct Step {
    /// The link in a few words: `in the base ../base`, `included here`.
    pub note: String,
    span: Span,
    /// The location of the link, if it is in a file.
    pub location: Option<Location>,
}

/// The position of an error or warning: a span whose file is resolved later, or a location.
#[derive(Clone, Debug)]
pub enum Position {
    /// Bytes in a file that the caller knows by number; see [`Error::located`].
    Span(Span),
    /// A location, if there is one.
    Location(Option<Location>),
}

impl Error {
    /// Returns an error with a message: what is wrong, what was expected, what was found.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: redacted(message.into()),
            hint: None,
            span: Span::NONE,
            location: None,
            chain: Vec::new(),
            retry_after: None,
        }))
    }

    /// Returns an error of wrong input.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Returns the error of a path that cannot be read or written. A path that does not exist, or is no file, is wrong
    /// input; anything else is a failure of the machine.
    #[must_use]
    pub fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => ErrorKind::Invalid,
            _ => ErrorKind::Environment,
        };
        Self::new(kind, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// Returns the error of a path that cannot be written: a failure of the machine.
    #[must_use]
    pub fn disk(action: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(ErrorKind::Environment, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// Sets where the fault is, unless a position nearer to it is known.
    #[must_use]
    pub fn at(mut self, position: impl Into<Position>) -> Self {
        if self.0.location.is_none() && !self.0.span.is_some() {
            self = self.moved_to(position);
        }
        self
    }

    /// Sets where the fault is, in place of the position that is known.
    #[must_use]
    pub fn moved_to(mut self, position: impl Into<Position>) -> Self {
        match position.into() {
            Position::Span(span) => (self.0.span, self.0.location) = (span, None),
            Position::Location(location) => (self.0.span, self.0.location) = (Span::NONE, location),
        }
        self
    }

    /// Sets the hint, which says what to do, unless there is one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert_with(|| redacted(hint.into()));
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = redacted(message.into());
        self
    }

    /// Replaces the kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Sets the time after which a server accepts requests again.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// Adds the next outer link of the chain that led to the error.
    #[must_use]
    pub fn via(mut self, note: impl Into<String>, position: impl Into<Position>) -> Self {
        let (span, location) = match position.into() {
            // A link at the position of the error itself says nothing new.
            Position::Span(span) if span == self.0.span && span.is_some() => return self,
            Position::Span(span) => (span, None),
            Position::Location(location) => (Span::NONE, location),
        };
        self.0.chain.push(Step { note: redacted(note.into()), span, location });
        self
    }

    /// Adds the next outer link of the chain, which is not in a file.
    #[must_use]
    pub fn context(self, note: impl Into<String>) -> Self {
        self.via(note, None::<Location>)
    }

    /// Puts the context and a colon in front of the message.
    #[must_use]
    pub fn prefix(mut self, context: impl fmt::Display) -> Self {
        self.0.message = redacted(format!("{context}: {}", self.0.message));
        self
    }

    /// Changes the message and the hint.
    #[must_use]
    pub fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        self.0.message = change(&self.0.message);
        self.0.hint = self.0.hint.as_deref().map(change);
        self
    }

    /// Turns spans into locations by the files that were read.
    #[must_use]
    pub fn located(mut self, locate: impl Fn(Span) -> Option<Location>) -> Self {
        let resolve = |known: Option<Location>, span| known.or_else(|| locate(span));
        self.0.location = resolve(self.0.location.take(), self.0.span);
        for step in &mut self.0.chain {
            step.location = resolve(step.location.take(), step.span);
        }
        self
    }

    /// Returns the kind, by which a caller decides.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message without the location.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns what to do about the error.
    #[must_use]
    pub fn get_hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns the span of the fault, which [`Self::located`] turns into a location.
    #[must_use]
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Returns where the fault is, if it is in a file.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Returns what led to the error, innermost first.
    #[must_use]
    pub fn chain(&self) -> &[Step] {
        &self.0.chain
    }

    /// Returns the time after which a server accepts requests again, if it named one.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

/// `path:line:column: message`, or the message alone if the fault is in no file.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.0.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<Span> for Position {
    fn from(span: Span) -> Self {
        Self::Span(span)
    }
}

impl From<Location> for Position {
    fn from(location: Location) -> Self {
        Self::Location(Some(location))
    }
}

impl From<Option<Location>> for Position {
    fn from(location: Option<Location>) -> Self {
        Self::Location(location)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Source;

    fn span(start: u32) -> Span {
        Span { source: 0, start, end: start + 1 }
    }

    #[test]
    fn the_innermost_position_and_hint_are_kept() {
        let error = Error::invalid("x").at(span(3)).at(span(9)).hint("inner").hint("outer");
        assert_eq!((error.span(), error.get_hint()), (span(3), Some("inner")));
        assert_eq!(error.moved_to(span(9)).span(), span(9));
    }

    #[test]
    fn a_link_at_the_position_of_the_error_is_dropped() {
        let error = Error::invalid("x").at(span(3)).via("here", span(3)).via("in the base", span(5));
        let notes: Vec<&str> = error.chain().iter().map(|step| step.note.as_str()).collect();
        assert_eq!(notes, ["in the base"]);
    }

    #[test]
    fn spans_become_locations_and_known_locations_stay() {
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: "one\ntwo\n".into() });
        let locate = |span: Span| Some(Location { source: Arc::clone(&source), span });
        let error = Error::invalid("x").at(span(4)).via("outer", span(0)).located(locate);
        assert_eq!(error.to_string(), "a.yaml:2:1: x");
        assert_eq!(error.chain()[0].location.as_ref().unwrap().to_string(), "a.yaml:1:1");
        let elsewhere = Error::invalid("x").at(Location::new(&source, 1, 2)).located(|_| None);
        assert_eq!(elsewhere.to_string(), "a.yaml:1:2: x");
    }

    #[test]
    fn urls_lose_their_passwords() {
        let error = Error::invalid("cannot clone `https://me:s3cret@host/x`")
            .hint("see https://host/?token=abc")
            .prefix("in https://u:p@other/");
        let shown = format!("{error} {}", error.get_hint().unwrap());
        for secret in ["s3cret", "abc", "u:p"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }

    #[test]
    fn a_missing_path_is_wrong_input_and_a_failing_disk_is_not() {
        let kind = |kind: io::ErrorKind| Error::io("read", Path::new("a"), &kind.into()).kind();
        assert_eq!(kind(io::ErrorKind::NotFound).exit_code(), 1);
        assert_eq!(kind(io::ErrorKind::IsADirectory).exit_code(), 1);
        assert_eq!(kind(io::ErrorKind::StorageFull).exit_code(), 3);
        assert_eq!(ErrorKind::Usage.exit_code(), 2);
    }
}
