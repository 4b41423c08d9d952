//! Warnings: results that are valid but probably not intended, each kind with a stable code.

use crate::error::Position;
use crate::redact::redacted;
use crate::source::{Location, Span};

/// The codes of one crate's warnings, as [`warning_codes!`](crate::warning_codes) declares them.
pub trait WarningCode: Copy + 'static {
    /// Returns the code as printed: `KUST-W001`.
    fn as_str(self) -> &'static str;
}

/// A warning with its location.
#[derive(Clone, Debug)]
pub struct Warning<C> {
    /// The stable code.
    pub code: C,
    /// The message.
    pub message: String,
    /// The hint: what to do about it.
    pub hint: Option<String>,
    span: Span,
    /// The location, if the cause is in a file.
    pub location: Option<Location>,
}

impl<C> Warning<C> {
    /// Returns a warning without a location.
    #[must_use]
    pub fn new(code: C, message: impl Into<String>) -> Self {
        Self { code, message: redacted(message.into()), hint: None, span: Span::NONE, location: None }
    }

    /// Sets where the cause is.
    #[must_use]
    pub fn at(mut self, position: impl Into<Position>) -> Self {
        match position.into() {
            Position::Span(span) => self.span = span,
            Position::Location(location) => self.location = location,
        }
        self
    }

    /// Sets the hint, which says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(redacted(hint.into()));
        self
    }

    /// Returns the span of the cause, which [`Self::located`] turns into a location.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Turns the span into a location by the files that were read.
    #[must_use]
    pub fn located(mut self, locate: impl Fn(Span) -> Option<Location>) -> Self {
        self.location = self.location.or_else(|| locate(self.span));
        self
    }
}

/// Declares `Code`, the stable codes of a crate's warnings, each with the sentence that documents it.
///
/// ```
/// diagnostic::warning_codes! {
///     /// A mapping has a key twice.
///     DuplicateKey = "EXAMPLE-W001";
/// }
/// assert_eq!(Code::DuplicateKey.as_str(), "EXAMPLE-W001");
/// assert_eq!(Code::ALL[0].meaning(), "A mapping has a key twice.");
/// ```
#[macro_export]
macro_rules! warning_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        /// The stable code of a kind of warning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &[Code] = &[$(Code::$name,)+];

            /// Returns the code as printed.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)+ }
            }

            /// Returns the sentence that documents the code.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }

        impl $crate::WarningCode for Code {
            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_messages_lose_their_passwords() {
        let warning = Warning::new((), "`https://u:p@host` is old").hint("use `https://x:y@host`");
        assert_eq!(warning.message, "`https://***@host` is old");
        assert_eq!(warning.hint.as_deref(), Some("use `https://***@host`"));
    }
}
