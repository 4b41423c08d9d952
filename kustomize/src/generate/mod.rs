//! What makes resources: the built-in generators, in the order in which a kustomization runs them.

use yamltree::Node;

use crate::context::Context;
use crate::error::Result;
use crate::resource::Resource;
use crate::target::Target;

/// A source of resources.
pub(crate) trait Generator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>>;
}

/// One kind of generator: how it is made from a kustomization's fields and from a configuration of its own.
pub(crate) struct Builtin {
    /// The kind by which `generators:` names it.
    pub(crate) kind: &'static str,
    /// The generators that a kustomization's fields ask for, in their order.
    pub(crate) from_fields: fn(&Target<'_, '_>) -> Result<Vec<Box<dyn Generator>>>,
    /// The generator that a configuration file or inline configuration asks for.
    pub(crate) from_config: fn(&Node, &Target<'_, '_>) -> Result<Box<dyn Generator>>,
}

/// The built-in generators. Their order is the order in which they run.
pub(crate) const BUILTINS: &[Builtin] = &[];

/// What `behavior: replace` keeps of the resource that is replaced.
pub(crate) fn replace_generated(new: &mut Resource, old: &Resource) {
    new.take_history(old);
}

/// What `behavior: merge` takes over from the resource that is merged into.
pub(crate) fn merge_generated(new: &mut Resource, old: &Resource) {
    new.take_history(old);
}
