//! Helm's template engine: turns a chart and values into manifests, as `helm template` of Helm 4.3.1 does.
//!
//! Pure: charts come in as files in memory, and what they ask of the world (the time, randomness, objects of a
//! cluster) through [`Options`]. `render.rs` reads top to bottom.

mod chart;
mod error;
pub mod manifest;
pub mod pattern;
mod sources;
pub mod values;
mod version;
mod warning;

pub use chart::{Chart, Dependency, File, IgnoreRules, Metadata};
pub use error::{Error, ErrorKind, Step};
pub use sources::Sources;
pub use version::HelmVersion;
pub use warning::{Code, Warning};
