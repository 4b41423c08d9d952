//! The gate before everything that others see: a push, and the pull request for it.
//!
//! A program that is asked to stop stops at once, but for what has begun behind the gate: that is finished, or was never
//! sent. In: who wants to begin, and who wants to stop. Refused: to begin once stopping was asked for. Who pushes beside
//! others has a gate of its own in the same wall: one for all wants to stop, and all are waited for.

use diagnostic::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Why nobody is let through for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Another replica leads, or may.
    Standby,
    /// The API server does not answer, so that what is known of the cluster may be wrong by now.
    Silence,
}

impl Hold {
    const COUNT: usize = 2;
    const ALL: [Self; Self::COUNT] = [Self::Standby, Self::Silence];

    fn why(self) -> &'static str {
        match self {
            Self::Standby => "another replica leads, so nothing is begun here",
            Self::Silence => "the API server does not answer, so nothing is begun until it does",
        }
    }
}

/// Open until somebody wants to stop.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    wall: Arc<Wall>,
    /// True if somebody is through here; only changed while the wall's state is held.
    is_busy: AtomicBool,
}

#[derive(Debug, Default)]
struct Wall {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_stopped: bool,
    /// The reasons that may hold it.
    doors: [Door; Hold::COUNT],
    /// Number of callers that passed.
    busy: usize,
}

/// The state of the guard.
#[derive(Clone, Copy, Debug, Default)]
enum Door {
    #[default]
    Open,
    /// It shuts by itself, even if nobody is there to shut it.
    OpenUntil(Instant),
    Shut,
}

impl State {
    /// Why nobody is let through.
    fn hold(&self) -> Option<Hold> {
        Hold::ALL.into_iter().find(|why| self.is_held_for(*why))
    }

    fn is_held_for(&self, why: Hold) -> bool {
        match self.doors[why as usize] {
            Door::Open => false,
            Door::OpenUntil(end) => Instant::now() >= end,
            Door::Shut => true,
        }
    }
}

impl Gate {
    /// Another gate in the same wall.
    pub(crate) fn sibling(&self) -> Self {
        Self { wall: Arc::clone(&self.wall), is_busy: AtomicBool::new(false) }
    }

    /// Goes through, if nobody wants to stop; who is through already stays so.
    ///
    /// # Errors
    /// If somebody wants to stop.
    pub(crate) fn begin(&self) -> Result<()> {
        let mut state = self.lock();
        if self.is_busy.load(Ordering::Relaxed) {
            return Ok(());
        }
        if state.is_stopped {
            return Err(Error::new(ErrorKind::Environment, "it is stopping, so nothing more is begun"));
        }
        if let Some(hold) = state.hold() {
            return Err(Error::new(ErrorKind::Environment, hold.why()));
        }
        state.busy += 1;
        self.is_busy.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether who is through may still send what the others are to see. Who wants to stop waits for it; while it is held
    /// others may be at the same.
    ///
    /// # Errors
    /// If it is held.
    pub(crate) fn confirm(&self) -> Result<()> {
        match self.lock().hold() {
            Some(hold) => Err(Error::new(ErrorKind::Environment, hold.why())),
            None => Ok(()),
        }
    }

    /// Says that what was begun is over.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        if self.is_busy.swap(false, Ordering::Relaxed) {
            state.busy -= 1;
            self.wall.changed.notify_all();
        }
    }

    /// Wants to stop.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.wall.changed.notify_all();
    }

    /// Lets nobody through until it is opened again.
    pub(crate) fn hold(&self, why: Hold) {
        self.set(why, Door::Shut);
    }

    /// Opens what was held for this; it may be held for something else.
    pub(crate) fn open(&self, why: Hold) {
        self.set(why, Door::Open);
    }

    /// Opens what was held for this, until a time or until that is said anew.
    pub(crate) fn open_until(&self, why: Hold, end: Instant) {
        self.set(why, Door::OpenUntil(end));
    }

    /// Returns true if nobody is let through for now.
    pub(crate) fn is_held(&self) -> bool {
        self.lock().hold().is_some()
    }

    /// Returns true if nobody is let through for this.
    pub(crate) fn is_held_for(&self, why: Hold) -> bool {
        self.lock().is_held_for(why)
    }

    /// Waits as long as it is held; whether it still is when the time is over, or somebody wants to stop.
    pub(crate) fn await_open(&self, timeout: Duration) -> bool {
        !self.wait(timeout, |state| state.is_stopped || state.hold().is_none()) || self.is_stopped()
    }

    /// Returns true if somebody wants to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Waits as long as nobody wants to stop; whether somebody does.
    pub(crate) fn pause(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.is_stopped)
    }

    /// Waits as long as nobody wants to stop or rings; whether somebody wants to stop.
    pub(crate) fn pause_unless(&self, timeout: Duration, is_rung: impl Fn() -> bool) -> bool {
        self.wait(timeout, |state| state.is_stopped || is_rung());
        self.is_stopped()
    }

    /// Has all who pause look whether it was they for whom it rang.
    pub(crate) fn wake(&self) {
        // Whoever is about to wait has looked before, or holds this.
        let _state = self.lock();
        self.wall.changed.notify_all();
    }

    /// Waits until nothing is behind any gate; whether that came about in time.
    pub(crate) fn drain(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.busy == 0)
    }

    fn wait(&self, timeout: Duration, is_so: impl Fn(State) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if is_so(*state) || left.is_zero() {
                return is_so(*state);
            }
            state = self.wall.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn set(&self, why: Hold, door: Door) {
        self.lock().doors[why as usize] = door;
        self.wall.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.wall.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gate_of_a_wall_is_waited_for() {
        let gate = Gate::default();
        let (one, other) = (gate.sibling(), gate.sibling());
        one.begin().unwrap();
        other.begin().unwrap();
        gate.stop();
        one.end();
        assert!(one.begin().is_err(), "what begins now is another push");
        assert!(other.begin().is_ok() && !gate.drain(Duration::ZERO));
        drop(other);
        assert!(gate.drain(Duration::ZERO));
    }

    #[test]
    fn what_has_begun_is_finished_and_nothing_more_begins() {
        let gate = Gate::default();
        gate.begin().unwrap();
        gate.stop();
        gate.begin().unwrap();
        assert!(!gate.drain(Duration::ZERO), "it is still at it");
        gate.end();
        assert!(gate.drain(Duration::ZERO));
        assert!(gate.begin().is_err());
        assert!(gate.is_stopped());
    }

    #[test]
    fn what_is_held_lets_nobody_through_until_it_is_opened() {
        let gate = Gate::default();
        let one = gate.sibling();
        one.begin().unwrap();
        gate.hold(Hold::Standby);
        gate.hold(Hold::Silence);
        gate.open(Hold::Silence);
        assert!(one.begin().is_ok(), "who is through stays so");
        assert!(gate.sibling().begin().is_err() && gate.is_held());
        assert!(gate.await_open(Duration::ZERO) && !gate.is_stopped());
        std::thread::scope(|scope| {
            scope.spawn(|| gate.open(Hold::Standby));
            assert!(!gate.await_open(Duration::from_secs(600)));
        });
        assert!(gate.sibling().begin().is_ok());
    }

    #[test]
    fn what_is_open_until_a_time_shuts_by_itself_also_before_who_is_through() {
        let gate = Gate::default();
        gate.open_until(Hold::Standby, Instant::now() + Duration::from_secs(600));
        gate.begin().unwrap();
        assert!(gate.confirm().is_ok() && !gate.is_held());
        gate.open_until(Hold::Standby, Instant::now());
        assert!(gate.begin().is_ok(), "it is through");
        assert!(gate.confirm().is_err(), "and sends nothing any more");
        assert!(gate.is_held() && gate.sibling().begin().is_err());
        gate.open_until(Hold::Standby, Instant::now() + Duration::from_secs(600));
        gate.stop();
        assert!(gate.confirm().is_ok(), "who stops waits for it");
    }

    #[test]
    fn a_pause_ends_when_it_rings() {
        let (gate, rung) = (Gate::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                rung.store(true, Ordering::Relaxed);
                gate.wake();
            });
            assert!(!gate.pause_unless(Duration::from_secs(600), || rung.load(Ordering::Relaxed)));
        });
    }

    #[test]
    fn a_pause_ends_when_it_is_to_stop() {
        let gate = Gate::default();
        assert!(!gate.pause(Duration::ZERO));
        std::thread::scope(|scope| {
            scope.spawn(|| gate.stop());
            assert!(gate.pause(Duration::from_secs(600)));
        });
    }
}
