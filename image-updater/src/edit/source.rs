//! A file to be edited, with the name under which errors speak of it.

use yamledit::File;

use crate::error::{Error, Place, Result};

/// A file's text and name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'t> {
    /// The file as the user named it.
    pub(crate) path: &'t str,
    pub(crate) text: &'t str,
}

impl<'t> Source<'t> {
    pub(crate) fn parse(&self) -> Result<File<'t>> {
        File::parse(self.text, 0).map_err(|error| self.error(&error))
    }

    /// What `yamledit` refuses, at its place in this file.
    pub(crate) fn error(&self, error: &yamledit::Error) -> Error {
        let place = match error.span() {
            Some(span) => self.place(span.start as usize),
            None => self.place(0),
        };
        let refusal = Error::input(error.message()).at(place);
        match error.help() {
            Some(hint) => refusal.hint(hint),
            None => refusal,
        }
    }

    /// A refusal at a byte of the file.
    pub(crate) fn refuse(&self, message: impl Into<String>, at: usize) -> Error {
        Error::input(message).at(self.place(at))
    }

    fn place(&self, at: usize) -> Place {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = self.text[..at].trim_start_matches('\u{FEFF}');
        let line_start = before.rfind('\n').map_or(0, |line_break| line_break + 1);
        Place {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}
