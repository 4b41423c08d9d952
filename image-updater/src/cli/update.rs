//! `image-updater update`: one round, from registry tags to files or to a pushed commit.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gitremote::Waiting;

use super::Format;
use super::work::{self, Work, WorkFlags};
use crate::audit::AuditLog;
use crate::deliver::{self, Delivered};
use crate::error::{Error, Result};
use crate::files::Folder;
use crate::gate::Gate;
use crate::report;
use crate::round::{Plan, Round};
use crate::work::Files;

const EXAMPLES: &str = "\
Examples:
  # show what would change
  image-updater update

  # write it into the files of this folder
  image-updater update --write

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
    /// Commit to the repository that the configuration names, and push
    #[arg(long, group = "delivery")]
    push: bool,
    /// Push, and open or update a pull request
    #[arg(long, group = "delivery")]
    pr: bool,
    /// Show what would change, as without any of these
    #[arg(long, group = "delivery")]
    dry_run: bool,
    /// Add a line of JSON to this file for every change that was pushed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "commit", "dry_run"])]
    audit_log: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let work = arguments.work.load()?;
    let plan = if arguments.push || arguments.pr {
        // A log that cannot be written is found out before anything is pushed.
        let audit = arguments.audit_log.as_deref().map(AuditLog::open).transpose()?;
        push(&work, arguments.pr, audit)?
    } else {
        let plan = work.plan()?;
        if arguments.write || arguments.commit {
            write(&work, &plan, arguments.commit)?;
        }
        plan
    };
    let is_dry = !(arguments.write || arguments.commit || arguments.push || arguments.pr);
    work::print(&plan, arguments.work.output, is_dry && arguments.work.output == Format::Table)?;
    work::failures(&plan)
}

/// Writes files. All of them were proven before the first is written.
fn write(work: &Work, plan: &Plan, commits: bool) -> Result<()> {
    let Files::Folder(root) = &work.config.batch.files else {
        return Err(Error::input("the configuration names a repository, and this is none of its work trees")
            .hint("push with `--push`, or take `git.url` out"));
    };
    let folder = Folder::new(root);
    for (path, text) in &plan.texts {
        folder.write(path, &text.new)?;
    }
    if commits && !plan.texts.is_empty() {
        deliver::commit_in_place(root, plan, &work.config.batch.delivery)?;
    }
    Ok(())
}

fn push(work: &Work, with_request: bool, audit: Option<AuditLog>) -> Result<Plan> {
    let look = work.look();
    let round = Round { look: &look, now: work.now };
    let mut random = random;
    let mut sleep = |pause: Duration| std::thread::sleep(pause);
    let mut waiting = Waiting { random: &mut random, sleep: &mut sleep };
    let delivered = work.on_server(&Gate::default(), work.now, |server| {
        deliver::deliver(&work.config.batch, &round, server, &mut waiting, with_request)
    })?;
    tell(&delivered);
    audit.map_or(Ok(()), |mut audit| audit.note(&delivered, work.now))?;
    Ok(delivered.plan)
}

fn tell(delivered: &Delivered) {
    if let Some(tip) = &delivered.pushed {
        let count = delivered.commits.len();
        let what = if count == 1 { "commit" } else { "commits" };
        report::note(&format!("pushed {count} {what} to `{}`, which is at {}", tip.branch, tip.commit));
    }
    if let Some(request) = &delivered.request {
        report::note(&format!("{}: {}", request.action.as_str(), request.url));
        request.warnings.iter().for_each(|warning| report::warning(&warning.to_string()));
    }
}

/// Chance enough to keep two that met from meeting again.
pub(super) fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without a source of randomness all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
