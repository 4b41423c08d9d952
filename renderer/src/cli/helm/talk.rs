//! What helm says while it works.
//!
//! Helm prints it to standard output, where it may be all that there is. So does this, once the work is done: a command
//! that fails leaves standard output empty, and what was said goes before its error.

use std::io::{self, IsTerminal};

use crate::error::Result;
use crate::output;

/// Does work that says things, line by line.
pub(super) fn aloud(work: impl FnOnce(&mut dyn FnMut(&str)) -> Result<()>) -> Result<()> {
    let is_watched = io::stdout().is_terminal();
    let mut said = String::new();
    let done = work(&mut |line| {
        said.push_str(line);
        said.push('\n');
        if is_watched {
            // Who watches sees it when it happens; what cannot be shown is no loss.
            let _ = output::to_stdout(&std::mem::take(&mut said));
        }
    });
    match done {
        Ok(()) => output::to_stdout(&said),
        Err(error) => {
            output::to_stderr(&said);
            Err(error)
        }
    }
}
