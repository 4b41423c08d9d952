//! The seam to the engines that render a source; the caller provides them.

use std::path::PathBuf;

use yamltree::Location;

use crate::objects::Object;

use super::value_files::ValueFile;

/// Renders charts and builds kustomizations.
pub trait Engines: Sync {
    /// Why an engine fails.
    type Error: From<diagnostic::Error>;

    /// Returns what `helm template` prints of a chart.
    ///
    /// # Errors
    /// If the chart or its values are invalid.
    fn chart(&self, chart: &ChartRequest) -> Result<Manifests, Self::Error>;

    /// Returns what `kustomize build` prints of a kustomization.
    ///
    /// # Errors
    /// If it is invalid.
    fn kustomization(&self, kustomization: &KustomizationRequest) -> Result<Manifests, Self::Error>;

    /// Gets a chart from a repository: its archive or folder, and its version.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn pull(&self, chart: &RemoteChart<'_>) -> Result<PulledChart, Self::Error>;
}

/// The result of an engine.
#[derive(Debug)]
pub struct Manifests {
    /// The manifests as the engine prints them.
    pub text: String,
    /// The objects in that, lists not yet taken apart, with the places where they were written, if these are known.
    pub objects: Option<Vec<Object>>,
}

impl From<String> for Manifests {
    fn from(text: String) -> Self {
        Self { text, objects: None }
    }
}

/// One `helm template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartRequest {
    /// The chart's folder, or its archive.
    pub chart: PathBuf,
    /// The repository that it is in: nothing outside of it may be read.
    pub repository: PathBuf,
    /// The release's name.
    pub release_name: String,
    /// The release's namespace.
    pub namespace: Option<String>,
    /// The version of Kubernetes.
    pub kube_version: Option<String>,
    /// API versions beside Kubernetes' own.
    pub api_versions: Vec<String>,
    /// Files of values, the later ones winning.
    pub value_files: Vec<ValueFile>,
    /// Values after the files.
    pub values: Option<ValueText>,
    /// Values after all others.
    pub parameters: Vec<Parameter>,
    /// True if CRDs are wanted.
    pub include_crds: bool,
    /// True if tests are left out.
    pub skip_tests: bool,
    /// True if values are not checked against schemas.
    pub skip_schema_validation: bool,
}

/// Values that are in the Application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueText {
    /// The field that holds them.
    pub name: String,
    /// YAML.
    pub text: String,
}

/// A value for a path of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The flag.
    pub kind: ParameterKind,
    /// The value of the flag: `path=value`.
    pub assignment: String,
}

/// The flag by which a parameter's value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// `--set`
    Value,
    /// `--set-string`
    Text,
    /// `--set-file`
    File,
}

impl ParameterKind {
    /// The flag of `helm template`.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Value => "--set",
            Self::Text => "--set-string",
            Self::File => "--set-file",
        }
    }
}

/// One `kustomize build`.
#[derive(Clone, Debug)]
pub struct KustomizationRequest {
    /// The folder of the kustomization.
    pub folder: PathBuf,
    /// The repository that it is in.
    pub repository: PathBuf,
    /// The kustomization to build in place of the one that is there.
    pub edited: Option<EditedKustomization>,
    /// The manifests that replace a chart's `Chart.yaml` as a resource of the kustomization.
    pub chart: Option<ChartOutput>,
    /// Flags, as `kustomize.buildOptions` has them.
    pub options: Vec<String>,
    /// `--helm-kube-version`, where charts are enabled.
    pub kube_version: Option<String>,
    /// `--helm-api-versions`, where charts are enabled.
    pub api_versions: Vec<String>,
}

/// A kustomization with what an Application says of it, in place of the file in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedKustomization {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The rendered chart of a kustomization that lists it as a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartOutput {
    /// The file that it is seen at.
    pub path: PathBuf,
    /// The manifests.
    pub text: String,
}

/// A chart in a repository of charts.
#[derive(Clone, Debug)]
pub struct RemoteChart<'a> {
    /// The repository, or where charts are in a registry, with or without `oci://`.
    pub repo_url: &'a str,
    /// The chart's name.
    pub name: &'a str,
    /// The version, or a range.
    pub version: &'a str,
    /// True if credentials go to other hosts too.
    pub pass_credentials: bool,
    /// The location that refers to it.
    pub place: Option<Location>,
}

/// A chart that was pulled.
#[derive(Clone, Debug)]
pub struct PulledChart {
    /// Its folder or archive.
    pub path: PathBuf,
    /// Its version.
    pub version: String,
}
