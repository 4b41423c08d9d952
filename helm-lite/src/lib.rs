//! Helm's template engine: turns a chart and values into manifests, as `helm template` of Helm 4.3.1 does.
//!
//! Pure: charts come in as files in memory, and what they ask of the world (the time, randomness, objects of a
//! cluster) through [`Options`]. `render.rs` reads top to bottom.

mod capabilities;
mod chart;
mod cluster;
mod dependencies;
mod error;
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
pub mod values;
mod version;
mod warning;
pub mod yaml;

pub use capabilities::{API_VERSIONS, KubeVersion};
pub use chart::{Chart, Dependency, File, IgnoreRules, Lock, Metadata, archive, pack};
pub use cluster::Cluster;
pub use dependencies::process_dependencies;
pub use error::DEBUG_ADVICE;
pub use options::Options;
pub use origin::Origin;
pub use release_name::{check_release_name, release_name};
pub use render::{Output, render};
pub use schema::validate_values;
pub use sources::Sources;
pub use version::HelmVersion;
pub use warning::{Code, Warning};
