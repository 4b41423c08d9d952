//! The loop, over jobs that are made up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::criteria::Criteria;
use crate::error::Place;
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
        place: Place { path: "image-updater.yaml".to_owned(), line: 1, column: 1 },
    }
}

/// What was worked off, round by round.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Vec<String>>>>);

impl Log {
    fn rounds(&self) -> Vec<Vec<String>> {
        self.0.lock().unwrap().clone()
    }
}

struct Fake {
    updates: Vec<Update>,
    log: Log,
    during: fn(&Call<'_>) -> Result<()>,
}

impl Job for Fake {
    fn updates(&self) -> &[Update] {
        &self.updates
    }

    fn work(&self, due: Vec<Update>, call: &Call<'_>) -> Result<Delivered, Failed> {
        self.log.0.lock().unwrap().push(due.into_iter().map(|update| update.name).collect());
        (self.during)(call)?;
        Ok(Delivered::nothing(Plan::joined([])))
    }

    fn traffic(&self) -> BTreeMap<String, Traffic> {
        BTreeMap::new()
    }
}

fn worker(config: &std::path::Path, load: Box<Load>, once: bool) -> Worker {
    let watch = Watch::new(config);
    let job = load().unwrap();
    Worker {
        schedule: Schedule::new(job.updates(), TICK, Instant::now()),
        recorder: Recorder::new(Arc::new(Metrics::new()), None),
        interval: TICK,
        once,
        random: || 0,
        gate: Arc::new(Gate::default()),
        health: Arc::new(Health::new(Instant::now())),
        watch,
        load,
        job,
    }
}

fn fake(names: &'static [&'static str], log: &Log, during: fn(&Call<'_>) -> Result<()>) -> Box<Load> {
    let log = log.clone();
    Box::new(move || {
        let updates = names.iter().map(|name| update(name)).collect();
        Ok(Box::new(Fake { updates, log: log.clone(), during }))
    })
}

#[test]
fn one_round_is_over_all_images_and_makes_it_ready() {
    let log = Log::default();
    let worker = worker("missing".as_ref(), fake(&["a", "b"], &log, |_| Ok(())), true);
    let health = Arc::clone(&worker.health);
    assert!(worker.run());
    assert_eq!(log.rounds(), [["a", "b"]]);
    assert_eq!(health.ready().status, 200);
}

#[test]
fn a_round_that_fails_is_a_failure_and_does_not_make_it_ready() {
    let log = Log::default();
    let worker = worker("missing".as_ref(), fake(&["a"], &log, |_| Err(Error::input("no"))), true);
    let health = Arc::clone(&worker.health);
    assert!(!worker.run());
    assert_eq!(health.ready().status, 503);
}

#[test]
fn nothing_begins_once_it_is_to_stop() {
    let log = Log::default();
    let worker = worker(
        "missing".as_ref(),
        fake(&["a"], &log, |call| {
            call.gate.stop();
            call.gate.begin()
        }),
        false,
    );
    let gate = Arc::clone(&worker.gate);
    assert!(worker.run());
    assert_eq!(log.rounds().len(), 1);
    assert!(gate.drain(Duration::ZERO));
}

#[test]
fn a_configuration_that_changed_is_taken_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("image-updater.yaml");
    std::fs::write(&config, "1").unwrap();
    let (log, reads) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let (of_load, read) = (log.clone(), Arc::clone(&reads));
    let load: Box<Load> = Box::new(move || {
        let names: &[&str] = match read.fetch_add(1, Ordering::Relaxed) {
            0 => &["old"],
            1 => return Err(Error::input("broken")),
            _ => &["new"],
        };
        let updates = names.iter().map(|name| update(name)).collect();
        Ok(Box::new(Fake { updates, log: of_load.clone(), during: |_| Ok(()) }))
    });
    let mut worker = worker(&config, load, false);
    let names = |worker: &Worker| worker.job.updates()[0].name.clone();
    worker.read_anew();
    assert_eq!((names(&worker).as_str(), reads.load(Ordering::Relaxed)), ("old", 1));
    std::fs::write(&config, "12").unwrap();
    worker.read_anew();
    assert_eq!((names(&worker).as_str(), reads.load(Ordering::Relaxed)), ("old", 2));
    worker.read_anew();
    assert_eq!(reads.load(Ordering::Relaxed), 2, "what is broken is read once");
    std::fs::write(&config, "123").unwrap();
    worker.read_anew();
    assert_eq!(names(&worker), "new");
    assert_eq!(worker.schedule.take(Instant::now()), [0], "it is due at once");
}
