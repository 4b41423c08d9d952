//! Tells whether the daemon lives and is of use, as Kubernetes asks it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::http::Page;

/// Time there may be no sign of life. A registry may ask for a minute of rest, and an exchange with a git server
/// takes at most two; several may follow one another.
const PATIENCE: Duration = Duration::from_secs(600);

/// Signs of life of all that goes on.
#[derive(Debug)]
pub(crate) struct Health {
    start: Instant,
    /// Of each the last one, in milliseconds since the start, as long as it goes on.
    beats: Mutex<Vec<Weak<AtomicU64>>>,
    is_ready: AtomicBool,
    probe: OnceLock<Probe>,
}

/// Says what a cluster's part is at, or why it is of no use for now.
struct Probe(Box<dyn Fn() -> Result<String, String> + Send + Sync>);

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

/// The signs of life of one thing that goes on.
#[derive(Debug)]
pub(crate) struct Pulse {
    start: Instant,
    beat: Arc<AtomicU64>,
}

impl Pulse {
    /// Gives a sign of life.
    pub(crate) fn beat(&self, now: Instant) {
        let since = now.saturating_duration_since(self.start).as_millis();
        self.beat.fetch_max(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Health {
    /// Alive, and not ready.
    pub(crate) fn new(start: Instant) -> Self {
        Self { start, beats: Mutex::default(), is_ready: AtomicBool::new(false), probe: OnceLock::new() }
    }

    /// Has it depend on a cluster whether it is ready, instead of on rounds: a replica that stands by has none.
    pub(crate) fn depend_on(&self, probe: impl Fn() -> Result<String, String> + Send + Sync + 'static) {
        // There is one cluster.
        let _ = self.probe.set(Probe(Box::new(probe)));
    }

    /// The pulse of something that goes on from now, until it is dropped.
    pub(crate) fn pulse(&self, now: Instant) -> Pulse {
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

    /// Returns whether all rounds go on.
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

    /// Returns whether a round came to its end, so that configuration, registries and repository are of use; or what the cluster's
    /// part says.
    pub(super) fn ready(&self) -> Page {
        if let Some(Probe(probe)) = self.probe.get() {
            return match probe() {
                Ok(at) => Page::text(200, &format!("ok: {at}\n")),
                Err(why) => Page::text(503, &format!("{why}\n")),
            };
        }
        if self.is_ready.load(Ordering::Relaxed) {
            return Page::text(200, "ok\n");
        }
        Page::text(503, "no reconcile has finished yet\n")
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

    #[test]
    fn with_a_cluster_it_is_ready_as_that_is_without_any_round() {
        let (health, is_seen) = (Health::new(Instant::now()), Arc::new(AtomicBool::new(false)));
        let seen = Arc::clone(&is_seen);
        health.depend_on(move || match seen.load(Ordering::Relaxed) {
            true => Ok("is a standby".to_owned()),
            false => Err("nothing was seen yet".to_owned()),
        });
        health.complete();
        assert_eq!(health.ready(), Page::text(503, "nothing was seen yet\n"));
        is_seen.store(true, Ordering::Relaxed);
        assert_eq!(health.ready(), Page::text(200, "ok: is a standby\n"));
        is_seen.store(false, Ordering::Relaxed);
        assert_eq!((health.ready().status, health.alive(Instant::now()).status), (503, 200));
    }
}
