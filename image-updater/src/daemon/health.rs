//! Whether the daemon lives and is of use, as Kubernetes asks it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::http::Page;

/// How long there may be no sign of life. A registry may ask for a minute of rest, and an exchange with a git server
/// takes at most two; several may follow one another.
const PATIENCE: Duration = Duration::from_secs(600);

/// Signs of life.
#[derive(Debug)]
pub(super) struct Health {
    start: Instant,
    /// Of the last one, in milliseconds since the start.
    beat: AtomicU64,
    is_ready: AtomicBool,
}

impl Health {
    /// Alive, and not ready.
    pub(super) fn new(start: Instant) -> Self {
        Self { start, beat: AtomicU64::new(0), is_ready: AtomicBool::new(false) }
    }

    /// Gives a sign of life.
    pub(super) fn beat(&self, now: Instant) {
        let since = now.saturating_duration_since(self.start).as_millis();
        self.beat.fetch_max(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Says that a round came to its end.
    pub(super) fn complete(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Whether the rounds go on.
    pub(super) fn alive(&self, now: Instant) -> Page {
        let beat = self.start + Duration::from_millis(self.beat.load(Ordering::Relaxed));
        let silence = now.saturating_duration_since(beat);
        if silence <= PATIENCE {
            return Page::text(200, "ok\n");
        }
        Page::text(503, &format!("nothing has moved for {} s\n", silence.as_secs()))
    }

    /// Whether a round came to its end, so that configuration, registries and repository are of use.
    pub(super) fn ready(&self) -> Page {
        if self.is_ready.load(Ordering::Relaxed) {
            return Page::text(200, "ok\n");
        }
        Page::text(503, "no round has come to its end yet\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_alive_as_long_as_something_moves() {
        let start = Instant::now();
        let health = Health::new(start);
        let status = |seconds| health.alive(start + Duration::from_secs(seconds)).status;
        assert_eq!((status(0), status(600), status(601)), (200, 200, 503));
        health.beat(start + Duration::from_secs(500));
        assert_eq!((status(601), status(1101)), (200, 503));
    }

    #[test]
    fn it_is_ready_after_the_first_round_and_stays_so() {
        let health = Health::new(Instant::now());
        assert_eq!(health.ready().status, 503);
        health.complete();
        assert_eq!(health.ready().status, 200);
    }
}
