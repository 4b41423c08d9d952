//! Flux without a cluster: what its controllers make of Kustomizations and HelmReleases.
//!
//! The crate touches no disk, network or process.

pub mod envsubst;
