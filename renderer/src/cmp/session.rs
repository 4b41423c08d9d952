//! One application of a repository, asked about by Argo CD.
//!
//! In: files, and a way to ask for variables. Out: what the plugin's service answers. Errors are one short line that leads
//! with the place and has no secret in it.

use std::path::Path;
use std::sync::Arc;

use argocd::application::Engine;
use argocd::plugin::{self, Checkout, Content, Invocation};
use cmp_server::{Announcement, Failure, Generated};
use diagnostic::{Error, ErrorKind, Result, redact};
use vfs::Files;

use super::fetched::WithFetched;
use crate::argocd::{CompletedCharts, SourceEngines};
use crate::built::Warnings;
use crate::config::Config;
use crate::grants::Grants;
use crate::render::Renderer;

/// An application's folder in a repository.
#[derive(Debug)]
pub(crate) struct Session<'s> {
    config: &'s Config,
    renderer: Renderer,
    files: WithFetched<'s>,
    root: &'s Path,
    folder: &'s Path,
}

impl<'s> Session<'s> {
    /// Over the files of a repository, and a view of them that records what is consulted.
    pub(crate) fn new(
        config: &'s Config,
        repository: Arc<dyn Files>,
        files: &'s dyn Files,
        root: &'s Path,
        folder: &'s Path,
    ) -> Self {
        // Branches move: what was fetched for one request is not taken for what the next one asks for.
        // The files are those of the request; of this machine nothing is read, its repositories neither.
        let renderer = Renderer::new(config.clone().confined_to(Some(Vec::new()))).over(repository);
        let files = WithFetched::new(files, config.cache_dir.as_deref());
        Self { config, renderer, files, root, folder }
    }

    /// The engine that the folder is for, unless it is just any folder.
    pub(crate) fn engine(&self) -> Option<Engine> {
        Some(plugin::detect(&self.checkout())).filter(|engine| *engine != Engine::Directory)
    }

    /// Renders the application on the caller's stack, and says what is not wrong with it but surely not meant.
    ///
    /// # Errors
    /// If the input is invalid.
    pub(crate) fn generate(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        warn: &mut dyn FnMut(Warnings),
    ) -> Result<Generated, Failure> {
        let charts = CompletedCharts::default();
        let (rendered, warnings) = self.with(variable, &charts, |invocation, engines| {
            let rendered = plugin::render(invocation, &self.checkout(), engines)?;
            let manifests = rendered.objects.iter().map(argocd::objects::Object::to_json);
            let manifests = manifests.collect::<Result<Vec<_>>>()?;
            Ok((rendered, manifests))
        })?;
        let (rendered, manifests) = rendered;
        let mut warnings = warnings;
        warnings.add_applications(rendered.warnings);
        if self.config.strict {
            warnings.refuse().map_err(|error| self.failure(&error, None))?;
        }
        warn(warnings);
        Ok(Generated {
            manifests,
            source_type: rendered.engine.name().to_owned(),
            is_reproducible: !self.files.were_asked()
                && !self.renderer.has_fetched_files()
                && charts.is_empty(),
            may_be_empty: rendered.may_be_empty,
        })
    }

    /// The parameters that the application can have.
    ///
    /// # Errors
    /// If the parameters or the sources of their values are invalid.
    pub(crate) fn parameters(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Announcement>, Failure> {
        let charts = CompletedCharts::default();
        let (announced, _) = self.with(variable, &charts, |invocation, engines| {
            plugin::announce(invocation, &self.checkout(), engines)
        })?;
        Ok(announced.into_iter().map(announcement).collect())
    }

    fn with<T>(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        charts: &CompletedCharts,
        work: impl FnOnce(&Invocation, &SourceEngines<'_>) -> Result<T>,
    ) -> Result<(T, Warnings), Failure> {
        let invocation = Invocation::read(variable);
        let invocation = invocation.map_err(|error| self.failure(&error, None))?;
        let operator = &self.config.options;
        let engines = SourceEngines::new(self.renderer.engines(&self.files), charts, Grants::of(operator));
        let engines = engines.with_options(operator);
        let done = work(&invocation, &engines);
        let done = done.map_err(|error| self.failure(&error, Some(&invocation)))?;
        Ok((done, engines.into_warnings()))
    }

    fn checkout(&self) -> Checkout<'_> {
        Checkout { files: &self.files, root: self.root, folder: self.folder }
    }

    /// An error in one line: the place first, or the folder of the application.
    fn failure(&self, error: &Error, invocation: Option<&Invocation>) -> Failure {
        let place = match error.location() {
            Some(place) => place.to_string(),
            None => match self.files.display(self.folder) {
                shown if shown.is_empty() => ".".to_owned(),
                shown => shown,
            },
        };
        let hint = error.get_hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let message = format!("{}{hint}", error.message());
        let message = invocation.map_or_else(|| message.clone(), |known| known.without_secrets(&message));
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = redact(&format!("{place}: {message}")).into_owned();
        match error.kind() {
            ErrorKind::Environment => Failure::transient(line),
            _ => Failure::input(line),
        }
    }
}

/// A parameter as the service announces it.
fn announcement(parameter: plugin::Announcement) -> Announcement {
    let mut announcement = Announcement {
        name: parameter.name.to_owned(),
        title: parameter.title.to_owned(),
        tooltip: parameter.tooltip.to_owned(),
        item_type: parameter.item_type.to_owned(),
        collection_type: parameter.content.field().to_owned(),
        ..Announcement::default()
    };
    match parameter.content {
        Content::Text(text) => announcement.string = text,
        Content::List(items) => announcement.array = items,
        Content::Map(map) => announcement.map = map,
    }
    announcement
}
