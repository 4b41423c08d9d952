//! Limits deliveries per hour.

use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// The current allowance: an hour's burst, refilled over time.
#[derive(Debug)]
pub(super) struct Pace {
    /// Time it takes until one more is allowed.
    step: Duration,
    /// When as many as an hour allows would be allowed, if nothing came until then.
    full: Instant,
}

impl Pace {
    /// So many in an hour; nothing where any number is allowed.
    pub(super) fn per_hour(allowed: u32, now: Instant) -> Option<Self> {
        Some(Self { step: HOUR.checked_div(allowed)?, full: now })
    }

    /// Takes one; whether that is allowed.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let full = self.full.max(now) + self.step;
        let is_allowed = full.saturating_duration_since(now) <= HOUR;
        if is_allowed {
            self.full = full;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_allows_so_many() {
        let start = Instant::now();
        assert!(Pace::per_hour(0, start).is_none());
        let mut pace = Pace::per_hour(60, start).unwrap();
        let mut taken = |minutes: u64| {
            let now = start + Duration::from_secs(60 * minutes);
            (0..100).filter(|_| pace.take(now)).count()
        };
        assert_eq!([taken(0), taken(0), taken(1), taken(11), taken(200)], [60, 0, 1, 10, 60]);
    }
}
