//! All that is kept in memory, and who goes when there is no more: trees first, then results.

use std::sync::Arc;

use tonic::Status;

use crate::budget::{Budget, Reservation};
use crate::contents::Contents;
use crate::results::Results;
use crate::trees::Trees;

/// Results take this part of the memory at most, so that there is always some for trees.
const RESULTS_PART: u64 = 4;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) budget: Arc<Budget>,
    pub(crate) contents: Arc<Contents>,
    pub(crate) trees: Arc<Trees>,
    pub(crate) results: Results,
}

impl Store {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            budget: Budget::new(max),
            contents: Arc::default(),
            trees: Arc::default(),
            results: Results::default(),
        }
    }

    /// Takes memory, for which what is in nobody's use goes; nothing where that does not suffice.
    pub(crate) fn reserve(&self, bytes: u64) -> Option<Reservation> {
        if bytes > self.budget.max() {
            return None;
        }
        loop {
            if let Some(reservation) = self.budget.take(bytes) {
                return Some(reservation);
            }
            if !self.trees.evict() && !self.results.evict() {
                return None;
            }
        }
    }

    /// Takes memory, and waits for it. Who waits must hold none, or all could wait for each other.
    pub(crate) async fn admit(&self, bytes: u64) -> Reservation {
        let bytes = bytes.min(self.budget.max());
        loop {
            let freed = self.budget.freed();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if let Some(reservation) = self.reserve(bytes) {
                return reservation;
            }
            freed.await;
        }
    }

    /// Lets results go until they have no more than their part.
    pub(crate) fn bound_results(&self) {
        while self.results.bytes() > self.budget.max() / RESULTS_PART && self.results.evict() {}
    }

    /// Returns what a client is told where there is no memory.
    pub(crate) fn exhausted(&self, what: &str) -> Status {
        let mebibytes = self.budget.max() >> 20;
        Status::resource_exhausted(format!("no memory for {what}: all of the {mebibytes} MiB are in use"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_goes_on_when_memory_is_given_back() {
        let store = Arc::new(Store::new(100));
        let all = store.reserve(100).unwrap();
        assert!(store.reserve(1).is_none());
        let waiting = tokio::spawn({
            let store = Arc::clone(&store);
            async move { store.admit(1000).await.bytes() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(all);
        assert_eq!(waiting.await.unwrap(), 100);
    }
}
