//! A cache with expiry: asking may be slow, and happens for each of many images.
//!
//! In: a key, the time, and how to ask. Out: what is known, or what asking gives. Of many who want the same at once one
//! asks, and the others wait for that; that it failed is known for a moment too, so that they do not all try.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use diagnostic::Result;

/// For how long a failure is all that is said.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// As long before it expires, or a fifth of its time before where that is less, something is asked for anew.
const MARGIN: Duration = Duration::from_secs(300);

/// By key, what is known.
pub(super) struct Memo<T>(Mutex<HashMap<String, Slot<T>>>);

type Slot<T> = Arc<Mutex<Option<Known<T>>>>;

struct Known<T> {
    outcome: Result<T>,
    since: SystemTime,
    until: Option<SystemTime>,
}

/// A cached answer.
#[derive(Clone)]
pub(super) struct Given<T> {
    pub(super) value: T,
    /// Until when it is used; for ever where there is nothing.
    pub(super) until: Option<SystemTime>,
}

impl<T> Given<T> {
    /// Returns what is used until shortly before it expires.
    pub(super) fn expiring(value: T, now: SystemTime, expires: SystemTime) -> Self {
        let left = expires.duration_since(now).unwrap_or_default();
        Self { value, until: Some(expires - MARGIN.min(left / 5)) }
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for Memo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

impl<T: Clone> Memo<T> {
    /// Returns what is known at a time, or what asking gives.
    pub(super) fn get(
        &self,
        key: &str,
        now: SystemTime,
        ask: impl FnOnce() -> Result<Given<T>>,
    ) -> Result<T> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(key.to_owned()).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slot.as_ref().filter(|known| known.counts(now)) {
            return known.outcome.clone();
        }
        let known = match ask() {
            Ok(given) => Known { outcome: Ok(given.value), since: now, until: given.until },
            Err(error) => Known { outcome: Err(error), since: now, until: Some(now + FAILED_FOR) },
        };
        let outcome = known.outcome.clone();
        *slot = Some(known);
        outcome
    }

    /// Forgets what was refused, and failures; what somebody has asked for since stays.
    pub(super) fn forget(&self, is_refused: impl Fn(&T) -> bool) {
        // One who asks has its slot, and all others should not wait for that.
        let slots: Vec<_> = self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for slot in slots {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            *slot = slot.take().filter(|known| known.outcome.as_ref().is_ok_and(|known| !is_refused(known)));
        }
    }
}

impl<T> Known<T> {
    /// A clock that was set back tells nothing of the time since.
    fn counts(&self, now: SystemTime) -> bool {
        self.since <= now && self.until.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use diagnostic::{Error, ErrorKind};

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn expiring(value: u32, now: u64, expires: u64) -> Result<Given<u32>> {
        Ok(Given::expiring(value, at(now), at(expires)))
    }

    fn given(value: u32) -> Result<Given<u32>> {
        Ok(Given { value, until: None })
    }

    #[test]
    fn asked_once_until_shortly_before_the_end_of_its_time() {
        let memo = Memo::default();
        let get = |now, value, expires| memo.get("h", at(now), || expiring(value, now, expires)).unwrap();
        // Ten minutes: a fifth is less than five minutes.
        assert_eq!(get(1000, 1, 1600), 1);
        assert_eq!(get(1479, 2, 9000), 1);
        assert_eq!(get(1480, 2, 9000), 2);
        // Two hours: five minutes before.
        assert_eq!(get(8699, 3, 9999), 2);
        assert_eq!(get(8700, 3, 9999), 3);
        assert_eq!(memo.get("other", at(8700), || given(4)).unwrap(), 4);
        assert_eq!(get(8000, 5, 9999), 5, "the clock was set back");
    }

    #[test]
    fn what_is_over_already_is_given_and_not_kept() {
        let memo = Memo::default();
        assert_eq!(memo.get("h", at(1000), || expiring(1, 1000, 900)).unwrap(), 1);
        assert_eq!(memo.get("h", at(1000), || expiring(2, 1000, 900)).unwrap(), 2);
    }

    #[test]
    fn what_was_refused_is_asked_for_again_and_no_other() {
        let memo = Memo::default();
        assert_eq!(memo.get("h", at(0), || given(1)).unwrap(), 1);
        memo.forget(|known| *known == 1);
        assert_eq!(memo.get("h", at(0), || given(2)).unwrap(), 2);
        // Somebody else had been refused before.
        memo.forget(|known| *known == 1);
        assert_eq!(memo.get("h", at(0), || given(3)).unwrap(), 2);
    }

    #[test]
    fn a_failure_is_known_for_a_moment() {
        let memo = Memo::default();
        let fail = || Err(Error::new(ErrorKind::Unavailable, "no"));
        assert!(memo.get("h", at(100), fail).is_err());
        assert!(memo.get("h", at(104), || given(1)).is_err());
        assert_eq!(memo.get("h", at(105), || given(1)).unwrap(), 1);
    }

    #[test]
    fn of_many_who_want_the_same_one_asks() {
        let (memo, asked) = (Memo::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    memo.get("h", at(0), || {
                        asked.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(20));
                        given(1)
                    })
                });
            }
        });
        assert_eq!(asked.into_inner(), 1);
    }
}
