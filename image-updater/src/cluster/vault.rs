//! Read access to the cluster's Secrets, ConfigMaps and pull secrets of ServiceAccounts.
//!
//! In: names. Out: what is in them, as it is now. Refused: to print it. There may be no cluster, and then there is no vault.

use diagnostic::Result;
use std::collections::BTreeMap;
use std::fmt;

use oci_registry::Secret;

use crate::change::Named;

/// Hands out what a cluster keeps, from threads that may wait.
pub(crate) trait Vault: fmt::Debug + Send + Sync {
    /// A Secret; nothing where there is none.
    ///
    /// # Errors
    /// If the cluster cannot be asked, or does not let us.
    fn secret(&self, id: &Named) -> Result<Option<Kept>>;

    /// A ConfigMap; nothing where there is none.
    ///
    /// # Errors
    /// As for a Secret.
    fn config_map(&self, id: &Named) -> Result<Option<Kept>>;

    /// The Secrets of a namespace that have a label of this value.
    ///
    /// # Errors
    /// As for a Secret.
    fn labelled(&self, namespace: &str, label: &str, value: &str) -> Result<Vec<Kept>>;

    /// The names of the Secrets that a ServiceAccount pulls images with; nothing where there is no such account.
    ///
    /// # Errors
    /// As for a Secret.
    fn pull_secrets(&self, account: &Named) -> Result<Option<Vec<String>>>;

    /// Returns how often something that was asked for has changed since, as far as that is noticed.
    fn changes(&self) -> u64 {
        0
    }
}

/// The content of a Secret or ConfigMap.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Which one.
    pub(crate) id: Named,
    /// The data.
    pub(crate) data: BTreeMap<String, Secret<Vec<u8>>>,
}

impl Kept {
    /// A text that it has.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        std::str::from_utf8(self.data.get(key)?.expose()).ok()
    }
}
