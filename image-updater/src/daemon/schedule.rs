//! When images are due. Those with the same interval go together, for they share a fetch and a push; the interval is
//! longer or shorter by chance, so that many updaters do not ask the same registry at the same time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::work::Update;

/// How much longer or shorter an interval is at most: this part of it.
const JITTER: f64 = 0.1;

/// What is due within this part of its interval goes along.
const EARLY: f64 = 0.05;

/// How soon a round that failed as a whole is tried again, at first; twice as long each time, up to the interval.
const RETRY: Duration = Duration::from_secs(30);

/// When what has the same interval is due next, in all repositories: then what they have in common is looked at once.
#[derive(Debug, Default)]
pub(super) struct Timeline(Mutex<HashMap<Duration, Instant>>);

impl Timeline {
    /// The next time after now, which is there already or comes about by chance.
    fn next(&self, interval: Duration, now: Instant, factor: f64) -> Instant {
        let mut dues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = dues.entry(interval).or_insert(now);
        // A round that took long has missed some.
        if *due <= now + interval.mul_f64(EARLY) {
            *due = now + interval.mul_f64(factor);
        }
        *due
    }
}

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
    /// All are due at once. Where more may come about, that is looked for as often as by default.
    pub(super) fn new<'u>(
        updates: impl IntoIterator<Item = &'u Update>,
        default: Duration,
        looks_for_more: bool,
        now: Instant,
    ) -> Self {
        let group = |interval, members| Group { interval, members, due: now, failures: 0, is_taken: false };
        let mut groups: Vec<Group> = Vec::new();
        if looks_for_more {
            groups.push(group(default, Vec::new()));
        }
        for (place, update) in updates.into_iter().enumerate() {
            let interval = update.interval.unwrap_or(default);
            match groups.iter_mut().find(|group| group.interval == interval) {
                Some(group) => group.members.push(place),
                None => groups.push(group(interval, vec![place])),
            }
        }
        Self { groups }
    }

    /// What is due, in order, with what soon would be; nothing where it is not time for anything.
    pub(super) fn take(&mut self, now: Instant) -> Option<Vec<usize>> {
        if !self.groups.iter().any(|group| group.due <= now) {
            return None;
        }
        let mut places = Vec::new();
        for group in &mut self.groups {
            group.is_taken = group.due <= now + group.interval.mul_f64(EARLY);
            if group.is_taken {
                places.extend_from_slice(&group.members);
            }
        }
        places.sort_unstable();
        Some(places)
    }

    /// Says that the round with what was taken is over, and whether it came to an end.
    pub(super) fn done(&mut self, now: Instant, is_over: bool, random: u64, timeline: &Timeline) {
        // Between less and more by the same part.
        let factor = 1.0 + JITTER * (2.0 * (random as f64 / u64::MAX as f64) - 1.0);
        for group in self.groups.iter_mut().filter(|group| group.is_taken) {
            group.is_taken = false;
            group.failures = if is_over { 0 } else { group.failures + 1 };
            group.due = match group.failures {
                0 => timeline.next(group.interval, now, factor),
                failures => now + group.interval.min(RETRY * 2_u32.pow(failures.min(10) - 1)).mul_f64(factor),
            };
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
        Schedule::new(&updates, MINUTE * 5, false, now)
    }

    #[test]
    fn each_image_is_due_at_its_interval() {
        let start = Instant::now();
        let mut schedule = schedule(&[None, Some(60), Some(5)], start);
        assert_eq!(schedule.take(start), Some(vec![0, 1, 2]));
        schedule.done(start, true, u64::MAX / 2, &Timeline::default());
        assert_eq!(schedule.take(start + MINUTE), None);
        assert_eq!(schedule.wait(start + MINUTE).as_secs_f64().round(), 240.0);
        assert_eq!(schedule.take(start + MINUTE * 5), Some(vec![0, 2]), "they have the same interval");
        schedule.done(start + MINUTE * 5, true, u64::MAX / 2, &Timeline::default());
        assert_eq!(schedule.take(start + MINUTE * 58), Some(vec![0, 1, 2]), "what soon is due goes along");
    }

    #[test]
    fn chance_makes_it_longer_or_shorter() {
        let start = Instant::now();
        let wait = |random| {
            let mut schedule = schedule(&[None], start);
            schedule.take(start);
            schedule.done(start, true, random, &Timeline::default());
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
            assert_eq!(schedule.take(now), Some(vec![0]));
            schedule.done(now, false, u64::MAX / 2, &Timeline::default());
            waits.push(schedule.wait(now).as_secs_f64().round());
            now += schedule.wait(now);
        }
        assert_eq!(waits[..6], [30.0, 60.0, 120.0, 240.0, 300.0, 300.0]);
        assert_eq!(waits[39], 300.0);
    }

    #[test]
    fn what_has_one_interval_is_due_at_one_time_in_all_repositories() {
        let (start, timeline) = (Instant::now(), Timeline::default());
        let (mut one, mut other) = (schedule(&[None], start), schedule(&[None], start));
        for (round, random) in [(0, 0), (1, u64::MAX), (2, u64::MAX / 3)] {
            let now = start + one.wait(start);
            assert!(one.take(now).is_some() && other.take(now).is_some(), "{round}");
            // The second takes a while, and has another chance.
            one.done(now, true, random, &timeline);
            other.done(now + MINUTE, true, !random, &timeline);
            assert_eq!(one.wait(start), other.wait(start), "{round}");
        }
    }

    #[test]
    fn more_is_looked_for_where_it_may_come_about() {
        let start = Instant::now();
        let mut schedule = Schedule::new(&[], MINUTE, true, start);
        assert_eq!(schedule.take(start), Some(Vec::new()));
        schedule.done(start, true, u64::MAX / 2, &Timeline::default());
        assert_eq!(schedule.take(start), None);
        assert_eq!(schedule.wait(start).as_secs_f64().round(), 60.0);
    }

    #[test]
    fn without_images_nothing_is_due() {
        let start = Instant::now();
        let mut schedule = schedule(&[], start);
        assert_eq!(schedule.take(start), None);
        assert_eq!(schedule.wait(start), Duration::MAX);
    }
}
