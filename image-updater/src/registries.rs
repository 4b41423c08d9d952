//! The client that asks registries, made of what a configuration says of them.
//!
//! In: the configuration's entries, and the environment: the variables, files and programs that entries name, and
//! Docker's configuration on this machine. Out: a client. Refused: files of authorities that cannot be read. Where
//! credentials are kept is only noted here; they are read when a registry asks for them, and are in no message.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use registry::{
    Client, CredentialFile, CredentialProgram, CredentialSource, CredentialVariable, DockerConfig, Options,
    RegistrySettings, Repository, Secret, Traffic,
};

use crate::config::{Credentials, Registry};
use crate::error::{Error, Result};

/// All authorities that browsers trust are a quarter of that.
const MAX_AUTHORITIES: u64 = 1 << 20;

/// A client for what a configuration says of registries. With a folder for its cache, what did not change is not read
/// again, in this run or a later one.
///
/// # Errors
/// If a file of authorities cannot be read, or a program for credentials has no name.
pub(crate) fn client(registries: &[Registry], cache: Option<PathBuf>) -> Result<Client> {
    let registries = registries.iter().map(settings).collect::<Result<_>>()?;
    Ok(Client::new(options(registries, cache)))
}

/// A client that several documents share, and with it limits, tokens and lists of tags.
#[derive(Debug)]
pub(crate) struct SharedClient {
    pub(crate) client: Client,
    /// What it was told of registries.
    registries: Vec<Registry>,
    /// What was asked of registries, as far as somebody was told.
    counted: Mutex<BTreeMap<String, Traffic>>,
}

impl SharedClient {
    fn new(registries: Vec<Registry>, cache: Option<PathBuf>, fresh_for: Duration) -> Result<Self> {
        let all = registries.iter().map(settings).collect::<Result<_>>()?;
        let client = Client::new(Options { fresh_for, ..options(all, cache) });
        Ok(Self { client, registries, counted: Mutex::default() })
    }

    /// Whether it may ask for who says this of registries.
    pub(crate) fn serves(&self, registries: &[Registry]) -> bool {
        registries.iter().all(|registry| self.registries.contains(registry))
    }

    /// What was asked of registries since this was last asked.
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
    known: Mutex<Vec<(Vec<Registry>, Weak<SharedClient>)>>,
}

impl ClientPool {
    /// Without any client yet.
    pub(crate) fn new(cache: Option<PathBuf>, fresh_for: Duration) -> Self {
        Self { cache, fresh_for, known: Mutex::default() }
    }

    /// The client of who says this of registries.
    ///
    /// # Errors
    /// As for [`client`].
    pub(crate) fn client_for(&self, registries: &[Registry]) -> Result<Arc<SharedClient>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, client)| client.strong_count() > 0);
        let same = known.iter().find(|(said, _)| said == registries).and_then(|(_, client)| client.upgrade());
        if let Some(client) = same {
            return Ok(client);
        }
        let client = SharedClient::new(registries.to_vec(), self.cache.clone(), self.fresh_for)?;
        let client = Arc::new(client);
        known.push((registries.to_vec(), Arc::downgrade(&client)));
        Ok(client)
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
) -> Result<Vec<Arc<SharedClient>>> {
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
    let client = |group| SharedClient::new(group, cache.map(Path::to_owned), fresh_for).map(Arc::new);
    let clients: Vec<Arc<SharedClient>> = groups.into_iter().map(client).collect::<Result<_>>()?;
    Ok(places.into_iter().map(|place| Arc::clone(&clients[place])).collect())
}

/// What is said of the registry of an image: of what is said of several, that with the longest prefix counts.
pub(crate) fn best<'r>(registries: &'r [Registry], repository: &Repository) -> Option<&'r Registry> {
    let fitting = registries.iter().filter(|registry| repository.is_below(&registry.prefix));
    fitting.max_by_key(|registry| registry.prefix.len())
}

/// Where the XDG base directory specification puts what a program can get again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    cache_folder_by(variable)
}

fn cache_folder_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(below.join("image-updater"))
}

fn options(registries: Vec<RegistrySettings>, cache: Option<PathBuf>) -> Options {
    let docker = DockerConfig::default_path(variable).map(DockerConfig::file);
    Options {
        user_agent: concat!("image-updater/", env!("CARGO_PKG_VERSION")).to_owned(),
        registries,
        credentials: docker.map(|docker| Arc::new(docker) as Arc<dyn CredentialSource>),
        cache,
        ..Options::default()
    }
}

fn settings(registry: &Registry) -> Result<RegistrySettings> {
    Ok(RegistrySettings {
        prefix: registry.prefix.clone(),
        api: registry.api.clone(),
        plain_http: registry.plain_http,
        insecure_tls: registry.insecure,
        authorities: authorities(registry)?,
        client_certificate: None,
        credentials: registry.credentials.as_ref().map(source).transpose()?,
        default_namespace: registry.default_namespace.clone(),
        rate_limit: registry.rate_limit,
        concurrency: registry.concurrency,
        foreign_links: registry.foreign_links,
    })
}

fn source(credentials: &Credentials) -> Result<Arc<dyn CredentialSource>> {
    Ok(match credentials {
        Credentials::Env(name) => Arc::new(variable_source(name)),
        Credentials::File(path) => Arc::new(CredentialFile(path.into())),
        Credentials::DockerConfig(path) => Arc::new(DockerConfig::file(path.into())),
        Credentials::Command(command) => {
            let (program, arguments) = command
                .split_first()
                .ok_or_else(|| Error::input("a `command` for credentials needs a program"))?;
            Arc::new(CredentialProgram::new(program, arguments.iter().map(OsString::from).collect()))
        }
    })
}

fn variable_source(name: &str) -> CredentialVariable {
    let value = variable(name).and_then(|value| value.into_string().ok());
    CredentialVariable { name: name.to_owned(), value: value.map(Secret::new) }
}

/// Those of the file with those that stand in the configuration itself.
fn authorities(registry: &Registry) -> Result<Option<Vec<u8>>> {
    let file = registry.ca_file.as_ref().map(|path| read_authorities(Path::new(path))).transpose()?;
    let Some(data) = &registry.ca_data else { return Ok(file) };
    let mut all = file.unwrap_or_default();
    all.push(b'\n');
    all.extend_from_slice(data.as_bytes());
    Ok(Some(all))
}

fn read_authorities(path: &Path) -> Result<Vec<u8>> {
    let refuse = |error: &std::io::Error| Error::io("read", path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| refuse(&error))?;
    file.take(MAX_AUTHORITIES + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MAX_AUTHORITIES {
        let shown = path.display();
        return Err(Error::input(format!("`{shown}` is larger than {} KiB", MAX_AUTHORITIES >> 10)));
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
    use crate::error::ErrorKind;

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
        let known = settings(&said).unwrap();
        assert_eq!(known.prefix, "registry.test");
        assert_eq!(known.api.as_deref(), Some("https://api.registry.test"));
        assert!(known.plain_http && known.insecure_tls && known.foreign_links);
        assert_eq!(known.default_namespace.as_deref(), Some("team"));
        assert_eq!((known.rate_limit, known.concurrency), (Some(2.5), Some(3)));
        assert!(known.credentials.is_none() && known.authorities.is_none());
    }

    #[test]
    fn documents_share_a_client_unless_they_say_different_things() {
        let said = |prefix: &str, plain_http: bool| {
            vec![Registry { prefix: prefix.to_owned(), plain_http, ..Registry::default() }]
        };
        let documents = [said("a", true), Vec::new(), said("b", true), said("a", false), said("a", true)];
        let documents: Vec<&[Registry]> = documents.iter().map(Vec::as_slice).collect();
        let clients = shared_clients(&documents, None, Duration::ZERO).unwrap();
        let of_first: Vec<bool> = clients.iter().map(|client| Arc::ptr_eq(client, &clients[0])).collect();
        assert_eq!(of_first, [true, true, true, false, true]);
        assert!(clients[0].serves(&said("b", true)) && !clients[0].serves(&said("b", false)));
    }

    #[test]
    fn credentials_are_read_when_they_are_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        let known = settings(&registry(Some(Credentials::File(path.clone())))).unwrap();
        std::fs::write(&path, "me:pw\n").unwrap();
        let source = known.credentials.unwrap();
        assert_eq!(source.find("registry.test", "a").unwrap(), Some(registry::Credential::basic("me", "pw")));
        let missing = settings(&registry(Some(Credentials::Env("IMAGE_UPDATER_IS_NOT_SET".to_owned()))));
        let error = missing.unwrap().credentials.unwrap().find("registry.test", "a").unwrap_err();
        assert!(error.message().contains("`$IMAGE_UPDATER_IS_NOT_SET`: it is not set"), "{error}");
        assert!(settings(&registry(Some(Credentials::Command(Vec::new())))).is_err());
    }

    #[test]
    fn a_file_of_authorities_is_read_at_once_and_has_an_end() {
        let path = |path: &str| Registry { ca_file: Some(path.to_owned()), ..registry(None) };
        let error = settings(&path("does-not-exist.pem")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one").unwrap();
        let both = Registry { ca_data: Some("two".to_owned()), ..path(&file.path().display().to_string()) };
        assert_eq!(settings(&both).unwrap().authorities.as_deref(), Some(&b"one\ntwo"[..]));
        let error = settings(&path("/dev/zero")).unwrap_err();
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
