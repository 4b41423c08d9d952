//! The engines of this program behind the seam of Flux' objects.
//!
//! In: one build, or one chart, as Flux' controllers have it. Out: what that gives. The warnings of the engines are kept.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use argocd::objects::Object;
use diagnostic::{Error, ErrorKind, Result};
use flux::{ChartPlace, ChartRequest, EditedKustomization, Engines, MANIFESTS, Manifests};
use helm_lite::values::{self, Options as ValuesOptions, ValuesFile};
use helm_lite::{Chart, Selection, push_document};
use kustomize::{LoadRestrictor, Options};
use vfs::{Files, MemoryTree};

use super::Settings;
use crate::argocd::{CompletedCharts, Shadowed};
use crate::built::Warnings;
use crate::chart::Release;
use crate::manifests;
use crate::remote::charts::{Access, ChartRequest as RemoteRequest};
use crate::render::{ENGINE, Renderer};

/// The engines, for one Kustomization or HelmRelease.
pub(super) struct FluxEngines<'r> {
    renderer: &'r Renderer,
    files: &'r dyn Files,
    completed: &'r CompletedCharts,
    settings: &'r Settings,
    warnings: Mutex<Warnings>,
}

impl<'r> FluxEngines<'r> {
    pub(super) fn new(
        renderer: &'r Renderer,
        files: &'r dyn Files,
        completed: &'r CompletedCharts,
        settings: &'r Settings,
    ) -> Self {
        Self { renderer, files, completed, settings, warnings: Mutex::default() }
    }

    pub(super) fn into_warnings(self) -> Warnings {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn warn(&self, warnings: Warnings) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
    }

    fn kustomize(&self, files: &dyn Files, folder: &Path) -> Result<Vec<Object>> {
        // No plugins, no charts; what may be read is for the artifact to say.
        let options = Options { load_restrictor: LoadRestrictor::None, ..Options::default() };
        let overlay = self.renderer.engines(files).kustomize(folder, &options)?;
        self.warn(overlay.warnings());
        manifests::of_overlay(&overlay, self.renderer)
    }

    /// The chart, with the files in place of its values that the release names.
    fn loaded(&self, request: &ChartRequest<'_>) -> Result<Arc<Chart>> {
        match &request.chart {
            ChartPlace::Folder { files, root, path } => {
                if files.resolve(path).is_err() {
                    let shown = path.strip_prefix(root).unwrap_or(path).display();
                    let message = format!("the chart `{shown}` does not exist in the source");
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
                let loaded = self.completed.loaded(&self.renderer.engines(*files), path, root)?;
                let read = |name: &str| {
                    let (real, _) = files.resolve(&root.join(name.trim_start_matches('/'))).ok()?;
                    real.starts_with(root).then(|| files.read(&real).ok()).flatten()
                };
                with_values(loaded, request, &read)
            }
            ChartPlace::Remote { repository, name, version, passes_credentials } => {
                let access = Access { pass_credentials: *passes_credentials, ..Access::default() };
                let version = Some(version.as_str()).filter(|version| !version.is_empty());
                let reference = name.as_str();
                let remote =
                    RemoteRequest { reference, repo: repository.as_deref(), version, access: &access };
                let engines = self.renderer.engines(self.files);
                let path = engines.chart_sources().folder(&remote)?;
                let loaded = engines.chart(&path, None)?;
                let chart = Arc::clone(&loaded);
                let read = move |name: &str| {
                    let is_it = |file: &&helm_lite::File| file.name == name;
                    let values = chart.values_file.iter().find(is_it);
                    values.or_else(|| chart.files.iter().find(is_it)).map(|file| Arc::clone(&file.data))
                };
                with_values(loaded, request, &read)
            }
        }
    }
}

/// Of a chart whose values files are named, these are the values, and its own are not unless they are named too.
fn with_values(
    loaded: Arc<Chart>,
    request: &ChartRequest<'_>,
    read: &dyn Fn(&str) -> Option<Arc<[u8]>>,
) -> Result<Arc<Chart>> {
    if request.values_files.is_empty() {
        return Ok(loaded);
    }
    let mut contents = Vec::new();
    for name in &request.values_files {
        match read(name) {
            Some(data) => contents.push((name, data)),
            None if request.ignores_missing_values_files => {}
            None => {
                let message = format!("the values file `{name}` does not exist");
                return Err(Error::new(ErrorKind::Invalid, message).hint(
                    "it is a path in the source, or in the chart where that is from a repository of charts",
                ));
            }
        }
    }
    let files: Vec<ValuesFile<'_>> = contents.iter().map(|(name, data)| ValuesFile { name, data }).collect();
    let options = ValuesOptions { files: &files, ..ValuesOptions::default() };
    let given = values::merge(&options, ENGINE)?;
    let mut chart = (*loaded).clone();
    chart.values = given.table;
    chart.sources.extend(&given.sources);
    chart.warnings.extend(given.warnings);
    Ok(Arc::new(chart))
}

impl Engines for FluxEngines<'_> {
    type Error = Error;

    fn folder(
        &self,
        files: &dyn Files,
        folder: PathBuf,
        edited: Option<EditedKustomization>,
    ) -> Result<Vec<Object>> {
        let Some(EditedKustomization { path, text }) = edited else { return self.kustomize(files, &folder) };
        let shadowed = Shadowed::new(files, &path, &text, "edited")
            .map_err(|error| Error::disk("find", &path, &error))?;
        self.kustomize(&shadowed, &folder)
    }

    fn stream(&self, manifests: &str, kustomization: &str) -> Result<Vec<Object>> {
        // What is read is kept by its path, so that each stream needs one of its own.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let folder = format!("post-renderer-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let file = |name: &str| format!("{folder}/{name}");
        let tree: MemoryTree =
            [(file(MANIFESTS), manifests.as_bytes()), (file("kustomization.yaml"), kustomization.as_bytes())]
                .into_iter()
                .collect();
        self.kustomize(&tree, &Path::new("/").join(&folder))
            .map_err(|error| error.context("while post-rendering".to_owned()))
    }

    fn chart(&self, request: &ChartRequest<'_>) -> Result<Manifests> {
        let place = || request.place.clone();
        let loaded = self.loaded(request).map_err(|error| error.at(place()))?;
        let release = Release {
            name: &request.release_name,
            namespace: Some(&request.namespace),
            is_upgrade: false,
            kube_version: self.settings.kube_version.as_deref(),
            api_versions: &self.settings.api_versions,
            version: ENGINE,
            checks_schemas: request.checks_schemas,
            cluster: None,
        };
        let engines = self.renderer.engines(self.files);
        let rendered = engines.helm(&loaded, &request.values, &release).map_err(|error| error.at(place()))?;
        let text = rendered.text(Selection { crds: true, hooks: true, tests: true });
        let hooks = |are_tests: bool| {
            documents(
                text.hooks()
                    .filter(|hook| hook.is_test() == are_tests)
                    .map(|hook| (&*hook.manifest.path, Cow::Borrowed(&*hook.manifest.text))),
            )
        };
        let manifests = Manifests {
            crds: documents(text.crds().iter().map(|(path, text)| (&**path, Cow::Borrowed(&**text)))),
            manifests: documents(text.manifests().iter().map(|one| (&*one.path, Cow::Borrowed(&*one.text)))),
            hooks: hooks(false),
            tests: hooks(true),
        };
        self.warn(Warnings::of_chart(rendered.warnings));
        Ok(manifests)
    }
}

fn documents<'d>(all: impl Iterator<Item = (&'d str, Cow<'d, str>)>) -> String {
    let mut text = String::new();
    for (path, document) in all {
        push_document(&mut text, path, &document);
    }
    text
}
