//! The built-in generators, in the order in which a kustomization runs them.

mod args;
mod base64;
mod configmap;
mod helm_chart;
mod iam_policy;
mod merge;
mod secret;
mod sources;

use yamltree::Node;

use crate::context::Context;
use crate::resource::Resource;
use crate::target::Target;

use diagnostic::Result;
pub(crate) use merge::{merge_generated, replace_generated};

/// A source of resources.
pub(crate) trait Generator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>>;
}

/// One kind of generator: how it is made from a kustomization's fields and from a configuration of its own.
pub(crate) struct Builtin {
    /// The kind by which `generators:` names it.
    pub(crate) kind: &'static str,
    /// The generators that a kustomization's fields ask for, in their order.
    pub(crate) from_fields: FromFields,
    /// The generator that a configuration file or inline configuration asks for.
    pub(crate) from_config: fn(&Node, &Target<'_, '_>) -> Result<Box<dyn Generator>>,
}

type FromFields = fn(&Target<'_, '_>) -> Result<Vec<Box<dyn Generator>>>;

/// The built-in generators. Their order is the order in which they run.
pub(crate) const BUILTINS: &[Builtin] =
    &[configmap::BUILTIN, secret::BUILTIN, helm_chart::BUILTIN, iam_policy::BUILTIN];
