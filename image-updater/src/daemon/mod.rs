//! The daemon: one round after the other over a configuration, each image at its interval, until it is asked to stop.
//!
//! ```text
//! read      the configuration, when it has changed; a broken one changes nothing     watch.rs
//! wait      until images are due, by their intervals and by chance                   schedule.rs
//! work      one round over these: one fetch, one push                                Job
//! record    the audit log, lines of log, numbers, signs of life                      record.rs
//! ```
//!
//! In: a way to read the configuration, and signals. Out: pushed commits, and what is said of them. Refused: to begin a
//! push once stopping was asked for; one that has begun is waited for, and nothing else is.

mod health;
mod http;
mod logs;
mod metrics;
mod record;
mod schedule;
mod watch;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use registry::Traffic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::audit::AuditLog;
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::Gate;
use crate::work::Update;
use health::Health;
pub(crate) use logs::{LogFormat, LogLevel, start_logs};
use metrics::Metrics;
use record::Recorder;
use schedule::Schedule;
use watch::Watch;

/// How often the configuration is looked at, and signs of life are given.
const TICK: Duration = Duration::from_secs(2);

/// How long a push that has begun may take after stopping was asked for; Kubernetes kills after 30 seconds.
const GRACE: Duration = Duration::from_secs(25);

/// What a process ends with that a signal ended: 128 and the signal.
const INTERRUPTED: i32 = 130;

/// A configuration that was read, and can be worked off.
pub(crate) trait Job: Send {
    /// The images, in their order.
    fn updates(&self) -> &[Update];

    /// One round over some of them.
    ///
    /// # Errors
    /// Where the repository cannot be read or written. That of single images is in the plan.
    fn work(&self, due: Vec<Update>, call: &Call<'_>) -> Result<Delivered, Failed>;

    /// What registries were asked since it was read.
    fn traffic(&self) -> BTreeMap<String, Traffic>;
}

/// What a round is given.
#[derive(Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) gate: &'c Gate,
    /// Hears of every decision as it is made.
    pub(crate) listener: &'c (dyn Fn(&Decision) + Sync),
}

/// Reads the configuration.
pub(crate) type Load = dyn Fn() -> Result<Box<dyn Job>> + Send;

/// How the daemon runs.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The file whose changes are noticed.
    pub(crate) config: PathBuf,
    /// For images that have none of their own.
    pub(crate) interval: Duration,
    /// Whether it ends after one round over all images.
    pub(crate) once: bool,
    /// Where it answers how it does.
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) audit: Option<AuditLog>,
    /// Chance, for intervals.
    pub(crate) random: fn() -> u64,
}

/// Runs until it is asked to stop, or for one round.
///
/// # Errors
/// Where the configuration is broken at the start, or the system refuses what is needed.
pub(crate) fn run(settings: Settings, load: Box<Load>) -> Result<ExitCode> {
    let watch = Watch::new(&settings.config);
    let job = load()?;
    let (gate, health) = (Arc::new(Gate::default()), Arc::new(Health::new(Instant::now())));
    let metrics = Arc::new(Metrics::new());
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| refused("watch for signals", &error))?;
    if let Some(address) = settings.listen {
        answer(address, Arc::clone(&health), Arc::clone(&metrics))?;
    }
    let worker = Worker {
        schedule: Schedule::new(job.updates(), settings.interval, Instant::now()),
        recorder: Recorder::new(Arc::clone(&metrics), settings.audit),
        interval: settings.interval,
        once: settings.once,
        random: settings.random,
        gate: Arc::clone(&gate),
        health,
        watch,
        load,
        job,
    };
    let ending = Ending(signals.handle());
    let rounds = move || {
        let _ending = ending;
        worker.run()
    };
    let rounds = thread::Builder::new().name("rounds".to_owned()).spawn(rounds);
    let rounds = rounds.map_err(|error| refused("start a thread", &error))?;
    if let Some(signal) = signals.forever().next() {
        return Ok(stop(&gate, signal));
    }
    match rounds.join() {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::FAILURE),
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

/// Answers on an address how it does.
fn answer(address: SocketAddr, health: Arc<Health>, metrics: Arc<Metrics>) -> Result<()> {
    let listener =
        TcpListener::bind(address).map_err(|error| refused(&format!("listen on {address}"), &error))?;
    logs::listening(listener.local_addr().unwrap_or(address));
    let pages = move |path: &str| match path {
        "/healthz" => Some(health.alive(Instant::now())),
        "/readyz" => Some(health.ready()),
        "/metrics" => Some(metrics.page()),
        _ => None,
    };
    http::serve(listener, pages).map_err(|error| refused("start a thread", &error))
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

/// Works off the configuration.
struct Worker {
    job: Box<dyn Job>,
    load: Box<Load>,
    watch: Watch,
    schedule: Schedule,
    interval: Duration,
    once: bool,
    random: fn() -> u64,
    gate: Arc<Gate>,
    health: Arc<Health>,
    recorder: Recorder,
}

impl Worker {
    /// Goes on until it is to stop; whether all went well in the only round.
    fn run(mut self) -> bool {
        self.recorder.configured(self.job.updates());
        loop {
            self.health.beat(Instant::now());
            self.read_anew();
            let due = self.schedule.take(Instant::now());
            if !due.is_empty() {
                let is_well = self.round(&due);
                if self.once {
                    return is_well;
                }
            }
            let wait = self.schedule.wait(Instant::now()).min(TICK);
            if self.gate.pause(wait) {
                return true;
            }
        }
    }

    /// Takes a configuration that has changed, unless it is broken.
    fn read_anew(&mut self) {
        if !self.watch.has_changed() {
            return;
        }
        match (self.load)() {
            Ok(job) => {
                self.job = job;
                self.schedule = Schedule::new(self.job.updates(), self.interval, Instant::now());
                self.recorder.configured(self.job.updates());
            }
            Err(error) => self.recorder.misconfigured(&error),
        }
    }

    fn round(&mut self, due: &[usize]) -> bool {
        let updates: Vec<Update> =
            due.iter().filter_map(|place| self.job.updates().get(*place)).cloned().collect();
        let started = Instant::now();
        let (health, recorder) = (&self.health, &self.recorder);
        let listener = |decision: &Decision| {
            health.beat(Instant::now());
            recorder.hear(decision);
        };
        let outcome = self.job.work(updates, &Call { gate: &self.gate, listener: &listener });
        if outcome.is_err() && self.gate.is_stopped() {
            return true;
        }
        self.recorder.traffic(&self.job.traffic());
        let is_over = outcome.is_ok();
        let is_well = self.recorder.round(outcome, started.elapsed());
        self.schedule.done(Instant::now(), is_over, (self.random)());
        if is_over {
            self.health.complete();
        }
        // Only now: what was pushed is noted.
        self.gate.end();
        is_well
    }
}

#[cfg(test)]
mod tests;
