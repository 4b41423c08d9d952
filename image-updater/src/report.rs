//! Turns errors and warnings into what a person reads on standard error, and into the exit code. Nothing else does.
//!
//! ```text
//! error: unknown field `create`
//!   --> tags.json:3:29
//! hint: a tag has `tag`, `created`, `digest`, `platforms` and `children`
//! ```

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::error::{Error, ErrorKind};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const FRAME: Style = AnsiColor::Blue.on_default().bold();

/// Prints an error, and gives what the process ends with.
pub(crate) fn error(error: &Error) -> ExitCode {
    print(&render(error));
    ExitCode::from(code(error.kind()))
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

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Input => 1,
        ErrorKind::Usage => 2,
        ErrorKind::Environment => 3,
    }
}

fn render(error: &Error) -> String {
    let emphasis = Style::new().bold();
    let mut text = format!("{ERROR}error{ERROR:#}{emphasis}: {}{emphasis:#}\n", visible(error.message()));
    // Writing to a String does not fail.
    if let Some(place) = error.place() {
        let _ = writeln!(text, "  {FRAME}-->{FRAME:#} {}", visible(&place.to_string()));
    }
    if let Some(hint) = error.help() {
        let _ = writeln!(text, "{HINT}hint{HINT:#}: {}", visible(hint));
    }
    text
}

fn print(text: &str) {
    // Where nobody can be told, the exit code still says it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    #[test]
    fn an_error_shows_its_place_and_what_to_do_and_cannot_write_to_the_terminal() {
        let place = Place { path: "tags.json".to_owned(), line: 3, column: 7 };
        let error = Error::input("no \u{1b}[2J tag").at(place).hint("add one");
        assert_eq!(
            anstream::adapter::strip_str(&render(&error)).to_string(),
            "error: no \u{fffd}[2J tag\n  --> tags.json:3:7\nhint: add one\n"
        );
    }
}
