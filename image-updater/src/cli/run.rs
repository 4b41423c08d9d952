//! `image-updater run`: the daemon.

use diagnostic::{Error, Result};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::cluster_flags::{ClusterFlags, Presence};
use super::environment::{self, Variables};
use super::reach::random;
use super::rounds::{Rounds, Source};
use super::webhook_flags::{TYPES, WebhookFlags};
use super::work::{cache, recorded};
use crate::audit::AuditLog;
use crate::cluster::Vault;
use crate::config::{Config, Registry};
use crate::criteria::Age;
use crate::daemon::{self, Health, Job, LogFormat, LogLevel, Metrics, Roster, Settings, Switchboard};
use crate::gate::Gate;
use crate::registries;

/// Documents whose rounds begin within this time share what registries say.
const AT_THE_SAME_TIME: Duration = Duration::from_secs(30);

/// The configuration where none is named.
const CONFIGURATION: &str = "image-updater.yaml";

/// Maximum number of repositories that may be worked on side by side: each may hold its files, and ask sixteen things at once.
const MOST_AT_ONCE: usize = 100;

const EXAMPLES: &str = "\
Examples:
  # look at every image each five minutes, or as often as the configuration says
  image-updater run --config image-updater.yaml

  # in a pod: probes, numbers, logs for machines, a record of every change
  image-updater run --listen 0.0.0.0:8080 --log-format json --audit-log /data/audit.jsonl

  # told by registries of new tags, beside looking once an hour; https://HOST:8082/webhook?type=ghcr.io
  image-updater run --interval 1h --webhook-secret ghcr.io=file:/secrets/ghcr --tls-cert tls.crt --tls-key tls.key

  # one round, from a cron job
  image-updater run --once

  # say what would be pushed, and push nothing
  image-updater run --dry-run

  # by what the branch of this checkout has for Flux or for Argo CD Image Updater
  image-updater run --in clusters/prod

  # by what a Kubernetes cluster has for Flux and for Argo CD Image Updater, which replaces these
  image-updater run --cluster --watch-namespaces '*' --listen 0.0.0.0:8080

Each document of the configuration goes on by itself, so that one repository does not wait for another. It stops at once on
SIGTERM and SIGINT, but for a push that has begun. The configuration is read anew when its file changes, and what
`discover` and `--in` name when its branch has moved; a broken one is said, and the one before it stays in force.";

#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{TYPES}"))]
pub(super) struct Arguments {
    /// The configuration; with `--cluster` there need be none [default: image-updater.yaml]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take what is written for Flux or Argo CD Image Updater in this folder or file, instead of a configuration: of a
    /// checkout, as its branch has it on the server in each round; else as it is here. May be repeated
    #[arg(long = "in", value_name = "PATH", conflicts_with = "config")]
    within: Vec<PathBuf>,
    /// Default polling interval of images [default: 5m] [IMAGE_UPDATER_INTERVAL]
    #[arg(long, value_name = "DURATION")]
    interval: Option<String>,
    /// Number of repositories to reconcile concurrently, at most 100 [default: 8] [MAX_CONCURRENT_APPS]
    #[arg(long, value_name = "NUMBER", visible_alias = "max-concurrent-apps", value_parser = side_by_side)]
    max_concurrent: Option<usize>,
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
    /// Log format [default: text] [IMAGE_UPDATER_LOGFORMAT]
    #[arg(long, value_name = "FORMAT", visible_alias = "logformat")]
    log_format: Option<LogFormat>,
    /// Log level [default: info] [IMAGE_UPDATER_LOGLEVEL]
    #[arg(long, value_name = "LEVEL", visible_alias = "loglevel")]
    log_level: Option<LogLevel>,
    /// Tags that were recorded, instead of registries: a JSON object of images and their lists of tags
    #[arg(long, value_name = "FILE")]
    tags_from: Option<PathBuf>,
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(flatten)]
    webhooks: WebhookFlags,
}

pub(super) fn run(arguments: Arguments) -> Result<ExitCode> {
    let variables: &Variables = &environment::of_process;
    let interval = arguments.interval(variables)?;
    let gate = Gate::default();
    let switchboard = Switchboard::new(&gate);
    let metrics = Arc::new(Metrics::new());
    let settings = Settings {
        config: arguments.configuration(),
        interval,
        at_once: arguments.at_once(variables)?,
        once: arguments.once,
        listen: arguments.listen,
        webhooks: arguments.webhooks.webhooks(variables)?,
        audit: arguments.audit_log.as_deref().map(AuditLog::open).transpose()?,
        health: Arc::new(Health::new(Instant::now())),
        metrics: Arc::clone(&metrics),
        roster: arguments.cluster.is_on().then(|| Roster::new(&gate)),
        random,
    };
    let cluster = arguments.cluster.read(variables)?;
    let (format, level) = arguments.logs(variables)?;
    daemon::start_logs(format, level)?;
    let Begun { jobs: first, vault, presence } =
        of_cluster(&arguments, interval, cluster, &settings, &gate, &switchboard)?;
    let of_cluster = Mutex::new(first);
    let load = move || {
        let mut jobs = jobs(&arguments, interval, vault.as_ref())?;
        // Those of a single round are there from the beginning.
        jobs.append(&mut of_cluster.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(jobs)
    };
    let ended = daemon::run(settings, &gate, &switchboard, Box::new(load));
    if let Some(presence) = presence {
        presence.end(!gate.drain(Duration::ZERO));
    }
    ended
}

/// The started cluster tasks, if a cluster is used.
#[derive(Default)]
pub(super) struct Begun {
    /// The initial jobs.
    pub(super) jobs: Vec<Box<dyn Job>>,
    /// The secrets of the cluster, for a configuration that names them.
    pub(super) vault: Option<Arc<dyn Vault>>,
    pub(super) presence: Option<Presence>,
}

/// Begins to work off a cluster, where one is meant.
#[cfg(feature = "kube")]
fn of_cluster(
    arguments: &Arguments,
    interval: Duration,
    cluster: Option<crate::cluster::settings::Settings>,
    settings: &Settings,
    gate: &Gate,
    switchboard: &Switchboard,
) -> Result<Begun> {
    let (Some(cluster), Some(roster)) = (cluster, &settings.roster) else { return Ok(Begun::default()) };
    let manner = super::cluster_jobs::Manner {
        gate,
        switchboard,
        roster,
        health: &settings.health,
        metrics: &settings.metrics,
        recorded: arguments.tags_from.as_deref().map(recorded).transpose()?,
        fresh_for: (interval / 2).min(AT_THE_SAME_TIME),
        once: arguments.once,
        is_dry: arguments.dry_run,
    };
    super::cluster_jobs::begin(cluster, manner)
}

/// Nothing, as no cluster can be asked.
#[cfg(not(feature = "kube"))]
fn of_cluster(
    _: &Arguments,
    _: Duration,
    _: Option<std::convert::Infallible>,
    _: &Settings,
    _: &Gate,
    _: &Switchboard,
) -> Result<Begun> {
    Ok(Begun::default())
}

impl Arguments {
    /// The configuration file, where one is read.
    fn configuration(&self) -> Option<PathBuf> {
        match &self.config {
            None if self.cluster.is_on() || !self.within.is_empty() => None,
            None => Some(PathBuf::from(CONFIGURATION)),
            named => named.clone(),
        }
    }

    fn interval(&self, variables: &Variables) -> Result<Duration> {
        let text = environment::text(self.interval.as_ref(), "IMAGE_UPDATER_INTERVAL", variables);
        interval(text.as_deref().unwrap_or("5m"))
    }

    fn at_once(&self, variables: &Variables) -> Result<usize> {
        let number = environment::value(self.max_concurrent, "MAX_CONCURRENT_APPS", variables, side_by_side)?;
        Ok(number.unwrap_or(daemon::AT_ONCE))
    }

    fn logs(&self, variables: &Variables) -> Result<(LogFormat, LogLevel)> {
        let (format, level) = (self.log_format, self.log_level);
        let read = |text: &str| LogFormat::from_str(text, true);
        let format = environment::value(format, "IMAGE_UPDATER_LOGFORMAT", variables, read)?;
        let read = |text: &str| LogLevel::from_str(text, true);
        let level = environment::value(level, "IMAGE_UPDATER_LOGLEVEL", variables, read)?;
        Ok((format.unwrap_or(LogFormat::Text), level.unwrap_or(LogLevel::Info)))
    }
}

fn side_by_side(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_AT_ONCE).contains(number));
    number.ok_or_else(|| format!("it is a number from 1 to {MOST_AT_ONCE}"))
}

/// Returns what is to be worked off side by side.
fn jobs(
    arguments: &Arguments,
    interval: Duration,
    vault: Option<&Arc<dyn Vault>>,
) -> Result<Vec<Box<dyn Job>>> {
    let sources = match (&*arguments.within, arguments.configuration()) {
        ([], None) => Vec::new(),
        ([], Some(path)) => {
            Config::load_all(&path)?.into_iter().map(Source::of_document).collect::<Result<_>>()?
        }
        (within, _) => Source::of_paths(within)?,
    };
    let is_ours = |source: &Source| arguments.cluster.takes(&source.repository()).unwrap_or(true);
    let sources: Vec<Source> = sources.into_iter().filter(is_ours).collect();
    let recorded = arguments.tags_from.as_deref().map(recorded).transpose()?;
    let (none, is_dry) = (Vec::new(), arguments.dry_run);
    let registries =
        |source: &'_ Source| source.config().map_or(&*none, |config| &*config.registries).to_vec();
    let registries: Vec<Vec<Registry>> = sources.iter().map(registries).collect();
    let registries: Vec<&[Registry]> = registries.iter().map(Vec::as_slice).collect();
    let fresh_for = fresh_for(&sources, interval);
    let clients = registries::shared_clients(&registries, cache().as_deref(), fresh_for, vault)?;
    let job = |(source, client)| -> Box<dyn Job> {
        Box::new(Rounds::new(source, client, recorded.clone(), fresh_for, is_dry, None))
    };
    Ok(sources.into_iter().zip(clients).map(job).collect())
}

/// Returns how long a list of tags is good for other documents that look at the same time; never until the next round.
fn fresh_for(sources: &[Source], interval: Duration) -> Duration {
    let updates = sources.iter().filter_map(Source::config).flat_map(|config| &config.batch.updates);
    let shortest = updates.filter_map(|update| update.interval).min();
    (shortest.map_or(interval, |shortest| shortest.min(interval)) / 2).min(AT_THE_SAME_TIME)
}

fn interval(text: &str) -> Result<Duration> {
    let age: Age = text.parse()?;
    match Duration::try_from(age.span()) {
        Ok(interval) if !interval.is_zero() => Ok(interval),
        _ => {
            Err(Error::invalid("an interval is longer than nothing").hint("for a single round, say `--once`"))
        }
    }
}
