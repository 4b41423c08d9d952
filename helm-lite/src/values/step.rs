//! Values that are merged and set one step at a time, in an order that no command line has.
//!
//! In: the values so far, and others or a flag. Out: the values after it.

use diagnostic::Result;
use yamltree::Span;

use super::draft;
use super::merge::{UserValues, merge_tables};
use super::set::{Mode, parse};
use crate::version::HelmVersion;

/// The kind of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAs {
    /// `--set`
    Typed,
    /// `--set-string`
    Text,
}

impl UserValues {
    /// Puts other values over these.
    pub fn put_over(&mut self, other: &Self) {
        self.table = merge_tables(&self.table, &other.table);
        self.sources.extend(&other.sources);
    }

    /// Sets what a flag says, under the name that messages give it.
    ///
    /// # Errors
    /// If the flag is not well formed.
    pub fn set(&mut self, name: &str, text: &str, read_as: SetAs, version: HelmVersion) -> Result<()> {
        let source = self.sources.add(name, text);
        let mode = match read_as {
            SetAs::Typed => Mode::Typed,
            SetAs::Text => Mode::String,
        };
        let mut fields = draft::fields(&self.table);
        parse(text, source, &mode, version, &mut fields)
            .map_err(|error| error.at(self.sources.place(Span { source, start: 0, end: 0 })))?;
        self.table = draft::freeze(fields);
        Ok(())
    }
}
