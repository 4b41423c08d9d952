//! The deprecated `vars`: `$(NAME)` in certain fields stands for a field of a resource.

use crate::config::TransformerConfig;
use crate::context::Context;
use crate::error::Result;
use crate::kustomization::Kustomization;
use crate::resmap::ResMap;

/// The vars defined so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarSet {}

impl VarSet {
    /// Adds those of a kustomization and ties them to the resources accumulated so far.
    pub(crate) fn add(&mut self, kustomization: &Kustomization, map: &mut ResMap) -> Result<()> {
        let _ = (kustomization, map);
        Ok(())
    }

    /// Adds those of a base.
    pub(crate) fn merge(&mut self, other: VarSet) -> Result<()> {
        let _ = other;
        Ok(())
    }
}

/// Puts the values of vars in their places.
pub(crate) fn resolve(
    map: &mut ResMap,
    vars: &VarSet,
    config: &TransformerConfig,
    cx: &Context<'_>,
) -> Result<()> {
    let _ = (map, vars, config, cx);
    Ok(())
}
