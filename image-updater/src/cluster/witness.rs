//! Tells the objects of the cluster what becomes of them: hears rounds, and writes when there is something to say.
//!
//! In: which objects there are, and what rounds over their images came to, from threads that must not wait. Out: the
//! `status` of each object, its finalizer, Events, and the numbers of each ImageUpdater. Refused: to write anything while
//! another replica leads, and to write what the object says already.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::Witness;
use super::events::{Events, Troubles};
use super::status::{Ledger, Subject, Writer, sorted};
use crate::daemon::Metrics;
use crate::deliver::{Delivered, Failed};
use crate::gate::Gate;
use crate::work::{Owner, Update};

/// Hears what becomes of images, and tells their objects.
#[derive(Clone)]
pub(crate) struct Reporter {
    shared: Arc<Shared>,
}

/// What the threads of rounds have in common with the task that writes.
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
    pub(crate) fn resolved<'u>(&self, subjects: Vec<Subject>, updates: impl IntoIterator<Item = &'u Update>) {
        let Shared { ledger, writer, metrics, .. } = &*self.shared;
        let mut ledger = lock(ledger);
        let touched = ledger.renew(subjects, updates);
        let counts = ledger.counts().map(|(owner, counts)| (&owner.id, (counts.applications, counts.images)));
        metrics.watched_for(&counts.collect::<BTreeMap<_, _>>());
        drop(ledger);
        writer.mark(touched);
    }

    /// Writes for as long as it is let.
    pub(crate) async fn run(self, client: kube::Client) {
        let events = self.shared.events.send(&client, &self.shared.gate);
        futures::join!(self.shared.write(&client), events);
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
