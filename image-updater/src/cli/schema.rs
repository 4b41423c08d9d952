//! `image-updater schema`: the JSON schema of the configuration, for editors and checks.

use clap::Args;
use diagnostic::Result;

use crate::{config, output};

const EXAMPLES: &str = "\
Examples:
  image-updater schema > image-updater.schema.json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {}

pub(super) fn run(_arguments: &Arguments) -> Result<()> {
    output::to_stdout(&output::json(&config::schema())?)
}
