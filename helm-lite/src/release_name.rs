//! The name of a release, as a template.

use gotemplate::{TemplateSet, Value};

use crate::error::{Error, Result};
use crate::funcs;

/// Executes the text of `--name-template`, which has the functions of charts and no data.
///
/// # Errors
/// When it is no template, or cannot be executed.
pub fn release_name(text: &str, options: &gotemplate::Options<'_>) -> Result<String> {
    let mut set = TemplateSet::new("name-template", funcs::functions());
    let failed = |error: gotemplate::Error| Error::invalid(error.to_string());
    set.parse("name-template", text.as_bytes()).map_err(failed)?;
    let name = set.execute("name-template", Value::Nil, options).map_err(failed)?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}
