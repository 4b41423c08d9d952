//! The rules by which replicas agree who leads, as client-go has them: what to ask of the API server next, by what it
//! said. Pure: both clocks come in from outside.
//!
//! In: answers, and when they came. Out: requests, and until when we lead. Refused: to trust the times in a Lease, as
//! clocks differ. Somebody who was not seen to renew it for as long as it is good does not lead any more; that is
//! measured here, from when its last change was seen, and so never ends before it does for who leads.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::ObjectMeta;

/// The times of an election.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Time others wait for who leads to renew.
    pub(super) duration: Duration,
    /// Time who leads tries to renew before it gives up; shorter, so that it has before others begin.
    pub(super) deadline: Duration,
    /// Time each waits from one try to the next.
    pub(super) retry: Duration,
}

/// client-go's own.
impl Default for Times {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { duration: seconds(15), deadline: seconds(10), retry: seconds(2) }
    }
}

/// A request to the API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Read,
    Create(Box<Lease>),
    /// Only if nobody else has changed it.
    Replace(Box<Lease>),
}

/// The answer of the API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// This is the Lease now.
    Is(Box<Lease>),
    /// There is none.
    Absent,
    /// Somebody else was faster.
    Conflict,
    /// Nothing that could be understood.
    Silence,
}

/// One replica's view.
#[derive(Debug)]
pub(super) struct Rules {
    name: String,
    identity: String,
    times: Times,
    seen: Option<Seen>,
    /// Until when we lead.
    end: Option<Instant>,
}

/// The Lease as it was seen last.
#[derive(Debug)]
struct Seen {
    lease: Box<Lease>,
    /// Since when it is as it is.
    since: Instant,
}

impl Rules {
    pub(super) fn new(name: String, identity: String, times: Times) -> Self {
        Self { name, identity, times, seen: None, end: None }
    }

    /// Until when we lead, if we do.
    pub(super) fn end(&self, now: Instant) -> Option<Instant> {
        self.end.filter(|end| now < *end)
    }

    /// Returns the known holder of the Lease.
    pub(super) fn holder(&self) -> Option<&str> {
        self.spec()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
    }

    /// The first request of a try: who leads renews what it knows, and others look.
    pub(super) fn open(&self, now: Instant, clock: Timestamp) -> Request {
        match (&self.seen, self.end(now)) {
            (Some(seen), Some(_)) => Request::Replace(self.claim(&seen.lease, clock)),
            _ => Request::Read,
        }
    }

    /// The next one, by the answer to one that was sent at a time.
    pub(super) fn hear(
        &mut self,
        request: &Request,
        answer: Answer,
        (sent, now): (Instant, Instant),
        clock: Timestamp,
    ) -> Option<Request> {
        match (request, answer) {
            (Request::Create(_) | Request::Replace(_), Answer::Is(lease)) => {
                self.seen = Some(Seen { lease, since: now });
                // Others count from when they see it, which is later.
                self.end = Some(sent + self.times.deadline);
                None
            }
            (Request::Read, Answer::Is(lease)) => {
                self.see(lease, now);
                let lease = &self.seen.as_ref()?.lease;
                self.may_claim(now).then(|| Request::Replace(self.claim(lease, clock)))
            }
            (Request::Read, Answer::Absent) => {
                self.seen = None;
                Some(Request::Create(self.claim(&self.blank(), clock)))
            }
            (Request::Create(_) | Request::Replace(_), Answer::Conflict | Answer::Absent) => {
                Some(Request::Read)
            }
            (Request::Read, Answer::Conflict) | (_, Answer::Silence) => None,
        }
    }

    /// Gives the Lease back, so that others need not wait. To be asked again after each answer.
    pub(super) fn release(&mut self, clock: Timestamp) -> Option<Request> {
        self.end = None;
        let mut lease = self.seen.as_ref().filter(|_| self.is_ours())?.lease.clone();
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = None;
        // As client-go does: zero is no duration.
        spec.lease_duration_seconds = Some(1);
        (spec.acquire_time, spec.renew_time) = (Some(MicroTime(clock)), Some(MicroTime(clock)));
        Some(Request::Replace(lease))
    }

    /// Returns what became of that; whether it is to be tried again.
    pub(super) fn released(&mut self, answer: Answer, now: Instant) -> bool {
        match answer {
            Answer::Is(lease) => self.see(lease, now),
            Answer::Absent => self.seen = None,
            Answer::Conflict => return true,
            Answer::Silence => {}
        }
        false
    }

    /// Takes over what a Lease is. It counts as changed by what it says, as by client-go, not by its version.
    fn see(&mut self, lease: Box<Lease>, now: Instant) {
        let since = self.seen.take().filter(|seen| seen.lease.spec == lease.spec).map(|seen| seen.since);
        self.seen = Some(Seen { lease, since: since.unwrap_or(now) });
        if !self.is_ours() {
            self.end = None;
        }
    }

    fn spec(&self) -> Option<&LeaseSpec> {
        self.seen.as_ref()?.lease.spec.as_ref()
    }

    fn is_ours(&self) -> bool {
        self.holder() == Some(&*self.identity)
    }

    fn may_claim(&self, now: Instant) -> bool {
        let Some(seen) = &self.seen else { return false };
        self.is_ours() || self.holder().is_none() || now >= seen.since + self.patience()
    }

    /// Returns how long who holds the Lease may be silent. It says so itself; where it does not, it is as patient as we are.
    fn patience(&self) -> Duration {
        let seconds = self.spec().and_then(|spec| spec.lease_duration_seconds);
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0);
        seconds.map_or(self.times.duration, Duration::from_secs)
    }

    /// A Lease that is ours; what others have written into it besides stays.
    fn claim(&self, lease: &Lease, clock: Timestamp) -> Box<Lease> {
        let mut lease = Box::new(lease.clone());
        let is_new = lease.metadata.resource_version.is_none();
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&*self.identity) {
            let before = spec.lease_transitions.unwrap_or(0);
            spec.lease_transitions = Some(if is_new { 0 } else { before.saturating_add(1) });
            spec.acquire_time = Some(MicroTime(clock));
            spec.holder_identity = Some(self.identity.clone());
        }
        spec.renew_time = Some(MicroTime(clock));
        spec.lease_duration_seconds = i32::try_from(self.times.duration.as_secs()).ok();
        lease
    }

    fn blank(&self) -> Lease {
        let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
        Lease { metadata, spec: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times {
        duration: Duration::from_secs(15),
        deadline: Duration::from_secs(10),
        retry: Duration::from_secs(2),
    };

    /// An API server with one Lease, and what may go wrong with it.
    #[derive(Default)]
    struct Server {
        lease: Option<Box<Lease>>,
        version: u64,
        is_away: bool,
    }

    impl Server {
        fn answer(&mut self, request: &Request) -> Answer {
            if self.is_away {
                return Answer::Silence;
            }
            match (request, &self.lease) {
                (Request::Read, Some(lease)) => Answer::Is(lease.clone()),
                (Request::Read | Request::Replace(_), None) => Answer::Absent,
                (Request::Create(_), Some(_)) => Answer::Conflict,
                (Request::Replace(new), Some(old))
                    if new.metadata.resource_version != old.metadata.resource_version =>
                {
                    Answer::Conflict
                }
                (Request::Create(lease) | Request::Replace(lease), _) => self.keep(lease.clone()),
            }
        }

        fn keep(&mut self, mut lease: Box<Lease>) -> Answer {
            self.version += 1;
            lease.metadata.resource_version = Some(self.version.to_string());
            self.lease = Some(lease.clone());
            Answer::Is(lease)
        }

        fn spec(&self) -> LeaseSpec {
            self.lease.clone().unwrap().spec.unwrap()
        }
    }

    /// A replica whose clock may be wrong.
    struct Replica {
        rules: Rules,
        skew: i64,
    }

    struct World {
        start: Instant,
        server: Server,
    }

    impl World {
        fn new() -> Self {
            Self { start: Instant::now(), server: Server::default() }
        }

        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        /// One try; whether the replica leads after it.
        fn tries(&mut self, replica: &mut Replica, seconds: u64) -> bool {
            let now = self.at(seconds);
            let clock = clock(seconds, replica.skew);
            let mut next = Some(replica.rules.open(now, clock));
            for _ in 0..4 {
                let Some(request) = next else { break };
                let answer = self.server.answer(&request);
                next = replica.rules.hear(&request, answer, (now, now), clock);
            }
            replica.rules.end(now).is_some()
        }

        fn leads(&self, replica: &Replica, seconds: u64) -> bool {
            replica.rules.end(self.at(seconds)).is_some()
        }
    }

    fn clock(seconds: u64, skew: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + i64::try_from(seconds).unwrap() + skew).unwrap()
    }

    fn replica(identity: &str, skew: i64) -> Replica {
        Replica { rules: Rules::new("lease".to_owned(), identity.to_owned(), TIMES), skew }
    }

    #[test]
    fn the_first_one_makes_the_lease_and_renews_it() {
        let (mut world, mut one) = (World::new(), replica("one", 0));
        assert!(world.tries(&mut one, 0));
        let made = world.server.spec();
        assert_eq!(made.holder_identity.as_deref(), Some("one"));
        assert_eq!((made.lease_transitions, made.lease_duration_seconds), (Some(0), Some(15)));
        assert_eq!(
            (&made.acquire_time, &made.renew_time),
            (&Some(MicroTime(clock(0, 0))), &made.acquire_time)
        );
        assert!(world.tries(&mut one, 2));
        let renewed = world.server.spec();
        assert_eq!(renewed, LeaseSpec { renew_time: Some(MicroTime(clock(2, 0))), ..made });
    }

    #[test]
    fn others_wait_until_they_have_seen_no_change_for_as_long_as_it_is_good() {
        let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", 0));
        assert!(world.tries(&mut one, 0));
        // What it says of its time is long ago, but it was only seen now.
        for (seconds, leads) in [(100, false), (114, false), (115, true)] {
            assert_eq!(world.tries(&mut other, seconds), leads, "{seconds}");
        }
        let spec = world.server.spec();
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("other"), Some(1)));
        assert_eq!(spec.acquire_time, Some(MicroTime(clock(115, 0))));
    }

    #[test]
    fn two_never_lead_at_once_however_wrong_their_clocks_are() {
        for skew in [-86_400, -30, 0, 30, 86_400] {
            let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", skew));
            assert!(world.tries(&mut one, 0));
            for seconds in 1..60 {
                // It renews each two seconds until second 20, and is stopped there.
                if seconds <= 20 && seconds % 2 == 0 {
                    assert!(world.tries(&mut one, seconds));
                }
                let other_leads = world.tries(&mut other, seconds);
                assert!(!(other_leads && world.leads(&one, seconds)), "{skew}: both at {seconds}");
                assert_eq!(other_leads, seconds >= 35, "{skew}: {seconds}");
            }
        }
    }

    #[test]
    fn who_cannot_renew_gives_up_before_others_begin_and_may_go_on_if_nobody_has() {
        let (mut world, mut one) = (World::new(), replica("one", 0));
        assert!(world.tries(&mut one, 0));
        world.server.is_away = true;
        for (seconds, leads) in [(2, true), (9, true), (10, false), (14, false)] {
            assert_eq!(world.tries(&mut one, seconds), leads, "{seconds}");
        }
        world.server.is_away = false;
        assert!(world.tries(&mut one, 40), "it is its own still");
        assert_eq!(world.server.spec().lease_transitions, Some(0));
    }

    #[test]
    fn who_lost_it_knows_as_soon_as_it_looks() {
        let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", 0));
        assert!(world.tries(&mut one, 0));
        let mut stolen = world.server.lease.clone().unwrap();
        stolen.spec.as_mut().unwrap().holder_identity = Some("thief".to_owned());
        world.server.keep(stolen);
        assert!(world.leads(&one, 2), "it cannot know");
        assert!(!world.tries(&mut one, 2) && !world.tries(&mut other, 2));
        assert_eq!(one.rules.holder(), Some("thief"));
        assert!(!world.tries(&mut one, 16) && world.tries(&mut one, 17));
    }

    #[test]
    fn of_two_that_try_at_once_one_leads() {
        let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", 0));
        let now = world.at(0);
        // Both have looked, and there is none.
        let create = |replica: &mut Replica| {
            replica.rules.hear(&Request::Read, Answer::Absent, (now, now), clock(0, 0)).unwrap()
        };
        let (first, second) = (create(&mut one), create(&mut other));
        let answer = world.server.answer(&first);
        assert_eq!(one.rules.hear(&first, answer, (now, now), clock(0, 0)), None);
        let answer = world.server.answer(&second);
        assert_eq!(answer, Answer::Conflict);
        assert_eq!(other.rules.hear(&second, answer, (now, now), clock(0, 0)), Some(Request::Read));
        assert!(world.leads(&one, 0) && !world.leads(&other, 0));
        assert!(!world.tries(&mut other, 1));
    }

    #[test]
    fn a_renewal_whose_answer_was_lost_is_no_lost_lease() {
        let (mut world, mut one) = (World::new(), replica("one", 0));
        assert!(world.tries(&mut one, 0));
        let request = one.rules.open(world.at(2), clock(2, 0));
        world.server.answer(&request);
        let now = world.at(2);
        assert_eq!(one.rules.hear(&request, Answer::Silence, (now, now), clock(2, 0)), None);
        assert!(world.tries(&mut one, 4), "there is a conflict with itself");
        assert!(world.leads(&one, 13) && !world.leads(&one, 14));
    }

    #[test]
    fn it_leads_from_when_it_asked_not_from_when_it_was_answered() {
        let (mut world, mut one) = (World::new(), replica("one", 0));
        let request = Request::Create(one.rules.claim(&one.rules.blank(), clock(0, 0)));
        let answer = world.server.answer(&request);
        one.rules.hear(&request, answer, (world.at(0), world.at(9)), clock(0, 0));
        assert!(world.leads(&one, 9) && !world.leads(&one, 10));
    }

    #[test]
    fn what_is_given_back_is_taken_at_once() {
        let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", 0));
        assert!(world.tries(&mut one, 0) && !world.tries(&mut other, 1));
        let request = one.rules.release(clock(2, 0)).unwrap();
        assert!(!world.leads(&one, 2), "before it is asked");
        let answer = world.server.answer(&request);
        assert!(!one.rules.released(answer, world.at(2)));
        assert_eq!(one.rules.release(clock(2, 0)), None);
        let spec = world.server.spec();
        assert_eq!((spec.holder_identity, spec.lease_duration_seconds), (None, Some(1)));
        assert!(world.tries(&mut other, 3));
        assert_eq!(world.server.spec().lease_transitions, Some(1));
    }

    #[test]
    fn a_lease_that_is_somebody_elses_is_not_given_back() {
        let (mut world, mut one, mut other) = (World::new(), replica("one", 0), replica("other", 0));
        assert!(world.tries(&mut other, 0) && !world.tries(&mut one, 1));
        assert_eq!(one.rules.release(clock(2, 0)), None);
    }

    #[test]
    fn a_lease_that_was_removed_is_made_anew() {
        let (mut world, mut one) = (World::new(), replica("one", 0));
        assert!(world.tries(&mut one, 0));
        world.server.lease = None;
        assert!(world.tries(&mut one, 2));
        assert_eq!(world.server.spec().lease_transitions, Some(0));
    }

    /// Helm and kubectl make such ones, and other programs say nothing of how long it is good.
    #[test]
    fn what_others_have_written_into_it_stays_and_what_they_left_out_is_no_hurry() {
        let mut world = World::new();
        let text = r#"{"metadata": {"name": "lease", "labels": {"app": "updater"}}}"#;
        world.server.keep(serde_json::from_str(text).unwrap());
        let mut one = replica("one", 0);
        assert!(world.tries(&mut one, 0));
        let lease = world.server.lease.clone().unwrap();
        assert_eq!(lease.metadata.labels.unwrap()["app"], "updater");
        assert_eq!(lease.spec.unwrap().lease_transitions, Some(1));
        let text = r#"{"metadata": {"name": "lease"}, "spec": {"holderIdentity": "else", "leaseDurationSeconds": 0}}"#;
        world.server.keep(serde_json::from_str(text).unwrap());
        assert!(!world.tries(&mut one, 2) && !world.tries(&mut one, 16) && world.tries(&mut one, 17));
    }
}
