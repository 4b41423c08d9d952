//! Commands as helm has them.

mod explain_values;
mod template;
pub(super) mod values;

use clap::Subcommand;

use crate::error::Result;
use crate::report::Reporter;

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Say where a value of a chart comes from
    #[command(after_help = explain_values::EXAMPLES)]
    ExplainValues(explain_values::Arguments),
    /// Render a chart and print its manifests
    #[command(after_help = template::EXAMPLES)]
    Template(template::Arguments),
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::ExplainValues(arguments) => explain_values::run(&arguments, reporter),
        Command::Template(arguments) => template::run(&arguments, reporter),
    }
}
