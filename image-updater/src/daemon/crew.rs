//! The jobs of a configuration side by side, and the one after it when it has changed.
//!
//! In: what reads the configuration, and what to watch. Out: a thread for each job. A configuration takes over when the
//! rounds of the one before it are over, so that no two are at one repository with different ideas.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::watch::Watch;
use super::worker::{Frame, Worker};
use super::{Job, Load, TICK, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::Gate;

/// How many jobs are at a round at once: each may ask registries sixteen things side by side, and hold the files of a
/// repository.
const AT_ONCE: usize = 8;

/// How often one that waits for its turn looks.
const LOOK: Duration = Duration::from_millis(50);

/// Lets some have a round at once.
#[derive(Debug, Default)]
pub(super) struct Turns(AtomicUsize);

/// It is over when this is dropped.
pub(super) struct Turn<'t>(&'t Turns);

impl Turns {
    /// Waits for a turn; nothing where all is to stop. While it waits there is a sign of life.
    pub(super) fn take(&self, gate: &Gate, beat: impl Fn()) -> Option<Turn<'_>> {
        let more = |taken: usize| (taken < AT_ONCE).then_some(taken + 1);
        while self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            beat();
            if gate.pause(LOOK) {
                return None;
            }
        }
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has jobs worked off.
pub(super) struct Crew {
    pub(super) frame: Arc<Frame>,
    pub(super) watch: Option<Watch>,
    pub(super) load: Box<Load>,
    pub(super) gate: Gate,
}

/// The jobs of one configuration at work.
pub(super) struct Shift {
    retired: Arc<AtomicBool>,
    workers: Vec<JoinHandle<bool>>,
}

impl Crew {
    /// Goes on until it is to stop; whether all went well in the only round.
    ///
    /// # Errors
    /// Where a thread cannot be had, or one ends by a fault.
    pub(super) fn run(mut self, jobs: Vec<Box<dyn Job>>) -> Result<bool> {
        let mut shift = self.begin(jobs)?;
        if self.frame.once {
            return shift.end();
        }
        loop {
            if self.gate.pause(TICK) {
                return Ok(true);
            }
            if let Some(jobs) = self.read_anew() {
                shift.retire()?;
                shift = self.begin(jobs)?;
            }
            if shift.workers.iter().any(JoinHandle::is_finished) && !self.gate.is_stopped() {
                return shift.end();
            }
        }
    }

    pub(super) fn begin(&self, jobs: Vec<Box<dyn Job>>) -> Result<Shift> {
        self.frame.recorder.configured();
        let retired = Arc::new(AtomicBool::new(false));
        let mut shift = Shift { retired: Arc::clone(&retired), workers: Vec::with_capacity(jobs.len()) };
        for job in jobs {
            let worker = Worker::new(job, Arc::clone(&self.frame), self.gate.sibling(), Arc::clone(&retired));
            let thread = thread::Builder::new().name("round".to_owned()).spawn(move || worker.run());
            shift.workers.push(thread.map_err(|error| refused("start a thread", &error))?);
        }
        Ok(shift)
    }

    /// A configuration that has changed, unless it is broken.
    pub(super) fn read_anew(&mut self) -> Option<Vec<Box<dyn Job>>> {
        if !self.watch.as_mut().is_some_and(Watch::has_changed) {
            return None;
        }
        match (self.load)() {
            Ok(jobs) => Some(jobs),
            Err(error) => {
                self.frame.recorder.misconfigured(&error);
                None
            }
        }
    }
}

impl Shift {
    /// Has all of them end when the rounds that they are at are over.
    fn retire(self) -> Result<bool> {
        self.retired.store(true, Ordering::Relaxed);
        self.end()
    }

    /// Waits for the end of all of them; whether all went well.
    pub(super) fn end(self) -> Result<bool> {
        let mut is_well = true;
        for worker in self.workers {
            is_well &= worker.join().map_err(|_| {
                Error::new(ErrorKind::Environment, "a round has ended by a fault of this program")
            })?;
        }
        Ok(is_well)
    }
}
