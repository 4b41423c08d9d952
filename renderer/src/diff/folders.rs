//! Kustomizations and charts on both sides of a change.
//!
//! Without paths, the directories count that nothing else in the repository builds on, and only in a repository
//! without Applications: those define what is deployed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use diagnostic::Result;
use manifest_diff::{Target, TargetKind};
use vfs::{FileKind, Files, ReadSet, Recorder, clean};
use yamltree::{Node, ParseOptions};

use super::side::{States, kind};
use super::{Request, Sides, targets};
use crate::built::Warnings;
use crate::chart_target::{is_chart, is_overlay};
use crate::manifests;
use crate::render::{Event, Renderer, side_by_side};

/// No repository is deeper.
const MAX_DEPTH: usize = 64;

const PASSED_OVER: [&str; 3] = [".git", "node_modules", ".terraform"];
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The rendered directory, and its dependencies.
struct Done {
    target: Target,
    consulted: ReadSet,
}

/// Renders the folders that a change affects.
pub(super) fn add(
    states: &States,
    request: &Request<'_>,
    has_applications: bool,
    sides: &mut Sides,
) -> Result<()> {
    let is_open = request.paths.is_empty() && has_applications;
    let find = |renderer: &Renderer| {
        if is_open { BTreeSet::new() } else { found(&states.places, renderer.files()) }
    };
    let (base, head) = (find(&states.base), find(&states.head));
    let head: Vec<PathBuf> = head.into_iter().collect();
    let rendered = render(&states.head, &head, request.jobs)?;
    let affected: Vec<PathBuf> = head
        .iter()
        .filter(|path| {
            let done = &rendered[*path];
            let is_named = states.places.contains(path);
            is_named && has_failed(&done.target) || states.comparison.touches(&done.consulted)
        })
        .cloned()
        .collect();
    let gone = base.into_iter().filter(|path| !rendered.contains_key(path));
    let before: Vec<PathBuf> = affected
        .iter()
        .filter(|path| kind(path, states.base.files()).is_some())
        .cloned()
        .chain(gone)
        .collect();
    let mut earlier = render(&states.base, &before, request.jobs)?;
    sides.unaffected += head.len() - affected.len();
    let mut rendered = rendered;
    let mut needy = 0;
    for path in affected {
        let Some(head) = rendered.remove(&path) else { continue };
        let base = earlier.remove(&path);
        let fails_as_before =
            has_failed(&head.target) && base.as_ref().is_some_and(|base| has_failed(&base.target));
        // A chart may need values that are somewhere else; that is no news.
        if fails_as_before && head.target.kind == TargetKind::Chart && !states.places.contains(&path) {
            needy += 1;
            continue;
        }
        sides.head.push(head.target);
        sides.base.extend(base.map(|base| base.target));
    }
    sides.base.extend(earlier.into_values().map(|done| done.target));
    if needy > 0 {
        sides.notices.push(format!("{needy} charts do not render without values, and are left out"));
    }
    Ok(())
}

fn has_failed(target: &Target) -> bool {
    matches!(target.outcome, manifest_diff::RenderOutcome::Failed(_))
}

/// Renders folders side by side.
fn render(renderer: &Renderer, paths: &[PathBuf], jobs: usize) -> Result<BTreeMap<PathBuf, Done>> {
    let mut done = BTreeMap::new();
    let mut progress = crate::progress::Progress::new(paths.len());
    let work = |_: usize, path: &PathBuf| one(renderer, path);
    side_by_side(paths, jobs, work, |event| match event {
        Event::Tick => progress.show(),
        Event::Done(number, one) => {
            progress.advance();
            done.insert(paths[number].clone(), one);
        }
    })?;
    progress.clear();
    Ok(done)
}

fn one(renderer: &Renderer, path: &Path) -> Done {
    let recorder = Recorder::new(renderer.files());
    let name = renderer.files().display(path);
    let kind = if is_overlay(path, &recorder) {
        TargetKind::Kustomization
    } else if is_chart(path, &recorder) {
        TargetKind::Chart
    } else {
        TargetKind::Files
    };
    let target = match kind {
        TargetKind::Files => manifests::read_over(path, renderer, &recorder).map(|objects| (objects, None)),
        _ => renderer.render_over(path, &recorder).and_then(|built| {
            let objects = manifests::rendered(&name, &built, renderer)?;
            Ok((objects, Some(built.warnings())))
        }),
    };
    let target = match target {
        Err(error) => Target::failed(kind, name, error.to_string()),
        Ok((objects, warnings)) => {
            let mut target = Target::rendered(kind, name, objects);
            target.apply.objects_in_files = true;
            let is_unstable = warnings.as_ref().is_some_and(Warnings::is_unstable);
            target.warnings = warnings.map_or_else(Vec::new, |warnings| warnings.sentences());
            if is_unstable
                && let Ok(again) = renderer
                    .render_over(path, renderer.files())
                    .and_then(|built| manifests::rendered(&target.name, &built, renderer))
            {
                targets::mark_unstable(&mut target, &again);
            }
            target
        }
    };
    Done { target, consulted: recorder.into_read_set() }
}

/// The folders and files to render.
pub(crate) fn found(places: &[PathBuf], files: &dyn Files) -> BTreeSet<PathBuf> {
    let mut search =
        Search { files, seen: HashSet::new(), overlays: BTreeMap::new(), charts: BTreeSet::new() };
    let mut named = BTreeSet::new();
    for place in places {
        let is_target = is_overlay(place, files) || is_chart(place, files);
        match kind(place, files) {
            Some(_) if is_target => drop(named.insert(place.clone())),
            Some(FileKind::Directory) => search.walk(place, 0),
            Some(FileKind::File) | None => {}
        }
    }
    named.extend(search.roots());
    named
}

struct Search<'f> {
    files: &'f dyn Files,
    /// Links may lead back.
    seen: HashSet<PathBuf>,
    /// Kustomizations, and the folders that each names.
    overlays: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    charts: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn walk(&mut self, folder: &Path, depth: usize) {
        let Ok((real, FileKind::Directory)) = self.files.resolve(folder) else { return };
        if depth > MAX_DEPTH || !self.seen.insert(real.clone()) {
            return;
        }
        let names = self.files.list(&real).unwrap_or_default();
        let kustomization = KUSTOMIZATIONS.iter().find(|name| names.iter().any(|other| other == *name));
        if let Some(name) = kustomization
            && let Some(named) = self.named_by(folder, name)
        {
            self.overlays.insert(folder.to_owned(), named);
        }
        let is_chart = names.iter().any(|name| name == "Chart.yaml");
        if is_chart && kustomization.is_none() {
            self.charts.insert(folder.to_owned());
        }
        for name in names {
            let is_of_chart = is_chart && matches!(name.as_str(), "templates" | "charts" | "crds");
            if !is_of_chart && !PASSED_OVER.contains(&name.as_str()) && !has_ending(&name) {
                self.walk(&folder.join(name), depth + 1);
            }
        }
    }

    /// The folders that a kustomization names; nothing for a component, which is not built alone.
    fn named_by(&self, folder: &Path, name: &str) -> Option<BTreeSet<PathBuf>> {
        let (real, _) = self.files.resolve(&folder.join(name)).ok()?;
        let bytes = self.files.read(&real).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let Ok(Some(document)) = yamltree::parse_first(text, 0, &ParseOptions::default()) else {
            // What is wrong with it is said when it is built.
            return Some(BTreeSet::new());
        };
        let root = document.root;
        if root.get("kind").and_then(Node::text) == Some("Component") {
            return None;
        }
        let entries = ["resources", "bases", "components"]
            .iter()
            .filter_map(|field| root.get(field)?.items())
            .flatten()
            .filter_map(Node::text);
        Some(entries.map(|entry| clean(&folder.join(entry))).collect())
    }

    /// Returns what nothing else builds on.
    fn roots(self) -> BTreeSet<PathBuf> {
        let named: HashSet<&PathBuf> = self.overlays.values().flatten().collect();
        let roots: BTreeSet<PathBuf> =
            self.overlays.keys().filter(|folder| !named.contains(folder)).cloned().collect();
        // Charts below a kustomization are those that it inflates.
        let is_inflated = |chart: &Path| chart.ancestors().any(|folder| self.overlays.contains_key(folder));
        let charts = self.charts.iter().filter(|chart| !is_inflated(chart)).cloned();
        charts.chain(roots.iter().cloned()).collect()
    }
}

/// Files are no folders; to ask for each would double the cost of the walk.
fn has_ending(name: &str) -> bool {
    [".yaml", ".yml", ".json", ".md", ".tpl", ".txt"].iter().any(|ending| name.ends_with(ending))
}
