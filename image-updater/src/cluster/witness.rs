//! Tells the objects of the cluster what becomes of them: hears rounds, and writes when there is something to say.
//!
//! In: which objects there are, and what rounds over their images came to, from threads that must not wait. Out: the
//! `status` of each object, its finalizer, Events, and the numbers of each ImageUpdater. Refused: to write anything while
//! another replica leads, and to write what the object says already.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::Witness;
use super::events::{Events, Troubles};
use super::status::{Ledger, Subject, Writer, sorted};
use crate::daemon::Metrics;
use crate::deliver::{Delivered, Failed};
use crate::gate::{Gate, Hold};
use crate::work::{Owner, Update};

/// Time what is to be told holds up the end of the program.
const FAREWELL: Duration = Duration::from_secs(3);

/// Maximum number of times who waits for that looks.
const LOOK: Duration = Duration::from_millis(20);

/// Hears what becomes of images, and tells their objects.
#[derive(Clone)]
pub(crate) struct Reporter {
    shared: Arc<Shared>,
}

/// The state that reconcile threads share with the writing task.
pub(super) struct Shared {
    pub(super) ledger: Mutex<Ledger>,
    pub(super) writer: Writer,
    pub(super) events: Events,
    pub(super) gate: Gate,
    troubles: Mutex<Troubles>,
    metrics: Arc<Metrics>,
}

impl Reporter {
    /// Nothing is known yet.
    pub(crate) fn new(gate: &Gate, metrics: Arc<Metrics>, sends_events: bool) -> Self {
        let shared = Shared {
            ledger: Mutex::default(),
            writer: Writer::default(),
            events: Events::new(sends_events),
            gate: gate.sibling(),
            troubles: Mutex::default(),
            metrics,
        };
        Self { shared: Arc::new(shared) }
    }

    /// These are all objects that are told, and all images that are worked off. An object that is not among them any more
    /// is gone, and what was counted of it with it.
    pub(crate) fn resolved<'u>(
        &self,
        subjects: Vec<Subject>,
        updates: impl Iterator<Item = &'u Update> + Clone,
    ) {
        let Shared { ledger, writer, events, troubles, .. } = &*self.shared;
        events.extend(lock(troubles).resolved(&subjects, updates.clone()));
        let touched = lock(ledger).renew(subjects, updates);
        self.shared.count();
        writer.mark(touched);
    }

    /// Waits until the objects were told all that is new, but no longer than a program may take to end.
    pub(crate) fn settle(&self) {
        let deadline = Instant::now() + FAREWELL;
        while !self.shared.is_settled() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
    }

    /// Writes for as long as it is let.
    pub(crate) async fn run(self, client: kube::Client) {
        let events = self.shared.events.send(&client, &self.shared.gate);
        futures::join!(self.shared.write(&client), events);
    }
}

impl Shared {
    /// Counts what is watched for each ImageUpdater. Of replicas, only the one that leads counts.
    pub(super) fn count(&self) {
        let ledger = lock(&self.ledger);
        let counts = ledger.counts().filter(|_| !self.gate.is_held_for(Hold::Standby));
        let counts = counts.map(|(owner, counts)| (&owner.id, (counts.applications, counts.images)));
        self.metrics.watched_for(&counts.collect::<BTreeMap<_, _>>());
    }

    fn is_settled(&self) -> bool {
        self.gate.is_held() || (self.writer.is_idle() && self.events.is_idle())
    }
}

impl Witness for Reporter {
    fn delivered(&self, updates: &[Update], outcome: Result<&Delivered, &Failed>) {
        let Shared { ledger, writer, events, gate, troubles, .. } = &*self.shared;
        // That it was stopped says nothing about any object.
        if outcome.is_err() && (gate.is_stopped() || gate.is_held()) {
            return;
        }
        let news = sorted(updates, outcome, Timestamp::now());
        let touched: Vec<Owner> = {
            let mut ledger = lock(ledger);
            news.iter()
                .filter(|(owner, news)| ledger.hear(owner, news))
                .map(|(owner, _)| (*owner).clone())
                .collect()
        };
        writer.mark(touched);
        let mut troubles = lock(troubles);
        for (owner, news) in &news {
            events.extend(troubles.notices(owner, news));
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reporter")
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
