//! Turns errors and warnings into what a person reads on standard error, and into the exit code. Nothing else does.
//!
//! ```text
//! error: unknown field `create`
//!   --> tags.json:3:29
//! hint: a tag has `tag`, `created`, `digest`, `platforms` and `children`
//! ```

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use diagnostic::{Error, Renderer};

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints an error, and gives what the process ends with.
pub(crate) fn error(error: &Error) -> ExitCode {
    print(&Renderer::default().error("error", error, None));
    ExitCode::from(error.kind().exit_code())
}

/// Says what is not wrong, but may not be meant.
pub(crate) fn warning(message: &str) {
    print(&format!("{WARNING}warning{WARNING:#}: {}\n", visible(message)));
}

/// Says what was done.
pub(crate) fn note(message: &str) {
    print(&format!("{}\n", visible(message)));
}

/// A text with its control characters made visible, so that input cannot write to the terminal.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |character: char| character.is_control() && character != '\n';
    text.chars().map(|character| if hidden(character) { '\u{fffd}' } else { character }).collect()
}

fn print(text: &str) {
    // Where nobody can be told, the exit code still says it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
