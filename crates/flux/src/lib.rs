//! Flux without a cluster: what its controllers make of Kustomizations and HelmReleases.
//!
//! The crate touches no disk, network or process. Files come in through [`vfs::Files`], where repositories are through
//! the context that Applications have too, and the engines that build and render are the caller's. [`build`] and
//! [`release`] are the ways in.

mod artifact;
mod build;
mod data;
mod engines;
pub mod envsubst;
mod generate;
mod helm_release;
mod ignore;
mod known;
mod kustomization;
mod metadata;
mod release;
mod section;
mod source;
mod substitution;
mod values;
mod warning;

pub use artifact::Artifact;
pub use build::{Rendered, World, build};
pub use engines::{ChartPlace, ChartRequest, EditedKustomization, Engines, MANIFESTS, Manifests};
pub use helm_release::{GROUP as HELM_GROUP, HelmRelease, is_helm_release};
pub use known::{InFile, Known, Lookup};
pub use kustomization::{FLUX_NAMESPACE, GROUP as KUSTOMIZE_GROUP, Kustomization, is_kustomization};
pub use release::release;
pub use source::{GROUP as SOURCE_GROUP, Places, SourceRef};
pub use warning::{Code, Warning};
