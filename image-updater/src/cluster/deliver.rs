//! Method `argocd`: what a round has chosen is written into the Applications of the cluster themselves.
//!
//! ```text
//! read      the Application as it is known, or else as the cluster has it
//! plan      the round, on the lists of its sources that may be written
//! patch     only these lists, and only if nobody has changed the Application since it was read; or else all again
//! ```
//!
//! Each Application is on its own: what is wrong with one stops no other. Where the cluster cannot be reached all stop,
//! as what is known may be out of date. Refused: to write while another replica leads.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::runtime::Handle;

use super::Applications;
use super::application::Live;
use crate::change::Named;
use crate::commits::BatchPlanner;
use crate::deliver::{Delivered, Failed, Written};
use crate::gate::Gate;
use crate::round::{Outcome, Plan};
use crate::work::Batch;

/// Maximum number of Applications that are written side by side.
const AT_ONCE: usize = 8;

/// Maximum number of times an Application is tried where somebody else changes it each time.
const MAX_TRIES: u32 = 5;

/// Time the first pause between two tries is at most; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(100);

/// Time the cluster may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The field manager of our changes.
const MANAGER: &str = "image-updater";

/// The Applications of a cluster, by its API.
pub(super) struct LiveApplications {
    runtime: Handle,
    client: kube::Client,
    known: Arc<dyn Known>,
    /// Those of which was said that others write them too.
    warned: Mutex<HashSet<Named>>,
}

/// The cached Applications.
pub(super) trait Known: fmt::Debug + Send + Sync {
    /// An Application with all of `metadata` and `spec`, as it was when it last changed.
    fn application(&self, id: &Named) -> Option<Value>;
}

/// The result of a patch.
enum Patched {
    Done,
    /// Somebody has changed the Application since it was read.
    Conflict,
}

/// The result for one Application.
struct Done {
    plan: Plan,
    written: Vec<Written>,
}

impl LiveApplications {
    /// The Applications that a client reaches, of which some are known.
    pub(super) fn new(runtime: Handle, client: kube::Client, known: Arc<dyn Known>) -> Self {
        Self { runtime, client, known, warned: Mutex::default() }
    }

    /// Returns what becomes of one Application, and whether that stops others.
    fn one(
        &self,
        planner: &BatchPlanner<'_>,
        id: &Named,
        gate: &Gate,
        is_dry: bool,
    ) -> (Done, Option<Error>) {
        let mut last = None;
        match self.write(planner, id, gate, is_dry, &mut last) {
            Ok(written) => (Done { plan: last.unwrap_or_else(|| Plan::joined([])), written }, None),
            Err(error) => {
                let plan = match last {
                    Some(plan) => plan.unwritten(&error),
                    None => Plan::failed(&planner.batch.updates, &error),
                };
                let is_for_all = error.kind() == ErrorKind::Environment;
                (Done { plan, written: Vec::new() }, Some(error).filter(|_| is_for_all))
            }
        }
    }

    /// Plans and patches until nobody else was faster, and leaves the last plan.
    fn write(
        &self,
        planner: &BatchPlanner<'_>,
        id: &Named,
        gate: &Gate,
        is_dry: bool,
        last: &mut Option<Plan>,
    ) -> Result<Vec<Written>> {
        let mut object = self.known.application(id).map_or_else(|| self.get(id), Ok)?;
        let mut tries = 1;
        loop {
            let live = Live { id, object: &object };
            let plan = last.insert(planner.round.plan(planner.batch, &live));
            if plan.texts.is_empty() {
                return Ok(Vec::new());
            }
            self.warn_of_others(&live, plan);
            let patch = live.patch(&plan.texts)?;
            if is_dry {
                return Ok(Vec::new());
            }
            if matches!(self.patch(id, &patch, gate)?, Patched::Done) {
                let written = plan.changes().map(|change| Written { change: change.clone(), commit: None });
                return Ok(written.collect());
            }
            if tries == MAX_TRIES {
                return Err(crowded(id));
            }
            gate.pause(pause(tries));
            object = self.get(id)?;
            tries += 1;
        }
    }

    /// The Application as the cluster has it now.
    fn get(&self, id: &Named) -> Result<Value> {
        let api = self.api(id);
        let object = self.answer(id, "read", api.get(&id.name))?;
        serde_json::to_value(&object)
            .map_err(|error| Error::invalid(format!("the Application `{id}` cannot be read: {error}")))
    }

    /// Patches an Application, while nobody wants to stop.
    fn patch(&self, id: &Named, patch: &Value, gate: &Gate) -> Result<Patched> {
        // The outer one lets nobody stop before what was written is noted.
        gate.begin()?;
        let own = gate.sibling();
        own.begin()?;
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let api = self.api(id);
        let patch = Patch::Merge(patch);
        let answer = async {
            match api.patch(&id.name, &parameters, &patch).await {
                Err(kube::Error::Api(status)) if status.code == 409 => Ok(Patched::Conflict),
                answer => answer.map(|_| Patched::Done),
            }
        };
        self.answer(id, "patched", answer)
    }

    fn api(&self, id: &Named) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Application");
        let resource = ApiResource::from_gvk_with_plural(&kind, "applications");
        Api::namespaced_with(self.client.clone(), &id.namespace, &resource)
    }

    fn answer<T>(&self, id: &Named, what: &str, asking: impl Future<Output = kube::Result<T>>) -> Result<T> {
        let answer = self.runtime.block_on(async { tokio::time::timeout(TIMEOUT, asking).await });
        let failed = |kind, why: &dyn fmt::Display| {
            Error::new(kind, format!("the Application `{id}` cannot be {what}: {why}"))
        };
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(kube::Error::Api(status))) => Err(match status.code {
                403 => failed(ErrorKind::Invalid, &status.message)
                    .hint("let image-updater `get` and `patch` Applications in this namespace"),
                429 | 500.. => failed(ErrorKind::Environment, &status.message),
                _ => failed(ErrorKind::Invalid, &status.message),
            }),
            Ok(Err(error)) => Err(failed(ErrorKind::Environment, &error)),
            Err(_) => Err(failed(ErrorKind::Environment, &"the cluster does not answer")),
        }
    }

    /// Says once of an Application that somebody else has it as it is written in another place.
    fn warn_of_others(&self, live: &Live<'_>, plan: &mut Plan) {
        let Some(warning) = live.written_by_others() else { return };
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if !warned.insert(live.id.clone()) {
            return;
        }
        let changed = plan.reports.iter_mut().find(|report| matches!(report.outcome, Outcome::Changed(_)));
        changed.into_iter().for_each(|report| report.warnings.push(warning.clone()));
    }
}

impl Applications for LiveApplications {
    fn deliver(&self, planner: &BatchPlanner<'_>, gate: &Gate, is_dry: bool) -> Result<Delivered, Failed> {
        let parts = planner.by_application();
        let next = AtomicUsize::new(0);
        let stopped: Mutex<Option<Error>> = Mutex::default();
        let done: Vec<Mutex<Option<Done>>> = parts.iter().map(|_| Mutex::default()).collect();
        let work = || {
            while lock(&stopped).is_none() {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let (Some((id, batch)), Some(done)) = (parts.get(place), done.get(place)) else { break };
                let planner = BatchPlanner { batch, round: planner.round };
                let (one, why) = match id {
                    Some(id) => self.one(&planner, id, gate, is_dry),
                    None => (nobodys(batch), None),
                };
                *lock(done) = Some(one);
                if let Some(error) = why {
                    lock(&stopped).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..AT_ONCE.min(parts.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut plans = Vec::with_capacity(parts.len());
        let mut all = Vec::new();
        for Done { plan, written } in done.into_iter().filter_map(taken) {
            plans.push(plan);
            all.extend(written);
        }
        let delivered = Delivered { written: all, ..Delivered::nothing(Plan::joined(plans)) };
        match taken(stopped) {
            None => Ok(delivered),
            Some(error) => Err(Failed::after(error, delivered)),
        }
    }
}

impl fmt::Debug for LiveApplications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveApplications").field("known", &self.known).finish_non_exhaustive()
    }
}

/// Images that are in no Application, which are not there unless a dialect errs.
fn nobodys(batch: &Batch) -> Done {
    let error = Error::invalid("missing Application to write to");
    Done { plan: Plan::failed(&batch.updates, &error), written: Vec::new() }
}

fn crowded(id: &Named) -> Error {
    Error::invalid(format!(
        "others changed the Application `{id}` each time before we could, {MAX_TRIES} times"
    ))
}

/// The pause after a number of tries: any time up to a bound that doubles, so that two who met do not meet again.
fn pause(tries: u32) -> Duration {
    let mut bytes = [0; 4];
    // Without a source of randomness all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    let bound = PAUSE * 2u32.saturating_pow(tries - 1);
    bound.mul_f64(f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}

fn taken<T>(mutex: Mutex<Option<T>>) -> Option<T> {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
