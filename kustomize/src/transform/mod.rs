//! The built-in transformers, in the order in which a kustomization runs them.

mod affix;
mod annotations;
mod entries;
mod hash;
mod image_tag;
mod label;
mod namespace;
mod patch;
mod patch_json6902;
mod patch_strategic_merge;
mod patched;
mod prefix;
mod prefix_suffix;
mod replacement;
mod replica_count;
mod suffix;
mod value_add;

use diagnostic::Result;
use yamltree::Node;

use crate::context::Context;
use crate::resmap::ResMap;
use crate::target::Target;

/// A change to the resources of a build.
pub(crate) trait Transformer {
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()>;

    /// Returns how many of Kustomize's steps this is; each leaves its trace in the annotations of `buildMetadata`.
    fn steps(&self) -> usize {
        1
    }
}

/// One kind of transformer: how it is made from a kustomization's fields and from a configuration of its own.
pub(crate) struct Builtin {
    /// The kind by which `transformers:` names it.
    pub(crate) kind: &'static str,
    /// The transformers that a kustomization's fields ask for, in their order.
    pub(crate) from_fields: FromFields,
    /// The transformer that a configuration file or inline configuration asks for.
    pub(crate) from_config: fn(&Node, &Target<'_, '_>) -> Result<Box<dyn Transformer>>,
}

type FromFields = fn(&Target<'_, '_>) -> Result<Vec<Box<dyn Transformer>>>;

/// The built-in transformers. Their order is the order in which they run.
pub(crate) const BUILTINS: &[Builtin] = &[
    patch_strategic_merge::BUILTIN,
    patch::BUILTIN,
    namespace::BUILTIN,
    prefix::BUILTIN,
    suffix::BUILTIN,
    label::BUILTIN,
    annotations::BUILTIN,
    patch_json6902::BUILTIN,
    replica_count::BUILTIN,
    image_tag::BUILTIN,
    replacement::BUILTIN,
    hash::BUILTIN,
    prefix_suffix::BUILTIN,
    value_add::BUILTIN,
];
