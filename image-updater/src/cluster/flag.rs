//! A flag that many raise and one waits for, in threads and in tasks.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Down at first.
#[derive(Debug, Default)]
pub(super) struct Flag {
    is_up: Mutex<bool>,
    raised: Condvar,
}

impl Flag {
    /// It is up until somebody takes it down.
    pub(super) fn raise(&self) {
        *self.is_up.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.raised.notify_all();
    }

    /// Waits until it is up, and takes it down; whether it came up in time.
    pub(super) fn take_down(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut is_up = self.is_up.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_up {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            is_up = self.raised.wait_timeout(is_up, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *is_up = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_taken_down_once_however_often_it_was_raised() {
        let flag = Flag::default();
        assert!(!flag.take_down(Duration::ZERO));
        flag.raise();
        flag.raise();
        assert!(flag.take_down(Duration::ZERO) && !flag.take_down(Duration::ZERO));
        std::thread::scope(|scope| {
            scope.spawn(|| flag.raise());
            assert!(flag.take_down(Duration::from_secs(600)));
        });
    }
}
