//! A file to be edited, with the name under which errors speak of it.

use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Location, Result, Span};
use yamledit::File;

/// A file's text and name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'t> {
    /// The file as the user named it.
    pub(crate) path: &'t str,
    pub(crate) text: &'t str,
}

impl<'t> Source<'t> {
    pub(crate) fn parse(&self) -> Result<File<'t>> {
        File::parse(self.text, 0).map_err(|error| self.error(&error.prefix("not YAML")))
    }

    /// Returns an error of `yamledit` at its location in this file.
    pub(crate) fn error(&self, error: &Error) -> Error {
        let at = Some(error.span()).filter(Span::is_some).map_or(0, |span| span.start as usize);
        error.clone().with_kind(ErrorKind::Invalid).moved_to(self.location(at))
    }

    /// A refusal at a byte of the file.
    pub(crate) fn refuse(&self, message: impl Into<String>, at: usize) -> Error {
        Error::invalid(message).at(self.location(at))
    }

    fn location(&self, at: usize) -> Location {
        let source = Arc::new(diagnostic::Source { name: self.path.to_owned(), text: self.text.into() });
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        Location::new(&source, at, at)
    }
}
