//! Writes statuses, one after the other: what is new at once, that something was looked at now and then.
//!
//! In: objects of which there may be something to say. Out: a merge patch of the status with the version that it was
//! made on, so that nothing is written over what somebody else has written since. An object that is gone is forgotten; an
//! API server that is away or busy is left alone for a while. Refused: to write while another replica leads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tracing::{debug, warn};

use super::patch::{Difference, difference};
use super::said::announced;
use super::subject::Subject;
use crate::cluster::events::resource;
use crate::cluster::witness::{Shared, lock};
use crate::work::{Owner, OwnerKind};

/// The finalizer of Argo CD Image Updater, which only serves to report deletion.
const FINALIZER: &str = "resources-finalizer.argocd-image-updater.argoproj.io";

/// The finalizer of Flux, which nobody would remove without its controllers.
const FLUX_FINALIZER: &str = "finalizers.fluxcd.io";

/// Time between two writes of one object.
const SPARING: Duration = Duration::from_secs(1);

/// Time between two writes that only say that something was looked at.
const SPARING_TIMES: Duration = Duration::from_secs(60);

/// Time between two writes of any object.
const PACE: Duration = Duration::from_millis(20);

/// The same, where they only say that something was looked at.
const PACE_OF_TIMES: Duration = Duration::from_millis(200);

/// Time one request may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum number of times it is looked whether it is our turn again.
const TICK: Duration = Duration::from_secs(1);

/// Time an object, or the API server, is left alone at the most after failures.
const LONGEST: Duration = Duration::from_secs(60);

/// Which objects are to be looked at.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Writer {
    desk: Mutex<Desk>,
    rung: Notify,
}

#[derive(Debug, Default)]
struct Desk {
    pending: BTreeMap<Owner, Due>,
    written: HashMap<Owner, Instant>,
    /// True if one of them is being written.
    is_busy: bool,
}

/// When an object is to be looked at.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// Before that it is left alone.
    at: Instant,
    failures: u32,
    /// True if all there is to say is that it was looked at.
    is_idle: bool,
}

/// An object as the API server showed it last.
#[derive(Debug)]
struct Shown {
    version: Option<String>,
    finalizers: Vec<String>,
    is_going: bool,
    /// Its status, and what a status is made of.
    object: Value,
}

/// The result of a write.
enum Outcome {
    /// It says what it should.
    Done { pace: Duration },
    /// It is for another time.
    Later(Duration),
    /// It has changed in between, or is refused.
    Failed(kube::Error),
    /// Nothing can be asked.
    Away(String, Option<Duration>),
}

impl Writer {
    /// There may be something to say of these.
    pub(in crate::cluster) fn mark(&self, owners: Vec<Owner>) {
        let mut desk = lock(&self.desk);
        let now = Instant::now();
        for owner in owners {
            let soon = desk.written.get(&owner).map_or(now, |written| (*written + SPARING).max(now));
            let fresh = Due { at: soon, failures: 0, is_idle: false };
            let due = desk.pending.entry(owner).or_insert(fresh);
            // Who waits after a failure goes on waiting.
            if due.failures == 0 {
                *due = Due { at: due.at.min(soon), ..fresh };
            }
        }
        self.rung.notify_one();
    }

    /// Returns true if there is nothing to be said.
    pub(in crate::cluster) fn is_idle(&self) -> bool {
        let desk = lock(&self.desk);
        !desk.is_busy && desk.pending.values().all(|due| due.is_idle)
    }

    /// The next object whose time has come, or how long until then.
    fn next(&self, now: Instant) -> Result<(Owner, u32), Duration> {
        let mut desk = lock(&self.desk);
        let Some((owner, due)) = desk.pending.iter().min_by_key(|(_, due)| due.at) else { return Err(TICK) };
        if due.at > now {
            return Err(due.at.duration_since(now).min(TICK));
        }
        let found = (owner.clone(), due.failures);
        desk.pending.remove(&found.0);
        desk.is_busy = true;
        Ok(found)
    }

    /// Waits until started work is finished.
    fn rest(&self) {
        lock(&self.desk).is_busy = false;
    }

    fn wrote(&self, owner: &Owner, now: Instant) {
        lock(&self.desk).written.insert(owner.clone(), now);
    }

    fn last(&self, owner: &Owner) -> Option<Instant> {
        lock(&self.desk).written.get(owner).copied()
    }

    /// Has an object wait; news of it in between does not change that after failures.
    fn postpone(&self, owner: Owner, due: Due) {
        let mut desk = lock(&self.desk);
        let known = desk.pending.entry(owner).or_insert(due);
        if due.failures > 0 {
            *known = due;
        }
    }

    fn forget(&self, owner: &Owner) {
        lock(&self.desk).written.remove(owner);
    }
}

impl Shared {
    /// Writes what there is to write, for as long as it is let.
    pub(in crate::cluster) async fn write(&self, client: &kube::Client) {
        let (mut shown, mut troubles, mut led) = (HashMap::new(), 0, false);
        // What is still to be said is said, though it is stopping.
        while !self.gate.is_stopped() || !self.writer.is_idle() {
            let leads = !self.gate.is_held();
            if std::mem::replace(&mut led, leads) != leads {
                self.count();
            }
            if !leads {
                // Who leads now writes other things.
                shown.clear();
                tokio::time::sleep(TICK).await;
                continue;
            }
            let (owner, failures) = match self.writer.next(Instant::now()) {
                Ok(next) => next,
                Err(wait) => {
                    let _ = tokio::time::timeout(wait, self.writer.rung.notified()).await;
                    continue;
                }
            };
            let outcome = self.write_one(client, &owner, &mut shown).await;
            let pause = self.settle(owner, outcome, failures, &mut troubles);
            self.writer.rest();
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns what becomes of an object after a write, and how long until the next one.
    fn settle(&self, owner: Owner, outcome: Outcome, failures: u32, troubles: &mut u32) -> Duration {
        let now = Instant::now();
        if !matches!(outcome, Outcome::Away(..)) {
            *troubles = 0;
        }
        match outcome {
            Outcome::Done { pace } => pace,
            Outcome::Later(wait) => {
                self.writer.postpone(owner, Due { at: now + wait, failures: 0, is_idle: true });
                Duration::ZERO
            }
            Outcome::Failed(error) => {
                let object = owner.id.to_string();
                match failures {
                    0 => debug!(object, "the status of {:?} was not written: {error}", owner.kind),
                    _ => warn!(object, "the status of {:?} was not written: {error}", owner.kind),
                }
                let due = Due { at: now + backoff(failures), failures: failures + 1, is_idle: false };
                self.writer.postpone(owner, due);
                PACE
            }
            Outcome::Away(error, wait) => {
                if *troubles == 0 {
                    warn!("the Kubernetes API does not answer: {error}");
                }
                let wait = wait.unwrap_or_else(|| backoff(*troubles)).min(LONGEST);
                *troubles += 1;
                let due = Due { at: now, failures: failures.max(1), is_idle: false };
                self.writer.postpone(owner, due);
                wait
            }
        }
    }

    async fn write_one(
        &self,
        client: &kube::Client,
        owner: &Owner,
        known: &mut HashMap<Owner, Shown>,
    ) -> Outcome {
        let Some(subject) = lock(&self.ledger).subject(owner).cloned() else {
            known.remove(owner);
            self.writer.forget(owner);
            return Outcome::Done { pace: Duration::ZERO };
        };
        let resource = resource(owner.kind, Some(&subject.api));
        let api = Api::namespaced_with(client.clone(), &owner.id.namespace, &resource);
        match tokio::time::timeout(TIMEOUT, self.tell(&api, &subject, known)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => {
                known.remove(owner);
                judged(error)
            }
            Err(_) => {
                known.remove(owner);
                Outcome::Away(format!("no answer within {} seconds", TIMEOUT.as_secs()), None)
            }
        }
    }

    /// Brings an object's finalizer and status to what they should be.
    async fn tell(
        &self,
        api: &Api<DynamicObject>,
        subject: &Subject,
        known: &mut HashMap<Owner, Shown>,
    ) -> kube::Result<Outcome> {
        const NOTHING: Outcome = Outcome::Done { pace: Duration::ZERO };
        let (owner, name) = (&subject.owner, &subject.owner.id.name);
        let mut shown = match known.remove(owner).filter(|_| !subject.is_going) {
            Some(shown) => shown,
            None => match api.get_opt(name).await? {
                Some(object) => Shown::of(object, owner.kind),
                None => return Ok(NOTHING),
            },
        };
        if let Some(finalizers) = shown.wanted_finalizers(owner.kind) {
            shown = self.set_finalizers(api, name, &shown, finalizers, owner.kind).await?;
        }
        if shown.is_going {
            return Ok(NOTHING);
        }
        let Some(draft) = lock(&self.ledger).draft(owner, &shown.object, Timestamp::now()) else {
            known.insert(owner.clone(), shown);
            return Ok(NOTHING);
        };
        let (patch, pace) = match difference(&shown.object["status"], &draft.status) {
            Difference::None => {
                known.insert(owner.clone(), shown);
                lock(&self.ledger).wrote(owner, &draft.told);
                return Ok(NOTHING);
            }
            Difference::Times(patch) => {
                let since = self.writer.last(owner).map_or(SPARING_TIMES, |last| last.elapsed());
                if since < SPARING_TIMES {
                    known.insert(owner.clone(), shown);
                    return Ok(Outcome::Later(SPARING_TIMES - since));
                }
                (patch, PACE_OF_TIMES)
            }
            Difference::Content(patch) => (patch, PACE),
        };
        let body = json!({"metadata": {"resourceVersion": shown.version}, "status": patch});
        let object = api.patch_status(name, &PatchParams::default(), &Patch::Merge(&body)).await?;
        self.writer.wrote(owner, Instant::now());
        lock(&self.ledger).wrote(owner, &draft.told);
        self.events.extend(announced(owner, &shown.object["status"], &draft.status, &draft.told));
        known.insert(owner.clone(), Shown::of(object, owner.kind));
        Ok(Outcome::Done { pace })
    }

    async fn set_finalizers(
        &self,
        api: &Api<DynamicObject>,
        name: &str,
        shown: &Shown,
        finalizers: Vec<String>,
        kind: OwnerKind,
    ) -> kube::Result<Shown> {
        let body = json!({"metadata": {"resourceVersion": shown.version, "finalizers": finalizers}});
        let object = api.patch(name, &PatchParams::default(), &Patch::Merge(&body)).await?;
        Ok(Shown::of(object, kind))
    }
}

impl Shown {
    fn of(mut object: DynamicObject, kind: OwnerKind) -> Self {
        let mut kept = json!({"status": object.data["status"].take()});
        // The others may be long, and nothing of them is needed.
        if kind == OwnerKind::ImageRepository {
            kept["spec"] = object.data["spec"].take();
        }
        Self {
            version: object.metadata.resource_version,
            finalizers: object.metadata.finalizers.unwrap_or_default(),
            is_going: object.metadata.deletion_timestamp.is_some(),
            object: kept,
        }
    }

    /// The finalizers that it is to have, where these are others than it has.
    fn wanted_finalizers(&self, kind: OwnerKind) -> Option<Vec<String>> {
        let has = |name: &str| self.finalizers.iter().any(|finalizer| finalizer == name);
        let ours = if kind == OwnerKind::ImageUpdater { FINALIZER } else { FLUX_FINALIZER };
        match (self.is_going, has(ours)) {
            (true, true) => {
                Some(self.finalizers.iter().filter(|finalizer| *finalizer != ours).cloned().collect())
            }
            (false, false) if kind == OwnerKind::ImageUpdater => {
                Some(self.finalizers.iter().cloned().chain([ours.to_owned()]).collect())
            }
            _ => None,
        }
    }
}

/// Returns what an error means: for this object, or for all of them.
fn judged(error: kube::Error) -> Outcome {
    match error {
        kube::Error::Api(status) if status.code == 404 => Outcome::Done { pace: PACE },
        kube::Error::Api(status) if status.code == 429 || status.code >= 500 => {
            let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
            let wait = (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)));
            Outcome::Away(status.message.clone(), wait)
        }
        error @ kube::Error::Api(_) => Outcome::Failed(error),
        error => Outcome::Away(error.to_string(), None),
    }
}

/// At once after the first failure, as a conflict is over when it is read again; then longer and longer.
fn backoff(failures: u32) -> Duration {
    let doubled = Duration::from_millis(500).saturating_mul(1 << failures.min(8));
    if failures == 0 { Duration::from_millis(50) } else { doubled.min(LONGEST) }
}
