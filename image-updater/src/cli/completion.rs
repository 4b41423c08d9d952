//! `image-updater completion`: scripts that let a shell complete our commands.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use diagnostic::Result;

use super::Cli;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  # bash, for this session
  source <(image-updater completion bash)

  # zsh, for good
  image-updater completion zsh > \"${fpath[1]}/_image-updater\"

  # fish, for good
  image-updater completion fish > ~/.config/fish/completions/image-updater.fish";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "image-updater", &mut script);
    output::to_stdout(&String::from_utf8_lossy(&script))
}
