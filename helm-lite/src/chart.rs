//! A chart in memory: its metadata, templates, values and the charts that it brings along.

pub mod archive;
mod ignore;
mod load;
mod lock;
mod pack;
pub(crate) mod shape;

use std::sync::Arc;

use yamltree::Node;

use crate::sources::Sources;
use crate::values::Table;
use crate::warning::Warning;
pub use ignore::IgnoreRules;
pub(crate) use load::{sanitized, text};
pub use lock::Lock;
pub use pack::pack;

/// A file of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the chart, with `/`: `templates/deployment.yaml`.
    pub name: String,
    /// Its content, without a byte order mark.
    pub data: Arc<[u8]>,
}

impl File {
    /// A file; a byte order mark at its start is dropped.
    #[must_use]
    pub fn new(name: impl Into<String>, data: &[u8]) -> Self {
        Self { name: name.into(), data: data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data).into() }
    }

    /// Returns true if it holds custom resource definitions, which are installed before everything else.
    #[must_use]
    pub fn is_crd(&self) -> bool {
        self.name.starts_with("crds/")
            && [".yaml", ".yml", ".json"].iter().any(|ending| self.name.ends_with(ending))
    }

    /// Its content as text; bytes that are none are replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }
}

/// A chart that was read.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The content of `Chart.yaml`.
    pub metadata: Metadata,
    /// `values.yaml`, empty where there is none.
    pub values: Table,
    /// That file as it is, where there is one.
    pub values_file: Option<File>,
    /// `values.schema.json`.
    pub schema: Option<Arc<[u8]>>,
    /// The files below `templates/`.
    pub templates: Vec<File>,
    /// Every other file that templates can read: neither templates nor charts nor what is above.
    pub files: Vec<File>,
    /// The charts in `charts/`, before conditions and tags are applied.
    pub dependencies: Vec<Chart>,
    /// The content of `Chart.lock` or `requirements.lock`.
    pub lock: Option<Lock>,
    /// The texts behind the spans of its metadata and values, without those of its dependencies.
    pub sources: Sources,
    /// The warnings of reading it and its dependencies.
    pub warnings: Vec<Warning>,
}

/// The content of `Chart.yaml`.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The file as written, for `.Chart`.
    pub node: Node,
    /// `v1` or `v2`.
    pub api_version: String,
    /// The chart's name, or its alias once it is a dependency under one.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of what it installs.
    pub app_version: String,
    /// `application` or `library`.
    pub kind: String,
    /// The constraint on Kubernetes' version.
    pub kube_version: String,
    /// True if it is deprecated.
    pub deprecated: bool,
    /// The dependencies that it declares, from here or from `requirements.yaml`.
    pub dependencies: Vec<Dependency>,
}

/// A dependency that a chart declares.
#[derive(Clone, Debug, Default)]
pub struct Dependency {
    /// The chart's name.
    pub name: String,
    /// The versions that fit.
    pub version: String,
    /// The URL of its repository.
    pub repository: String,
    /// Paths of values, comma-separated, of which the first that is a boolean decides whether it is enabled.
    pub condition: String,
    /// Tags that enable it where no condition decides.
    pub tags: Vec<String>,
    /// The name it goes by here.
    pub alias: String,
    /// The values that the parent imports: as written, or a mapping of `child` and `parent` once they are imported.
    pub import_values: Vec<Node>,
    /// True if it was looked at and found to be enabled.
    pub enabled: bool,
}
