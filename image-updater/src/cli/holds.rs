//! `image-updater holds`: which images a person has set back, so that they are left alone until there is another version.

use clap::Args;
use diagnostic::Result;

use super::work::{self, WorkFlags};
use crate::round::{Outcome, Plan};

const EXAMPLES: &str = "\
Examples:
  # images that stand at another version than we had set
  image-updater holds

  # for machines: `from` is where it stands, `to` what is not written again
  image-updater holds --config deploy/image-updater.yaml -o json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    work: WorkFlags,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let (Plan { reports, texts }, failed) = arguments.work.load_all()?.each(|work| {
        // What was set before is known from the commits of a branch.
        work.repository()?;
        Ok(work.plan()?)
    });
    let (held, others) =
        reports.into_iter().partition(|report| matches!(report.outcome, Outcome::Held { .. }));
    work::print(&Plan { reports: held, texts }, &failed, arguments.work.output, false)?;
    work::failures(&Plan { reports: others, texts: std::collections::BTreeMap::new() }, failed)
}
