//! Helm's template engine: turns a chart and values into manifests, as `helm template` of Helm 4.3.1 does.
//!
//! Pure: charts come in as files in memory, and what they ask of the world (the time, randomness, objects of a
//! cluster) through [`Options`]. `template.rs` reads top to bottom.
//!
//! ```
//! use helm_lite::{Chart, File, HelmVersion, Options, Selection, values};
//!
//! let files = vec![
//!     File::new("Chart.yaml", b"apiVersion: v2\nname: web\nversion: 1.0.0\n"),
//!     File::new("values.yaml", b"replicas: 1\n"),
//!     File::new("templates/scale.yaml", b"kind: Scale\nspec: {replicas: {{ .Values.replicas }}}\n"),
//! ];
//! let chart = Chart::load(files, "web", HelmVersion::V4)?;
//! let set = ["replicas=3".to_owned()];
//! let user = values::merge(&values::Options { set: &set, ..Default::default() }, HelmVersion::V4)?;
//! let rendered = chart.template(&user, &Options::default())?.complete()?;
//! assert_eq!(
//!     rendered.text(Selection::default()).whole(),
//!     "---\n# Source: web/templates/scale.yaml\nkind: Scale\nspec: {replicas: 3}\n"
//! );
//! # Ok::<(), diagnostic::Error>(())
//! ```

mod capabilities;
mod chart;
mod cluster;
mod dependencies;
mod funcs;
mod json;
pub mod lint;
pub mod manifest;
mod objects;
mod options;
mod origin;
mod release_name;
mod render;
pub mod repository;
mod schema;
pub mod show;
mod sources;
mod template;
mod text;
pub mod values;
mod version;
mod warning;
pub mod yaml;

pub use capabilities::{API_VERSIONS, KubeVersion};
pub use chart::{Chart, Dependency, File, IgnoreRules, Lock, Metadata, archive, pack};
pub use cluster::Cluster;
pub use options::Options;
pub use origin::Origin;
pub use release_name::release_name;
pub use sources::Sources;
pub use template::Rendered;
pub use text::{Document, Selection, Text, push_document};
pub use version::HelmVersion;
pub use warning::{Code, Warning};
