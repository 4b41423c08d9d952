//! Charts in registries.
//!
//! In: `oci://host/repository[:tag][@digest]`, and a version or a range of versions. Out: the archive, which a registry
//! keeps as one layer of an artifact. Refused: artifacts that are no charts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gotemplate::semver::Version;
use helm_lite::archive;
use helm_lite::repository::newest_matching;
use oci_registry::{
    Client, Content, Credential, CredentialChain, CredentialSource, Descriptor, Digest, DockerConfig,
    ImageManifest, Options, Reference, RegistrySettings, Repository, Retry,
};

use super::access::{Access, Account, pem};
use super::store::{Link, Store};
use super::{ChartRequest, ChartSources, Pulled, offline};

/// The configuration of a chart.
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";

/// Its archive, as Helm names it now and as it did at first.
const LAYERS: [&str; 2] = ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];

/// Time an answer may take, and each part of a large one.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An index of artifacts has a chart among its first, or none.
const MAX_MANIFESTS: usize = 16;

impl ChartSources {
    /// A chart in a registry.
    pub(super) fn in_registry(&self, request: &ChartRequest<'_>) -> Result<Pulled> {
        let store = self.cache.as_ref().map(Store);
        let wanted = request.version.unwrap_or_default();
        let key = format!("{} {wanted}", request.reference);
        if self.offline {
            let link = store.and_then(|store| store.link(&key));
            let pulled = link.and_then(|link| {
                Some(Pulled::new(store?.archive(&link.digest)?, link.digest, &link.file_name))
            });
            return pulled.ok_or_else(|| offline(request.reference));
        }
        let named = read(request.reference)?;
        let client = self.client(named.repository(), request.access)?;
        let (reference, file_name) = chosen(&client, &named, request)?;
        let (manifest, layer) = layer(&client, &reference)?;
        let _lock = store.and_then(|store| store.lock(layer.digest.as_str()));
        let bytes = match store.and_then(|store| store.archive(&layer.digest)) {
            Some(bytes) => bytes,
            None => download(&client, reference.repository(), &layer, store)?,
        };
        if let Some(store) = store {
            let link = Link { digest: layer.digest.clone(), file_name: file_name.clone(), tag: None };
            if store.link(&key).as_ref() != Some(&link) {
                store.put_link(&key, &link)?;
            }
        }
        let artifact = Some((reference.to_string(), manifest));
        Ok(Pulled { artifact, ..Pulled::new(bytes, layer.digest, &file_name) })
    }

    /// The newest version of a chart in a registry that fits; nothing where none does.
    ///
    /// # Errors
    /// If the registry's tags cannot be had.
    pub(crate) fn newest_tag(
        &self,
        reference: &str,
        constraints: &str,
        access: &Access,
    ) -> Result<Option<String>> {
        let tags = self.tags(reference, access)?;
        newest_matching(&tags, Some(constraints))
            .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
    }

    fn tags(&self, reference: &str, access: &Access) -> Result<Vec<String>> {
        let named = read(reference)?;
        let client = self.client(named.repository(), access)?;
        let tags = client.tags(named.repository()).map_err(failure)?;
        Ok(tags.tags().map(str::to_owned).collect())
    }

    /// Keeps an account for a registry where Helm does, once the registry has accepted it.
    pub(crate) fn log_in(&self, host: &str, credential: &Credential, access: &Access) -> Result<()> {
        let check = || {
            let mut settings = settings(host, access)?;
            settings.credentials = Some(Arc::new(credential.clone()));
            Client::new(options(settings)).check(host).map_err(failure)
        };
        check().map_err(|failure: Error| failure.prefix(format!("authenticating to {host:?}")))?;
        oci_registry::log_in(&self.homes.registry_config, host, credential).map_err(failure)
    }

    /// Forgets the account for a registry.
    pub(crate) fn log_out(&self, host: &str) -> Result<()> {
        oci_registry::log_out(&self.homes.registry_config, host).map_err(failure)
    }

    /// Returns where Helm looks for accounts: in its own file, then in Docker's.
    fn logins(&self) -> CredentialChain {
        let files = [Some(&self.homes.registry_config), self.homes.docker_config.as_ref()];
        let source = |path: &PathBuf| Arc::new(DockerConfig::file(path.clone())) as Arc<dyn CredentialSource>;
        CredentialChain(files.into_iter().flatten().map(source).collect())
    }

    fn client(&self, repository: &Repository, access: &Access) -> Result<Arc<Client>> {
        let host = repository.registry();
        self.registries.get(&(host.to_owned(), access.clone()), Duration::ZERO, || {
            let mut settings = settings(host, access)?;
            settings.credentials = access.account.as_ref().map(Account::source);
            Ok(Arc::new(Client::new(Options {
                credentials: Some(Arc::new(self.logins())),
                cache: self.cache.as_ref().map(|cache| cache.root().join("registry")),
                ..options(settings)
            })))
        })
    }
}

fn options(settings: RegistrySettings) -> Options {
    Options {
        user_agent: concat!("renderer/", env!("CARGO_PKG_VERSION")).to_owned(),
        registries: vec![settings],
        timeout: TIMEOUT,
        retry: Retry { attempts: 3, ..Retry::default() },
        ..Options::default()
    }
}

/// By what a registry is asked, but for the account.
fn settings(host: &str, access: &Access) -> Result<RegistrySettings> {
    Ok(RegistrySettings {
        plain_http: access.plain_http,
        insecure_tls: access.tls.is_unchecked,
        authorities: access.tls.authorities.as_ref().map(|path| pem("ca-file", path)).transpose()?,
        client_certificate: access.tls.client_certificate()?,
        ..RegistrySettings::for_host(host)
    })
}

impl Account {
    fn source(&self) -> Arc<dyn CredentialSource> {
        Arc::new(Credential::basic(&self.user, self.password.expose()))
    }
}

/// An archive from its registry, and into the cache.
fn download(
    client: &Client,
    repository: &Repository,
    layer: &Descriptor,
    store: Option<Store<'_>>,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    client.blob(repository, layer, archive::MAX_CHART_SIZE, &mut bytes).map_err(failure)?;
    if let Some(store) = store {
        store.put_archive(&layer.digest, &bytes)?;
    }
    Ok(bytes)
}

/// A reference whose tag may be a version with a `+`.
fn read(text: &str) -> Result<Reference> {
    let (start, last) = text.rsplit_once('/').unwrap_or(("", text));
    Reference::parse_oci(&format!("{start}/{}", last.replace('+', "_"))).map_err(failure)
}

/// Returns the requested chart of a repository, and the name of its file.
fn chosen(client: &Client, named: &Reference, request: &ChartRequest<'_>) -> Result<(Reference, String)> {
    let invalid = |reason: String| Error::new(ErrorKind::Invalid, reason);
    let repository = named.repository();
    let chart = repository.name().rsplit('/').next().unwrap_or_default();
    if let (Some(version), Some(tag)) = (request.version, named.tag())
        && version.replace('+', "_") != tag
    {
        return Err(invalid(format!("chart reference and version mismatch: {version} is not {tag}")));
    }
    let version = request.version.map(str::to_owned).or_else(|| named.tag().map(|tag| tag.replace('_', "+")));
    if let Some(digest) = named.digest() {
        if let Some(version) = &version
            && let Ok(there) = client.digest(&tagged(repository, version)?)
            && there != *digest
        {
            return Err(invalid(format!("chart reference digest mismatch: {there} is not {digest}")));
        }
        let file_name = format!("{chart}@{}-{}.tgz", digest.algorithm(), digest.hex());
        return Ok((repository.with_digest(digest.clone()), file_name));
    }
    let version = match version {
        Some(version) if Version::parse(&version).is_ok() => version,
        wanted => {
            let tags: Vec<String> =
                client.tags(repository).map_err(failure)?.tags().map(str::to_owned).collect();
            newest(&tags, wanted.as_deref(), request.reference)?
        }
    };
    Ok((tagged(repository, &version)?, format!("{chart}-{version}.tgz")))
}

/// The chart in a version, which is a tag without a `+`.
fn tagged(repository: &Repository, version: &str) -> Result<Reference> {
    repository.with_tag(&version.replace('+', "_")).map_err(failure)
}

fn content(client: &Client, reference: &Reference) -> Result<(Digest, Content)> {
    let manifest = client.manifest(reference).map_err(failure)?;
    let content = manifest.content().map_err(failure)?;
    Ok((manifest.digest, content))
}

fn newest(tags: &[String], wanted: Option<&str>, reference: &str) -> Result<String> {
    let found =
        newest_matching(tags, wanted).map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))?;
    found.ok_or_else(|| {
        let reason = match wanted {
            _ if tags.is_empty() => format!("unable to locate any tags in provided repository: {reference}"),
            Some(wanted) => {
                format!("could not locate a version matching provided version string {wanted} in {reference}")
            }
            None => format!("no tag of {reference} is the version of a release"),
        };
        Error::new(ErrorKind::NotFound, reason)
    })
}

/// The digest of the artifact, and its layer with the archive.
fn layer(client: &Client, reference: &Reference) -> Result<(Digest, Descriptor)> {
    let none =
        |reason: String| Error::new(ErrorKind::Invalid, format!("`{reference}` is not a chart: {reason}"));
    let (digest, content) = content(client, reference)?;
    let image = match content {
        Content::Image(image) => image,
        Content::Index(index) => {
            let image = |descriptor: &Descriptor| {
                chart_manifest(client, reference.repository(), descriptor.digest.clone())
            };
            let images = index.manifests.iter().take(MAX_MANIFESTS).map(image);
            let image = images.filter_map(Result::transpose).next();
            image.ok_or_else(|| none("none of the artifacts in its index is a chart".to_owned()))??
        }
    };
    if image.config.media_type != CONFIG {
        return Err(none(format!("could not load config with mediatype {CONFIG}")));
    }
    let is_archive = |layer: &&Descriptor| LAYERS.contains(&layer.media_type.as_str());
    let layer = image.layers.iter().find(is_archive).cloned();
    let layer = layer
        .ok_or_else(|| none(format!("manifest does not contain a layer with mediatype {}", LAYERS[0])))?;
    Ok((digest, layer))
}

fn chart_manifest(client: &Client, repository: &Repository, digest: Digest) -> Result<Option<ImageManifest>> {
    Ok(match content(client, &repository.with_digest(digest))?.1 {
        Content::Image(image) if image.config.media_type == CONFIG => Some(image),
        _ => None,
    })
}

/// Maps what a registry answers to what a caller of a chart source decides by.
fn failure(error: Error) -> Error {
    let kind = match error.kind() {
        ErrorKind::Invalid | ErrorKind::Protocol => ErrorKind::Invalid,
        ErrorKind::NameUnknown | ErrorKind::ManifestUnknown | ErrorKind::BlobUnknown => ErrorKind::NotFound,
        ErrorKind::Unauthorized | ErrorKind::Denied | ErrorKind::DigestMismatch => ErrorKind::Denied,
        ErrorKind::Limit => ErrorKind::Limit,
        _ => ErrorKind::Unavailable,
    };
    error.with_kind(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_may_be_a_version_with_metadata() {
        let reference = read("oci://localhost:5000/charts/web:1.0.0+build.1").unwrap();
        assert_eq!(reference.to_string(), "localhost:5000/charts/web:1.0.0_build.1");
        assert_eq!(read("oci://h.example/web").unwrap().tag(), None);
        assert!(read("oci://h.example").is_err());
    }

    #[test]
    fn a_version_is_told_apart_from_none() {
        let tags = ["1.0.0".to_owned()];
        let reason =
            |tags: &[String], wanted| newest(tags, wanted, "oci://h/web").unwrap_err().message().to_owned();
        assert!(reason(&[], None).contains("unable to locate any tags"));
        assert!(reason(&tags, Some("2")).contains("matching provided version string 2"));
        assert!(reason(&["1.0.0-rc.1".to_owned()], None).contains("no tag of oci://h/web"));
        assert!(reason(&tags, Some("a b")).contains("improper constraint"));
    }
}
