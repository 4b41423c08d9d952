//! The crate's error is [`diagnostic::Error`].

pub(crate) use diagnostic::{Error, Result};

/// Rewords the error of an edit as Kustomize does.
pub(crate) fn edit_error(error: Error) -> Error {
    error.map_text(|text| match text.strip_prefix("not YAML: ") {
        Some(fault) => format!("invalid Kustomization: yaml: {fault}"),
        None => text.to_owned(),
    })
}
