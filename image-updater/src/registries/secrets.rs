//! Registry credentials from a cluster's Secrets: pull secrets, passwords, certificates and proxies.
//!
//! In: the names of Secrets and ServiceAccounts. Out: credentials, and how TLS is spoken. What is wrong with a Secret names
//! it and its key, never what is in it.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use oci_registry::{
    ClientCertificate, Credential, CredentialSource, DockerConfig, Proxy, PullSecretKind, PullSecrets, Secret,
};

use crate::change::Named;
use crate::cluster::{Kept, Vault};
use crate::config::SecretKey;

/// For how long what the cluster said is used again: images of a round are looked at together, and many have one Secret.
const FRESH_FOR: Duration = Duration::from_secs(10);

/// Under which keys the two kinds of pull secrets are.
const PULL_SECRETS: [(&str, PullSecretKind); 2] =
    [(".dockerconfigjson", PullSecretKind::ConfigJson), (".dockercfg", PullSecretKind::Legacy)];

const AUTHORITIES: &str = "ca.crt";
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";

/// The Secrets of a cluster, each read once for a moment.
#[derive(Debug)]
pub(super) struct Secrets {
    vault: Arc<dyn Vault>,
    secrets: Fresh<Named, Option<Kept>>,
    accounts: Fresh<Named, Option<Vec<String>>>,
}

/// A reference to credentials in a cluster.
#[derive(Clone, Debug)]
pub(super) enum SecretReference {
    PullSecret(Named),
    Secret(SecretKey),
    ServiceAccount(Named),
}

/// Credentials that are kept in a cluster.
#[derive(Debug)]
pub(super) struct SecretSource {
    pub(super) secrets: Arc<Secrets>,
    pub(super) place: SecretReference,
}

/// The cached answers, with their time and change counter.
struct Fresh<K, V>(Mutex<HashMap<K, (Instant, u64, V)>>);

/// The TLS settings.
#[derive(Debug)]
pub(super) struct Tls {
    pub(super) authorities: Option<Vec<u8>>,
    pub(super) certificate: Option<ClientCertificate>,
}

impl Secrets {
    pub(super) fn new(vault: Arc<dyn Vault>) -> Self {
        Self { vault, secrets: Fresh::default(), accounts: Fresh::default() }
    }

    fn secret(&self, id: &Named) -> Result<Option<Kept>> {
        self.secrets.get(id, self.vault.changes(), || self.vault.secret(id))
    }

    /// A Secret that has to be there, as it is now: clients are made by it, and made anew when it has changed.
    fn required(&self, id: &Named) -> Result<Kept> {
        self.vault.secret(id)?.ok_or_else(|| unusable(id, "it does not exist"))
    }

    /// Reads how TLS is spoken, as Flux' `certSecretRef` says it.
    ///
    /// # Errors
    /// If the Secret is not there, or has a certificate without its key.
    pub(super) fn tls(&self, id: &Named) -> Result<Tls> {
        let kept = self.required(id)?;
        let bytes = |key: &str| kept.data.get(key).map(|value| value.expose().clone());
        let certificate = match (bytes(CERTIFICATE), bytes(KEY)) {
            (Some(certificate), Some(key)) => Some(ClientCertificate { certificate, key: Secret::new(key) }),
            (None, None) => None,
            (Some(_), None) => return Err(unusable(id, "it has `tls.crt` without `tls.key`")),
            (None, Some(_)) => return Err(unusable(id, "it has `tls.key` without `tls.crt`")),
        };
        let authorities = bytes(AUTHORITIES);
        if authorities.is_none() && certificate.is_none() {
            return Err(unusable(id, "it has neither `ca.crt` nor `tls.crt` and `tls.key`"));
        }
        Ok(Tls { authorities, certificate })
    }

    /// Reads which proxy is used, as Flux' `proxySecretRef` says it.
    ///
    /// # Errors
    /// If the Secret is not there, or has no address.
    pub(super) fn proxy(&self, id: &Named) -> Result<Proxy> {
        let kept = self.required(id)?;
        let address = kept.text("address").map(str::trim).filter(|address| !address.is_empty());
        let address = address.ok_or_else(|| unusable(id, "it lacks `address`"))?.to_owned();
        let account = match (kept.text("username"), kept.text("password")) {
            (Some(user), password) => Some((user.to_owned(), Secret::from(password.unwrap_or_default()))),
            (None, Some(_)) => return Err(unusable(id, "it has `password` without `username`")),
            (None, None) => None,
        };
        Ok(Proxy { address, account })
    }

    /// Returns what tells apart what is in a Secret from what was in it before.
    pub(super) fn content(&self, id: &Named) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        for (key, value) in self.vault.secret(id)?.map(|kept| kept.data).unwrap_or_default() {
            for part in [key.as_bytes(), value.expose()] {
                content.extend((part.len() as u64).to_be_bytes());
                content.extend(part);
            }
        }
        Ok(content)
    }
}

impl SecretReference {
    fn shown(&self) -> String {
        match self {
            Self::PullSecret(id) => format!("Secret {id}"),
            Self::Secret(key) => format!("Secret {key}"),
            Self::ServiceAccount(id) => format!("ServiceAccount {id}"),
        }
    }
}

impl SecretSource {
    fn missing(&self, reason: &str) -> Error {
        oci_registry::no_credentials(&self.place.shown(), reason)
    }

    fn pull_secret(&self, kept: &Kept) -> Result<DockerConfig> {
        let found = PULL_SECRETS.iter().find_map(|(key, kind)| Some((key, kind, kept.data.get(*key)?)));
        let (key, kind, content) = found.ok_or_else(|| {
            oci_registry::no_credentials(
                &format!("Secret {}", kept.id),
                "it has neither `.dockerconfigjson` nor `.dockercfg`",
            )
        })?;
        Ok(DockerConfig::pull_secret(&format!("Secret {}#{key}", kept.id), *kind, content.expose().clone()))
    }

    /// Pull secrets of a ServiceAccount that are not there are passed over, as the kubelet does.
    fn of_account(&self, id: &Named) -> Result<PullSecrets> {
        let secrets = &self.secrets;
        let changes = secrets.vault.changes();
        let names = secrets.accounts.get(id, changes, || secrets.vault.pull_secrets(id));
        let names = names.map_err(|error| self.missing(error.message()))?;
        let names = names.ok_or_else(|| self.missing("it does not exist"))?;
        let mut all = Vec::new();
        for name in names {
            let id = Named { namespace: id.namespace.clone(), name };
            let kept = secrets.secret(&id).map_err(|error| self.missing(error.message()))?;
            all.extend(kept.map(|kept| self.pull_secret(&kept)).transpose()?);
        }
        Ok(PullSecrets(all))
    }
}

impl CredentialSource for SecretSource {
    fn find(&self, registry: &str, repository: &str) -> Result<Option<Credential>> {
        Ok(self.find_all(registry, repository)?.into_iter().next())
    }

    fn find_all(&self, registry: &str, repository: &str) -> Result<Vec<Credential>> {
        let read = |id: &Named| {
            let kept = self.secrets.secret(id).map_err(|error| self.missing(error.message()))?;
            kept.ok_or_else(|| self.missing("it does not exist"))
        };
        match &self.place {
            SecretReference::PullSecret(id) => self.pull_secret(&read(id)?)?.find_all(registry, repository),
            SecretReference::ServiceAccount(id) => self.of_account(id)?.find_all(registry, repository),
            SecretReference::Secret(SecretKey { secret, key }) => {
                let kept = read(secret)?;
                let text = kept.text(key).ok_or_else(|| self.missing("it lacks that key"))?;
                let credential = Credential::parse(text);
                credential.map(|found| vec![found]).ok_or_else(|| self.missing("it holds no `user:password`"))
            }
        }
    }

    /// It may have been changed since it was read.
    fn forget(&self, _: &Credential) {
        self.secrets.secrets.clear();
        self.secrets.accounts.clear();
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Fresh<K, V> {
    fn get(&self, key: &K, changes: u64, read: impl FnOnce() -> Result<V>) -> Result<V> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |since: &Instant, known: u64| since.elapsed() < FRESH_FOR && known == changes;
        if let Some((_, _, value)) = lock().get(key).filter(|(since, known, _)| is_fresh(since, *known)) {
            return Ok(value.clone());
        }
        // Others may read meanwhile.
        let value = read()?;
        let mut known = lock();
        known.retain(|_, (since, known, _)| is_fresh(since, *known));
        known.insert(key.clone(), (Instant::now(), changes, value.clone()));
        Ok(value)
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl<K, V> Default for Fresh<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V> fmt::Debug for Fresh<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fresh")
    }
}

fn unusable(id: &Named, reason: &str) -> Error {
    Error::invalid(format!("the Secret `{id}` cannot be used: {reason}")).with_kind(ErrorKind::Credentials)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::*;

    /// Secrets and ServiceAccounts of the namespace `ns`.
    #[derive(Default)]
    struct Cluster {
        secrets: Vec<(&'static str, &'static str, &'static str)>,
        reads: AtomicUsize,
        changes: AtomicU64,
    }

    impl fmt::Debug for Cluster {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Cluster")
        }
    }

    impl Vault for Cluster {
        fn secret(&self, id: &Named) -> Result<Option<Kept>> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let of_name = self.secrets.iter().filter(|(name, ..)| id.namespace == "ns" && id.name == *name);
            let value = |value: &str| Secret::new(value.as_bytes().to_vec());
            let data: BTreeMap<_, _> =
                of_name.map(|(_, key, text)| ((*key).to_owned(), value(text))).collect();
            Ok((!data.is_empty()).then(|| Kept { id: id.clone(), data }))
        }

        fn config_map(&self, _: &Named) -> Result<Option<Kept>> {
            Ok(None)
        }

        fn labelled(&self, _: &str, _: &str, _: &str) -> Result<Vec<Kept>> {
            Ok(Vec::new())
        }

        fn pull_secrets(&self, account: &Named) -> Result<Option<Vec<String>>> {
            let names = ["gone", "legacy", "json"].map(str::to_owned);
            Ok((account.name == "puller").then(|| names.to_vec()))
        }

        fn changes(&self) -> u64 {
            self.changes.load(Ordering::Relaxed)
        }
    }

    /// `bWU6cHc=` is `me:pw`.
    const SECRETS: [(&str, &str, &str); 7] = [
        ("json", ".dockerconfigjson", r#"{"auths": {"quay.io": {"auth": "bWU6cHc="}}}"#),
        ("legacy", ".dockercfg", r#"{"quay.io/team": {"username": "you", "password": "pw"}}"#),
        ("damaged", ".dockerconfigjson", "s3cret"),
        ("plain", "login", "they:pw\n"),
        ("plain", "other", "s3cret"),
        ("tls", "tls.crt", "CERTIFICATE"),
        ("proxy", "password", "s3cret"),
    ];

    fn named(name: &str) -> Named {
        Named { namespace: "ns".to_owned(), name: name.to_owned() }
    }

    fn key(name: &str, key: &str) -> SecretReference {
        SecretReference::Secret(SecretKey { secret: named(name), key: key.to_owned() })
    }

    fn secrets() -> (Arc<Cluster>, Arc<Secrets>) {
        let cluster = Arc::new(Cluster { secrets: SECRETS.to_vec(), ..Cluster::default() });
        (Arc::clone(&cluster), Arc::new(Secrets::new(cluster)))
    }

    #[test]
    fn credentials_are_read_from_each_kind_of_place() {
        let (cluster, secrets) = secrets();
        let source = |place| SecretSource { secrets: Arc::clone(&secrets), place };
        let found = |place| source(place).find_all("quay.io", "team/app").unwrap();
        let (me, you) = (Credential::basic("me", "pw"), Credential::basic("you", "pw"));
        assert_eq!(found(SecretReference::PullSecret(named("json"))), std::slice::from_ref(&me));
        assert_eq!(found(SecretReference::PullSecret(named("legacy"))), std::slice::from_ref(&you));
        assert_eq!(found(key("plain", "login")), [Credential::basic("they", "pw")]);
        // One that fits better comes first, and one that is not there is passed over.
        assert_eq!(found(SecretReference::ServiceAccount(named("puller"))), [you.clone(), me]);
        let reads = || cluster.reads.load(Ordering::Relaxed);
        let before = reads();
        found(SecretReference::PullSecret(named("json")));
        assert_eq!(reads(), before, "it was read a moment ago");
        source(SecretReference::PullSecret(named("json"))).forget(&you);
        found(SecretReference::PullSecret(named("json")));
        assert_eq!(reads(), before + 1, "it may have been changed");
        cluster.changes.fetch_add(1, Ordering::Relaxed);
        found(SecretReference::PullSecret(named("json")));
        assert_eq!(reads(), before + 2, "it has been changed, or another one");
    }

    #[test]
    fn what_is_wrong_names_secret_and_key_and_nothing_in_it() {
        let (_, secrets) = secrets();
        for (place, want) in [
            (SecretReference::PullSecret(named("gone")), "`Secret ns/gone`: it does not exist"),
            (
                SecretReference::PullSecret(named("plain")),
                "`Secret ns/plain`: it has neither `.dockerconfigjson` nor",
            ),
            (
                SecretReference::PullSecret(named("damaged")),
                "`Secret ns/damaged#.dockerconfigjson`: invalid Docker configuration",
            ),
            (key("plain", "none"), "`Secret ns/plain#none`: it lacks that key"),
            (key("plain", "other"), "`Secret ns/plain#other`: it holds no `user:password`"),
            (SecretReference::ServiceAccount(named("none")), "`ServiceAccount ns/none`: it does not exist"),
        ] {
            let source = SecretSource { secrets: Arc::clone(&secrets), place };
            let error = source.find("quay.io", "team/app").unwrap_err();
            assert!(error.message().contains(want), "{error}");
            assert!(!format!("{error:?} {source:?}").contains("s3cret"), "{error:?}");
        }
        for (outcome, want) in [
            (secrets.tls(&named("tls")).map(drop), "it has `tls.crt` without `tls.key`"),
            (secrets.tls(&named("json")).map(drop), "it has neither `ca.crt` nor"),
            (secrets.tls(&named("gone")).map(drop), "`ns/gone` cannot be used: it does not exist"),
            (secrets.proxy(&named("proxy")).map(drop), "it lacks `address`"),
        ] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Credentials);
            assert!(error.message().contains(want), "{error}");
        }
    }
}
