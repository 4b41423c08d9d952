//! `image-updater check`: what an update would change.

use diagnostic::Result;
use std::process::ExitCode;

use clap::Args;

use super::work::{self, WorkFlags};

/// Exit code if something would change.
const CHANGES: u8 = 10;

const EXAMPLES: &str = "\
Examples:
  # what would change, by the configuration in this folder
  image-updater check

  # for machines; 10 is for changes, 1 for an image that failed
  image-updater check --config deploy/image-updater.yaml -o json

  # without a network, by recorded tags
  image-updater check --tags-from tags.json

  # by what a repository has for Flux or for Argo CD Image Updater
  image-updater check --in clusters/prod";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    work: WorkFlags,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (plan, failed) = arguments.work.load_all()?.each(|work| Ok(work.plan()?));
    work::print(&plan, &failed, arguments.work.output, false)?;
    work::failures(&plan, failed)?;
    let has_changes = plan.changes().next().is_some();
    Ok(if has_changes { ExitCode::from(CHANGES) } else { ExitCode::SUCCESS })
}
