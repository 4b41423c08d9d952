//! `renderer man`: the manual, a page for each command.

use clap::{Args, CommandFactory};
use clap_mangen::Man;
use diagnostic::{Error, ErrorKind, Result};

use super::Cli;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  # read a page
  renderer man kustomize build | man -l -

  # install one
  renderer man > /usr/local/share/man/man1/renderer.1";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The command that the page is about
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut page = Vec::new();
    let written = Man::new(find(&arguments.command)?).render(&mut page);
    written.map_err(|error| Error::new(ErrorKind::Environment, format!("cannot write the page: {error}")))?;
    output::to_stdout(&String::from_utf8_lossy(&page))
}

/// The command behind its words, under its full name.
fn find(words: &[String]) -> Result<clap::Command> {
    let mut command = Cli::command();
    command.build();
    for word in words {
        let known = command.find_subcommand(word).cloned();
        command = known.ok_or_else(|| {
            let sentence =
                format!("unknown command `{word}` of `{}`", command.get_bin_name().unwrap_or_default());
            Error::new(ErrorKind::Usage, sentence)
        })?;
    }
    let name = command.get_bin_name().unwrap_or_default().replace(' ', "-");
    Ok(command.display_name(name))
}
