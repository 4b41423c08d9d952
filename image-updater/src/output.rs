//! Where results go: standard output, and only when the whole of it is there.

use std::io::{self, Write};

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
