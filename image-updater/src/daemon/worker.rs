//! One job of the daemon, round after round on a thread of its own.
//!
//! In: a job, and what all jobs share. Out: its rounds, when they are due. Refused: to go on once another configuration is
//! to take over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::crew::Turns;
use super::health::{Health, Pulse};
use super::record::Recorder;
use super::schedule::{Schedule, Timeline};
use super::{Call, Job, TICK};
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::error::Result;
use crate::gate::Gate;

/// What all jobs share.
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
}

/// Works off one job.
pub(super) struct Worker {
    pub(super) job: Box<dyn Job>,
    pub(super) frame: Arc<Frame>,
    pub(super) gate: Gate,
    pub(super) pulse: Pulse,
    pub(super) schedule: Schedule,
    /// Whether another configuration is to take over.
    pub(super) retired: Arc<AtomicBool>,
}

impl Worker {
    pub(super) fn new(job: Box<dyn Job>, frame: Arc<Frame>, gate: Gate, retired: Arc<AtomicBool>) -> Self {
        let now = Instant::now();
        let schedule = Schedule::new(job.updates(), frame.interval, job.looks_for_more(), now);
        frame.recorder.watching(&*job);
        let pulse = frame.health.pulse(now);
        Self { job, frame, gate, pulse, schedule, retired }
    }

    /// Goes on until it is to stop; whether all went well in the only round.
    pub(super) fn run(mut self) -> bool {
        loop {
            self.pulse.beat(Instant::now());
            if self.retired.load(Ordering::Relaxed) {
                return true;
            }
            if let Some(due) = self.schedule.take(Instant::now()) {
                let is_well = self.work(due);
                if self.frame.once {
                    return is_well;
                }
            }
            let wait = self.schedule.wait(Instant::now()).min(TICK);
            if self.gate.pause(wait) {
                return true;
            }
        }
    }

    /// What is due, once it is this job's turn.
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

    /// What is due with what was found besides, and whether nothing was wrong with that; the latter alone where it
    /// cannot be looked for.
    fn look_for_more(&mut self, due: Vec<usize>) -> Result<(Vec<usize>, bool), bool> {
        let (frame, started) = (&self.frame, Instant::now());
        match self.job.refresh() {
            Ok(None) => Ok((due, true)),
            Ok(Some(remarks)) => {
                let is_well = remarks.faults.is_empty();
                frame.recorder.found(&*self.job, &remarks);
                let now = Instant::now();
                self.schedule =
                    Schedule::new(self.job.updates(), frame.interval, self.job.looks_for_more(), now);
                Ok((self.schedule.take(now).unwrap_or_default(), is_well))
            }
            Err(_) if self.gate.is_stopped() => Err(true),
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
        let repository = self.job.repository();
        let listener = |decision: &Decision| {
            pulse.beat(Instant::now());
            recorder.hear(repository, decision);
        };
        let (is_well, is_over) = (AtomicBool::new(true), AtomicBool::new(true));
        let record = |repository: &str, outcome: Result<Delivered, Failed>, duration: Duration| {
            if outcome.is_err() && gate.is_stopped() {
                return;
            }
            is_over.fetch_and(outcome.is_ok(), Ordering::Relaxed);
            is_well.fetch_and(recorder.round(repository, outcome, duration), Ordering::Relaxed);
        };
        self.job.work(due, &Call { gate, listener: &listener, record: &record });
        recorder.traffic(&self.job.traffic());
        Outcome { is_well: is_well.into_inner(), is_over: is_over.into_inner() }
    }
}

/// How a round went.
struct Outcome {
    /// Whether nothing failed, not even a single image.
    is_well: bool,
    /// Whether it came to its end.
    is_over: bool,
}
