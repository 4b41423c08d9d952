//! Kustomize's engine: turns a kustomization into resources, as Kustomize 5.8.1 does.
//!
//! The engine touches no disk, network, clock, environment or process: what it needs of them comes in through
//! [`World`]. [`build`] is the way in; `build.rs` reads top to bottom.

mod build;
mod config;
mod context;
mod decode;
mod dotted;
mod fieldspec;
mod fieldtree;
mod finish;
mod function;
mod generate;
mod growth;
mod hash;
mod history;
mod image;
mod json;
mod kustomization;
mod labels;
mod loader;
mod merge;
mod nameref;
mod options;
mod origin;
mod output;
mod plugin;
mod read;
mod repository;
mod resid;
mod resmap;
mod resource;
mod schema;
mod selector;
mod setter;
mod sort;
mod sources;
mod target;
#[cfg(test)]
mod testing;
mod transform;
mod types;
mod vars;
mod warning;
mod world;

pub use build::{Shared, build, build_watched};
pub use history::{Field, History, Step as BuildStep, Version};
pub use options::{LoadRestrictor, Options, Reorder};
pub use output::{Object, Output};
pub use types::KubernetesType;
pub use warning::{Code, Warning};
pub use world::{
    Chart, ChartInflator, Function, FunctionRunner, Inflated, Remote, RemoteChart, Repository, TextPlaces,
    Values, World,
};
