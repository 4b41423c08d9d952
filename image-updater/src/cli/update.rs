//! `image-updater update`: one round, from registry tags to files or to a pushed commit.

use diagnostic::{Error, Result};
use std::path::PathBuf;

use clap::Args;

use super::Format;
use super::work::{self, Work, WorkFlags};
use crate::audit::AuditLog;
use crate::checkout;
use crate::commits::BatchPlanner;
use crate::deliver::{Delivered, Failed};
use crate::files::Folder;
use crate::gate::Gate;
use crate::round::{Plan, Round};
use crate::work::Files;

const EXAMPLES: &str = "\
Examples:
  # show what would change
  image-updater update

  # write it into the files of this folder
  image-updater update --write

  # show what a push would change
  image-updater update --push --dry-run

  # commit it to the repository that the configuration names
  image-updater update --push

  # and keep a record of every change
  image-updater update --push --audit-log /var/log/image-updater.jsonl

  # or open a pull request, or bring the open one up to date
  image-updater update --pr";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    work: WorkFlags,
    /// Write the files of the folder that the configuration is in
    #[arg(long, group = "delivery")]
    write: bool,
    /// Write the files and commit them with `git`
    #[arg(long, group = "delivery")]
    commit: bool,
    /// Commit to the branch of the repository that the configuration names, and push
    #[arg(long, group = "delivery")]
    push: bool,
    /// Push, and open or update a pull request
    #[arg(long, group = "delivery")]
    pr: bool,
    /// Only show what would change, as without any of these
    #[arg(long)]
    dry_run: bool,
    /// Add a line of JSON to this file for every change that was pushed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "commit", "dry_run"])]
    audit_log: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let works = arguments.work.load_all()?;
    // A log that cannot be written is found out before anything is pushed.
    let mut audit = arguments.audit_log.as_deref().map(AuditLog::open).transpose()?;
    let is_dry =
        arguments.dry_run || !(arguments.write || arguments.commit || arguments.push || arguments.pr);
    let (plan, failed) = works.each(|work| {
        if is_dry {
            return arguments.shown(work).map_err(Failed::from);
        }
        if arguments.push || arguments.pr {
            return push(work, arguments.pr, audit.as_mut());
        }
        let plan = work.plan()?;
        write(work, plan, arguments.commit)
    });
    work::print(&plan, &failed, arguments.work.output, is_dry && arguments.work.output == Format::Table)?;
    work::failures(&plan, failed)
}

impl Arguments {
    /// Returns what would change; but not for who wants to push what cannot be pushed.
    fn shown(&self, work: &Work) -> Result<Plan> {
        if self.push || self.pr {
            work.repository()?;
        }
        work.plan()
    }
}

/// Writes files. All of them were proven before the first is written.
fn write(work: &Work, plan: Plan, commits: bool) -> Result<Plan, Failed> {
    let written = || -> Result<()> {
        let Files::Folder(root) = &work.config.batch.files else {
            let message = "this directory is not a checkout of the repository that the configuration names";
            return Err(Error::invalid(message).hint("push with `--push`, or take `git.url` out"));
        };
        let folder = Folder::new(root);
        for (path, text) in &plan.texts {
            folder.write(path, &text.new)?;
        }
        if commits && !plan.texts.is_empty() {
            checkout::commit(root, &plan, &work.config.batch.delivery)?;
        }
        Ok(())
    };
    match written() {
        Ok(()) => Ok(plan),
        Err(error) => Err(Failed::after(error, Delivered::nothing(plan))),
    }
}

fn push(work: &Work, with_request: bool, audit: Option<&mut AuditLog>) -> Result<Plan, Failed> {
    let look = work.look();
    let with_labels = with_request || work.config.batch.delivery.names_labels();
    let round = Round { look: &look, now: work.now, with_labels };
    let planner = BatchPlanner { batch: &work.config.batch, round: &round };
    let gate = Gate::default();
    let delivered = work.reach(None, with_request, &gate, work.now)?.deliver(&planner);
    let done = delivered.as_ref().unwrap_or_else(|failed| &failed.before);
    let noted = audit.map_or(Ok(()), |audit| audit.note(done, work.now));
    match (delivered, noted) {
        (Ok(delivered), Ok(())) => Ok(delivered.plan),
        (Ok(delivered), Err(error)) => Err(Failed::after(error, delivered)),
        (Err(failed), _) => Err(failed),
    }
}
