//! Whether the daemon lives and is of use, as Kubernetes asks it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::http::Page;

/// How long there may be no sign of life. A registry may ask for a minute of rest, and an exchange with a git server
/// takes at most two; several may follow one another.
const PATIENCE: Duration = Duration::from_secs(600);

/// Signs of life of all that goes on.
#[derive(Debug)]
pub(super) struct Health {
    start: Instant,
    /// Of each the last one, in milliseconds since the start, as long as it goes on.
    beats: Mutex<Vec<Weak<AtomicU64>>>,
    is_ready: AtomicBool,
}

/// The signs of life of one thing that goes on.
#[derive(Debug)]
pub(super) struct Pulse {
    start: Instant,
    beat: Arc<AtomicU64>,
}

impl Pulse {
    /// Gives a sign of life.
    pub(super) fn beat(&self, now: Instant) {
        let since = now.saturating_duration_since(self.start).as_millis();
        self.beat.fetch_max(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Health {
    /// Alive, and not ready.
    pub(super) fn new(start: Instant) -> Self {
        Self { start, beats: Mutex::default(), is_ready: AtomicBool::new(false) }
    }

    /// The pulse of something that goes on from now, until it is dropped.
    pub(super) fn pulse(&self, now: Instant) -> Pulse {
        let pulse = Pulse { start: self.start, beat: Arc::default() };
        pulse.beat(now);
        self.lock().push(Arc::downgrade(&pulse.beat));
        pulse
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<AtomicU64>>> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a round came to its end.
    pub(super) fn complete(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// Whether all rounds go on.
    pub(super) fn alive(&self, now: Instant) -> Page {
        let mut beats = self.lock();
        beats.retain(|beat| beat.strong_count() > 0);
        let living = beats.iter().filter_map(Weak::upgrade);
        let Some(oldest) = living.map(|beat| beat.load(Ordering::Relaxed)).min() else {
            return Page::text(200, "ok\n");
        };
        let beat = self.start + Duration::from_millis(oldest);
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
        let (one, other) = (health.pulse(start), health.pulse(start));
        assert_eq!((status(0), status(600), status(601)), (200, 200, 503));
        one.beat(start + Duration::from_secs(500));
        assert_eq!(status(601), 503, "the other hangs");
        drop(other);
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
