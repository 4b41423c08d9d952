//! The seam to the engines that build kustomizations and render charts; the caller provides them.

use std::path::PathBuf;

use argocd::objects::Object;
use helm_lite::values::UserValues;
use vfs::Files;
use yamltree::Location;

/// Builds kustomizations and renders charts.
pub trait Engines {
    /// Why an engine fails.
    type Error: From<diagnostic::Error>;

    /// Returns what `kustomize build` makes of a folder, whose kustomization may be another than the one in it.
    ///
    /// # Errors
    /// If it is invalid.
    fn folder(
        &self,
        files: &dyn Files,
        folder: PathBuf,
        edited: Option<EditedKustomization>,
    ) -> Result<Vec<Object>, Self::Error>;

    /// Returns what `kustomize build` makes of manifests and a kustomization that names them [`MANIFESTS`].
    ///
    /// # Errors
    /// If they are invalid.
    fn stream(&self, manifests: &str, kustomization: &str) -> Result<Vec<Object>, Self::Error>;

    /// Returns what `helm install` makes of a chart.
    ///
    /// # Errors
    /// If it is invalid.
    fn chart(&self, chart: &ChartRequest<'_>) -> Result<Manifests, Self::Error>;
}

/// File name of the manifests that a post-rendering kustomization refers to.
pub const MANIFESTS: &str = "helm-output.yaml";

/// A kustomization in place of the file in a folder, or of none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedKustomization {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A chart to render.
#[derive(Debug)]
pub struct ChartRequest<'r> {
    /// The location of the chart.
    pub chart: ChartPlace<'r>,
    /// The location that refers to it.
    pub place: Option<Location>,
    /// The release's name.
    pub release_name: String,
    /// The release's namespace.
    pub namespace: String,
    /// Files that take the place of the chart's own values.
    pub values_files: Vec<String>,
    /// True if such a file may be missing.
    pub ignores_missing_values_files: bool,
    /// Values over those of the chart.
    pub values: UserValues,
    /// True if values are held against the chart's schema.
    pub checks_schemas: bool,
}

/// The location of a chart.
#[derive(Debug)]
pub enum ChartPlace<'r> {
    /// In a folder of an artifact.
    Folder {
        /// The artifact's files.
        files: &'r dyn Files,
        /// The artifact's folder.
        root: PathBuf,
        /// The chart's folder or archive.
        path: PathBuf,
    },
    /// In a repository of charts, or in a registry.
    Remote {
        /// The address of the repository; `None` where the name is an address.
        repository: Option<String>,
        /// Its name.
        name: String,
        /// The version, or a range; the newest where it is empty.
        version: String,
        /// True if credentials go to other hosts too.
        passes_credentials: bool,
    },
}

/// The rendered manifests of a chart.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// The files below `crds/`.
    pub crds: String,
    /// The manifests without hooks.
    pub manifests: String,
    /// Hooks.
    pub hooks: String,
    /// Hooks that are tests.
    pub tests: String,
}
