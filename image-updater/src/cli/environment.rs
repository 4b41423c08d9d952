//! Variables that say what a flag says, as manifests for Argo CD Image Updater set them.
//!
//! In: a flag, and the name of its variable. Out: the flag's value, or else the variable's. A variable that is set to
//! nothing says nothing, as ConfigMaps hand over keys that are empty.

use diagnostic::{Error, Result};

/// Looks a variable up.
pub(super) type Variables = dyn Fn(&str) -> Option<String>;

/// The variables of the process.
pub(super) fn of_process(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns what a flag says, or else the variable.
pub(super) fn text(flag: Option<&String>, name: &str, variables: &Variables) -> Option<String> {
    flag.cloned().or_else(|| variables(name).filter(|value| !value.is_empty()))
}

/// Returns what a flag says, or else the variable, read as the flag is.
///
/// # Errors
/// If the variable cannot be read so.
pub(super) fn value<T>(
    flag: Option<T>,
    name: &str,
    variables: &Variables,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>> {
    let Some(text) = text(None, name, variables).filter(|_| flag.is_none()) else { return Ok(flag) };
    let refused = |why| Error::invalid(format!("the variable {name} cannot be `{text}`: {why}"));
    read(&text).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_counts_before_its_variable_and_an_empty_variable_not_at_all() {
        let set = |name: &str| match name {
            "SET" => Some("variable".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let flag = "flag".to_owned();
        assert_eq!(text(Some(&flag), "SET", &set), Some(flag));
        assert_eq!(text(None, "SET", &set), Some("variable".to_owned()));
        assert_eq!((text(None, "EMPTY", &set), text(None, "NONE", &set)), (None, None));
        let refuse = |_: &str| Err::<u8, _>("it is a number".to_owned());
        let error = value(None, "SET", &set, refuse).unwrap_err();
        assert_eq!(error.message(), "the variable SET cannot be `variable`: it is a number");
        assert_eq!(value(Some(1), "SET", &set, refuse).unwrap(), Some(1));
        assert_eq!(value(None, "EMPTY", &set, refuse).unwrap(), None);
    }
}
