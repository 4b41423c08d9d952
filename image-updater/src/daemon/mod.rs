//! The daemon: round after round over a configuration, each image at its interval, until it is asked to stop.
//!
//! ```text
//! read      the configuration, when it has changed; a broken one changes nothing     crew.rs, watch.rs
//! wait      until images are due, by their intervals and by chance                   schedule.rs
//! work      one round over these: one fetch, one push                                worker.rs, Job
//! record    the audit log, lines of log, numbers, signs of life                      record.rs
//! ```
//!
//! Each document of the configuration has a thread of its own, so that a server that is slow keeps no other waiting.
//!
//! In: a way to read the configuration, and signals. Out: pushed commits, and what is said of them. Refused: to begin a
//! push once stopping was asked for; one that has begun is waited for, and nothing else is.

mod bell;
mod crew;
mod doors;
mod health;
mod http;
mod logs;
mod metrics;
mod record;
mod schedule;
mod watch;
mod worker;

use diagnostic::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oci_registry::Traffic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::audit::AuditLog;
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::gate::Gate;
use crate::work::{Files, Update};
pub(crate) use bell::Switchboard;
pub(crate) use crew::{AT_ONCE, Roster};
use crew::{Crew, Turns};
pub(crate) use doors::Webhooks;
use doors::{Doors, Hearing, Operations};
pub(crate) use health::Health;
#[cfg(feature = "kube")]
pub(crate) use health::Pulse;
pub(crate) use http::{Certificates, MinVersion};
pub(crate) use logs::{LogFormat, LogLevel, start_logs, unchecked};
pub(crate) use metrics::Metrics;
use record::Recorder;
use schedule::Timeline;
use watch::Watch;
use worker::Frame;

/// Maximum number of times the configuration is looked at, and signs of life are given.
const TICK: Duration = Duration::from_secs(2);

/// Time a push that has begun may take after stopping was asked for; Kubernetes kills after 30 seconds.
const GRACE: Duration = Duration::from_secs(25);

/// Exit code base of a process ended by a signal: 128 and the signal.
const INTERRUPTED: i32 = 130;

/// A document of a configuration that was read, and can be worked off.
pub(crate) trait Job: Send {
    /// The repository that it is for, as it is shown.
    fn repository(&self) -> &str;

    /// Returns true if there may be more to do later without a change of the configuration.
    fn looks_for_more(&self) -> bool;

    /// Looks for what there is to do, where the repository says that itself; nothing where that is as it was.
    ///
    /// # Errors
    /// If it cannot be looked at. Then all is as it was.
    fn refresh(&mut self) -> Result<Option<Remarks>>;

    /// The images, in their order.
    fn updates(&self) -> Vec<&Update>;

    /// Returns where the files are that it works on.
    fn files(&self) -> Vec<&Files> {
        Vec::new()
    }

    /// One round over some of them, by their places.
    fn work(&self, due: &[usize], call: &Call<'_>);

    /// Drops the cached data of an image.
    fn forget(&self, _image: &str) {}

    /// Returns what registries were asked since this was last asked, by this job and those that share its client.
    fn traffic(&self) -> BTreeMap<String, Traffic>;
}

/// The notices about discovered work.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// The errors of parts that are left out.
    pub(crate) faults: Vec<Error>,
    /// Warnings.
    pub(crate) warnings: Vec<Error>,
}

/// The input of a reconcile.
#[derive(Clone, Copy)]
pub(crate) struct Call<'c> {
    /// For each push there is a sibling of it.
    pub(crate) gate: &'c Gate,
    /// Hears of every decision as it is made.
    pub(crate) listener: &'c (dyn Fn(&Decision) + Sync),
    /// Is told what became of each repository; a push counts as over when this was.
    pub(crate) record: &'c Record<'c>,
}

/// Takes down what became of a repository, and how long that took.
pub(crate) type Record<'r> = dyn Fn(&str, Result<Delivered, Failed>, Duration) + Sync + 'r;

/// Reads the configuration.
pub(crate) type Load = dyn Fn() -> Result<Vec<Box<dyn Job>>> + Send;

/// The settings of the daemon.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The file whose changes are noticed, where there is one.
    pub(crate) config: Option<PathBuf>,
    /// For images that have none of their own.
    pub(crate) interval: Duration,
    /// Maximum number of concurrent jobs.
    pub(crate) at_once: usize,
    /// True if it ends after one round over all images.
    pub(crate) once: bool,
    /// The address of health and metrics.
    pub(crate) listen: Option<SocketAddr>,
    /// The webhook endpoint.
    pub(crate) webhooks: Option<Webhooks>,
    pub(crate) audit: Option<AuditLog>,
    /// The health state.
    pub(crate) health: Arc<Health>,
    /// The metrics.
    pub(crate) metrics: Arc<Metrics>,
    /// Jobs that come and go beside those of the configuration.
    pub(crate) roster: Option<Roster>,
    /// Chance, for intervals.
    pub(crate) random: fn() -> u64,
}

/// Runs until it is asked to stop, or for one round.
///
/// # Errors
/// If the configuration is broken at the start, or the system refuses what is needed.
pub(crate) fn run(
    settings: Settings,
    gate: &Gate,
    switchboard: &Switchboard,
    load: Box<Load>,
) -> Result<ExitCode> {
    let watch = settings.config.as_deref().map(Watch::new);
    let jobs = load()?;
    let (health, metrics) = (settings.health, settings.metrics);
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| refused("watch for signals", &error))?;
    let mut doors = Doors::new()?;
    if let Some(address) = settings.listen {
        let (health, metrics, gate) = (Arc::clone(&health), Arc::clone(&metrics), gate.sibling());
        doors.open_operations(address, Operations { health, metrics, gate })?;
    }
    if let Some(Webhooks { listen, certificates, receiver }) = settings.webhooks {
        let (switchboard, metrics, gate) = (switchboard.clone(), Arc::clone(&metrics), gate.sibling());
        let hearing = Hearing { receiver, switchboard, metrics, gate };
        doors.open_webhooks(listen, certificates, hearing)?;
    }
    let frame = Arc::new(Frame {
        interval: settings.interval,
        once: settings.once,
        random: settings.random,
        timeline: Timeline::default(),
        turns: Turns::new(settings.at_once),
        health,
        recorder: Recorder::new(metrics, settings.audit),
        switchboard: switchboard.clone(),
    });
    let crew = Crew { frame, watch, load, roster: settings.roster, gate: gate.sibling() };
    let ending = Ending(signals.handle());
    let rounds = move || {
        let _ending = ending;
        crew.run(jobs)
    };
    let rounds = thread::Builder::new().name("rounds".to_owned()).spawn(rounds);
    let rounds = rounds.map_err(|error| refused("start a thread", &error))?;
    if let Some(signal) = signals.forever().next() {
        // What is told now, nobody would look at. How it does can be asked to the end.
        doors.close_webhooks();
        return Ok(stop(gate, signal));
    }
    match rounds.join() {
        Ok(Ok(true)) => Ok(ExitCode::SUCCESS),
        Ok(Ok(false)) => Ok(ExitCode::FAILURE),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::new(ErrorKind::Environment, "the rounds have ended by a fault of this program")),
    }
}

/// Stops: at once, but for a push that has begun.
fn stop(gate: &Gate, signal: i32) -> ExitCode {
    gate.stop();
    logs::stopping(signal);
    // Who asks a second time does not want to wait.
    for signal in [SIGTERM, SIGINT] {
        let now = Arc::new(true.into());
        let _ = signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, now);
    }
    if !gate.drain(GRACE) {
        logs::failure("a push is still going on; what became of it is found out at the next start");
    }
    ExitCode::SUCCESS
}

fn refused(doing: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Environment, format!("cannot {doing}: {error}"))
}

/// Ends the wait for signals when the rounds end, however they do.
struct Ending(Handle);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
