//! `renderer completion`: scripts that let a shell complete our commands.

use clap::{Args, Command};
use clap_complete::Shell;
use diagnostic::Result;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  # bash, for this session
  source <(renderer completion bash)

  # zsh, for good
  renderer completion zsh > \"${fpath[1]}/_renderer\"

  # fish, for good
  renderer completion fish > ~/.config/fish/completions/renderer.fish";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the script for a program's commands, under the name that it was called by.
pub(super) fn run(arguments: &Arguments, mut commands: Command, name: &str) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut commands, name, &mut script);
    output::to_stdout(&String::from_utf8_lossy(&script))
}
