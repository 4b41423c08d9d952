//! A plugin of Argo CD: what one is given for an Application, and what it makes of that.
//!
//! In: the variables of Argo CD's plugins, the checkout of a repository, and engines. Out: the objects of a source, as
//! if the Application said `helm`, `kustomize` or `directory` in place of `plugin`; and the parameters that it can have,
//! with their values so far. Refused: parameters that are not known or not for such a source, paths out of the checkout,
//! and no objects at all, unless that is asked for.
//!
//! `table.rs` has all parameters; whatever else is said of one is made of its line there. A kustomization can have a
//! chart for a resource, which Argo CD has no source for: see [`render`].

mod announce;
mod current;
mod given;
mod invocation;
mod read_current;
mod render;
mod table;
mod wanted;

pub use announce::{Announcement, announce};
pub use given::Content;
pub use invocation::Invocation;
pub use render::{Checkout, Rendered, detect, render};

/// The name of the plugin, and what others begin with that are it too.
const NAME: &str = "renderer";

/// Returns true if a name is one of this plugin.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    name.strip_prefix(NAME).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}
