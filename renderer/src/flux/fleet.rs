//! All that Flux rolls out from a repository, Kustomization by Kustomization as they make one another.
//!
//! In: what was found in files. Out: each Kustomization and HelmRelease rendered once: those of files that no other
//! Kustomization has in its path come first, then those that these render to. What `dependsOn` names is rendered before,
//! and releases come last, so that the values they take are known. Several clusters in one repository, which have the same
//! names, are kept apart.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use argocd::objects::Object;
use diagnostic::{Error, ErrorKind, Result};
use flux::{HelmRelease, InFile, Known, Kustomization, Rendered, is_helm_release, is_kustomization};
use vfs::ReadSet;

use super::{Discovery, FluxRenderer, Outcome, Unit};
use crate::built::Warnings;
use crate::progress::Progress;
use crate::render::{Event, side_by_side};

/// Kustomizations that make Kustomizations nest no deeper.
const MAX_ROUNDS: usize = 64;

/// The Flux objects to render, and the errors of those that cannot be read.
#[derive(Default)]
pub(crate) struct Fleet {
    pub(crate) members: Vec<Member>,
    pub(crate) errors: Vec<Error>,
    clusters: Vec<Cluster>,
    /// By cluster, kind, namespace and name.
    taken: HashSet<(usize, &'static str, String, String)>,
}

/// A Kustomization or HelmRelease.
pub(crate) struct Member {
    pub(crate) unit: Unit,
    object: Object,
    /// As it is shown: `flux-system/apps`, after its cluster's folder where there are several.
    pub(crate) name: String,
    pub(crate) outcome: Option<Outcome>,
    cluster: usize,
}

struct Cluster {
    known: Known,
    /// The name that distinguishes it.
    label: String,
}

/// A Kustomization in a file.
struct InPath<'d> {
    found: &'d InFile,
    kustomization: Kustomization,
    folder: PathBuf,
}

impl Fleet {
    /// Takes in what was found; where files are named, only what they have.
    pub(crate) fn new(discovery: Discovery, named: &[PathBuf], root: &Path) -> Self {
        let mut fleet = Self::default();
        let in_files = Arc::new(discovery.others);
        let is_meant = |found: &&InFile| named.is_empty() || named.contains(&found.path);
        let mut all = Vec::new();
        for found in discovery.units.iter().filter(|found| is_kustomization(&found.object)) {
            match Kustomization::read(&found.object) {
                Ok(kustomization) => {
                    let folder = inside(root, &kustomization.path);
                    all.push(InPath { found, kustomization, folder });
                }
                // One without a source is a patch for another.
                Err(_) if found.object.node().lookup(&["spec", "sourceRef"]).is_none() => {}
                Err(error) => fleet.errors.push(error),
            }
        }
        let is_root = |one: &&InPath<'_>| {
            let holds =
                |other: &InPath<'_>| !std::ptr::eq(*one, other) && one.found.path.starts_with(&other.folder);
            !all.iter().any(holds)
        };
        let mut roots: Vec<&InPath<'_>> = if named.is_empty() {
            all.iter().filter(is_root).collect()
        } else {
            all.iter().filter(|one| is_meant(&one.found)).collect()
        };
        if roots.is_empty() && named.is_empty() {
            roots = all.iter().collect();
        }
        let ids: HashSet<_> = roots.iter().map(|root| root.kustomization.id()).collect();
        let has_several = ids.len() < roots.len();
        let mut by_label: HashMap<PathBuf, usize> = HashMap::new();
        for one in roots {
            let folder = if has_several { one.folder.clone() } else { root.to_owned() };
            let clusters = &mut fleet.clusters;
            let cluster = *by_label.entry(folder.clone()).or_insert_with(|| {
                let label = folder.strip_prefix(root).unwrap_or(&folder).display().to_string();
                clusters.push(Cluster { known: Known::new(&in_files, &folder), label });
                clusters.len() - 1
            });
            let unit = Unit::Kustomization(Box::new(one.kustomization.clone()));
            fleet.add(unit, one.found.object.clone(), cluster);
        }
        // Where Kustomizations are, releases are what these render to.
        let has_kustomizations = !all.is_empty() && named.is_empty();
        let releases = discovery.units.iter().filter(|found| is_helm_release(&found.object)).filter(is_meant);
        for found in releases.filter(|_| !has_kustomizations) {
            if fleet.clusters.is_empty() {
                let known = Known::new(&in_files, root);
                fleet.clusters.push(Cluster { known, label: String::new() });
            }
            fleet.take(&found.object, 0);
        }
        fleet
    }

    /// Renders all of them, and what they render to.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn render(&mut self, renderer: &FluxRenderer<'_>, jobs: usize) -> Result<()> {
        self.render_unless(renderer, jobs, |_, _| None)
    }

    /// The same without those of which it is known what they render to.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn render_unless(
        &mut self,
        renderer: &FluxRenderer<'_>,
        jobs: usize,
        is_known: impl Fn(&Member, &Known) -> Option<Vec<Object>> + Sync,
    ) -> Result<()> {
        for _ in 0..MAX_ROUNDS {
            let ready = self.ready();
            if ready.is_empty() {
                return Ok(());
            }
            let mut progress = Progress::new(ready.len());
            let mut outcomes = Vec::with_capacity(ready.len());
            let work = |_: usize, at: &usize| {
                let member = &self.members[*at];
                let known = &self.clusters[member.cluster].known;
                match is_known(member, known) {
                    Some(objects) => Outcome::known(objects),
                    None => renderer.render(&member.unit, known),
                }
            };
            side_by_side(&ready, jobs, work, |event| match event {
                Event::Tick => progress.show(),
                Event::Done(number, outcome) => {
                    progress.advance();
                    outcomes.push((ready[number], outcome));
                }
            })?;
            progress.clear();
            outcomes.sort_by_key(|(at, _)| *at);
            for (at, outcome) in outcomes {
                self.members[at].outcome = Some(outcome);
                self.descend(at);
            }
        }
        let message = format!("Kustomizations that make Kustomizations nest deeper than {MAX_ROUNDS}");
        self.errors.push(Error::new(ErrorKind::Invalid, message));
        Ok(())
    }

    /// Returns what can be rendered next: Kustomizations before releases, and what others depend on before these. Where none is
    /// free because they wait for one another, all are.
    fn ready(&self) -> Vec<usize> {
        let open: Vec<usize> =
            (0..self.members.len()).filter(|at| self.members[*at].outcome.is_none()).collect();
        let waiting: HashSet<(usize, (String, String))> = open
            .iter()
            .map(|at| &self.members[*at])
            .filter(|member| matches!(member.unit, Unit::Kustomization(_)))
            .map(|member| (member.cluster, member.unit.id()))
            .collect();
        if waiting.is_empty() {
            return open;
        }
        let kustomization = |at: &usize| match &self.members[*at].unit {
            Unit::Kustomization(kustomization) => Some((self.members[*at].cluster, kustomization)),
            Unit::HelmRelease(_) => None,
        };
        let is_free = |at: &usize| {
            kustomization(at).is_some_and(|(cluster, kustomization)| {
                let own = kustomization.id();
                let blocks = |on: &(String, String)| *on != own && waiting.contains(&(cluster, on.clone()));
                !kustomization.depends_on.iter().any(blocks)
            })
        };
        let free: Vec<usize> = open.iter().copied().filter(is_free).collect();
        if free.is_empty() {
            open.into_iter().filter(|at| kustomization(at).is_some()).collect()
        } else {
            free
        }
    }

    /// Returns true if there is nothing of Flux.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.errors.is_empty()
    }

    /// Returns what is known of a member's cluster.
    pub(crate) fn known(&self, member: &Member) -> &Known {
        &self.clusters[member.cluster].known
    }

    /// Takes in what one renders to.
    fn descend(&mut self, at: usize) {
        let Some(Ok(rendered)) = self.members[at].outcome.as_ref().map(|outcome| &outcome.rendered) else {
            return;
        };
        let cluster = self.members[at].cluster;
        let is_unit = |object: &&Object| is_kustomization(object) || is_helm_release(object);
        let units: Vec<Object> = rendered.objects.iter().filter(is_unit).cloned().collect();
        self.clusters[cluster].known.add(&rendered.objects);
        for object in units {
            self.take(&object, cluster);
        }
    }

    fn take(&mut self, object: &Object, cluster: usize) {
        let unit = if is_kustomization(object) {
            Kustomization::read(object).map(|read| Unit::Kustomization(Box::new(read)))
        } else {
            HelmRelease::read(object).map(|read| Unit::HelmRelease(Box::new(read)))
        };
        match unit {
            Ok(unit) => self.add(unit, object.clone(), cluster),
            Err(error) => self.errors.push(error),
        }
    }

    /// One that is known already is the same: `flux-system` renders to itself.
    fn add(&mut self, unit: Unit, object: Object, cluster: usize) {
        let (namespace, name) = unit.id();
        let shown = match self.clusters[cluster].label.as_str() {
            "" => format!("{namespace}/{name}"),
            label => format!("{label}: {namespace}/{name}"),
        };
        if self.taken.insert((cluster, unit.kind(), namespace, name)) {
            self.members.push(Member { unit, object, name: shown, outcome: None, cluster });
        }
    }
}

impl Outcome {
    fn known(objects: Vec<Object>) -> Self {
        Self {
            warnings: Warnings::default(),
            rendered: Ok(Rendered { objects, warnings: Vec::new() }),
            consulted: ReadSet::default(),
            asked: BTreeSet::new(),
        }
    }
}

impl Member {
    /// The object that it was read from.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }
}

/// A path of a source in the repository, which cannot lead out.
fn inside(root: &Path, path: &str) -> PathBuf {
    let mut below = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::ParentDir => drop(below.pop()),
            _ => {}
        }
    }
    root.join(below)
}
