//! The jobs of a configuration side by side, and the one after it when it has changed.
//!
//! In: what reads the configuration, and what to watch. Out: a thread for each job. A configuration takes over when the
//! rounds of the one before it are over, so that no two are at one repository with different ideas.

use diagnostic::{Error, ErrorKind, Result};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::watch::Watch;
use super::worker::{Frame, Worker};
use super::{Job, Load, TICK, refused};
use crate::gate::Gate;

/// Maximum number of jobs that are at a round at once where nobody says: each may ask registries sixteen things side by side, and hold the files of a
/// repository.
pub(crate) const AT_ONCE: usize = 8;

/// Maximum number of times one that waits for its turn looks.
const LOOK: Duration = Duration::from_millis(50);

/// Lets some have a round at once.
#[derive(Debug)]
pub(super) struct Turns {
    taken: AtomicUsize,
    at_once: usize,
}

/// It is over when this is dropped.
pub(super) struct Turn<'t>(&'t Turns);

impl Turns {
    /// For so many at once.
    pub(super) fn new(at_once: usize) -> Self {
        Self { taken: AtomicUsize::new(0), at_once }
    }

    /// Waits for a turn; nothing where all is to stop. While it waits there is a sign of life.
    pub(super) fn take(&self, gate: &Gate, beat: impl Fn()) -> Option<Turn<'_>> {
        let more = |taken: usize| (taken < self.at_once).then_some(taken + 1);
        while self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
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
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has jobs worked off.
pub(super) struct Crew {
    pub(super) frame: Arc<Frame>,
    pub(super) watch: Option<Watch>,
    pub(super) load: Box<Load>,
    pub(super) roster: Option<Roster>,
    pub(super) gate: Gate,
}

/// Jobs that come and go while others are at work.
#[derive(Clone)]
pub(crate) struct Roster {
    changes: Arc<Mutex<Vec<Assignment>>>,
    gate: Arc<Gate>,
}

/// A job comes or goes.
enum Assignment {
    Begin(Box<dyn Job>),
    /// By its repository.
    End(String),
}

impl Roster {
    /// Without any job yet.
    pub(crate) fn new(gate: &Gate) -> Self {
        Self { changes: Arc::default(), gate: Arc::new(gate.sibling()) }
    }

    /// Has a job worked off.
    pub(crate) fn begin(&self, job: Box<dyn Job>) {
        self.add(Assignment::Begin(job));
    }

    /// Has the job of a repository end, once its round is over.
    pub(crate) fn end(&self, repository: &str) {
        self.add(Assignment::End(repository.to_owned()));
    }

    fn add(&self, assignment: Assignment) {
        lock(&self.changes).push(assignment);
        self.gate.wake();
    }

    fn is_empty(&self) -> bool {
        lock(&self.changes).is_empty()
    }

    fn take(&self) -> Vec<Assignment> {
        std::mem::take(&mut *lock(&self.changes))
    }
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Roster").field(&lock(&self.changes).len()).finish()
    }
}

/// Jobs at work side by side.
#[derive(Default)]
pub(super) struct Shift {
    posts: Vec<Post>,
}

/// One job at work.
struct Post {
    repository: String,
    retired: Arc<AtomicBool>,
    thread: JoinHandle<bool>,
}

impl Crew {
    /// Goes on until it is to stop; whether all went well in the only round.
    ///
    /// # Errors
    /// If a thread cannot be had, or one ends by a fault.
    pub(super) fn run(mut self, jobs: Vec<Box<dyn Job>>) -> Result<bool> {
        let mut shift = self.begin(jobs)?;
        // Those that come and go by themselves outlast a configuration.
        let mut guests = Shift::default();
        if self.frame.once {
            return shift.end();
        }
        loop {
            let has_changes = || self.roster.as_ref().is_some_and(|roster| !roster.is_empty());
            if self.gate.pause_unless(TICK, has_changes) {
                return Ok(true);
            }
            self.assign(&mut guests)?;
            if let Some(jobs) = self.read_anew() {
                shift.retire()?;
                shift = self.begin(jobs)?;
            }
            if self.gate.is_stopped() {
                return Ok(true);
            }
            guests.dismiss()?;
            if shift.has_ended() {
                return shift.end();
            }
        }
    }

    pub(super) fn begin(&self, jobs: Vec<Box<dyn Job>>) -> Result<Shift> {
        self.frame.recorder.configured();
        let mut shift = Shift::default();
        for job in jobs {
            self.post(job, &mut shift)?;
        }
        Ok(shift)
    }

    fn post(&self, job: Box<dyn Job>, shift: &mut Shift) -> Result<()> {
        let retired = Arc::new(AtomicBool::new(false));
        let repository = job.repository().to_owned();
        let worker = Worker::new(job, Arc::clone(&self.frame), self.gate.sibling(), Arc::clone(&retired));
        let thread = thread::Builder::new().name("round".to_owned()).spawn(move || worker.run());
        let thread = thread.map_err(|error| refused("start a thread", &error))?;
        shift.posts.push(Post { repository, retired, thread });
        Ok(())
    }

    /// Has those begin and end who were said to.
    fn assign(&self, guests: &mut Shift) -> Result<()> {
        for assignment in self.roster.iter().flat_map(Roster::take) {
            match assignment {
                Assignment::Begin(job) => self.post(job, guests)?,
                Assignment::End(repository) => {
                    self.frame.recorder.dismissed(&repository);
                    let of_it = guests.posts.iter().filter(|post| post.repository == repository);
                    of_it.for_each(|post| post.retired.store(true, Ordering::Relaxed));
                    self.gate.wake();
                }
            }
        }
        Ok(())
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
        self.posts.iter().for_each(|post| post.retired.store(true, Ordering::Relaxed));
        self.end()
    }

    /// Lets go of those that have ended.
    ///
    /// # Errors
    /// If one has ended by a fault.
    fn dismiss(&mut self) -> Result<()> {
        for post in self.posts.extract_if(.., |post| post.thread.is_finished()) {
            ended(post)?;
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.posts.iter().any(|post| post.thread.is_finished())
    }

    /// Waits for the end of all of them; whether all went well.
    pub(super) fn end(self) -> Result<bool> {
        let mut is_well = true;
        for post in self.posts {
            is_well &= ended(post)?;
        }
        Ok(is_well)
    }
}

fn ended(post: Post) -> Result<bool> {
    let fault = |_| Error::new(ErrorKind::Environment, "a round has ended by a fault of this program");
    post.thread.join().map_err(fault)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
