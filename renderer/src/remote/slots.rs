//! Values that are computed once in a run.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use diagnostic::{ErrorKind, Result};

/// One slot for each key; who asks for one that is being filled waits for it.
#[derive(Debug)]
pub(super) struct Slots<K, V>(Mutex<HashMap<K, Slot<V>>>);

type Slot<V> = Arc<Mutex<Option<Filled<V>>>>;

#[derive(Debug)]
struct Filled<V> {
    outcome: Result<V>,
    /// Time its maker was ready to wait for it.
    patience: Duration,
}

impl<K, V> Default for Slots<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Slots<K, V> {
    /// Returns true if nothing was asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns the value of the slot, and computes it if it is empty. A value that timed out is computed again for a
    /// caller with more patience.
    pub(super) fn get(&self, key: &K, patience: Duration, make: impl FnOnce() -> Result<V>) -> Result<V> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(key.clone()).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Filled { outcome, patience: waited }) = &*slot {
            let is_final = match outcome {
                Ok(_) => true,
                Err(failure) => failure.kind() != ErrorKind::TimedOut || patience <= *waited,
            };
            if is_final {
                return outcome.clone();
            }
        }
        let outcome = make();
        *slot = Some(Filled { outcome: outcome.clone(), patience });
        outcome
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn only_a_timeout_is_tried_again_and_only_with_more_patience() {
        let slots = Slots::<&str, u32>::default();
        let second = Duration::from_secs;
        let late = || Err(gitremote::error::timed_out(second(1)));
        assert!(slots.get(&"a", second(1), late).is_err());
        assert!(slots.get(&"a", second(1), || Ok(1)).is_err());
        assert_eq!(slots.get(&"a", second(2), || Ok(2)).unwrap(), 2);
        assert_eq!(slots.get(&"a", second(3), || Ok(3)).unwrap(), 2);
    }
}
