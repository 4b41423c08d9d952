//! The engines of this program behind the seam of Argo CD's Applications.
//!
//! In: one `helm template` or `kustomize build` as Argo CD would run it. Out: what that prints. The warnings of the engines
//! are kept for the caller.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use argocd::application::{
    ChartRequest, KustomizationRequest, Manifests, ParameterKind, PulledChart, RemoteChart, ValueFile,
};
use diagnostic::{Error, ErrorKind, Result};
use helm_lite::{Chart, Selection};
use kustomize::{LoadRestrictor, Options, Remote as _, Reorder};
use vfs::Files;

use super::shadow::Shadowed;
use crate::built::Warnings;
use crate::chart::places::{Inputs, ReadFiles};
use crate::chart::{self, Release, Values};
use crate::dependencies::Manager;
use crate::grants::{self, Grants};
use crate::manifests;
use crate::remote::charts::{Access, ChartRequest as RemoteRequest, OCI};
use crate::render::{ENGINE, Engines};

/// Charts whose dependencies had to be fetched, each once for all Applications.
#[derive(Debug, Default)]
pub(crate) struct CompletedCharts(Mutex<HashMap<PathBuf, Slot>>);

type Slot = Arc<OnceLock<Result<Arc<Chart>>>>;

impl CompletedCharts {
    /// Returns true if nothing was fetched.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The chart at a path of a repository; what it depends on and has not in its `charts/` is fetched, as Argo CD has
    /// `helm dependency build` do, and Flux' source-controller does itself.
    ///
    /// # Errors
    /// If the chart is invalid or cannot be fetched.
    pub(crate) fn loaded(&self, engines: &Engines<'_>, path: &Path, repository: &Path) -> Result<Arc<Chart>> {
        let loaded = engines.chart(path, Some(repository))?;
        if loaded.missing_dependencies().is_empty() {
            return Ok(loaded);
        }
        let slot = {
            let mut completed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(completed.entry(path.to_owned()).or_default())
        };
        slot.get_or_init(|| completed(engines, path, repository, &loaded).map(Arc::new)).clone()
    }
}

fn completed(engines: &Engines<'_>, folder: &Path, repository: &Path, loaded: &Chart) -> Result<Chart> {
    let access = Access::default();
    let fetched = Manager::new(engines.chart_sources(), folder, &access, true)
        .map(|manager| manager.within(engines.files(), repository))
        .and_then(|manager| manager.charts(&mut |_| {}))
        .map_err(|error| {
            error.context(format!("while fetching what the chart `{}` depends on", loaded.metadata.name))
        })?;
    let mut chart = loaded.clone();
    let is_fetched = |known: &Chart| fetched.iter().any(|new| new.metadata.name == known.metadata.name);
    chart.dependencies.retain(|known| !is_fetched(known));
    chart.dependencies.extend(fetched.iter().cloned());
    Ok(chart)
}

/// The engines, for the sources of one Application.
#[derive(Debug)]
pub(crate) struct SourceEngines<'r> {
    engines: Engines<'r>,
    completed: &'r CompletedCharts,
    operator: Options,
    grants: Grants,
    warnings: Mutex<Warnings>,
}

impl<'r> SourceEngines<'r> {
    /// For sources whose authors may ask for what is granted.
    pub(crate) fn new(engines: Engines<'r>, completed: &'r CompletedCharts, grants: Grants) -> Self {
        Self { engines, completed, operator: Options::default(), grants, warnings: Mutex::default() }
    }

    /// The same, where the operator's options hold for all builds.
    pub(crate) fn with_options(self, operator: &Options) -> Self {
        Self { operator: operator.clone(), ..self }
    }

    /// Returns what the engines gave warnings of.
    pub(crate) fn into_warnings(self) -> Warnings {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn warn(&self, warnings: Warnings) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
    }

    /// Returns what `--values` and `--set-file` name: files of repositories, addresses, and values in the Application.
    fn read(&self, names: &HashMap<String, Origin<'_>>, name: &str) -> Result<Vec<u8>> {
        let file = |path: &Path| {
            let files = self.engines.files();
            let read = files.resolve(path).and_then(|(real, _)| files.read(&real));
            read.map(|bytes| bytes.to_vec()).map_err(|error| {
                Error::new(ErrorKind::Invalid, format!("cannot read `{}`: {error}", files.display(path)))
            })
        };
        match names.get(name) {
            Some(Origin::Text(text)) => Ok(text.as_bytes().to_vec()),
            Some(Origin::File(path)) => file(path),
            Some(Origin::Url(url)) => self.fetch(url),
            None if name.contains("://") => self.fetch(name),
            None => file(Path::new(name)),
        }
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>> {
        let fetched = self.engines.remotes().file(url)?;
        Ok(fetched.to_vec())
    }
}

/// The source of a values file's content.
enum Origin<'o> {
    File(&'o Path),
    Url(&'o str),
    Text(&'o str),
}

impl argocd::application::Engines for SourceEngines<'_> {
    type Error = Error;

    fn chart(&self, request: &ChartRequest) -> Result<Manifests> {
        let mut names = HashMap::new();
        let mut given = Values::default();
        for file in &request.value_files {
            let (name, origin) = match file {
                ValueFile::File(path) => (self.engines.files().display(path), Origin::File(path)),
                ValueFile::Url(url) => (url.clone(), Origin::Url(url)),
            };
            names.insert(name.clone(), origin);
            given.files.push(name);
        }
        if let Some(values) = &request.values {
            names.insert(values.name.clone(), Origin::Text(&values.text));
            given.files.push(values.name.clone());
        }
        for parameter in &request.parameters {
            let list = match parameter.kind {
                ParameterKind::Value => &mut given.set,
                ParameterKind::Text => &mut given.string,
                ParameterKind::File => &mut given.file,
            };
            list.push(parameter.assignment.clone());
        }
        let files = RefCell::new(ReadFiles::default());
        let read = |name: &str| {
            let data = self.read(&names, name)?;
            if self.engines.keep_places() {
                files.borrow_mut().0.insert(name.to_owned(), data.clone());
            }
            Ok(data)
        };
        let user = chart::user_values_from(&read, &given, ENGINE)?;
        let chart = self.completed.loaded(&self.engines, &request.chart, &request.repository)?;
        let release = Release {
            name: &request.release_name,
            namespace: request.namespace.as_deref(),
            is_upgrade: false,
            kube_version: request.kube_version.as_deref(),
            api_versions: &request.api_versions,
            version: ENGINE,
            checks_schemas: !request.skip_schema_validation,
            cluster: None,
        };
        let rendered = self.engines.helm(&chart, &user, &release)?;
        let selection = Selection { crds: request.include_crds, hooks: true, tests: !request.skip_tests };
        let inputs = |root| Inputs {
            root,
            chart: Arc::clone(&chart),
            given,
            files: files.into_inner(),
            version: ENGINE,
        };
        let (text, places) = self.engines.text(rendered.text(selection), &request.chart, inputs);
        self.warn(Warnings::of_chart(rendered.warnings));
        let Some(places) = places else { return Ok(text.into()) };
        let name = self.engines.files().display(&request.chart);
        let objects = Some(manifests::of_chart(&name, text.as_str().into(), &places)?);
        Ok(Manifests { text, objects })
    }

    fn kustomization(&self, request: &KustomizationRequest) -> Result<Manifests> {
        let options = options(request, &self.operator, self.grants)?;
        let with_chart = match &request.chart {
            Some(chart) => Some(shadowed(self.engines.files(), &chart.path, &chart.text, "rendered")?),
            None => None,
        };
        let files = with_chart.as_ref().map_or(self.engines.files(), |files| files as &dyn Files);
        let edited = match &request.edited {
            Some(edited) => Some(shadowed(files, &edited.path, &edited.text, "edited")?),
            None => None,
        };
        let files = edited.as_ref().map_or(files, |files| files as &dyn Files);
        let overlay = self.engines.over(files).kustomize(&request.folder, &options)?;
        self.warn(overlay.warnings());
        let keep = self.engines.keep_places();
        let objects = keep.then(|| manifests::documents(&overlay, self.engines.renderer())).transpose()?;
        Ok(Manifests { text: overlay.output.yaml().to_owned(), objects })
    }

    fn pull(&self, chart: &RemoteChart<'_>) -> Result<PulledChart> {
        let access = Access { pass_credentials: chart.pass_credentials, ..Access::default() };
        // Without a scheme it is a registry (util/helm/client.go `IsHelmOciRepo`).
        let registry = (!chart.repo_url.contains("://")).then(|| format!("{OCI}{}", chart.repo_url));
        let request = RemoteRequest {
            reference: chart.name,
            repo: Some(registry.as_deref().unwrap_or(chart.repo_url)),
            version: Some(chart.version),
            access: &access,
        };
        let path =
            self.engines.chart_sources().folder(&request).map_err(|error| error.at(chart.place.clone()))?;
        let version = self.engines.chart(&path, None)?.metadata.version.clone();
        Ok(PulledChart { path, version })
    }
}

fn shadowed<'f>(files: &'f dyn Files, path: &Path, text: &str, note: &'static str) -> Result<Shadowed<'f>> {
    Shadowed::new(files, path, text, note).map_err(|error| Error::disk("find", path, &error))
}

/// The options of a build; the versions of the cluster are for charts only.
fn options(request: &KustomizationRequest, operator: &Options, grants: Grants) -> Result<Options> {
    let asked = grants::parse(request.options.iter().map(String::as_str))?;
    grants.check(&asked)?;
    let mut options = with(operator.clone(), asked);
    if options.enable_helm {
        if request.kube_version.is_some() {
            options.helm_kube_version.clone_from(&request.kube_version);
        }
        options.helm_api_versions.extend(request.api_versions.iter().cloned());
    }
    Ok(options)
}

/// Returns the operator's options, and what is asked for beside them.
fn with(operator: Options, asked: Options) -> Options {
    let mut options = operator;
    options.enable_helm |= asked.enable_helm;
    options.enable_managed_by_label |= asked.enable_managed_by_label;
    options.enable_alpha_plugins |= asked.enable_alpha_plugins;
    options.enable_exec |= asked.enable_exec;
    options.helm_api_versions.extend(asked.helm_api_versions);
    options.function_environment.extend(asked.function_environment);
    if asked.helm_kube_version.is_some() {
        options.helm_kube_version = asked.helm_kube_version;
    }
    if asked.load_restrictor != LoadRestrictor::default() {
        options.load_restrictor = asked.load_restrictor;
    }
    if asked.reorder != Reorder::default() {
        options.reorder = asked.reorder;
    }
    options
}
