//! Works off a cluster, from its objects to its jobs.
//!
//! ```text
//! watch      what is in the cluster, as texts                                watch.rs, secrets.rs
//! resolve    what there is to do by it, for this shard                       resolve.rs, the dialects
//! assign     a job for each repository; those that are there get news        here
//! work       rounds, as for any configuration                                daemon, cli/rounds.rs
//! tell       the objects, what became of their images                        status, events.rs
//! ```
//!
//! In: settings, and what makes a job. Out: jobs that come, change and go with what is in the cluster. Refused: to begin
//! before all has been seen once, and to push while the API has not answered for a while, as what is known then may be
//! wrong by now.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::resolve::{Resolved, Resolver};
use super::status::{Fault, Subject};
use super::watch::Store;
use super::witness::Reporter;
use super::{Letter, Mailbox};
use crate::config::{Config, Registry};
use crate::daemon::{Job, Roster, Switchboard};
use crate::gate::{Gate, Hold};
use crate::registries::{self, ClientPool};
use crate::work::{Batch, Owner, OwnerKind};

/// Time within which changes are resolved together.
const TOGETHER: Duration = Duration::from_millis(150);

/// Maximum number of times it is looked how the API does.
const TICK: Duration = Duration::from_secs(1);

/// For how long what is known counts while the API does not answer.
const TRUST: Duration = Duration::from_secs(15);

/// Time the API may take to say that it is there.
const ANSWER: Duration = Duration::from_secs(5);

/// Time a single round waits for what is in the cluster.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a job of what there is to do at a place.
pub(crate) type MakeJob = dyn Fn(String, Mailbox) -> Box<dyn Job> + Send + Sync;

/// Works off a cluster.
pub(crate) struct Controller {
    pub(super) store: Arc<Store>,
    pub(super) resolver: Resolver,
    pub(super) reporter: Reporter,
    /// The settings of all registries.
    pub(super) registries: Vec<Registry>,
    pub(super) clients: ClientPool,
    /// The defaults of commits.
    pub(super) defaults: Config,
    pub(super) make_job: Box<MakeJob>,
    pub(super) gate: Gate,
    pub(super) switchboard: Switchboard,
    pub(super) roster: Roster,
    pub(super) posts: BTreeMap<String, Mailbox>,
    /// Warnings that were already logged.
    pub(super) warned: BTreeSet<String>,
    pub(super) client: kube::Client,
    /// True if all is being looked at anew, after the API was away.
    pub(super) is_renewing: bool,
    /// The runtime of all tasks.
    pub(super) runtime: Handle,
}

impl Controller {
    /// Goes on for as long as the process lives, on a thread of its own.
    ///
    /// # Errors
    /// If there are no threads.
    pub(crate) fn run(mut self) -> Result<()> {
        let work = move || {
            while !self.gate.is_stopped() {
                if self.store.changed.take_down(TICK) && !self.gate.pause(TOGETHER) {
                    self.catch_up();
                    // Only now, as others may be who asks registries. Who depends on what has changed is not known, and a look
                    // that finds nothing new costs little.
                    if self.store.ground.take_down(Duration::ZERO) {
                        self.switchboard.ring_for_ground();
                    }
                }
                self.mind_the_api();
            }
            // What tells the objects is over when this is.
            self.reporter.settle();
        };
        let thread = thread::Builder::new().name("cluster".to_owned()).spawn(work);
        let refused = |error| Error::new(ErrorKind::Environment, format!("cannot start a thread: {error}"));
        thread.map(drop).map_err(refused)
    }

    /// The jobs of what is in the cluster now.
    ///
    /// # Errors
    /// If it cannot be seen in time.
    pub(crate) fn jobs(&mut self) -> Result<Vec<Box<dyn Job>>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(objects) = self.store.snapshot() {
                let resolved = self.resolver.resolve(&objects);
                return Ok(self.assign(resolved));
            }
            if Instant::now() > deadline || self.gate.is_stopped() {
                return Err(Error::new(
                    ErrorKind::Environment,
                    "the API server does not show what is in the cluster",
                )
                .hint("see the log for what it rejects"));
            }
            self.store.changed.take_down(TICK);
        }
    }

    /// Has what there is to do now worked off.
    fn catch_up(&mut self) {
        let Some(objects) = self.store.snapshot() else { return };
        let resolved = self.resolver.resolve(&objects);
        for job in self.assign(resolved) {
            self.roster.begin(job);
        }
    }

    /// Gives jobs what they have to do; the new ones are returned.
    fn assign(&mut self, resolved: Resolved) -> Vec<Box<dyn Job>> {
        let Resolved { places, mut subjects, warnings } = resolved;
        let letters = places.into_iter().map(|(place, batches)| (place, self.letter(batches, &mut subjects)));
        let letters: BTreeMap<String, Letter> = letters.collect();
        let works = letters.values().flat_map(|letter| &letter.works);
        self.reporter.resolved(subjects, works.flat_map(|(config, _)| &config.batch.updates));
        self.warn(&warnings);
        let gone = self.posts.extract_if(.., |place, _| !letters.contains_key(place));
        gone.for_each(|(place, _)| self.roster.end(&place));
        let mut new = Vec::new();
        for (place, letter) in letters {
            match self.posts.get(&place) {
                Some(mailbox) => {
                    put(mailbox, letter);
                    self.switchboard.ring(&place);
                }
                None => {
                    let mailbox = Mailbox::default();
                    put(&mailbox, letter);
                    new.push((self.make_job)(place.clone(), Arc::clone(&mailbox)));
                    self.posts.insert(place, mailbox);
                }
            }
        }
        new
    }

    /// Says once what may not be meant.
    fn warn(&mut self, warnings: &[Error]) {
        let now: BTreeSet<String> = warnings.iter().map(ToString::to_string).collect();
        now.difference(&self.warned).for_each(|warning| tracing::warn!("{warning}"));
        self.warned = now;
    }

    /// Returns what a job is told. What is wrong with a registry's settings leaves out who says it, and is for them to hear.
    fn letter(&self, batches: Vec<(Batch, Vec<Registry>)>, subjects: &mut [Subject]) -> Letter {
        let mut letter = Letter::default();
        for (mut batch, own) in batches {
            batch.delivery.fill_from(&self.defaults.batch.delivery);
            let registries = registries::layered(&self.registries, own);
            match self.clients.client_for(&registries) {
                Ok(client) => {
                    let config = Config {
                        signing_keys: self.defaults.signing_keys.clone(),
                        ..Config::of_dialect(batch, registries)
                    };
                    letter.works.push((config, client));
                }
                Err(error) => {
                    let owners = batch.updates.iter().flat_map(|update| &update.owners);
                    tell(subjects, &owners.collect(), &error);
                    letter.remarks.faults.push(error);
                }
            }
        }
        letter
    }

    /// Limits the time for which cached cluster state counts.
    fn mind_the_api(&mut self) {
        // A watch that goes on after it was broken has nothing to say until something changes.
        if self.store.away().is_some() && self.answers() {
            self.store.answered();
        }
        let is_away = self.store.away().is_some_and(|away| away > TRUST);
        match (is_away, self.gate.is_held_for(Hold::Silence)) {
            (true, false) => {
                tracing::warn!("the API server does not answer, so nothing is pushed until it does");
                self.gate.hold(Hold::Silence);
            }
            (true, true) => self.is_renewing = false,
            (false, true) if !self.is_renewing => {
                self.is_renewing = true;
                self.store.renew();
            }
            (false, true) if self.store.snapshot().is_some() => {
                tracing::info!("the API server answers again");
                self.is_renewing = false;
                // What is pushed next is by what has just been seen.
                self.catch_up();
                self.gate.open(Hold::Silence);
            }
            _ => {}
        }
    }
}

impl Controller {
    /// Returns true if the API server answers at all.
    fn answers(&self) -> bool {
        let asked = async { tokio::time::timeout(ANSWER, self.client.apiserver_version()).await };
        match self.runtime.block_on(asked) {
            Ok(Ok(_)) => true,
            Ok(Err(kube::Error::Api(status))) => status.code < 500,
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

/// Has objects say what is wrong with what they say of a registry. What writes their images has no part in it.
fn tell(subjects: &mut [Subject], owners: &BTreeSet<&Owner>, error: &Error) {
    let is_told = |subject: &&mut Subject| {
        owners.contains(&subject.owner) && subject.owner.kind != OwnerKind::ImageUpdateAutomation
    };
    for subject in subjects.iter_mut().filter(is_told) {
        let is_known = subject.faults.iter().any(|fault| fault.error.message() == error.message());
        subject.faults.extend((!is_known).then(|| Fault { field: None, error: error.clone() }));
    }
}

fn put(mailbox: &Mutex<Option<Letter>>, letter: Letter) {
    *mailbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(letter);
}
