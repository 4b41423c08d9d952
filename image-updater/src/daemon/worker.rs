//! One job of the daemon, round after round on a thread of its own.
//!
//! In: a job, and what all jobs share. Out: its rounds, when they are due. Refused: to go on once another configuration is
//! to take over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use registry::Repository;

use super::bell::{Bell, Switchboard};
use super::crew::Turns;
use super::health::{Health, Pulse};
use super::record::Recorder;
use super::schedule::{Schedule, Timeline};
use super::{Call, Job, TICK};
use crate::decision::Decision;
use crate::deliver::{Delivered, Failed};
use crate::error::Result;
use crate::gate::Gate;
use crate::work::Update;

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
    /// Whether another configuration is to take over.
    pub(super) retired: Arc<AtomicBool>,
}

impl Worker {
    pub(super) fn new(job: Box<dyn Job>, frame: Arc<Frame>, gate: Gate, retired: Arc<AtomicBool>) -> Self {
        let now = Instant::now();
        let schedule = Schedule::new(&job.updates(), frame.interval, job.looks_for_more(), now);
        frame.recorder.watching(&*job);
        let pulse = frame.health.pulse(now);
        let bell = frame.switchboard.connect(job.repository());
        Self { job, frame, gate, pulse, schedule, bell, retired }
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
            let wait = self.schedule.wait(Instant::now()).min(TICK);
            if self.gate.pause_unless(wait, || self.bell.is_rung() || self.retired.load(Ordering::Relaxed)) {
                return true;
            }
        }
    }

    /// Has what there is news of looked at before its time; whether there is any.
    fn hear(&mut self) -> bool {
        let news = self.bell.take();
        for image in &news.images {
            self.job.forget(image);
        }
        let is_meant = |update: &Update| {
            let is_of = |image: &String| is_same_image(&update.image, image);
            news.are_files_other || news.images.iter().any(is_of)
        };
        if news.are_files_other || !news.images.is_empty() {
            self.schedule.hurry(is_meant);
        }
        news.is_other || news.are_files_other
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
                let updates = self.job.updates();
                self.schedule =
                    self.schedule.renewed(&updates, frame.interval, self.job.looks_for_more(), now);
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
        let repository = self.job.repository();
        let listener = |decision: &Decision| {
            pulse.beat(Instant::now());
            recorder.hear(repository, decision);
        };
        let (is_well, is_over) = (AtomicBool::new(true), AtomicBool::new(true));
        let record = |repository: &str, outcome: Result<Delivered, Failed>, duration: Duration| {
            if outcome.is_err() && (gate.is_stopped() || gate.is_held()) {
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

/// Whether an image that is named in a configuration is one that news is of.
fn is_same_image(named: &str, image: &str) -> bool {
    named.parse::<Repository>().is_ok_and(|named| named.to_string() == image)
}

/// How a round went.
struct Outcome {
    /// Whether nothing failed, not even a single image.
    is_well: bool,
    /// Whether it came to its end.
    is_over: bool,
}
