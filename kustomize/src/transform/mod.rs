//! What changes resources: the built-in transformers, in the order in which a kustomization runs them.

mod hash;

use yamltree::Node;

use crate::context::Context;
use crate::error::Result;
use crate::resmap::ResMap;
use crate::target::Target;

/// A change to the resources of a build.
pub(crate) trait Transformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()>;
}

/// One kind of transformer: how it is made from a kustomization's fields and from a configuration of its own.
pub(crate) struct Builtin {
    /// The kind by which `transformers:` names it.
    pub(crate) kind: &'static str,
    /// The transformers that a kustomization's fields ask for, in their order.
    pub(crate) from_fields: fn(&Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>>,
    /// The transformer that a configuration file or inline configuration asks for.
    pub(crate) from_config: fn(&Node, &Target<'_, '_>) -> Result<Box<dyn Transformer>>,
}

/// The built-in transformers. Their order is the order in which they run.
pub(crate) const BUILTINS: &[Builtin] = &[hash::BUILTIN];
