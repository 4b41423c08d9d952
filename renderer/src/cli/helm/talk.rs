//! The messages of helm while it works.
//!
//! Helm prints it to standard output, where it may be all that there is. So does this, once the work is done: a command
//! that fails leaves standard output empty, and what was said goes before its error.

use std::io::{self, IsTerminal};

use diagnostic::Result;

use crate::output;

/// Does work that says things, line by line.
pub(super) fn aloud(work: impl FnOnce(&mut dyn FnMut(&str)) -> Result<()>) -> Result<()> {
    let is_watched = io::stdout().is_terminal();
    let mut said = String::new();
    let done = work(&mut |line| {
        said.push_str(&visible(line));
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

/// Says something beside manifests.
pub(super) fn aside(line: &str) {
    output::to_stderr(&visible(line));
}

/// A line, which may hold names of files: these come from a checkout, and are not to write to the terminal.
fn visible(line: &str) -> String {
    let shown = line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c });
    shown.chain(['\n']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_one_line() {
        assert_eq!(visible("\ta \u{1b}[2J\nb"), "\ta \u{fffd}[2J\u{fffd}b\n");
    }
}
