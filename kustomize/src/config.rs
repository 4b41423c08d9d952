//! The field specifications of a build: the built-in ones and those that `configurations` and `crds` add.

use crate::context::Context;
use crate::error::Result;
use crate::fieldspec::FieldSpec;
use crate::kustomization::Kustomization;
use crate::loader::Loader;

/// The field specifications in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransformerConfig {
    pub(crate) name_prefix: Vec<FieldSpec>,
}

impl TransformerConfig {
    /// Adds those of a base, or those that a kustomization configures.
    pub(crate) fn merge(&mut self, other: TransformerConfig) -> Result<()> {
        let _ = other;
        Ok(())
    }
}

/// The field specifications that a kustomization works with: built in, from `configurations` and from `crds`.
pub(crate) fn load(
    kustomization: &Kustomization,
    loader: &Loader,
    cx: &Context<'_>,
) -> Result<TransformerConfig> {
    let _ = (kustomization, loader, cx);
    Ok(TransformerConfig::default())
}
