//! The client that asks registries, made of what a configuration says of them.
//!
//! In: the configuration's entries, and the environment: the variables, files, programs and Secrets that entries name,
//! Docker's configuration on this machine, and clouds that know it. Out: a client. Refused: authorities that cannot be
//! read, and Secrets without a cluster. Where credentials are kept is only noted here; they are read when a registry
//! asks for them, and are in no message.

mod secrets;
mod sources;

use diagnostic::{Error, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use oci_registry::{Client, Options, RegistrySettings, Repository, Traffic};

use self::sources::Sources;
use crate::change::Named;
use crate::cluster::Vault;
use crate::config::Registry;

/// The user agent for registries and clouds.
const USER_AGENT: &str = concat!("image-updater/", env!("CARGO_PKG_VERSION"));

/// All authorities that browsers trust are a quarter of that.
const MAX_AUTHORITIES: u64 = 1 << 20;

/// A client for what a configuration says of registries. With a folder for its cache, what did not change is not read
/// again, in this run or a later one.
///
/// # Errors
/// If a file of authorities cannot be read, a program for credentials has no name, or they are in a cluster.
pub(crate) fn client(registries: &[Registry], cache: Option<PathBuf>) -> Result<Client> {
    options(registries, &Sources::default(), cache).map(Client::new)
}

/// A client that several documents share, and with it limits, tokens and lists of tags.
#[derive(Debug)]
pub(crate) struct SharedClient {
    pub(crate) client: Client,
    /// The registry settings.
    registries: Vec<Registry>,
    /// The traffic that was already reported.
    counted: Mutex<BTreeMap<String, Traffic>>,
}

impl SharedClient {
    fn new(
        registries: Vec<Registry>,
        sources: &Sources,
        cache: Option<PathBuf>,
        fresh_for: Duration,
    ) -> Result<Self> {
        let client = Client::new(Options { fresh_for, ..options(&registries, sources, cache)? });
        Ok(Self { client, registries, counted: Mutex::default() })
    }

    /// Returns true if it may ask for who says this of registries.
    pub(crate) fn serves(&self, registries: &[Registry]) -> bool {
        registries.iter().all(|registry| self.registries.contains(registry))
    }

    /// Returns what was asked of registries since this was last asked.
    pub(crate) fn traffic(&self) -> BTreeMap<String, Traffic> {
        let now = self.client.traffic();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let more = |(registry, now): (&String, &Traffic)| {
            let before = counted.get(registry).copied().unwrap_or_default();
            let more = Traffic {
                requests: now.requests - before.requests,
                failed: now.failed - before.failed,
                unchanged: now.unchanged - before.unchanged,
                saved: now.saved - before.saved,
            };
            (registry.clone(), more)
        };
        let more = now.iter().map(more).collect();
        *counted = now;
        more
    }
}

/// Clients for who says the same of registries. Who says something else has another, with tokens and lists of its own:
/// what one tenant of a cluster may read is not for the others.
#[derive(Debug)]
pub(crate) struct ClientPool {
    cache: Option<PathBuf>,
    fresh_for: Duration,
    sources: Sources,
    known: Mutex<Vec<(Said, Weak<SharedClient>)>>,
}

/// The registry settings, with the Secrets of their connections.
#[derive(Debug, PartialEq)]
struct Said {
    registries: Vec<Registry>,
    secrets: Vec<oci_registry::Secret<Vec<u8>>>,
}

impl ClientPool {
    /// Without any client yet.
    pub(crate) fn new(cache: Option<PathBuf>, fresh_for: Duration) -> Self {
        Self { cache, fresh_for, sources: Sources::default(), known: Mutex::default() }
    }

    /// With the Secrets of a cluster.
    pub(crate) fn with_vault(mut self, vault: Arc<dyn Vault>) -> Self {
        self.sources = Sources::new(Some(vault));
        self
    }

    /// The client of who says this of registries.
    ///
    /// # Errors
    /// As for [`client`], and where a Secret that says how connections are made cannot be used.
    pub(crate) fn client_for(&self, registries: &[Registry]) -> Result<Arc<SharedClient>> {
        let said = self.said(registries)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, client)| client.strong_count() > 0);
        let same = known.iter().find(|(known, _)| *known == said).and_then(|(_, client)| client.upgrade());
        if let Some(client) = same {
            return Ok(client);
        }
        let (registries, cache) = (registries.to_vec(), self.cache.clone());
        let client = SharedClient::new(registries, &self.sources, cache, self.fresh_for)?;
        let client = Arc::new(client);
        known.push((said, Arc::downgrade(&client)));
        Ok(client)
    }

    /// A certificate that was replaced is another one, though its Secret is called the same.
    fn said(&self, registries: &[Registry]) -> Result<Said> {
        let named = registries.iter().flat_map(|it| it.tls_secret.iter().chain(&it.proxy_secret));
        let content = |id: &Named| self.sources.secrets(id)?.content(id).map(oci_registry::Secret::new);
        Ok(Said { registries: registries.to_vec(), secrets: named.map(content).collect::<Result<_>>()? })
    }
}

/// A client for each document of a configuration: one for all whose words on registries go together, so that what one
/// says counts for the others.
///
/// # Errors
/// As for [`client`].
pub(crate) fn shared_clients(
    documents: &[&[Registry]],
    cache: Option<&Path>,
    fresh_for: Duration,
    vault: Option<&Arc<dyn Vault>>,
) -> Result<Vec<Arc<SharedClient>>> {
    let sources = Sources::new(vault.cloned());
    let mut groups: Vec<Vec<Registry>> = Vec::new();
    let mut places = Vec::with_capacity(documents.len());
    for registries in documents {
        let goes = |known: &Registry| registries.iter().all(|own| own.prefix != known.prefix || own == known);
        let place = groups.iter().position(|group| group.iter().all(goes));
        let place = place.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        let new: Vec<Registry> =
            registries.iter().filter(|own| !groups[place].contains(own)).cloned().collect();
        groups[place].extend(new);
        places.push(place);
    }
    let client =
        |group| SharedClient::new(group, &sources, cache.map(Path::to_owned), fresh_for).map(Arc::new);
    let clients: Vec<Arc<SharedClient>> = groups.into_iter().map(client).collect::<Result<_>>()?;
    Ok(places.into_iter().map(|place| Arc::clone(&clients[place])).collect())
}

/// Returns what is said of the registry of an image: of what is said of several, that with the longest prefix counts.
pub(crate) fn best<'r>(registries: &'r [Registry], repository: &Repository) -> Option<&'r Registry> {
    let fitting = registries.iter().filter(|registry| repository.is_below(&registry.prefix));
    fitting.max_by_key(|registry| registry.prefix.len())
}

/// Returns what is said of registries besides, with what was found for some images: for these the registry is spoken to as for
/// others, and what is theirs comes first.
pub(crate) fn layered(general: &[Registry], own: Vec<Registry>) -> Vec<Registry> {
    let is_new = |registry: &&Registry| !own.iter().any(|known| known.prefix == registry.prefix);
    let others: Vec<Registry> = general.iter().filter(is_new).cloned().collect();
    own.into_iter().map(|own| over(general, own)).chain(others).collect()
}

fn over(general: &[Registry], own: Registry) -> Registry {
    let repository = own.prefix.parse().ok();
    let Some(best) = repository.and_then(|repository| best(general, &repository)) else { return own };
    let mut all = own.credentials.into_iter().chain(own.otherwise);
    let credentials = all.next();
    let further = best.credentials.iter().chain(&best.otherwise).filter(|_| !own.only_own_credentials);
    let mut otherwise: Vec<_> = all.chain(further.cloned()).collect();
    let credentials = credentials.or_else(|| (!otherwise.is_empty()).then(|| otherwise.remove(0)));
    Registry {
        prefix: own.prefix,
        plain_http: own.plain_http || best.plain_http,
        credentials,
        otherwise,
        only_own_credentials: own.only_own_credentials,
        tls_secret: own.tls_secret.or_else(|| best.tls_secret.clone()),
        proxy_secret: own.proxy_secret.or_else(|| best.proxy_secret.clone()),
        ..best.clone()
    }
}

/// Returns where the XDG base directory specification puts what a program can get again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    cache_folder_by(variable)
}

fn cache_folder_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(below.join("image-updater"))
}

fn options(registries: &[Registry], sources: &Sources, cache: Option<PathBuf>) -> Result<Options> {
    let settings = registries.iter().map(|registry| settings(registry, sources)).collect::<Result<_>>()?;
    Ok(Options {
        user_agent: USER_AGENT.to_owned(),
        registries: settings,
        credentials: Some(sources.of_all()),
        cache,
        limits: sources.limits.clone(),
        ..Options::default()
    })
}

fn settings(registry: &Registry, sources: &Sources) -> Result<RegistrySettings> {
    let tls = registry.tls_secret.as_ref().map(|id| sources.secrets(id)?.tls(id)).transpose()?;
    let (of_secret, client_certificate) = tls.map_or((None, None), |tls| (tls.authorities, tls.certificate));
    let proxy = registry.proxy_secret.as_ref().map(|id| sources.secrets(id)?.proxy(id)).transpose()?;
    Ok(RegistrySettings {
        prefix: registry.prefix.clone(),
        api: registry.api.clone(),
        plain_http: registry.plain_http,
        insecure_tls: registry.insecure,
        authorities: authorities(registry, of_secret)?,
        client_certificate,
        proxy,
        credentials: sources.of_registry(registry)?,
        default_namespace: registry.default_namespace.clone(),
        rate_limit: registry.rate_limit,
        concurrency: registry.concurrency,
        foreign_links: registry.foreign_links,
    })
}

/// Those of the file with those that stand in the configuration itself, and in a Secret.
fn authorities(registry: &Registry, of_secret: Option<Vec<u8>>) -> Result<Option<Vec<u8>>> {
    let file = registry.ca_file.as_ref().map(|path| read_authorities(Path::new(path))).transpose()?;
    let own = registry.ca_data.as_ref().map(|data| data.clone().into_bytes());
    let all: Vec<Vec<u8>> = [file, own, of_secret].into_iter().flatten().collect();
    Ok((!all.is_empty()).then(|| all.join(&b'\n')))
}

fn read_authorities(path: &Path) -> Result<Vec<u8>> {
    let refuse = |error: &std::io::Error| Error::io("read", path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| refuse(&error))?;
    file.take(MAX_AUTHORITIES + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MAX_AUTHORITIES {
        let shown = path.display();
        return Err(Error::invalid(format!("`{shown}` is larger than {} KiB", MAX_AUTHORITIES >> 10)));
    }
    Ok(bytes)
}

fn variable(name: &str) -> Option<OsString> {
    // What is set to nothing is meant to be unset.
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Credentials;
    use diagnostic::ErrorKind;

    fn registry(credentials: Option<Credentials>) -> Registry {
        Registry { prefix: "registry.test".to_owned(), credentials, ..Registry::default() }
    }

    #[test]
    fn what_is_said_of_a_registry_is_what_the_client_knows() {
        let said = Registry {
            api: Some("https://api.registry.test".to_owned()),
            plain_http: true,
            insecure: true,
            default_namespace: Some("team".to_owned()),
            rate_limit: Some(2.5),
            concurrency: Some(3),
            foreign_links: true,
            ..registry(None)
        };
        let known = settings(&said, &Sources::default()).unwrap();
        assert_eq!(known.prefix, "registry.test");
        assert_eq!(known.api.as_deref(), Some("https://api.registry.test"));
        assert!(known.plain_http && known.insecure_tls && known.foreign_links);
        assert_eq!(known.default_namespace.as_deref(), Some("team"));
        assert_eq!((known.rate_limit, known.concurrency), (Some(2.5), Some(3)));
        assert!(known.authorities.is_none() && known.client_certificate.is_none() && known.proxy.is_none());
    }

    #[test]
    fn documents_share_a_client_unless_they_say_different_things() {
        let said = |prefix: &str, plain_http: bool| {
            vec![Registry { prefix: prefix.to_owned(), plain_http, ..Registry::default() }]
        };
        let documents = [said("a", true), Vec::new(), said("b", true), said("a", false), said("a", true)];
        let documents: Vec<&[Registry]> = documents.iter().map(Vec::as_slice).collect();
        let clients = shared_clients(&documents, None, Duration::ZERO, None).unwrap();
        let of_first: Vec<bool> = clients.iter().map(|client| Arc::ptr_eq(client, &clients[0])).collect();
        assert_eq!(of_first, [true, true, true, false, true]);
        assert!(clients[0].serves(&said("b", true)) && !clients[0].serves(&said("b", false)));
    }

    #[test]
    fn an_image_has_its_own_credentials_and_its_registry_is_spoken_to_as_always() {
        let env = |name: &str| Credentials::Env(name.to_owned());
        let general = Registry {
            prefix: "registry.test".to_owned(),
            api: Some("https://api.registry.test".to_owned()),
            ..registry(Some(env("GENERAL")))
        };
        let other = Registry { prefix: "other.test".to_owned(), ..registry(None) };
        let own = |prefix: &str, credentials| Registry { prefix: prefix.to_owned(), ..registry(credentials) };
        let found = vec![own("registry.test/a", Some(env("OWN"))), own("registry.test/b", None)];
        let all = layered(&[general.clone(), other.clone()], found);
        let prefixes: Vec<&str> = all.iter().map(|registry| registry.prefix.as_str()).collect();
        assert_eq!(prefixes, ["registry.test/a", "registry.test/b", "registry.test", "other.test"]);
        assert!(all[..2].iter().all(|registry| registry.api == general.api));
        assert_eq!((&all[0].credentials, &*all[0].otherwise), (&Some(env("OWN")), &[env("GENERAL")][..]));
        assert_eq!((&all[1].credentials, &*all[1].otherwise), (&Some(env("GENERAL")), &[][..]));
        let tenant =
            Registry { only_own_credentials: true, plain_http: true, ..own("registry.test/c", None) };
        let tenants = layered(&[general], vec![tenant]).remove(0);
        assert!(tenants.credentials.is_none() && tenants.otherwise.is_empty());
        let source = settings(&tenants, &Sources::default()).unwrap().credentials.unwrap();
        assert_eq!(source.find("registry.test", "c").unwrap(), None);
    }

    #[test]
    fn what_is_in_a_cluster_needs_one() {
        let secret = registry(Some(Credentials::pull_secret("ns", "pull")));
        let error = settings(&secret, &Sources::default()).unwrap_err();
        assert_eq!(error.message(), "`ns/pull` is in a cluster, and no cluster is asked here");
        let tls = Registry { tls_secret: Some(Named::default()), ..registry(None) };
        assert!(settings(&tls, &Sources::default()).is_err());
    }

    #[test]
    fn credentials_are_read_when_they_are_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        let known = settings(&registry(Some(Credentials::File(path.clone()))), &Sources::default()).unwrap();
        std::fs::write(&path, "me:pw\n").unwrap();
        let source = known.credentials.unwrap();
        assert_eq!(
            source.find("registry.test", "a").unwrap(),
            Some(oci_registry::Credential::basic("me", "pw"))
        );
        let missing = settings(
            &registry(Some(Credentials::Env("IMAGE_UPDATER_IS_NOT_SET".to_owned()))),
            &Sources::default(),
        );
        let error = missing.unwrap().credentials.unwrap().find("registry.test", "a").unwrap_err();
        assert!(error.message().contains("`$IMAGE_UPDATER_IS_NOT_SET`: it is not set"), "{error}");
        assert!(settings(&registry(Some(Credentials::Command(Vec::new()))), &Sources::default()).is_err());
    }

    #[test]
    fn a_file_of_authorities_is_read_at_once_and_has_an_end() {
        let path = |path: &str| Registry { ca_file: Some(path.to_owned()), ..registry(None) };
        let error = settings(&path("does-not-exist.pem"), &Sources::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one").unwrap();
        let both = Registry { ca_data: Some("two".to_owned()), ..path(&file.path().display().to_string()) };
        assert_eq!(
            settings(&both, &Sources::default()).unwrap().authorities.as_deref(),
            Some(&b"one\ntwo"[..])
        );
        let error = settings(&path("/dev/zero"), &Sources::default()).unwrap_err();
        assert_eq!(error.message(), "`/dev/zero` is larger than 1024 KiB");
    }

    #[test]
    fn the_cache_is_where_the_machine_keeps_such() {
        let folder = |set: &'static [(&str, &str)]| {
            let found = |name: &str| set.iter().find(|(known, _)| *known == name);
            cache_folder_by(|name| found(name).map(|(_, value)| value.into()))
        };
        let home = Some(PathBuf::from("/h/.cache/image-updater"));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some("/c/image-updater".into()));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), home);
        assert_eq!(folder(&[("HOME", "/h")]), home);
        assert_eq!(folder(&[("HOME", "h")]), None);
    }
}
