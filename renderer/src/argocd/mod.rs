//! Applications of Argo CD, rendered with the engines of this program.
//!
//! In: Applications, and a context. Out: what Argo CD would apply, and how it is written into a folder.

mod contexts;
mod discovery;
mod engines;
mod fleet;
mod hydrated;
mod shadow;

use argocd::application::{self, Application, Overrides, Rendered, World};
use argocd::appset::{self, Generated};
use argocd::objects::Object;
use vfs::{Files, ReadSet, Recorder};

pub(crate) use contexts::{KnownWorld, readable};
use diagnostic::Result;
pub(crate) use discovery::{Discovery, Found};
pub(crate) use engines::{CompletedCharts, SourceEngines};
pub(crate) use fleet::{Fleet, Member};
pub(crate) use hydrated::Layout;
pub(crate) use shadow::Shadowed;

use crate::built::Warnings;
use crate::chart;
use crate::grants::Grants;
use crate::render::Renderer;

/// Renders Applications over one renderer's files.
pub(crate) struct ApplicationRenderer<'r> {
    pub(crate) renderer: &'r Renderer,
    pub(crate) world: &'r KnownWorld,
    pub(crate) overrides: &'r Overrides,
    pub(crate) charts: CompletedCharts,
}

/// The result for an Application.
pub(crate) struct Outcome {
    pub(crate) warnings: Warnings,
    pub(crate) rendered: Result<Rendered>,
    /// The files that it depends on.
    pub(crate) consulted: ReadSet,
}

impl<'r> ApplicationRenderer<'r> {
    /// A renderer with no chart completed yet.
    pub(crate) fn new(renderer: &'r Renderer, world: &'r KnownWorld, overrides: &'r Overrides) -> Self {
        Self { renderer, world, overrides, charts: CompletedCharts::default() }
    }

    /// Renders one Application on the caller's stack.
    pub(crate) fn render(&self, application: &Application) -> Outcome {
        let recorder = Recorder::new(self.renderer.files());
        let (warnings, rendered) = self.render_over(application, &recorder);
        Outcome { warnings, rendered, consulted: recorder.into_read_set() }
    }

    /// The Applications of an ApplicationSet.
    pub(crate) fn generate(&self, set: &Object) -> Generated {
        let random = chart::random();
        let templates = gotemplate::Options {
            now: chart::now(),
            random: Some(&random),
            ..gotemplate::Options::default()
        };
        let world = appset::World {
            context: &self.world.context,
            repositories: &self.world.repositories,
            files: self.renderer.files(),
            any_cluster: self.world.is_default,
            templates,
        };
        appset::generate(set, &world)
    }

    /// The same over a view of the renderer's files.
    pub(crate) fn render_over(
        &self,
        application: &Application,
        files: &dyn Files,
    ) -> (Warnings, Result<Rendered>) {
        let grants = self.world.grants.and(Grants::of(self.renderer.options()));
        let engines = SourceEngines::new(self.renderer.engines(files), &self.charts, grants);
        let world = World {
            context: &self.world.context,
            repositories: &self.world.repositories,
            projects: self.world.projects.as_ref(),
            files,
            engines: &engines,
            overrides: self.overrides,
        };
        let mut rendered = application::render(application, &world);
        let mut warnings = engines.into_warnings();
        match &mut rendered {
            Ok(rendered) => warnings.add_applications(std::mem::take(&mut rendered.warnings)),
            Err(_) => warnings.add_applications(application.warnings.clone()),
        }
        (warnings, rendered)
    }
}
