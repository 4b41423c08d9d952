//! What there is to do by the objects of the cluster.
//!
//! In: the objects as they are. Out: batches of work by the place that they are written to, and for each object that is
//! told how it does what is to be said of it. An object that is wrong leaves out itself, or the part that is wrong. Left
//! out is what another shard works off, by the object that says what there is to do, so that one alone tells it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::shard::Shard;
use super::status::{Fault, Subject};
use super::watch::Live;
use crate::change::Named;
use crate::config::Registry;
use crate::dialect::field::field_at;
use crate::dialect::{self, Found};
use crate::error::{Error, Place};
use crate::work::{Batch, Owner, OwnerKind};

/// What there is to do in the cluster.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// By the name of the place that they are written to.
    pub(super) places: BTreeMap<String, Vec<(Batch, Vec<Registry>)>>,
    /// The objects that are told how they do.
    pub(super) subjects: Vec<Subject>,
    /// What may not be meant.
    pub(super) warnings: Vec<Error>,
}

/// What is looked for, and which part of it.
#[derive(Debug)]
pub(super) struct Resolver {
    pub(super) argocd_namespace: String,
    pub(super) shard: Shard,
    /// Whether annotations of Applications count by themselves.
    pub(super) has_annotations: bool,
}

impl Resolver {
    /// What there is to do.
    pub(super) fn resolve(&self, objects: &[Arc<Live>]) -> Resolved {
        // What is being deleted is let go of.
        let (ending, staying): (Vec<&Arc<Live>>, Vec<&Arc<Live>>) =
            objects.iter().partition(|live| live.is_ending);
        let texts: Vec<(String, String)> =
            staying.iter().map(|live| (live.path(), live.text.clone())).collect();
        let found = dialect::read_live(&texts, &self.argocd_namespace);
        let mut subjects = self.subjects(&staying, &found);
        subjects.extend(ending.into_iter().filter_map(|live| self.subject(live, Vec::new())));
        let mut resolved = Resolved { warnings: found.warnings.clone(), subjects, ..Resolved::default() };
        let labels: HashMap<(&str, &Named), &Arc<Live>> =
            staying.iter().map(|live| ((live.kind, &live.id), *live)).collect();
        for (mut batch, registries) in found.into_tenants() {
            batch.updates.retain(|update| {
                let first = update.owners.first();
                first.is_some_and(|owner| {
                    let live = labels.get(&(name_of(owner.kind), &owner.id));
                    let is_let = owner.kind != OwnerKind::Application || self.has_annotations;
                    is_let && live.is_some_and(|live| self.shard.owns(&live.id, &live.labels))
                })
            });
            if batch.updates.is_empty() {
                continue;
            }
            resolved.places.entry(batch.files.to_string()).or_default().push((batch, registries));
        }
        resolved
    }

    fn subjects(&self, staying: &[&Arc<Live>], found: &Found) -> Vec<Subject> {
        let mut faults: HashMap<&str, Vec<&Error>> = HashMap::new();
        for fault in &found.faults {
            if let Some(Place { path, .. }) = fault.place() {
                faults.entry(path).or_default().push(fault);
            }
        }
        let told = staying.iter().filter_map(|live| {
            let path = live.path();
            let faults = faults.get(path.as_str()).into_iter().flatten().map(|error| fault(error, live));
            self.subject(live, faults.collect())
        });
        told.collect()
    }

    /// An object that is told how it does, if it is one and of this shard.
    fn subject(&self, live: &Live, faults: Vec<Fault>) -> Option<Subject> {
        let kind = kind_of(live.kind)?;
        // Of Applications there are thousands, and most of them have no say.
        let has_a_say = kind != OwnerKind::Application || !faults.is_empty();
        (has_a_say && self.shard.owns(&live.id, &live.labels)).then(|| Subject {
            owner: Owner { kind, id: live.id.clone() },
            api: live.api.clone(),
            generation: live.generation,
            requested_at: live.requested_at.clone(),
            is_suspended: live.is_suspended,
            is_going: live.is_ending,
            faults,
        })
    }
}

fn fault(error: &Error, live: &Live) -> Fault {
    let field = error.place().and_then(|place| field_at(&live.text, place));
    Fault { field, error: error.clone() }
}

/// The kinds of objects that are told how they do.
const TOLD: [(&str, OwnerKind); 5] = [
    ("Application", OwnerKind::Application),
    ("ImageUpdater", OwnerKind::ImageUpdater),
    ("ImageRepository", OwnerKind::ImageRepository),
    ("ImagePolicy", OwnerKind::ImagePolicy),
    ("ImageUpdateAutomation", OwnerKind::ImageUpdateAutomation),
];

fn kind_of(name: &str) -> Option<OwnerKind> {
    TOLD.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

fn name_of(kind: OwnerKind) -> &'static str {
    TOLD.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name)
}
