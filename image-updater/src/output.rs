//! Where results go: standard output, and only when the whole of it is there.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// Writes to standard output. A reader that has seen enough is no fault.
///
/// # Errors
/// What writing gives.
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
