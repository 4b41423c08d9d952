//! Counts the requests to a registry since a client was created, without those for tokens.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of requests to a registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests that were sent.
    pub requests: u64,
    /// Those among them that were not answered, or with a refusal.
    pub failed: u64,
    /// Those among them that were answered with no more than that nothing has changed.
    pub unchanged: u64,
    /// Requests that the cache saved.
    pub saved: u64,
}

/// Counts while threads ask.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    requests: AtomicU64,
    failed: AtomicU64,
    unchanged: AtomicU64,
    saved: AtomicU64,
}

impl Counter {
    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn unchanged(&self) {
        self.unchanged.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn saving(&self) {
        self.saved.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            unchanged: self.unchanged.load(Ordering::Relaxed),
            saved: self.saved.load(Ordering::Relaxed),
        }
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.unchanged += other.unchanged;
        self.saved += other.saved;
    }
}
