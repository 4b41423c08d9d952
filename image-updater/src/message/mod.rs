//! Commit messages and branch names. In: what was changed, and a Go template or none. Out: the text of a commit and
//! its trailers, or the name of a branch that git takes. Pure: the templates have no clock and no randomness, so that
//! the same changes give the same words.
//!
//! Templates find the variables of Argo CD Image Updater (`.AppName`, `.AppChanges`; for branches `.Images`, `.SHA256`,
//! `.TargetKey`, `.AppNamespace`) and of Flux (`.AutomationObject`, `.Changed`, `.Values`), and the functions that Flux
//! has: Go's own and the part of Sprig that always gives the same.

mod branch;
mod changed;
mod data;
mod record;
mod template;
mod text;
mod trailer;

use std::collections::BTreeMap;

pub use branch::{BranchTemplate, check_branch};

pub use data::{fingerprint, target_key};
pub use template::{ARGOCD_MESSAGE, FLUX_MESSAGE, MessageTemplate};
pub use text::title;
pub use trailer::{Set, read_sets, sets_of};

use crate::change::{Change, Named};

/// The subject of a message or branch.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The name of the update, for changes without an Application.
    pub name: &'a str,
    /// The changes, in order.
    pub changes: &'a [Change],
    /// The ImageUpdateAutomation that asked for them.
    pub automation: Option<&'a Named>,
    /// The values of the configuration for templates.
    pub values: &'a BTreeMap<String, String>,
}
