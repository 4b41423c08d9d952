//! Variable substitution as Flux does it after a build (fluxcd/pkg, `envsubst`): bash's `${…}`, with its own mistakes.
//!
//! In: a text, and the values of variables. Out: the text with each `${…}` replaced. Refused, with its place: what
//! Flux cannot parse, and in strict mode variables that are not set.
//!
//! | expression | gives |
//! |---|---|
//! | `${v}` | the value; nothing where it is not set |
//! | `$v` | itself: only braces count |
//! | `$${v}` | `${v}`: of two dollar signs one stays |
//! | `${#v}` | the length in bytes |
//! | `${v,}` `${v,,}` `${v^}` `${v^^}` | lower and upper case, of the first letter or of all |
//! | `${v#p}` `${v##p}` `${v%p}` `${v%%p}` | without the beginning or the end that matches a pattern |
//! | `${v:from}` `${v:from:length}` | a part, in bytes |
//! | `${v/a/b}` `${v//a/b}` `${v/#a/b}` `${v/%a/b}` | the first, each, a leading, a final text replaced: no patterns |
//! | `${v=d}` `${v:=d}` `${v:-d}` `${v:?d}` `${v:+d}` | the default where the value is empty: all five mean the same |

mod evaluate;
mod operators;
mod parse;

use std::collections::BTreeMap;

pub use parse::is_name;

/// Maximum size of a substituted text: more than any manifest.
pub const MAX_OUTPUT: usize = 64 << 20;

/// The values of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The known variables.
    pub values: BTreeMap<String, Value>,
    /// True if there may be others: what would be empty without them stays as it is written.
    pub has_unknown: bool,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Binary data of a Secret; it cannot be substituted.
    Binary,
    /// It is set, and nobody here knows to what: its expressions stay as they are written.
    Unknown,
}

/// An invalid expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The sentence.
    pub message: String,
    /// The hint: what to do about it.
    pub hint: Option<String>,
    /// The byte at which the expression begins.
    pub offset: usize,
}

/// The handling of variables that are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are empty.
    #[default]
    Lenient,
    /// They are errors unless the expression has a default (`--feature-gates=StrictPostBuildSubstitutions=true`).
    Strict,
}

/// Replaces each `${…}` of a text.
///
/// # Errors
/// An expression that is none, or one that cannot be worked out.
pub fn substitute(text: &str, variables: &Variables, mode: Mode) -> Result<String, ExpressionError> {
    let parts = parse::parse(text)?;
    evaluate::evaluate(text, &parts, variables, mode)
}

impl ExpressionError {
    fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { message: message.into(), hint: None, offset }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests;
