//! Templates in tests.

use gotemplate::{Map, Options, TemplateSet};

use super::{Host, functions};

/// Returns what a template writes.
pub(crate) fn rendered(template: &str) -> String {
    attempt(template).expect("it can be executed")
}

/// Returns what a template writes, or Go's words about it.
pub(crate) fn attempt(template: &str) -> Result<String, String> {
    let mut set = TemplateSet::new("gotpl", functions());
    set.parse("t", template.as_bytes()).map_err(|error| error.to_string())?;
    let host = Host::default();
    let options = Options { host: &host, ..Options::default() };
    let out = set.execute("t", Map::new::<&str>([]).into(), &options).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).expect("it is text"))
}
