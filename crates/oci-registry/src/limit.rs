//! Rate limits of a host: requests per second, concurrent requests, and pauses that it asks for. All threads and
//! clients that use the host may share one limiter.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::settings::RegistrySettings;

/// As careful as other updaters are with registries of which they know nothing.
const RATE: f64 = 20.0;

const CONCURRENCY: usize = 8;

/// Burst that is allowed after a quiet time.
const BURST: Duration = Duration::from_secs(1);

/// The limiters of hosts. Clients that have them in common press a host no harder together than one alone.
#[derive(Clone, Default)]
pub struct Limits(Arc<Mutex<HashMap<Pressed, Arc<Limiter>>>>);

/// A host, and how hard it may be pressed.
type Pressed = (String, Option<u64>, Option<usize>);

#[derive(Debug)]
pub(crate) struct Limiter {
    interval: Duration,
    concurrency: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    running: usize,
    /// When the next request would be due if all came evenly.
    due: Instant,
    paused_until: Option<Instant>,
}

/// The right to make one request; it is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'l>(&'l Limiter);

impl Limits {
    pub(crate) fn of(&self, registry: &str, settings: Option<&RegistrySettings>) -> Arc<Limiter> {
        let rate = settings.and_then(|settings| settings.rate_limit).map(f64::to_bits);
        let pressed = (registry.to_owned(), rate, settings.and_then(|settings| settings.concurrency));
        let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(limiters.entry(pressed).or_insert_with(|| Arc::new(Limiter::new(settings))))
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Limits")
    }
}

impl Limiter {
    pub(crate) fn new(settings: Option<&RegistrySettings>) -> Self {
        let rate = settings.and_then(|settings| settings.rate_limit).unwrap_or(RATE);
        let concurrency = settings.and_then(|settings| settings.concurrency).unwrap_or(CONCURRENCY);
        let interval = Duration::try_from_secs_f64(1.0 / rate).unwrap_or_default();
        let state = State { running: 0, due: Instant::now(), paused_until: None };
        Self { interval, concurrency: concurrency.max(1), state: Mutex::new(state), freed: Condvar::new() }
    }

    /// Waits for a turn; where the host asks for a pause longer than one is willing to wait, the rest of the pause.
    pub(crate) fn enter(&self, patience: Duration) -> Result<Permit<'_>, Duration> {
        let mut state = self.lock();
        while state.running >= self.concurrency {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running += 1;
        let permit = Permit(self);
        let wait = state.reserve(Instant::now(), self.interval);
        drop(state);
        thread::sleep(wait);
        let mut patience = patience;
        loop {
            let pause = self.pause_left();
            if pause.is_zero() {
                return Ok(permit);
            }
            // Others may be told to wait even longer meanwhile.
            patience = patience.checked_sub(pause).ok_or(pause)?;
            thread::sleep(pause);
        }
    }

    /// Makes all requests wait.
    pub(crate) fn pause(&self, wait: Duration) {
        let mut state = self.lock();
        let until = Instant::now().checked_add(wait);
        state.paused_until = state.paused_until.max(until);
    }

    fn pause_left(&self) -> Duration {
        let until = self.lock().paused_until;
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the next turn; how long it is until then. A whole burst may be ahead of an even pace.
    fn reserve(&mut self, now: Instant, interval: Duration) -> Duration {
        self.due = self.due.max(now) + interval;
        (self.due - now).saturating_sub(BURST.max(interval))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn limiter(rate: f64, concurrency: usize) -> Limiter {
        let settings = RegistrySettings {
            rate_limit: Some(rate),
            concurrency: Some(concurrency),
            ..RegistrySettings::default()
        };
        Limiter::new(Some(&settings))
    }

    #[test]
    fn no_more_than_so_many_run_side_by_side() {
        let limiter = limiter(10_000.0, 2);
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _permit = limiter.enter(Duration::ZERO).unwrap();
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(2));
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.into_inner() <= 2);
    }

    #[test]
    fn after_a_burst_requests_come_at_an_even_pace() {
        let start = Instant::now();
        let mut state = State { running: 0, due: start, paused_until: None };
        let interval = Duration::from_millis(20);
        let mut waits = (0..53).map(|_| state.reserve(start, interval));
        assert!(waits.by_ref().take(50).all(|wait| wait.is_zero()));
        assert_eq!(waits.collect::<Vec<_>>(), [20, 40, 60].map(Duration::from_millis));
        // A quiet time is not saved up beyond one burst.
        let later = start + Duration::from_secs(60);
        let waits = (0..51).map(|_| state.reserve(later, interval));
        assert_eq!(waits.filter(Duration::is_zero).count(), 50);
        // One in ten seconds: the first goes at once, and it takes no burst to wait for the next.
        let mut slow = State { running: 0, due: start, paused_until: None };
        let rare = Duration::from_secs(10);
        assert_eq!([slow.reserve(start, rare), slow.reserve(start, rare)], [Duration::ZERO, rare]);
    }

    #[test]
    fn a_pause_is_for_all_and_a_long_one_for_nobody() {
        let limiter = limiter(1000.0, 8);
        limiter.pause(Duration::from_secs(3600));
        assert!(limiter.enter(Duration::from_secs(1)).unwrap_err() > Duration::from_secs(3000));
        // A shorter one does not end it.
        limiter.pause(Duration::ZERO);
        assert!(limiter.enter(Duration::from_secs(1)).is_err());
    }

    #[test]
    fn what_is_said_of_paths_and_images_on_a_host_presses_it_no_harder() {
        let limits = Limits::default();
        let image = RegistrySettings::for_host("r.example/team/app");
        let slow = RegistrySettings { rate_limit: Some(1.0), ..RegistrySettings::for_host("r.example") };
        let one = limits.clone().of("r.example", None);
        assert!(Arc::ptr_eq(&one, &limits.of("r.example", Some(&image))));
        assert!(!Arc::ptr_eq(&one, &limits.of("r.example", Some(&slow))));
        assert!(!Arc::ptr_eq(&one, &limits.of("other.example", None)));
    }
}
