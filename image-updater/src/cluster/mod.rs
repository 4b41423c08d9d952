//! A Kubernetes cluster: what there is to do by its objects, and what these are told of it.
//!
//! The engine's view of a cluster, without the Kubernetes API: reconciles read from its [`Vault`], write to its
//! [`Applications`], and report to its [`Witness`].

#[cfg(feature = "kube")]
mod application;
#[cfg(feature = "kube")]
mod client;
#[cfg(feature = "kube")]
mod controller;
#[cfg(feature = "kube")]
mod counted;
#[cfg(feature = "kube")]
mod deliver;
#[cfg(feature = "kube")]
mod events;
#[cfg(feature = "kube")]
mod flag;
pub(crate) mod git_accounts;
#[cfg(feature = "kube")]
mod lease;
#[cfg(feature = "kube")]
mod listing;
#[cfg(feature = "kube")]
mod resolve;
#[cfg(feature = "kube")]
mod secrets;
#[cfg(feature = "kube")]
pub(crate) mod settings;
#[cfg(feature = "kube")]
pub(crate) mod shard;
#[cfg(feature = "kube")]
mod site;
mod source;
#[cfg(feature = "kube")]
mod status;
mod vault;
#[cfg(feature = "kube")]
mod watch;
#[cfg(feature = "kube")]
mod witness;

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::commits::BatchPlanner;
use crate::config::Config;
use crate::daemon::Remarks;
use crate::deliver::{Delivered, Failed};
use crate::gate::Gate;
use crate::registries::SharedClient;
use crate::work::Update;
pub(crate) use git_accounts::Accounts;
#[cfg(feature = "kube")]
pub(crate) use listing::list;
#[cfg(feature = "kube")]
pub(crate) use site::{Presence, Site, Surroundings};
pub(crate) use source::{LiveSource, SourceField, print_of};
pub(crate) use vault::{Kept, Vault};

/// A cluster as rounds see it.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) vault: Arc<dyn Vault>,
    pub(crate) applications: Arc<dyn Applications>,
    pub(crate) witness: Arc<dyn Witness>,
    pub(crate) accounts: Arc<Accounts>,
}

/// The pending job specification of one place.
pub(crate) type Mailbox = Arc<Mutex<Option<Letter>>>;

/// The job specification of one place.
#[derive(Debug, Default)]
pub(crate) struct Letter {
    /// With what asks registries for it.
    pub(crate) works: Vec<(Config, Arc<SharedClient>)>,
    /// The notices about it.
    pub(crate) remarks: Remarks,
}

/// The Applications that are in the cluster, which are written to themselves.
pub(crate) trait Applications: fmt::Debug + Send + Sync {
    /// Plans on the Applications and patches them, each on its own; again where somebody else was faster. What is only
    /// tried is planned, and no more.
    ///
    /// # Errors
    /// If the cluster cannot be asked. What is wrong with single Applications is in the plan.
    fn deliver(&self, planner: &BatchPlanner<'_>, gate: &Gate, is_dry: bool) -> Result<Delivered, Failed>;
}

/// Hears what becomes of images, for the objects that they are worked off for.
pub(crate) trait Witness: fmt::Debug + Send + Sync {
    /// A round over these images is over.
    fn delivered(&self, updates: &[Update], outcome: Result<&Delivered, &Failed>);
}
