//! A chart that is a target itself, beside overlays.
//!
//! In: its path and what is said of all charts of the run, in the words of `helm template`. Out: what that prints.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use diagnostic::Result;
use helm_lite::values::UserValues;
use helm_lite::{Chart, Selection};
use vfs::{FileKind, Files};

use crate::built::RenderedChart;
use crate::chart::places::{Inputs, ReadFiles};
use crate::chart::{self, Release, Values};
use crate::render::{ENGINE, Engines};

/// The settings of charts that are targets.
#[derive(Clone, Debug, Default)]
pub struct ChartOptions {
    /// The values that all of them get.
    pub values: Values,
    /// The release's name; that of the folder or the archive's chart where absent.
    pub release_name: Option<String>,
    /// The release's namespace.
    pub namespace: Option<String>,
    /// True if CRDs are printed too.
    pub include_crds: bool,
    /// True if hooks are left out.
    pub no_hooks: bool,
    /// True if tests are left out.
    pub skip_tests: bool,
    /// The cluster's version.
    pub kube_version: Option<String>,
    /// The API versions that the cluster has beside Kubernetes' own.
    pub api_versions: Vec<String>,
}

/// Renders the charts among the targets of a run.
#[derive(Debug, Default)]
pub(crate) struct ChartTargets {
    options: ChartOptions,
    /// Read once: standard input can be one of the files.
    user: OnceLock<Result<User>>,
}

/// The values that were given, and the files that they were read from.
#[derive(Debug)]
struct User {
    values: UserValues,
    files: ReadFiles,
}

impl ChartTargets {
    pub(crate) fn new(options: ChartOptions) -> Self {
        Self { options, user: OnceLock::new() }
    }

    /// Renders the chart at a path: the text, and what is surely not meant.
    ///
    /// # Errors
    /// If the chart or its values are invalid, with Helm's message.
    pub(crate) fn render(&self, engines: Engines<'_>, path: &Path) -> Result<RenderedChart> {
        let loaded = engines.chart(path, None)?;
        let User { values, files } = self.user()?;
        let options = &self.options;
        let name =
            options.release_name.clone().unwrap_or_else(|| release_name(engines.files(), path, &loaded));
        let release = Release {
            name: &name,
            namespace: options.namespace.as_deref(),
            is_upgrade: false,
            kube_version: options.kube_version.as_deref(),
            api_versions: &options.api_versions,
            version: ENGINE,
            checks_schemas: true,
            cluster: None,
        };
        let rendered = engines.helm(&loaded, values, &release)?;
        let selection =
            Selection { crds: options.include_crds, hooks: !options.no_hooks, tests: !options.skip_tests };
        let inputs = |root| Inputs {
            root,
            chart: Arc::clone(&loaded),
            given: options.values.clone(),
            files: files.clone(),
            version: ENGINE,
        };
        let (text, places) = engines.text(rendered.text(selection), path, inputs);
        Ok(RenderedChart { text, warnings: rendered.warnings, places })
    }

    fn user(&self) -> Result<&User> {
        let read = self.user.get_or_init(|| {
            let files = RefCell::new(ReadFiles::default());
            let read = |name: &str| {
                let data = chart::read_values(name)?;
                files.borrow_mut().0.insert(name.to_owned(), data.clone());
                Ok(data)
            };
            let values = chart::user_values_from(&read, &self.options.values, ENGINE)?;
            Ok(User { values, files: files.into_inner() })
        });
        read.as_ref().map_err(Clone::clone)
    }
}

/// Returns true if a path is that of a chart: an archive, or a folder that is one and no kustomization.
pub(crate) fn is_chart(path: &Path, files: &dyn Files) -> bool {
    match files.resolve(path) {
        Ok((_, FileKind::File)) => is_archive(path),
        Ok((_, FileKind::Directory)) => has_file(path, "Chart.yaml", files) && !is_overlay(path, files),
        Err(_) => false,
    }
}

/// Returns true if a path is that of a kustomization.
pub(crate) fn is_overlay(path: &Path, files: &dyn Files) -> bool {
    KUSTOMIZATIONS.iter().any(|name| has_file(path, name, files))
}

fn has_file(folder: &Path, name: &str, files: &dyn Files) -> bool {
    matches!(files.resolve(&folder.join(name)), Ok((_, FileKind::File)))
}

/// The names that a kustomization can have.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Returns true if a path is named as archives of charts are.
pub(crate) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tgz")
}

/// The name of a chart's folder, or of the chart in an archive, whose file has its version in it.
fn release_name(files: &dyn Files, path: &Path, chart: &Chart) -> String {
    let folder = match files.resolve(path) {
        Ok((folder, FileKind::Directory)) => Some(folder),
        _ => None,
    };
    let name = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| chart.metadata.name.clone())
}
