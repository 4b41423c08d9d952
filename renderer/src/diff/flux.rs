//! Kustomizations and HelmReleases of Flux on both sides of a change.
//!
//! One is unaffected where it is written as before, no file that it consulted differs, and the objects that it takes values
//! and sources from are the same. What an unaffected one renders to is then known without rendering it again.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use argocd::application::Overrides;
use argocd::objects::{Key, Object};
use diagnostic::Result;
use manifest_diff::{Target, TargetKind};
use vfs::{ReadSet, Recorder};
use yamltree::{JsonOptions, Node};

use super::side::States;
use super::{Request, Sides};
use crate::argocd::KnownWorld;
use crate::flux::{Discovery, Fleet, FluxRenderer, Member, Settings, Unit};
use crate::render::Renderer;

/// The identity of a target on both sides.
type Id = (&'static str, String);

/// The Flux objects of one side.
struct Side {
    world: KnownWorld,
    /// The files of the context.
    context: ReadSet,
    fleet: Fleet,
}

/// Renders what of Flux a change affects.
pub(super) fn add(
    states: &States,
    request: &Request<'_>,
    overrides: &Overrides,
    sides: &mut Sides,
) -> Result<()> {
    let settings = Settings {
        kube_version: overrides.kube_version.clone(),
        api_versions: overrides.api_versions.clone().unwrap_or_default(),
        ..Settings::default()
    };
    let mut head = Side::new(&states.head, states, request, true)?;
    let mut base = Side::new(&states.base, states, request, false)?;
    if head.fleet.is_empty() && base.fleet.is_empty() {
        return Ok(());
    }
    let is_context_new = states.comparison.touches(&head.context);
    head.fleet.render(&FluxRenderer::new(&states.head, &head.world, &settings), request.jobs)?;
    let after: HashMap<Id, &Member> = head.fleet.members.iter().map(|member| (id(member), member)).collect();
    let unaffected: Mutex<HashSet<Id>> = Mutex::default();
    let renderer = FluxRenderer::new(&states.base, &base.world, &settings);
    base.fleet.render_unless(&renderer, request.jobs, |member, known| {
        let other = after.get(&id(member)).filter(|other| is_same(member.object(), other.object()))?;
        let outcome = other.outcome.as_ref()?;
        let rendered = outcome.rendered.as_ref().ok()?;
        let has_new_object = |key: &Key| content(known.get(key)) != content(head.fleet.known(other).get(key));
        let is_affected = is_context_new
            || states.comparison.touches(&outcome.consulted)
            || outcome.asked.iter().any(has_new_object);
        if is_affected {
            return None;
        }
        unaffected.lock().unwrap_or_else(PoisonError::into_inner).insert(id(member));
        Some(rendered.objects.clone())
    })?;
    let unaffected = unaffected.into_inner().unwrap_or_else(PoisonError::into_inner);
    sides.unaffected += unaffected.len();
    sides.errors.append(&mut base.fleet.errors);
    sides.errors.append(&mut head.fleet.errors);
    let is_meant =
        |member: &&Member| !unaffected.contains(&id(member)) && is_in_places(member, states, request);
    sides.base.extend(base.fleet.members.iter().filter(is_meant).filter_map(target));
    sides.head.extend(head.fleet.members.iter().filter(is_meant).filter_map(target));
    Ok(())
}

impl Side {
    fn new(renderer: &Renderer, states: &States, request: &Request<'_>, is_head: bool) -> Result<Self> {
        let recorder = Recorder::new(renderer.files());
        let world = states.world(request, &recorder, is_head)?;
        let mut discovery = Discovery::default();
        discovery.folder(&world.root, renderer.files())?;
        let fleet = Fleet::new(discovery, &[], &world.root);
        Ok(Self { world, context: recorder.into_read_set(), fleet })
    }
}

fn id(member: &Member) -> Id {
    (member.unit.kind(), member.name.clone())
}

/// Returns true if two objects are written the same.
fn is_same(one: &Object, other: &Object) -> bool {
    let one = json(one.node());
    one.is_some() && one == json(other.node())
}

/// Returns what values and sources are taken from: not the metadata, on which a Kustomization that was rendered meanwhile writes
/// its labels.
fn content(object: Option<&Object>) -> Option<Option<String>> {
    object.map(|object| {
        let mut node = object.node().clone();
        node.remove("metadata");
        json(&node)
    })
}

fn json(node: &Node) -> Option<String> {
    let mut json = String::new();
    yamltree::to_json(node, JsonOptions::SIGS, &mut json).map(|()| json).ok()
}

/// Returns where paths are named, what depends on something below one of them is meant.
fn is_in_places(member: &Member, states: &States, request: &Request<'_>) -> bool {
    let Some(outcome) = member.outcome.as_ref().filter(|_| !request.paths.is_empty()) else { return true };
    let consulted = outcome.consulted.files.iter().chain(&outcome.consulted.directories);
    consulted.into_iter().any(|path| states.places.iter().any(|place| path.starts_with(place)))
}

fn target(member: &Member) -> Option<Target> {
    let outcome = member.outcome.as_ref()?;
    let (kind, prune) = match &member.unit {
        Unit::Kustomization(kustomization) => (TargetKind::FluxKustomization, kustomization.prune),
        // Helm deletes what a release has no longer.
        Unit::HelmRelease(_) => (TargetKind::HelmRelease, true),
    };
    let name = member.name.clone();
    let mut target = match &outcome.rendered {
        Ok(rendered) => Target::rendered(kind, name, rendered.objects.clone()),
        Err(error) => Target::failed(kind, name, error.to_string()),
    };
    target.origin = member.unit.place().cloned();
    target.warnings = outcome.warnings.sentences();
    target.apply.prune = prune;
    Some(target)
}
