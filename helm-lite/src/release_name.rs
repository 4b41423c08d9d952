//! The name of a release: what it may be, and how it comes from a template.

use diagnostic::{Error, Result};
use gostd::quoted;
use gotemplate::{TemplateSet, Value};

use crate::funcs;

/// Executes the text of `--name-template`, which has the functions of charts and no data.
///
/// # Errors
/// If it is no template, or cannot be executed.
pub fn release_name(text: &str, options: &gotemplate::Options<'_>) -> Result<String> {
    let mut set = TemplateSet::new("name-template", funcs::functions());
    let failed = |error: gotemplate::Error| Error::invalid(error.to_string());
    set.parse("name-template", text.as_bytes()).map_err(failed)?;
    let name = set.execute("name-template", Value::Nil, options).map_err(failed)?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}

/// The longest name, which leaves room for what charts add to it in the names of objects.
const MAX_RELEASE_NAME: usize = 53;

/// Checks that a name is made of DNS labels with dots between them.
///
/// # Errors
/// In Helm's words, when it is not.
pub(crate) fn check_release_name(name: &str) -> Result<()> {
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let reason = if name.is_empty() {
        "no name provided"
    } else if name.len() <= MAX_RELEASE_NAME && name.split('.').all(is_label) {
        return Ok(());
    } else {
        "invalid release name, must match regex \
         ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ \
         and the length must not be longer than 53"
    };
    let name = quoted(name.as_bytes());
    Err(Error::invalid(format!("release name check failed: release name {name}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm template` takes them.
    #[test]
    fn names_are_dns_labels_with_dots() {
        let longest = "a".repeat(MAX_RELEASE_NAME);
        for name in ["web", "a.b-c.1", "1", &longest] {
            assert!(check_release_name(name).is_ok(), "{name}");
        }
        let too_long = longest.clone() + "a";
        for name in ["", "Web", "a_b", "-a", "a-", "a..b", ".a", "a.", " a", "\u{e9}", "a-.b", &too_long] {
            assert!(check_release_name(name).is_err(), "{name}");
        }
        assert_eq!(
            check_release_name("A").expect_err("a capital").message(),
            "release name check failed: release name \"A\": invalid release name, must match regex \
             ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer \
             than 53"
        );
    }
}
