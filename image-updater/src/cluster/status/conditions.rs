//! Conditions, as each tool has them.
//!
//! Argo CD Image Updater has `Ready`, `Reconciling` and `Error` side by side for ever. Flux goes by kstatus: `Ready` is
//! always there, `Reconciling` while something is tried again, `Stalled` where somebody has to mend something first.

use jiff::Timestamp;

use super::words::cut;
use crate::dialect::status::{Condition, MAX_MESSAGE, Truth};

pub(super) const READY: &str = "Ready";
pub(super) const RECONCILING: &str = "Reconciling";
pub(super) const STALLED: &str = "Stalled";
pub(super) const ERROR: &str = "Error";

/// Flux' word for all being well.
pub(super) const SUCCEEDED: &str = "Succeeded";

/// The conditions of an object, at one time.
#[derive(Debug)]
pub(super) struct Conditions {
    all: Vec<Condition>,
    generation: i64,
    now: Timestamp,
}

impl Conditions {
    /// Those that an object has.
    pub(super) fn of(before: Vec<Condition>, generation: i64, now: Timestamp) -> Self {
        Self { all: before, generation, now }
    }

    /// Sets one.
    pub(super) fn set(&mut self, kind: &str, status: Truth, reason: &str, message: &str) {
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            observed_generation: Some(self.generation),
            last_transition_time: self.now.into(),
            reason: reason.to_owned(),
            message: cut(message, MAX_MESSAGE),
        };
        condition.set(&mut self.all);
    }

    /// Flux: it is as it should be.
    pub(super) fn succeed(&mut self, message: &str) {
        self.remove(&[RECONCILING, STALLED]);
        self.set(READY, Truth::True, SUCCEEDED, message);
    }

    /// Flux: it failed, and is tried again.
    pub(super) fn fail(&mut self, reason: &str, message: &str) {
        self.remove(&[STALLED]);
        self.set(RECONCILING, Truth::True, "ProgressingWithRetry", "reconciliation in progress");
        self.set(READY, Truth::False, reason, message);
    }

    /// Flux: it cannot go on until somebody mends it.
    pub(super) fn stall(&mut self, reason: &str, message: &str) {
        self.remove(&[RECONCILING]);
        self.set(STALLED, Truth::True, reason, message);
        self.set(READY, Truth::False, reason, message);
    }

    fn remove(&mut self, kinds: &[&str]) {
        self.all.retain(|condition| !kinds.contains(&condition.kind.as_str()));
    }

    /// All of them.
    pub(super) fn into_all(self) -> Vec<Condition> {
        self.all
    }
}
