//! The memory that trees and results share.
//!
//! In: sizes, before what has them is made. Out: a [`Reservation`], which gives its bytes back when it is dropped, or
//! nothing where there is no room. What is to go to make room is decided by the caches.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The bytes there are, and those that are taken.
#[derive(Debug)]
pub(crate) struct Budget {
    max: u64,
    used: Mutex<u64>,
    freed: Notify,
}

/// Bytes that are taken, until it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { max, used: Mutex::default(), freed: Notify::new() })
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes, where there are so many.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let after = used.checked_add(bytes).filter(|after| *after <= self.max)?;
        *used = after;
        Some(Reservation { budget: Arc::clone(self), bytes })
    }

    /// Says that there may be room now, as what a cache holds is in use no more.
    pub(crate) fn announce(&self) {
        self.freed.notify_waiters();
    }

    /// Ends when there may be room after the call.
    pub(crate) fn freed(&self) -> tokio::sync::futures::Notified<'_> {
        self.freed.notified()
    }

    fn give_back(&self, bytes: u64) {
        if bytes > 0 {
            *self.used.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
            self.freed.notify_waiters();
        }
    }
}

impl Reservation {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes one of two.
    pub(crate) fn join(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Parts with some of the bytes, at most all.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { budget: Arc::clone(&self.budget), bytes }
    }

    /// Gives back what is above.
    pub(crate) fn shrink(&mut self, to: u64) {
        drop(self.split(self.bytes.saturating_sub(to)));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_given_back_once() {
        let budget = Budget::new(100);
        let mut first = budget.take(60).unwrap();
        assert!(budget.take(41).is_none());
        let mut second = budget.take(40).unwrap();
        let part = first.split(50);
        assert_eq!((budget.used(), first.bytes(), part.bytes()), (100, 10, 50));
        second.join(part);
        second.shrink(80);
        assert_eq!((budget.used(), second.bytes()), (90, 80));
        drop((first, second));
        assert_eq!(budget.used(), 0);
        assert!(budget.take(u64::MAX).is_none());
    }
}
