//! Where in which kinds of resource a transformer works: the field specifications, built in and configured.

use std::sync::Arc;

use compact_str::CompactString;

use crate::resid::Gvk;

/// A field of the resources of a kind: `spec/template/metadata/labels` of every Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    /// The kinds concerned; an empty part means any.
    pub(crate) gvk: Gvk,
    /// The path, split at its slashes; `[]` after a part means every item of that list.
    pub(crate) path: Arc<[CompactString]>,
    /// Whether the path is made where it is missing.
    pub(crate) create: bool,
}
