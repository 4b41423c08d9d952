//! When images are due. Those with the same interval go together, for they share a fetch and a push; the interval is
//! longer or shorter by chance, so that many updaters do not ask the same registry at the same time.

use std::time::{Duration, Instant};

use crate::work::Update;

/// How much longer or shorter an interval is at most: this part of it.
const JITTER: f64 = 0.1;

/// What is due within this part of its interval goes along.
const EARLY: f64 = 0.05;

/// How soon a round that failed as a whole is tried again, at first; twice as long each time, up to the interval.
const RETRY: Duration = Duration::from_secs(30);

/// When images are due.
#[derive(Debug)]
pub(super) struct Schedule {
    groups: Vec<Group>,
}

/// Images with one interval.
#[derive(Debug)]
struct Group {
    interval: Duration,
    /// Their places in the configuration.
    members: Vec<usize>,
    due: Instant,
    /// How many rounds have failed in a row.
    failures: u32,
    is_taken: bool,
}

impl Schedule {
    /// All are due at once.
    pub(super) fn new(updates: &[Update], default: Duration, now: Instant) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (place, update) in updates.iter().enumerate() {
            let interval = update.interval.unwrap_or(default);
            match groups.iter_mut().find(|group| group.interval == interval) {
                Some(group) => group.members.push(place),
                None => groups.push(Group {
                    interval,
                    members: vec![place],
                    due: now,
                    failures: 0,
                    is_taken: false,
                }),
            }
        }
        Self { groups }
    }

    /// What is due, in order, with what soon would be; nothing where nothing is.
    pub(super) fn take(&mut self, now: Instant) -> Vec<usize> {
        if !self.groups.iter().any(|group| group.due <= now) {
            return Vec::new();
        }
        let mut places = Vec::new();
        for group in &mut self.groups {
            group.is_taken = group.due <= now + group.interval.mul_f64(EARLY);
            if group.is_taken {
                places.extend_from_slice(&group.members);
            }
        }
        places.sort_unstable();
        places
    }

    /// Says that the round with what was taken is over, and whether it came to an end.
    pub(super) fn done(&mut self, now: Instant, is_over: bool, random: u64) {
        // Between less and more by the same part.
        let factor = 1.0 + JITTER * (2.0 * (random as f64 / u64::MAX as f64) - 1.0);
        for group in self.groups.iter_mut().filter(|group| group.is_taken) {
            group.is_taken = false;
            group.failures = if is_over { 0 } else { group.failures + 1 };
            let wait = match group.failures {
                0 => group.interval,
                failures => group.interval.min(RETRY * 2_u32.pow(failures.min(10) - 1)),
            };
            group.due = now + wait.mul_f64(factor);
        }
    }

    /// How long nothing is due.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let waits = self.groups.iter().map(|group| group.due.saturating_duration_since(now));
        waits.min().unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::tests::update;

    const MINUTE: Duration = Duration::from_secs(60);

    fn schedule(intervals: &[Option<u32>], now: Instant) -> Schedule {
        let updates: Vec<Update> = intervals
            .iter()
            .map(|minutes| Update { interval: minutes.map(|minutes| MINUTE * minutes), ..update("a") })
            .collect();
        Schedule::new(&updates, MINUTE * 5, now)
    }

    #[test]
    fn each_image_is_due_at_its_interval() {
        let start = Instant::now();
        let mut schedule = schedule(&[None, Some(60), Some(5)], start);
        assert_eq!(schedule.take(start), [0, 1, 2]);
        schedule.done(start, true, u64::MAX / 2);
        assert_eq!(schedule.take(start + MINUTE), [0; 0]);
        assert_eq!(schedule.wait(start + MINUTE).as_secs_f64().round(), 240.0);
        assert_eq!(schedule.take(start + MINUTE * 5), [0, 2], "they have the same interval");
        schedule.done(start + MINUTE * 5, true, u64::MAX / 2);
        assert_eq!(schedule.take(start + MINUTE * 58), [0, 1, 2], "what soon is due goes along");
    }

    #[test]
    fn chance_makes_it_longer_or_shorter() {
        let start = Instant::now();
        let wait = |random| {
            let mut schedule = schedule(&[None], start);
            schedule.take(start);
            schedule.done(start, true, random);
            schedule.wait(start).as_secs_f64().round()
        };
        assert_eq!((wait(0), wait(u64::MAX)), (270.0, 330.0));
    }

    #[test]
    fn a_round_that_failed_is_tried_again_soon_and_then_less_often() {
        let mut now = Instant::now();
        let mut schedule = schedule(&[None], now);
        let mut waits = Vec::new();
        for _ in 0..40 {
            assert_eq!(schedule.take(now), [0]);
            schedule.done(now, false, u64::MAX / 2);
            waits.push(schedule.wait(now).as_secs_f64().round());
            now += schedule.wait(now);
        }
        assert_eq!(waits[..6], [30.0, 60.0, 120.0, 240.0, 300.0, 300.0]);
        assert_eq!(waits[39], 300.0);
    }

    #[test]
    fn without_images_nothing_is_due() {
        let start = Instant::now();
        let mut schedule = schedule(&[], start);
        assert_eq!(schedule.take(start), [0; 0]);
        assert_eq!(schedule.wait(start), Duration::MAX);
    }
}
