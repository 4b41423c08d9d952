//! Writes results to standard output, only when they are complete.

use diagnostic::{Error, ErrorKind, Result};
use std::io::{self, Write};

use serde::Serialize;

use yamltree::ParseOptions;

/// Writes to standard output. A reader that has seen enough is no fault.
///
/// # Errors
/// If writing fails.
pub(crate) fn to_stdout(text: &str) -> Result<()> {
    match anstream::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Environment, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A value as JSON for a machine to read, and a person if need be.
///
/// # Errors
/// A value that has no JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    let text =
        text.map_err(|error| Error::new(ErrorKind::Environment, format!("cannot write JSON: {error}")))?;
    Ok(text + "\n")
}

/// The same as a document of YAML, with its keys in order.
///
/// # Errors
/// A value that has no JSON.
pub(crate) fn yaml(value: &impl Serialize) -> Result<String> {
    let refuse =
        |error: yamltree::Error| Error::new(ErrorKind::Environment, format!("cannot write YAML: {error}"));
    // JSON is YAML, too.
    let document = yamltree::parse_first(&json(value)?, 0, &ParseOptions::default()).map_err(refuse)?;
    let mut text = String::new();
    if let Some(document) = document {
        yamltree::to_sigs_yaml(&document.root, &mut text).map_err(refuse)?;
    }
    Ok(text)
}
