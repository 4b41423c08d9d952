//! Recognizes repeated deliveries, by an unsure server or an eavesdropper.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// Time it is known. Servers try again within minutes, and who replays later only has us look in vain once more.
const WINDOW: Duration = Duration::from_secs(600);

/// Maximum number of are known at most.
const MOST: usize = 8 << 10;

/// By what a delivery is known: the digest of its name, or of its body.
pub(super) type Mark = [u8; 32];

/// Those of late.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    order: VecDeque<(Instant, Mark)>,
    known: HashSet<Mark>,
}

impl Repeats {
    /// Returns true if any of the marks is known.
    pub(super) fn knows(&mut self, marks: &[Mark], now: Instant) -> bool {
        self.forget(now);
        marks.iter().any(|mark| self.known.contains(mark))
    }

    /// From now on they are known.
    pub(super) fn note(&mut self, marks: &[Mark], now: Instant) {
        for mark in marks {
            if self.known.insert(*mark) {
                self.order.push_back((now, *mark));
            }
        }
        self.forget(now);
    }

    fn forget(&mut self, now: Instant) {
        let is_over = |(when, _): &(Instant, Mark)| now.saturating_duration_since(*when) > WINDOW;
        while self.order.len() > MOST || self.order.front().is_some_and(is_over) {
            let Some((_, mark)) = self.order.pop_front() else { return };
            self.known.remove(&mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_for_a_while_and_only_so_much_of_it() {
        let (mut repeats, start) = (Repeats::default(), Instant::now());
        repeats.note(&[[1; 32], [2; 32]], start);
        assert!(repeats.knows(&[[3; 32], [2; 32]], start + WINDOW) && !repeats.knows(&[[3; 32]], start));
        assert!(!repeats.knows(&[[1; 32]], start + WINDOW + Duration::from_secs(1)));
        for number in 0..MOST as u64 * 2 {
            let mut mark = [0; 32];
            mark[..8].copy_from_slice(&number.to_le_bytes());
            repeats.note(&[mark], start);
        }
        assert_eq!((repeats.order.len(), repeats.known.len()), (MOST, MOST));
    }
}
