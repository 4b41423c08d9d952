//! Helm's template engine: turns a chart and values into manifests, as `helm template` of Helm 4.3.1 does.
//!
//! Pure: charts come in as files in memory, and what they ask of the world (the time, randomness, objects of a
//! cluster) through [`Options`]. `render.rs` reads top to bottom.

mod chart;

pub use chart::{Chart, Dependency, File, Metadata};
