//! One kustomization in the course of a build, as its generators and transformers see it.

use std::sync::Arc;

use crate::config::TransformerConfig;
use crate::context::Context;
use crate::kustomization::Kustomization;
use crate::loader::Loader;

/// A kustomization with what its steps need.
pub(crate) struct Target<'t, 'cx> {
    pub(crate) kustomization: &'t Kustomization,
    /// Loads what its paths name.
    pub(crate) loader: &'t Arc<Loader>,
    /// The field specifications in force.
    pub(crate) config: &'t TransformerConfig,
    /// The namespace of the kustomization that includes it, which charts inherit.
    pub(crate) helm_namespace: Option<&'t str>,
    pub(crate) cx: &'t Context<'cx>,
}
