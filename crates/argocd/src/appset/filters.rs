//! Regular expressions of generators' filters.
//!
//! In: a field of a filter. Out: the expression, where there is one. Refused, with its place: what Go's `regexp` refuses.

use diagnostic::{Error, Result};
use goregex::Regex;

use super::generators::Run;
use super::tree::Tree;

/// The expression below a key.
pub(crate) fn expression(run: &Run<'_>, filter: &Tree, key: &str) -> Result<Option<Regex>> {
    let Some(tree) = filter.get(key) else { return Ok(None) };
    let regex = Regex::new(tree.text().unwrap_or_default()).map_err(|error| {
        Error::invalid(format!("invalid regular expression `{key}`: {error}")).at(run.place(tree.span))
    })?;
    Ok(Some(regex))
}
