//! `image-updater run`: the daemon.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gitremote::Waiting;
use registry::Traffic;

use super::question::clock;
use super::reach::random;
use super::work::{Work, WorkFlags};
use crate::audit::AuditLog;
use crate::commits::BatchPlanner;
use crate::criteria::Age;
use crate::daemon::{self, Call, Job, LogFormat, LogLevel, Settings};
use crate::deliver::{self, Delivered, Failed};
use crate::error::{Error, Result};
use crate::round::Round;
use crate::work::{Batch, Update};

const EXAMPLES: &str = "\
Examples:
  # look at every image each five minutes, or as often as the configuration says
  image-updater run --config image-updater.yaml

  # in a pod: probes, numbers, logs for machines, a record of every change
  image-updater run --listen 0.0.0.0:8080 --log-format json --audit-log /data/audit.jsonl

  # one round, from a cron job
  image-updater run --once

  # say what would be pushed, and push nothing
  image-updater run --dry-run

It stops at once on SIGTERM and SIGINT, but for a push that has begun. The configuration is read anew
when its file changes; a broken one is said, and the one before it stays in force.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The configuration
    #[arg(short, long, value_name = "FILE", default_value = "image-updater.yaml")]
    config: PathBuf,
    /// How often images are looked at that have no interval of their own
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    interval: String,
    /// End after one round over all images: 1 when something failed
    #[arg(long)]
    once: bool,
    /// Say what would be pushed, and push nothing
    #[arg(long)]
    dry_run: bool,
    /// Answer /healthz, /readyz and /metrics over HTTP on this address
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Add a line of JSON to this file for every change that was pushed
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// How to log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// What to log
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
    /// Tags that were recorded, instead of registries: a JSON object of images and their lists of tags
    #[arg(long, value_name = "FILE")]
    tags_from: Option<PathBuf>,
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode> {
    let settings = Settings {
        config: arguments.config.clone(),
        interval: interval(&arguments.interval)?,
        once: arguments.once,
        listen: arguments.listen,
        audit: arguments.audit_log.as_deref().map(AuditLog::open).transpose()?,
        random,
    };
    daemon::start_logs(arguments.log_format, arguments.log_level)?;
    let (flags, is_dry) = (WorkFlags::of(arguments.config, arguments.tags_from), arguments.dry_run);
    let load = move || -> Result<Box<dyn Job>> {
        let work = flags.load()?;
        work.repository()?;
        Ok(Box::new(Rounds { work, is_dry }))
    };
    daemon::run(settings, Box::new(load))
}

fn interval(text: &str) -> Result<Duration> {
    let age: Age = text.parse()?;
    match Duration::try_from(age.span()) {
        Ok(interval) if !interval.is_zero() => Ok(interval),
        _ => Err(Error::input("an interval is longer than nothing").hint("for a single round, say `--once`")),
    }
}

/// A configuration that is worked off again and again.
struct Rounds {
    work: Work,
    is_dry: bool,
}

impl Job for Rounds {
    fn updates(&self) -> &[Update] {
        &self.work.config.batch.updates
    }

    fn work(&self, due: Vec<Update>, call: &Call<'_>) -> Result<Delivered, Failed> {
        let now = clock()?;
        let look = self.work.look().heard_by(call.listener);
        let round = Round { look: &look, now };
        let Batch { files, delivery, .. } = &self.work.config.batch;
        let batch = Batch { files: files.clone(), delivery: delivery.clone(), updates: due };
        let mut random = random;
        let mut sleep = |pause| {
            // A push that was lost is over, and the next one has not begun.
            call.gate.end();
            call.gate.pause(pause);
        };
        let mut waiting = Waiting { random: &mut random, sleep: &mut sleep };
        let planner = BatchPlanner { batch: &batch, round: &round };
        let with_request = delivery.pull_request.is_some() && !self.is_dry;
        self.work.reach(with_request, call.gate, now)?.on_server(|server| match self.is_dry {
            true => Ok(Delivered::nothing(deliver::preview(&planner, delivery, server)?)),
            false => deliver::deliver(&planner, delivery, server, &mut waiting, with_request),
        })
    }

    fn traffic(&self) -> BTreeMap<String, Traffic> {
        self.work.client.traffic()
    }
}
