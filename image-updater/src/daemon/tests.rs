//! The loop, over jobs that are made up.

use diagnostic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::*;
use crate::criteria::Criteria;
use crate::round::Plan;

pub(super) fn update(name: &str) -> Update {
    Update {
        name: name.to_owned(),
        image: format!("r.test/{name}"),
        watched: None,
        criteria: Criteria::default(),
        pins_digest: false,
        keeps_digest: false,
        spots: Vec::new(),
        application: None,
        interval: None,
        suspended: false,
        verification: None,
        running: crate::work::Running::Any,
        requested: None,
        owners: Vec::new(),
        place: Location::at_line("image-updater.yaml", "", 1, 1),
    }
}

/// The work of each reconcile.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Vec<String>>>>);

impl Log {
    fn rounds(&self) -> Vec<Vec<String>> {
        self.0.lock().unwrap().clone()
    }
}

struct Fake {
    updates: Vec<Update>,
    /// The discovered images.
    found: Option<Result<Vec<&'static str>>>,
    log: Log,
    during: fn(&Gate) -> Result<()>,
}

impl Job for Fake {
    fn repository(&self) -> &str {
        "r"
    }

    fn looks_for_more(&self) -> bool {
        self.found.is_some()
    }

    fn refresh(&mut self) -> Result<Option<Remarks>> {
        let Some(found) = self.found.take() else { return Ok(None) };
        self.updates.extend(found?.iter().map(|name| update(name)));
        Ok(Some(Remarks::default()))
    }

    fn updates(&self) -> Vec<&Update> {
        self.updates.iter().collect()
    }

    fn work(&self, due: &[usize], call: &Call<'_>) {
        self.log.0.lock().unwrap().push(due.iter().map(|place| self.updates[*place].name.clone()).collect());
        let gate = call.gate.sibling();
        let outcome = (self.during)(&gate).map(|()| Delivered::nothing(Plan::joined([])));
        (call.record)("r", outcome.map_err(Failed::from), Duration::ZERO);
    }

    fn traffic(&self) -> BTreeMap<String, Traffic> {
        BTreeMap::new()
    }
}

fn crew(config: &std::path::Path, load: Box<Load>, once: bool) -> (Crew, Vec<Box<dyn Job>>) {
    let watch = Some(Watch::new(config));
    let jobs = load().unwrap();
    let frame = Arc::new(Frame {
        interval: TICK,
        once,
        random: || 0,
        timeline: Timeline::default(),
        turns: Turns::new(AT_ONCE),
        health: Arc::new(Health::new(Instant::now())),
        recorder: Recorder::new(Arc::new(Metrics::new()), None),
        switchboard: Switchboard::new(&Gate::default()),
    });
    (Crew { frame, watch, load, roster: None, gate: Gate::default() }, jobs)
}

fn job(names: &[&str], log: &Log, during: fn(&Gate) -> Result<()>) -> Box<dyn Job> {
    let updates = names.iter().map(|name| update(name)).collect();
    Box::new(Fake { updates, found: None, log: log.clone(), during })
}

fn fake(names: &'static [&'static str], log: &Log, during: fn(&Gate) -> Result<()>) -> Box<Load> {
    let log = log.clone();
    Box::new(move || Ok(vec![job(names, &log, during)]))
}

#[test]
fn one_round_is_over_all_images_and_makes_it_ready() {
    let log = Log::default();
    let (crew, jobs) = crew("missing".as_ref(), fake(&["a", "b"], &log, |_| Ok(())), true);
    let health = Arc::clone(&crew.frame.health);
    assert!(crew.run(jobs).unwrap());
    assert_eq!(log.rounds(), [["a", "b"]]);
    assert_eq!(health.ready().status, 200);
}

#[test]
fn a_round_that_fails_is_a_failure_and_does_not_make_it_ready() {
    let log = Log::default();
    let (crew, jobs) = crew("missing".as_ref(), fake(&["a"], &log, |_| Err(Error::invalid("no"))), true);
    let health = Arc::clone(&crew.frame.health);
    assert!(!crew.run(jobs).unwrap());
    assert_eq!(health.ready().status, 503);
}

#[test]
fn a_job_that_hangs_keeps_no_other_waiting() {
    let log = Log::default();
    let of_load = log.clone();
    let load: Box<Load> = Box::new(move || {
        // Each waits for the other.
        static BOTH: std::sync::Barrier = std::sync::Barrier::new(2);
        let during = |_: &Gate| {
            BOTH.wait();
            Ok(())
        };
        Ok(vec![job(&["a"], &of_load, during), job(&["b"], &of_load, during)])
    });
    let (crew, jobs) = crew("missing".as_ref(), load, true);
    assert!(crew.run(jobs).unwrap());
    assert_eq!(log.rounds().len(), 2);
}

#[test]
fn what_is_found_is_done_in_the_same_round() {
    let log = Log::default();
    let of_load = log.clone();
    let load: Box<Load> = Box::new(move || {
        let fake =
            |found| Fake { updates: vec![update("a")], found, log: of_load.clone(), during: |_| Ok(()) };
        Ok(vec![Box::new(fake(Some(Ok(vec!["b"])))), Box::new(fake(Some(Err(Error::invalid("no")))))])
    });
    let (crew, jobs) = crew("missing".as_ref(), load, true);
    assert!(!crew.run(jobs).unwrap(), "the second could not look");
    assert_eq!(log.rounds(), [["a", "b"]]);
}

#[test]
fn nothing_begins_once_it_is_to_stop() {
    let log = Log::default();
    let load = fake(&["a"], &log, |gate| {
        gate.stop();
        gate.begin()
    });
    let (crew, jobs) = crew("missing".as_ref(), load, false);
    let gate = crew.gate.sibling();
    assert!(crew.run(jobs).unwrap());
    assert_eq!(log.rounds().len(), 1);
    assert!(gate.drain(Duration::ZERO));
}

#[test]
fn a_configuration_that_changed_is_taken_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("image-updater.yaml");
    std::fs::write(&config, "1").unwrap();
    let (log, reads) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let read = Arc::clone(&reads);
    let load: Box<Load> = Box::new(move || match read.fetch_add(1, Ordering::Relaxed) {
        1 => Err(Error::invalid("broken")),
        _ => Ok(vec![job(&["a"], &log, |_| Ok(()))]),
    });
    let (mut crew, _) = crew(&config, load, false);
    let count = || reads.load(Ordering::Relaxed);
    assert!(crew.read_anew().is_none() && count() == 1);
    std::fs::write(&config, "12").unwrap();
    assert!(crew.read_anew().is_none() && count() == 2, "it is broken");
    assert!(crew.read_anew().is_none() && count() == 2, "what is broken is read once");
    std::fs::write(&config, "123").unwrap();
    assert!(crew.read_anew().is_some());
}
