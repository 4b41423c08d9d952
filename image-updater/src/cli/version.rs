//! `image-updater version`.

use clap::Args;
use diagnostic::Result;

use super::Format;
use crate::output;

const VERSION: &str = env!("CARGO_PKG_VERSION");

const EXAMPLES: &str = "\
Examples:
  image-updater version
  image-updater version -o json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let text = match arguments.output {
        Format::Table => format!("image-updater {VERSION}\n"),
        Format::Json => format!("{{\"image-updater\":\"{VERSION}\"}}\n"),
    };
    output::to_stdout(&text)
}
