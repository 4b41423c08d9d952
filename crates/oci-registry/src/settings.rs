//! How a client behaves, and what is particular to some registries. Callers read files and variables; nothing here does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::credentials::CredentialSource;
use crate::limit::Limits;
use crate::reference::Repository;
use crate::secret::Secret;

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it calls itself: `program/version`.
    pub user_agent: String,
    /// What is particular to some registries.
    pub registries: Vec<RegistrySettings>,
    /// Where credentials are kept, for registries that have no place of their own.
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// The folder of the cache; without one nothing is kept.
    pub cache: Option<PathBuf>,
    /// How long a list of tags counts as it was read, without a question to the registry: so that several who look at
    /// the same time cost one.
    pub fresh_for: Duration,
    /// How long an answer may take, and each of its parts where it is large.
    pub timeout: Duration,
    /// What is done about passing failures.
    pub retry: Retry,
    /// How hard hosts are pressed, for all clients that have this in common.
    pub limits: Limits,
}

/// What is done about passing failures.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// How often something is tried in all.
    pub attempts: u32,
    /// The first wait; each next one is three times as long.
    pub pause: Duration,
    /// How long is waited in all. A registry that asks for more is not waited for.
    pub patience: Duration,
}

/// What is particular to the registries on a host, or to the repositories below a path on it.
#[derive(Clone, Debug, Default)]
pub struct RegistrySettings {
    /// A host, or a host and a path; the longest one that a repository is below counts.
    pub prefix: String,
    /// Where its API is, if not on that host: an address, below which `/v2/` is.
    pub api: Option<String>,
    /// It does not speak TLS.
    pub plain_http: bool,
    /// Its certificate is not checked.
    pub insecure_tls: bool,
    /// Authorities to trust beside the machine's, in PEM.
    pub authorities: Option<Vec<u8>>,
    /// By what this client proves itself in TLS.
    pub client_certificate: Option<ClientCertificate>,
    /// What stands between, instead of what the environment says.
    pub proxy: Option<Proxy>,
    /// Where its credentials are kept.
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// What stands before names without a slash.
    pub default_namespace: Option<String>,
    /// Requests in a second; 20 where nothing is said.
    pub rate_limit: Option<f64>,
    /// Requests side by side; 8 where nothing is said.
    pub concurrency: Option<usize>,
    /// Its lists link to pages under another of its names; the path counts, and is asked of the host that is known.
    pub foreign_links: bool,
}

/// A certificate with its key, both in PEM.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    /// The certificate, and those between it and its authority.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Secret<Vec<u8>>,
}

/// A proxy for `http` and `https`.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Its address.
    pub address: String,
    /// Who asks it, where it wants to know.
    pub account: Option<(String, Secret<String>)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_agent: concat!("registry-client/", env!("CARGO_PKG_VERSION")).to_owned(),
            registries: Vec::new(),
            credentials: None,
            cache: None,
            fresh_for: Duration::ZERO,
            timeout: Duration::from_secs(30),
            retry: Retry::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 4, pause: Duration::from_millis(250), patience: Duration::from_secs(60) }
    }
}

impl Options {
    /// Which of the settings are for a repository, by their place in the list.
    pub(crate) fn settings_for(&self, repository: &Repository) -> Option<usize> {
        let is_fitting = |settings: &RegistrySettings| repository.is_below(&settings.prefix);
        let fitting = self.registries.iter().enumerate().filter(|(_, settings)| is_fitting(settings));
        fitting.max_by_key(|(_, settings)| settings.prefix.len()).map(|(place, _)| place)
    }
}

impl RegistrySettings {
    /// What is said of one host.
    #[must_use]
    pub fn for_host(host: &str) -> Self {
        Self { prefix: host.to_owned(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_counts() {
        let prefixes = ["quay.io", "quay.io/team", "docker.io", "index.docker.io/team"];
        let registries = prefixes.iter().map(|prefix| RegistrySettings::for_host(prefix)).collect();
        let options = Options { registries, ..Options::default() };
        let place = |name: &str| options.settings_for(&name.parse().unwrap());
        assert_eq!(place("quay.io/teams/a"), Some(0));
        assert_eq!(place("quay.io/team/a"), Some(1));
        assert_eq!(place("nginx"), Some(2));
        assert_eq!(place("team/a"), Some(3));
        assert_eq!(place("ghcr.io/a/b"), None);
    }
}
