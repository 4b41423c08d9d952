//! Reports: each format is a file and a line in [`FORMATS`].
//!
//! In: a review. Out: a text. Whatever a name or a value holds, it stays text: each format escapes as its readers need
//! it.

mod ci;
mod html;
mod json;
mod markdown;
mod terminal;
mod unified;
mod words;

use std::fmt;

use crate::model::Review;

/// A format of reviews.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// The description.
    pub about: &'static str,
    /// The file extension.
    pub extension: &'static str,
    /// Writes it.
    pub write: fn(&Review, &FormatOptions) -> String,
}

/// All formats.
pub const FORMATS: &[Format] = &[
    terminal::FORMAT,
    unified::FORMAT,
    json::FORMAT,
    markdown::FORMAT,
    html::FORMAT,
    ci::GITHUB,
    ci::GITLAB,
    ci::SARIF,
    ci::JUNIT,
];

/// The options of a report.
#[derive(Clone, Debug, Default)]
pub struct FormatOptions {
    /// True if a terminal shows colours.
    pub color: bool,
    /// Maximum length of a comment [default: 65,536].
    pub limit: Option<usize>,
    /// The title of the report, such as the two revisions.
    pub title: Option<String>,
    /// The URL or path of the full report.
    pub full_report: Option<String>,
    /// The command that creates the same report.
    pub command: Option<String>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

impl Format {
    /// The format of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}
