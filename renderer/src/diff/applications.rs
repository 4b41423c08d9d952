//! Applications of Argo CD on both sides of a change, those that others render to among them.
//!
//! An Application is unaffected where it is written as before, its context is, and nothing that it consulted differs. The
//! Applications that an unaffected one renders to are then known without rendering it again.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use argocd::application::Overrides;
use argocd::objects::Object;
use diagnostic::Result;
use vfs::{FileKind, Files, ReadSet, Recorder};
use yamltree::JsonOptions;

use super::side::{States, kind};
use super::{Request, Sides, targets};
use crate::argocd::{ApplicationRenderer, Discovery, Fleet, KnownWorld, Member};
use crate::render::Renderer;

/// The Applications of one side.
struct Side {
    world: KnownWorld,
    /// The files of the context.
    context: ReadSet,
    fleet: Fleet,
}

/// Both sides, rendered as far as a change affects them.
struct Compared {
    head: Side,
    base: Side,
    /// The names of those that are the same on both sides.
    unaffected: HashSet<String>,
    /// A second rendering of head targets whose output differs each time.
    again: HashMap<String, Vec<Object>>,
}

/// Renders the Applications that a change affects.
pub(super) fn add(
    states: &States,
    request: &Request<'_>,
    overrides: &Overrides,
    sides: &mut Sides,
) -> Result<()> {
    let Compared { mut head, mut base, unaffected, again } = compare(states, request, overrides, sides)?;
    sides.unaffected += unaffected.len();
    for side in [&mut base, &mut head] {
        sides.errors.append(&mut side.fleet.errors);
    }
    sides.notices.append(&mut head.fleet.notices);
    let affected = |member: &&Member| !unaffected.contains(&member.application.instance_name());
    let before: HashMap<String, &Member> =
        base.fleet.members.iter().map(|member| (member.application.instance_name(), member)).collect();
    sides.base.extend(
        base.fleet
            .members
            .iter()
            .filter(affected)
            .filter_map(|member| targets::of_application(member, None, &base.world.context.settings)),
    );
    sides.head.extend(head.fleet.members.iter().filter(affected).filter_map(|member| {
        let name = member.application.instance_name();
        let before = before.get(&name).copied();
        let mut target = targets::of_application(member, Some(before), &head.world.context.settings)?;
        if let Some(again) = again.get(&name) {
            targets::mark_unstable(&mut target, again);
        }
        Some(target)
    }));
    Ok(())
}

/// All Applications of the later state, rendered, and the names of those that the change does not affect.
pub(super) fn affected(
    states: &States,
    request: &Request<'_>,
    overrides: &Overrides,
    sides: &mut Sides,
) -> Result<(Fleet, HashSet<String>)> {
    let Compared { head, unaffected, .. } = compare(states, request, overrides, sides)?;
    Ok((head.fleet, unaffected))
}

fn compare(
    states: &States,
    request: &Request<'_>,
    overrides: &Overrides,
    sides: &mut Sides,
) -> Result<Compared> {
    let mut head = Side::new(&states.head, states, request, sides, true)?;
    let mut base = Side::new(&states.base, states, request, sides, false)?;
    let is_context_new = states.comparison.touches(&head.context);

    let overrides = Overrides { any_cluster: head.world.is_default, ..overrides.clone() };
    let renderer = ApplicationRenderer::new(&states.head, &head.world, &overrides);
    head.fleet.render(&renderer, request.jobs)?;

    let known: HashMap<String, &Member> =
        head.fleet.members.iter().map(|member| (member.application.instance_name(), member)).collect();
    let unaffected: Mutex<HashSet<String>> = Mutex::default();
    let overrides = Overrides { any_cluster: base.world.is_default, ..overrides.clone() };
    let renderer = ApplicationRenderer::new(&states.base, &base.world, &overrides);
    base.fleet.render_unless(&renderer, request.jobs, |member| {
        let name = member.application.instance_name();
        let outcome = known.get(&name).filter(|other| is_written_as(member, other))?.outcome.as_ref()?;
        let is_affected =
            is_context_new || outcome.rendered.is_err() || states.comparison.touches(&outcome.consulted);
        if is_affected {
            return None;
        }
        unaffected.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        Some(outcome.makers())
    })?;
    let unaffected = unaffected.into_inner().unwrap_or_else(PoisonError::into_inner);
    let again = again(&head, &states.head, &overrides, &unaffected);
    Ok(Compared { head, base, unaffected, again })
}

/// Renders once more what is another each time: random values, and what depends on the time.
fn again(
    head: &Side,
    renderer: &Renderer,
    overrides: &Overrides,
    unaffected: &HashSet<String>,
) -> HashMap<String, Vec<Object>> {
    let overrides = Overrides { any_cluster: head.world.is_default, ..overrides.clone() };
    let renderer = ApplicationRenderer::new(renderer, &head.world, &overrides);
    let mut again = HashMap::new();
    for member in &head.fleet.members {
        let name = member.application.instance_name();
        let is_unstable = member.outcome.as_ref().is_some_and(|outcome| outcome.warnings.is_unstable());
        if is_unstable
            && !unaffected.contains(&name)
            && let Ok(rendered) = renderer.render(&member.application).rendered
        {
            again.insert(name, rendered.objects);
        }
    }
    again
}

impl Side {
    fn new(
        renderer: &Renderer,
        states: &States,
        request: &Request<'_>,
        sides: &mut Sides,
        is_head: bool,
    ) -> Result<Self> {
        let files = renderer.files();
        let recorder = Recorder::new(files);
        let world = states.world(request, &recorder, is_head)?;
        let mut discovery = Discovery::default();
        for place in &states.places {
            match kind(place, files) {
                Some(FileKind::File) => look_into(&mut discovery, place, files),
                Some(FileKind::Directory) => discovery.folder(place, files)?,
                None => {}
            }
        }
        sides.errors.append(&mut discovery.errors);
        if is_head {
            let patch = |place: &String| {
                format!("the Application at {place} lacks a source and is treated as a patch")
            };
            sides.notices.extend(discovery.fragments.iter().map(patch));
        }
        Ok(Self {
            world,
            context: recorder.into_read_set(),
            fleet: Fleet::of(discovery.found, discovery.sets),
        })
    }
}

/// A file that is named may be something else than an Application.
fn look_into(discovery: &mut Discovery, place: &Path, files: &dyn Files) {
    // What is no Application is taken for manifests, and what is wrong with it is said there.
    let _ = discovery.file(place, files);
}

/// Returns true if two Applications are written the same.
fn is_written_as(one: &Member, other: &Member) -> bool {
    let text = |object: &Object| {
        let mut json = String::new();
        yamltree::to_json(object.node(), JsonOptions::SIGS, &mut json).map(|()| json).ok()
    };
    let one = text(one.object());
    one.is_some() && one == text(other.object())
}
