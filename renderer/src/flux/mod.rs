//! Kustomizations and HelmReleases of Flux, rendered with the engines of this program.
//!
//! In: a repository, and a context. Out: what Flux would apply, Kustomization by Kustomization as they make one another.

mod discovery;
mod engines;
mod fleet;

use std::collections::BTreeSet;

use argocd::objects::Key;
use flux::{HelmRelease, Known, Kustomization, Lookup, Places, Rendered, World};
use vfs::{ReadSet, Recorder};

use yamltree::Location;

use crate::argocd::{CompletedCharts, KnownWorld};
use crate::built::Warnings;
use crate::render::Renderer;
use engines::FluxEngines;

use diagnostic::Result;
pub(crate) use discovery::Discovery;
pub(crate) use fleet::{Fleet, Member};

/// The rendered unit.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    Kustomization(Box<Kustomization>),
    HelmRelease(Box<HelmRelease>),
}

impl Unit {
    /// Namespace and name.
    pub(crate) fn id(&self) -> (String, String) {
        match self {
            Self::Kustomization(kustomization) => kustomization.id(),
            Self::HelmRelease(release) => release.id(),
        }
    }

    /// Returns where it is written.
    pub(crate) fn place(&self) -> Option<&Location> {
        match self {
            Self::Kustomization(kustomization) => kustomization.place.as_ref(),
            Self::HelmRelease(release) => release.place.as_ref(),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Kustomization(_) => "Kustomization",
            Self::HelmRelease(_) => "HelmRelease",
        }
    }
}

/// The settings of clusters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The handling of variables that are not set.
    pub(crate) mode: flux::envsubst::Mode,
    pub(crate) kube_version: Option<String>,
    pub(crate) api_versions: Vec<String>,
}

/// Renders over one renderer's files.
pub(crate) struct FluxRenderer<'r> {
    renderer: &'r Renderer,
    world: &'r KnownWorld,
    settings: &'r Settings,
    charts: CompletedCharts,
}

/// The result for a Kustomization or HelmRelease.
pub(crate) struct Outcome {
    pub(crate) warnings: Warnings,
    pub(crate) rendered: Result<Rendered>,
    /// The files that it depends on.
    pub(crate) consulted: ReadSet,
    /// The objects that it depends on.
    pub(crate) asked: BTreeSet<Key>,
}

impl<'r> FluxRenderer<'r> {
    pub(crate) fn new(renderer: &'r Renderer, world: &'r KnownWorld, settings: &'r Settings) -> Self {
        Self { renderer, world, settings, charts: CompletedCharts::default() }
    }

    /// Renders one on the caller's stack.
    pub(crate) fn render(&self, unit: &Unit, known: &Known) -> Outcome {
        let recorder = Recorder::new(self.renderer.files());
        let engines = FluxEngines::new(self.renderer, &recorder, &self.charts, self.settings);
        let lookup = Lookup::new(known);
        let world = World {
            files: &recorder,
            places: Places { root: &self.world.root, repositories: &self.world.repositories },
            known: &lookup,
            engines: &engines,
            mode: self.settings.mode,
            fetched: self.renderer.cache_dir(),
        };
        let mut rendered = match unit {
            Unit::Kustomization(kustomization) => flux::build(kustomization, &world),
            Unit::HelmRelease(release) => flux::release(release, &world),
        };
        let mut warnings = engines.into_warnings();
        if let Ok(rendered) = &mut rendered {
            warnings.add_flux(std::mem::take(&mut rendered.warnings));
        }
        let asked = lookup.into_asked();
        Outcome { warnings, rendered, consulted: recorder.into_read_set(), asked }
    }
}
