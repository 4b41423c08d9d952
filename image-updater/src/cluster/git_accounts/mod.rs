//! Selects git credentials from the cluster: the Secrets of Argo CD, of Flux, and those that a write-back method
//! names.
//!
//! In: where an account is kept, and the address of a repository. Out: what its server is shown and how it is reached, read
//! anew each time and kept by nobody. Refused: Secrets that are not there or lack a key. An error names the Secret and the
//! key, and never what is in them.

mod address;
mod argocd;
mod flux;
mod keys;
mod signing;

use diagnostic::{Error, Result};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use gitremote::{ClientCertificate, ProxyServer};
use oci_registry::Secret;

use super::Vault;
use crate::account::{Account, AppKey, AppTokens};
use crate::change::Named;
use crate::work::GitAccount;
use address::Way;
pub(crate) use signing::Signer;

/// State of accounts between reconciles: only tokens, which expire soon.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) tokens: AppTokens,
    /// The repositories of which was said that their servers are not checked.
    unchecked: Mutex<HashSet<String>>,
}

impl Accounts {
    /// Returns true if it is the first time that the server of a repository is not checked.
    pub(crate) fn is_news(&self, url: &str) -> bool {
        self.unchecked.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned())
    }
}

/// The credentials and the access to a git server.
#[derive(Debug, Default)]
pub(crate) struct Login {
    pub(crate) shown: Shown,
    /// The keys of hosts for ssh, as ssh's own file has them; those of the machine where absent.
    pub(crate) known_hosts: Option<String>,
    /// The only authorities to trust, in PEM; those of the machine where absent.
    pub(crate) authorities: Option<Vec<u8>>,
    pub(crate) certificate: Option<ClientCertificate>,
    pub(crate) proxy: Option<ProxyServer>,
    /// Whoever keeps the account has said that nothing is to be checked of the server.
    pub(crate) is_insecure: bool,
}

/// The credentials for a git server.
#[derive(Debug, Default)]
pub(crate) enum Shown {
    /// Nothing: anybody may read it.
    #[default]
    Nothing,
    Account(Account),
    Bearer(Secret<String>),
    /// For ssh.
    Key {
        key: Secret<String>,
        passphrase: Option<Secret<String>>,
    },
    App(AppKey),
}

/// Returns what the server of a repository is shown by an account that a cluster keeps.
///
/// # Errors
/// If it cannot be read, or lacks what such a server is shown.
pub(crate) fn login(vault: &dyn Vault, account: &GitAccount, url: &str) -> Result<Login> {
    let login = match account {
        GitAccount::ArgoCd { namespace, project } => argocd::of_repository(vault, namespace, project, url),
        GitAccount::Secret { secret, argocd } => argocd::of_secret(vault, secret, argocd, url),
        GitAccount::Flux { secret, proxy, is_app } => {
            flux::login(vault, secret.as_ref(), proxy.as_ref(), *is_app, url)
        }
    }?;
    if login.proxy.is_some() && Way::of(url)? == Way::Ssh {
        let message =
            format!("`{}` is reached over ssh, which does not use a proxy", diagnostic::redact(url));
        return Err(Error::invalid(message).hint("use https, or configure `ProxyCommand` for ssh"));
    }
    Ok(login)
}

/// A Secret that has to be there.
fn secret(vault: &dyn Vault, id: &Named) -> Result<super::Kept> {
    vault.secret(id)?.ok_or_else(|| {
        Error::invalid(format!("the Secret `{id}` with the credentials of the git server does not exist"))
            .hint("make it, or let image-updater `get` it")
    })
}

#[cfg(test)]
mod tests;
