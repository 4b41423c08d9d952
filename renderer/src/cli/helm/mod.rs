//! Commands as helm has them.

mod template;

use clap::Subcommand;

use crate::error::Result;
use crate::report::Reporter;

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Render a chart and print its manifests
    #[command(after_help = template::EXAMPLES)]
    Template(template::Arguments),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Template(arguments) => template::run(&arguments, reporter),
    }
}
