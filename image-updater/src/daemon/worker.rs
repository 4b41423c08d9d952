//! One job of the daemon, round after round on a thread of its own.
//!
//! In: a job, and what all jobs share. Out: its rounds, when they are due. Refused: to go on once another configuration is
//! to take over.

use diagnostic::Result;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use oci_registry::Repository;

use super::bell::{Bell, Interest, Switchboard};
use super::crew::Turns;
use super::health::{Health, Pulse};
use super::record::Recorder;
use super::schedule::{Schedule, Timeline};
use super::{Call, Job, TICK};
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::gate::Gate;
use crate::work::{Files, Update};

/// Time there is no other round because of what others tell: what they tell in the meantime is one round, too.
const REST: Duration = Duration::from_millis(500);

/// Maximum number of of its own commits a job knows: their pushes that are told, too.
const OWN: usize = 32;

/// The state that all jobs share.
#[derive(Debug)]
pub(super) struct Frame {
    /// For images that have none of their own.
    pub(super) interval: Duration,
    pub(super) once: bool,
    pub(super) random: fn() -> u64,
    pub(super) timeline: Timeline,
    pub(super) turns: Turns,
    pub(super) health: Arc<Health>,
    pub(super) recorder: Recorder,
    pub(super) switchboard: Switchboard,
}

/// Works off one job.
pub(super) struct Worker {
    pub(super) job: Box<dyn Job>,
    pub(super) frame: Arc<Frame>,
    pub(super) gate: Gate,
    pub(super) pulse: Pulse,
    pub(super) schedule: Schedule,
    pub(super) bell: Bell,
    /// Until when what others tell has to wait.
    pub(super) rests_until: Instant,
    pub(super) own: OwnCommits,
    /// Tells whether another configuration is to take over.
    pub(super) retired: Arc<AtomicBool>,
}

impl Worker {
    pub(super) fn new(job: Box<dyn Job>, frame: Arc<Frame>, gate: Gate, retired: Arc<AtomicBool>) -> Self {
        let now = Instant::now();
        let schedule = Schedule::new(&job.updates(), frame.interval, job.looks_for_more(), now);
        frame.recorder.watching(&*job);
        let pulse = frame.health.pulse(now);
        let bell = frame.switchboard.connect(job.repository());
        bell.attend_to(interest(&*job));
        let (rests_until, own) = (now, OwnCommits::default());
        Self { job, frame, gate, pulse, schedule, bell, rests_until, own, retired }
    }

    /// Goes on until it is to stop; whether all went well in the only round.
    pub(super) fn run(mut self) -> bool {
        let is_well = self.rounds();
        self.frame.switchboard.disconnect(&self.bell);
        is_well
    }

    fn rounds(&mut self) -> bool {
        loop {
            self.pulse.beat(Instant::now());
            if self.retired.load(Ordering::Relaxed) {
                return true;
            }
            if self.gate.is_held() {
                if self.gate.await_open(TICK) && self.gate.is_stopped() {
                    return true;
                }
                continue;
            }
            let is_rung = self.hear();
            let due = self.schedule.take(Instant::now()).or_else(|| is_rung.then(Vec::new));
            if let Some(due) = due {
                let is_well = self.work(due);
                if self.frame.once {
                    return is_well;
                }
            }
            let mut wait = self.schedule.wait(Instant::now()).min(TICK);
            let rests = self.rests();
            if rests {
                wait = wait.min(self.rests_until.saturating_duration_since(Instant::now()));
            }
            if self
                .gate
                .pause_unless(wait, || self.bell.is_rung(rests) || self.retired.load(Ordering::Relaxed))
            {
                return true;
            }
        }
    }

    /// Returns true if what others tell has to wait.
    fn rests(&self) -> bool {
        Instant::now() < self.rests_until
    }

    /// Has what there is news of looked at before its time; whether what there is to do may be other.
    fn hear(&mut self) -> bool {
        if !self.bell.is_rung(self.rests()) {
            return false;
        }
        let news = self.bell.take();
        for image in &news.images {
            self.job.forget(image);
        }
        if news.is_ground_other {
            self.schedule.hurry(|_| true);
        } else if !news.images.is_empty() {
            self.schedule.hurry(|update| normal(update).is_some_and(|image| news.images.contains(&image)));
        }
        let is_own = |commit: &Option<String>| commit.as_ref().is_some_and(|commit| self.own.knows(commit));
        let are_files_other = !news.files.iter().all(is_own);
        if are_files_other {
            self.schedule.hurry_failed();
        }
        self.rests_until = Instant::now() + REST;
        news.is_other || news.is_ground_other || are_files_other
    }

    /// Runs what is due, when it is this job's turn.
    fn work(&mut self, due: Vec<usize>) -> bool {
        let frame = Arc::clone(&self.frame);
        let Some(_turn) = frame.turns.take(&self.gate, || self.pulse.beat(Instant::now())) else {
            return true;
        };
        let (due, mut is_well) = match self.look_for_more(due) {
            Ok(found) => found,
            Err(is_well) => return is_well,
        };
        let mut is_over = true;
        if !due.is_empty() {
            let outcome = self.round(&due);
            is_well &= outcome.is_well;
            is_over = outcome.is_over;
        }
        self.schedule.done(Instant::now(), is_over, (frame.random)(), &frame.timeline);
        if is_over {
            frame.health.complete();
        }
        is_well
    }

    /// Returns what is due with what was found besides, and whether nothing was wrong with that; the latter alone where it
    /// cannot be looked for.
    fn look_for_more(&mut self, due: Vec<usize>) -> Result<(Vec<usize>, bool), bool> {
        let (frame, started) = (&self.frame, Instant::now());
        match self.job.refresh() {
            Ok(None) => Ok((due, true)),
            Ok(Some(remarks)) => {
                let is_well = remarks.faults.is_empty();
                frame.recorder.found(&*self.job, &remarks);
                let now = Instant::now();
                let updates = self.job.updates();
                self.schedule =
                    self.schedule.renewed(&updates, frame.interval, self.job.looks_for_more(), now);
                self.bell.attend_to(interest(&*self.job));
                Ok((self.schedule.take(now).unwrap_or_default(), is_well))
            }
            Err(_) if self.gate.is_stopped() || self.gate.is_held() => Err(true),
            Err(error) => {
                let failed = Err(Failed::from(error));
                frame.recorder.round(self.job.repository(), failed, started.elapsed());
                self.schedule.done(Instant::now(), false, (frame.random)(), &frame.timeline);
                Err(false)
            }
        }
    }

    fn round(&self, due: &[usize]) -> Outcome {
        let (pulse, gate, recorder) = (&self.pulse, &self.gate, &self.frame.recorder);
        let (repository, own) = (self.job.repository(), &self.own);
        let listener = |decision: &Decision| {
            pulse.beat(Instant::now());
            recorder.hear(repository, decision);
        };
        let (is_well, is_over) = (AtomicBool::new(true), AtomicBool::new(true));
        let record = |repository: &str, outcome: Result<Delivered, Failed>, duration: Duration| {
            if outcome.is_err() && (gate.is_stopped() || gate.is_held()) {
                return;
            }
            own.note(outcome.as_ref().unwrap_or_else(|failed| &failed.before));
            is_over.fetch_and(outcome.is_ok(), Ordering::Relaxed);
            is_well.fetch_and(recorder.round(repository, outcome, duration), Ordering::Relaxed);
        };
        self.job.work(due, &Call { gate, listener: &listener, record: &record });
        recorder.traffic(&self.job.traffic());
        Outcome { is_well: is_well.into_inner(), is_over: is_over.into_inner() }
    }
}

/// The commits that a job has pushed of late.
#[derive(Debug, Default)]
pub(super) struct OwnCommits(Mutex<VecDeque<String>>);

impl OwnCommits {
    fn note(&self, delivered: &Delivered) {
        let Some(tip) = &delivered.pushed else { return };
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.push_back(tip.commit.to_string());
        if own.len() > OWN {
            own.pop_front();
        }
    }

    fn knows(&self, commit: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|known| known == commit)
    }
}

/// Returns what a job wants to hear of.
fn interest(job: &dyn Job) -> Interest {
    let images: BTreeSet<String> = job.updates().into_iter().filter_map(normal).collect();
    let repositories = job.files().into_iter().filter_map(|files| match files {
        Files::Remote { url, branch } => Some((url.clone(), branch.clone())),
        Files::Folder(_) | Files::Applications | Files::Nowhere => None,
    });
    Interest { images, repositories: repositories.collect() }
}

/// An image in the form in which two can be compared.
fn normal(update: &Update) -> Option<String> {
    update.image.parse::<Repository>().ok().map(|image| image.to_string())
}

/// The result of a reconcile.
struct Outcome {
    /// True if nothing failed, not even a single image.
    is_well: bool,
    /// True if it came to its end.
    is_over: bool,
}
