//! The contents of files, each held once however many trees have it: what changes between two commits is little.
//!
//! In: the bytes of a file. Out: the same bytes, shared, with their digest; they are counted against the budget once,
//! and until the last tree that has them is gone.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::budget::Reservation;

/// SHA-256.
pub(crate) type Digest = [u8; 32];

/// Memory of an entry besides the content.
const OVERHEAD: u64 = 128;

#[derive(Default)]
pub(crate) struct Contents(Mutex<HashMap<Digest, Held>>);

struct Held {
    bytes: Arc<[u8]>,
    uses: usize,
    reservation: Reservation,
}

/// The contents of a tree, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Uses {
    contents: Arc<Contents>,
    digests: Vec<Digest>,
}

impl fmt::Debug for Contents {
    /// Without the contents, which may have secrets in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contents").finish_non_exhaustive()
    }
}

/// Returns how much is to be reserved while a file of this size is read: its bytes twice, for they are copied once into shared
/// memory.
pub(crate) fn needed(size: u64) -> u64 {
    size.saturating_mul(2).saturating_add(OVERHEAD)
}

impl Uses {
    pub(crate) fn of(contents: &Arc<Contents>) -> Self {
        Self { contents: Arc::clone(contents), digests: Vec::new() }
    }

    /// Shares a content, for which as much as it is [`needed`] is reserved.
    pub(crate) fn add(&mut self, content: Vec<u8>, mut reservation: Reservation) -> (Arc<[u8]>, Digest) {
        let digest: Digest = Sha256::digest(&content).into();
        let mut held = self.contents.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = held.entry(digest).or_insert_with(|| {
            let bytes = Arc::from(content);
            Held { bytes, uses: 0, reservation: reservation.split(0) }
        });
        if entry.uses == 0 {
            reservation.shrink(entry.bytes.len() as u64 + OVERHEAD);
            entry.reservation.join(reservation);
        }
        entry.uses += 1;
        self.digests.push(digest);
        (Arc::clone(&entry.bytes), digest)
    }
}

impl Drop for Uses {
    fn drop(&mut self) {
        let mut gone = Vec::new();
        let mut held = self.contents.0.lock().unwrap_or_else(PoisonError::into_inner);
        for digest in &self.digests {
            if let Some(entry) = held.get_mut(digest) {
                entry.uses -= 1;
                if entry.uses == 0 {
                    gone.extend(held.remove(digest));
                }
            }
        }
        drop(held);
        // Their bytes are given back when nobody else waits for the lock.
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    #[test]
    fn a_content_is_held_and_counted_once() {
        let (budget, contents) = (Budget::new(10_000), Arc::default());
        let add = |uses: &mut Uses, text: &[u8]| {
            uses.add(text.to_vec(), budget.take(needed(text.len() as u64)).unwrap()).0
        };
        let (mut first, mut second) = (Uses::of(&contents), Uses::of(&contents));
        let one = add(&mut first, b"kind: A");
        assert_eq!(budget.used(), 7 + OVERHEAD);
        assert!(Arc::ptr_eq(&one, &add(&mut first, b"kind: A")));
        assert!(Arc::ptr_eq(&one, &add(&mut second, b"kind: A")));
        add(&mut second, b"kind: B");
        assert_eq!(budget.used(), 2 * (7 + OVERHEAD));
        drop(second);
        assert_eq!(budget.used(), 7 + OVERHEAD);
        drop(first);
        assert_eq!(budget.used(), 0);
        assert!(contents.0.lock().unwrap().is_empty());
    }
}
