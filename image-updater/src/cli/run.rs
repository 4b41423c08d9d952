//! `image-updater run`: the daemon.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::reach::random;
use super::rounds::{Rounds, Source};
use super::work::{cache, recorded};
use crate::audit::AuditLog;
use crate::config::{Config, Registry};
use crate::criteria::Age;
use crate::daemon::{self, Job, LogFormat, LogLevel, Settings, Switchboard};
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::registries;

/// Documents whose rounds begin within this time share what registries say.
const AT_THE_SAME_TIME: Duration = Duration::from_secs(30);

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

  # by what the branch of this checkout has for Flux or for Argo CD Image Updater
  image-updater run --in clusters/prod

Each document of the configuration goes on by itself, so that one repository does not wait for another. It stops at once on
SIGTERM and SIGINT, but for a push that has begun. The configuration is read anew when its file changes, and what
`discover` and `--in` name when its branch has moved; a broken one is said, and the one before it stays in force.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The configuration
    #[arg(short, long, value_name = "FILE", default_value = "image-updater.yaml")]
    config: PathBuf,
    /// Take what is written for Flux or Argo CD Image Updater in this folder or file, instead of a configuration: of a
    /// checkout, as its branch has it on the server in each round; else as it is here. May be repeated
    #[arg(long = "in", value_name = "PATH", conflicts_with = "config")]
    within: Vec<PathBuf>,
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
    let interval = interval(&arguments.interval)?;
    let gate = Gate::default();
    let switchboard = Switchboard::new(&gate);
    let settings = Settings {
        config: arguments.within.is_empty().then(|| arguments.config.clone()),
        interval,
        once: arguments.once,
        listen: arguments.listen,
        audit: arguments.audit_log.as_deref().map(AuditLog::open).transpose()?,
        roster: None,
        random,
    };
    daemon::start_logs(arguments.log_format, arguments.log_level)?;
    let load = move || jobs(&arguments, interval);
    daemon::run(settings, &gate, &switchboard, Box::new(load))
}

/// What is to be worked off side by side.
fn jobs(arguments: &Arguments, interval: Duration) -> Result<Vec<Box<dyn Job>>> {
    let sources = match &*arguments.within {
        [] => Config::load_all(&arguments.config)?
            .into_iter()
            .map(Source::of_document)
            .collect::<Result<_>>()?,
        within => Source::of_paths(within)?,
    };
    let recorded = arguments.tags_from.as_deref().map(recorded).transpose()?;
    let (none, is_dry) = (Vec::new(), arguments.dry_run);
    let registries =
        |source: &'_ Source| source.config().map_or(&*none, |config| &*config.registries).to_vec();
    let registries: Vec<Vec<Registry>> = sources.iter().map(registries).collect();
    let registries: Vec<&[Registry]> = registries.iter().map(Vec::as_slice).collect();
    let fresh_for = fresh_for(&sources, interval);
    let clients = registries::shared_clients(&registries, cache().as_deref(), fresh_for)?;
    let job = |(source, client)| -> Box<dyn Job> {
        Box::new(Rounds::new(source, client, recorded.clone(), fresh_for, is_dry, None))
    };
    Ok(sources.into_iter().zip(clients).map(job).collect())
}

/// How long a list of tags is good for other documents that look at the same time; never until the next round.
fn fresh_for(sources: &[Source], interval: Duration) -> Duration {
    let updates = sources.iter().filter_map(Source::config).flat_map(|config| &config.batch.updates);
    let shortest = updates.filter_map(|update| update.interval).min();
    (shortest.map_or(interval, |shortest| shortest.min(interval)) / 2).min(AT_THE_SAME_TIME)
}

fn interval(text: &str) -> Result<Duration> {
    let age: Age = text.parse()?;
    match Duration::try_from(age.span()) {
        Ok(interval) if !interval.is_zero() => Ok(interval),
        _ => Err(Error::input("an interval is longer than nothing").hint("for a single round, say `--once`")),
    }
}
