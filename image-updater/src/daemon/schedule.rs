//! When images are due. Each has its own time, longer or shorter than its interval by chance, so that a registry is not
//! asked for all at once; those of a repository that are due soon go along, for they share a fetch and a push.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::change::Named;
use crate::work::Update;

/// Jitter of an interval, as a part of it.
const JITTER: f64 = 0.1;

/// Part of the interval within which images are checked together.
const EARLY: f64 = 0.05;

/// First delay after a failed reconcile; it doubles up to the interval.
const RETRY: Duration = Duration::from_secs(30);

/// When an image with an interval is due next, in all repositories: then a registry is asked for it once.
#[derive(Debug, Default)]
pub(super) struct Timeline(Mutex<HashMap<Key, Instant>>);

/// An interval, and an image; none for what is looked for.
type Key = (Duration, String);

impl Timeline {
    /// The next time after now, which is there already or comes about by chance.
    fn next(&self, interval: Duration, image: &str, now: Instant, factor: f64) -> Instant {
        let mut dues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = dues.entry((interval, image.to_owned())).or_insert(now);
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
    /// The places of what is looked at before its time.
    hurried: BTreeSet<usize>,
    /// The images.
    updates: Vec<Update>,
    /// The places that are at work.
    taken: BTreeSet<usize>,
}

/// One image with one interval.
#[derive(Debug)]
struct Group {
    interval: Duration,
    image: String,
    /// Their places in the configuration.
    members: Vec<usize>,
    due: Instant,
    /// Number of rounds have failed in a row.
    failures: u32,
    is_taken: bool,
}

impl Schedule {
    /// All are due at once. Where more may come about, that is looked for as often as by default.
    pub(super) fn new(updates: &[&Update], default: Duration, looks_for_more: bool, now: Instant) -> Self {
        let group = |interval, image: &str, members| {
            let image = image.to_owned();
            Group { interval, image, members, due: now, failures: 0, is_taken: false }
        };
        let mut groups: Vec<Group> = Vec::new();
        let mut known: HashMap<(Duration, &str), usize> = HashMap::new();
        if looks_for_more {
            groups.push(group(default, "", Vec::new()));
        }
        for (place, update) in updates.iter().enumerate() {
            let interval = update.interval.unwrap_or(default);
            let index = *known.entry((interval, &update.image)).or_insert(groups.len());
            match groups.get_mut(index) {
                Some(group) => group.members.push(place),
                None => groups.push(group(interval, &update.image, vec![place])),
            }
        }
        let updates = updates.iter().map(|update| (*update).clone()).collect();
        Self { groups, hurried: BTreeSet::new(), updates, taken: BTreeSet::new() }
    }

    /// For what there is to do now: what is as it was stays due when it was, and the rest is due at once, as is what was
    /// taken and not done.
    pub(super) fn renewed(
        &self,
        updates: &[&Update],
        default: Duration,
        looks_for_more: bool,
        now: Instant,
    ) -> Self {
        let mut next = Self::new(updates, default, looks_for_more, now);
        let old: HashMap<(Duration, &str), &Group> =
            self.groups.iter().map(|group| ((group.interval, group.image.as_str()), group)).collect();
        let mut known: HashMap<Identity<'_>, Vec<usize>> = HashMap::new();
        for (place, update) in self.updates.iter().enumerate() {
            known.entry(identity(update)).or_default().push(place);
        }
        for group in &mut next.groups {
            let Some(before) = old.get(&(group.interval, group.image.as_str())) else { continue };
            (group.due, group.failures) = (before.due, before.failures);
            let is_undone = |place: &&usize| {
                let update = updates[**place];
                let alike = known.get(&identity(update));
                let same = alike.into_iter().flatten().find(|place| self.updates[**place] == *update);
                same.is_none_or(|place| self.taken.contains(place))
            };
            next.hurried.extend(group.members.iter().filter(is_undone));
        }
        next
    }

    /// Has some looked at before their time.
    pub(super) fn hurry(&mut self, is_meant: impl Fn(&Update) -> bool) {
        let places = self.updates.iter().enumerate().filter(|(_, update)| is_meant(update));
        self.hurried.extend(places.map(|(place, _)| place));
    }

    /// Has what failed looked at again before its time.
    pub(super) fn hurry_failed(&mut self) {
        let failed = self.groups.iter().filter(|group| group.failures > 0);
        self.hurried.extend(failed.flat_map(|group| &group.members));
    }

    /// Returns what is due, in order, with what soon would be; nothing where it is not time for anything.
    pub(super) fn take(&mut self, now: Instant) -> Option<Vec<usize>> {
        let is_time = self.groups.iter().any(|group| group.due <= now);
        if !is_time && self.hurried.is_empty() {
            return None;
        }
        let mut places = std::mem::take(&mut self.hurried);
        for group in &mut self.groups {
            let is_soon = is_time && group.due <= now + group.interval.mul_f64(EARLY);
            group.is_taken = is_soon || group.members.iter().any(|place| places.contains(place));
            if is_soon {
                places.extend(&group.members);
            }
        }
        self.taken.clone_from(&places);
        Some(places.into_iter().collect())
    }

    /// Says that the round with what was taken is over, and whether it came to an end.
    pub(super) fn done(&mut self, now: Instant, is_over: bool, random: u64, timeline: &Timeline) {
        self.taken.clear();
        for (index, group) in self.groups.iter_mut().enumerate().filter(|(_, group)| group.is_taken) {
            // Between less and more by the same part, for each image another.
            let chance = spread(random, index as u64);
            let factor = 1.0 + JITTER * (2.0 * (chance as f64 / u64::MAX as f64) - 1.0);
            group.is_taken = false;
            group.failures = if is_over { 0 } else { group.failures + 1 };
            group.due = match group.failures {
                0 => timeline.next(group.interval, &group.image, now, factor),
                failures => now + group.interval.min(RETRY * 2_u32.pow(failures.min(10) - 1)).mul_f64(factor),
            };
        }
    }

    /// Returns how long nothing is due.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let waits = self.groups.iter().map(|group| group.due.saturating_duration_since(now));
        waits.min().unwrap_or(Duration::MAX)
    }
}

/// The identity of an image: thousands of Applications may have one image by one name.
type Identity<'u> = (&'u str, &'u str, Option<&'u Named>);

fn identity(update: &Update) -> Identity<'_> {
    (&update.image, &update.name, update.application.as_ref())
}

/// Chance for each of several, out of one; the first has it as it is.
fn spread(random: u64, index: u64) -> u64 {
    // Weyl's sequence by the golden ratio: neighbours are far apart, and all are spread evenly.
    random.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
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
        Schedule::new(&updates.iter().collect::<Vec<_>>(), MINUTE * 5, false, now)
    }

    #[test]
    fn each_image_has_a_time_of_its_own_wherever_it_is() {
        let (start, timeline) = (Instant::now(), Timeline::default());
        let updates: Vec<Update> = ["a", "b", "c", "a"].map(update).to_vec();
        let of =
            |updates: &[Update]| Schedule::new(&updates.iter().collect::<Vec<_>>(), MINUTE * 5, false, start);
        let (mut one, mut other) = (of(&updates), of(&updates[..1]));
        assert_eq!(one.take(start), Some(vec![0, 1, 2, 3]));
        one.done(start, true, 7, &timeline);
        other.take(start);
        other.done(start, true, 99, &timeline);
        let mut dues: Vec<Instant> = one.groups.iter().map(|group| group.due).collect();
        assert_eq!(other.groups[0].due, dues[0], "the registry is asked for it once");
        dues.dedup();
        assert_eq!(dues.len(), 3);
        let all = |due: &Instant| (270.0..=330.0).contains(&(*due - start).as_secs_f64());
        assert!(dues.iter().all(all), "{dues:?}");
    }

    #[test]
    fn what_is_hurried_is_looked_at_alone_and_at_once() {
        let (start, timeline) = (Instant::now(), Timeline::default());
        let updates: Vec<Update> = ["a", "b", "c"].map(update).to_vec();
        let mut schedule = Schedule::new(&updates.iter().collect::<Vec<_>>(), MINUTE * 5, false, start);
        schedule.take(start);
        schedule.done(start, true, 0, &timeline);
        schedule.hurry(|update| update.image == "r.test/b");
        assert_eq!(schedule.take(start + MINUTE), Some(vec![1]));
        schedule.done(start + MINUTE, false, u64::MAX / 2, &timeline);
        assert_eq!(schedule.take(start + MINUTE), None);
        schedule.hurry_failed();
        assert_eq!(schedule.take(start + MINUTE), Some(vec![1]), "something may have been mended");
        schedule.done(start + MINUTE, false, u64::MAX / 2, &timeline);
        assert_eq!(schedule.take(start + MINUTE * 2), Some(vec![1]), "it failed, and is tried again soon");
    }

    #[test]
    fn what_is_as_it_was_stays_due_when_it_was() {
        let (start, timeline) = (Instant::now(), Timeline::default());
        let mut updates: Vec<Update> = ["a", "b", "c"].map(update).to_vec();
        let mut schedule = Schedule::new(&updates.iter().collect::<Vec<_>>(), MINUTE * 5, true, start);
        schedule.take(start);
        schedule.done(start, true, 0, &timeline);
        updates.remove(0);
        updates[1].suspended = true;
        updates.push(update("d"));
        updates.push(Update { name: "again".to_owned(), ..update("b") });
        let updates: Vec<&Update> = updates.iter().collect();
        let mut renewed = schedule.renewed(&updates, MINUTE * 5, true, start + MINUTE);
        assert_eq!(renewed.take(start + MINUTE), Some(vec![1, 2, 3]), "b is as it was");
        renewed.done(start + MINUTE, true, 0, &timeline);
        assert_eq!(renewed.take(start + MINUTE * 2), None);
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
