//! Settings of a client and of single registries. Callers read files and variables; nothing here does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::credentials::CredentialSource;
use crate::limit::Limits;
use crate::reference::Repository;
use crate::secret::Secret;

/// The options of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// The user agent: `program/version`.
    pub user_agent: String,
    /// The settings of single registries.
    pub registries: Vec<RegistrySettings>,
    /// The credential source for registries without their own.
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// The folder of the cache; without one nothing is kept.
    pub cache: Option<PathBuf>,
    /// Time a list of tags counts as it was read, without a question to the registry: so that several who look at
    /// the same time cost one.
    pub fresh_for: Duration,
    /// Time an answer may take, and each of its parts where it is large.
    pub timeout: Duration,
    /// The handling of transient failures.
    pub retry: Retry,
    /// The rate limits, shared by all clients with these options.
    pub limits: Limits,
}

/// The handling of transient failures.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// The first wait; each next one is three times as long.
    pub pause: Duration,
    /// Time is waited in all. A registry that asks for more is not waited for.
    pub patience: Duration,
}

/// The settings of the registries on a host, or of the repositories below a path on it.
#[derive(Clone, Debug, Default)]
pub struct RegistrySettings {
    /// A host, or a host and a path; the longest one that a repository is below counts.
    pub prefix: String,
    /// The URL of its API, below which `/v2/` is, if not on that host.
    pub api: Option<String>,
    /// It does not speak TLS.
    pub plain_http: bool,
    /// Its certificate is not checked.
    pub insecure_tls: bool,
    /// Authorities to trust beside the machine's, in PEM.
    pub authorities: Option<Vec<u8>>,
    /// By what this client proves itself in TLS.
    pub client_certificate: Option<ClientCertificate>,
    /// The proxy, in place of that of the environment.
    pub proxy: Option<Proxy>,
    /// The credential source.
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// The namespace of names without a slash.
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
    /// The account, if it requires one.
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
    /// Returns what is said of one host.
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
