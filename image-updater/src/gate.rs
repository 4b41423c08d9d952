//! The gate before everything that others see: a push, and the pull request for it.
//!
//! A program that is asked to stop stops at once, but for what has begun behind the gate: that is finished, or was never
//! sent. In: who wants to begin, and who wants to stop. Refused: to begin once stopping was asked for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// Open until somebody wants to stop.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_stopped: bool,
    is_busy: bool,
}

impl Gate {
    /// Goes through, if nobody wants to stop; who is through already stays so.
    ///
    /// # Errors
    /// Where somebody wants to stop.
    pub(crate) fn begin(&self) -> Result<()> {
        let mut state = self.lock();
        if state.is_stopped && !state.is_busy {
            return Err(Error::new(ErrorKind::Environment, "it is stopping, so nothing more is begun"));
        }
        state.is_busy = true;
        Ok(())
    }

    /// Says that what was begun is over.
    pub(crate) fn end(&self) {
        self.lock().is_busy = false;
        self.changed.notify_all();
    }

    /// Wants to stop.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    /// Whether somebody wants to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Waits as long as nobody wants to stop; whether somebody does.
    pub(crate) fn pause(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| state.is_stopped)
    }

    /// Waits until nothing is behind the gate; whether that came about in time.
    pub(crate) fn drain(&self, timeout: Duration) -> bool {
        self.wait(timeout, |state| !state.is_busy)
    }

    fn wait(&self, timeout: Duration, is_so: impl Fn(State) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if is_so(*state) || left.is_zero() {
                return is_so(*state);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_pause_ends_when_it_is_to_stop() {
        let gate = Gate::default();
        assert!(!gate.pause(Duration::ZERO));
        std::thread::scope(|scope| {
            scope.spawn(|| gate.stop());
            assert!(gate.pause(Duration::from_secs(600)));
        });
    }
}
