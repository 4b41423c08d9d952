//! Charts that are not on this disk: from classic repositories, from addresses, from registries.
//!
//! In: what names a chart, and by what its server is asked. Out: its archive, or a folder with its files; each index is
//! read once in a run, and what has a digest is fetched once ever. Refused: an archive with another digest than its
//! repository says, and what is too large or takes too long. Nothing is written outside of the cache.

mod access;
mod address;
mod archive;
mod http;
mod index;
mod locked;
mod oci;
mod refresh;
pub(crate) mod repositories;
mod store;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use helm_lite::repository::{IndexedChart, NoVersion};
use oci_registry::{Client, Digest};
use reqwest::Url;

use super::cache::Cache;
use super::failure::no_cache;
use super::slots::Slots;
use crate::homes::Homes;
pub(crate) use access::{Access, Account, Tls};
pub(crate) use address::{OCI, are_same};
use archive::Located;
use diagnostic::{Error, ErrorKind, Result, redact};
use http::Http;
pub(crate) use http::TIMEOUT;
pub(crate) use index::Indexes;
pub(crate) use locked::Locked;
use repositories::{Repositories, Repository};
use store::Store;

/// The version constraint of `--devel`, which includes development versions.
pub(crate) const WITH_DEVELOPMENT_VERSIONS: &str = ">0.0.0-0";

/// A chart, as it is named on a command line or in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChartRequest<'r> {
    /// `repository/chart`, `https://…/chart.tgz` or `oci://…`; with a `repo` the chart's name in it.
    pub(crate) reference: &'r str,
    /// The address of a repository.
    pub(crate) repo: Option<&'r str>,
    /// A version, or a range of versions; the newest release where there is none.
    pub(crate) version: Option<&'r str>,
    /// By what its server is asked.
    pub(crate) access: &'r Access,
}

/// A chart that was had.
#[derive(Clone, Debug)]
pub(crate) struct Pulled {
    /// Its archive.
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) digest: Digest,
    /// `web-1.0.0.tgz`
    pub(crate) file_name: String,
    /// A notice about an implicit choice.
    pub(crate) notice: Option<String>,
    /// The artifact that it is in, where a registry was asked: `host/repository:tag`, and the digest of its manifest.
    pub(crate) artifact: Option<(String, Digest)>,
}

impl Pulled {
    fn new(bytes: Vec<u8>, digest: Digest, file_name: &str) -> Self {
        Self { bytes: bytes.into(), digest, file_name: file_name.to_owned(), notice: None, artifact: None }
    }
}

/// Fetches charts.
#[derive(Debug)]
pub(crate) struct ChartSources {
    cache: Option<Cache>,
    offline: bool,
    homes: Homes,
    http: Http,
    indexes: Indexes,
    pulled: Slots<(String, Access), Pulled>,
    registries: Slots<(String, Access), Arc<Client>>,
}

impl ChartSources {
    /// With a folder for the cache, where there is a place for one; `offline` takes from it only.
    pub(crate) fn new(cache: Option<PathBuf>, offline: bool, homes: Homes, timeout: Duration) -> Self {
        Self::with(cache.map(Cache::new), offline, homes, timeout)
    }

    /// The same with the accounts of another folder of Helm's configuration.
    pub(crate) fn with_config(&self, folder: &Path) -> Self {
        let homes = self.homes.clone().with_config(folder);
        Self::with(self.cache.clone(), self.offline, homes, self.http.timeout)
    }

    fn with(cache: Option<Cache>, offline: bool, homes: Homes, timeout: Duration) -> Self {
        Self {
            cache,
            offline,
            homes,
            http: Http::new(timeout),
            indexes: Indexes::default(),
            pulled: Slots::default(),
            registries: Slots::default(),
        }
    }

    /// Helm's own files.
    pub(crate) fn homes(&self) -> &Homes {
        &self.homes
    }

    /// A chart's archive.
    ///
    /// # Errors
    /// One sentence, in Helm's words where it has some.
    pub(crate) fn pull(&self, request: &ChartRequest<'_>) -> Result<Pulled> {
        self.find(request)
    }

    /// A folder of the cache with a chart's files. It never changes.
    ///
    /// # Errors
    /// As [`Self::pull`], and when there is no cache or the archive is a hostile one.
    pub(crate) fn folder(&self, request: &ChartRequest<'_>) -> Result<PathBuf> {
        self.find(request).and_then(|pulled| {
            let cache = self.cache.as_ref().ok_or_else(no_cache)?;
            Store(cache).folder(&pulled.digest, &pulled.file_name, &pulled.bytes)
        })
    }

    fn find(&self, request: &ChartRequest<'_>) -> Result<Pulled> {
        match request.repo {
            Some(repo) if repo.starts_with(OCI) => {
                let reference = format!("{}/{}", repo.trim_end_matches('/'), request.reference);
                self.in_registry(&ChartRequest { reference: &reference, repo: None, ..*request })
            }
            Some(repo) => self.in_repository_at(repo, request),
            None if request.reference.starts_with(OCI) => self.in_registry(request),
            None if address::is_full(request.reference) => self.at_address(request),
            None => self.in_known_repository(request),
        }
    }

    /// `--repo`: the index is asked for.
    fn in_repository_at(&self, repo: &str, request: &ChartRequest<'_>) -> Result<Pulled> {
        let index = self.index_at(repo, request.access)?;
        let wanted = request.version.map_or_else(String::new, |version| format!(" version {version:?}"));
        let choice = index.choose(request.reference, request.version).map_err(|_| {
            let chart = request.reference;
            let repo = redact(repo);
            Error::new(ErrorKind::NotFound, format!("chart {chart:?}{wanted} not found in {repo} repository"))
        })?;
        let notice = choice.is_fallback.then(|| fallback(request, choice.chart));
        let chart = format!("chart {:?}{wanted}", request.reference);
        let pulled = self.indexed(&chart, choice.chart, &address::parse(repo)?, request.access)?;
        Ok(Pulled { notice, ..pulled })
    }

    /// `repository/chart`: the index is the one that `helm repo add` or `update` left.
    fn in_known_repository(&self, request: &ChartRequest<'_>) -> Result<Pulled> {
        let reference = request.reference;
        let Some((name, chart)) = reference.split_once('/') else {
            let reason =
                format!("non-absolute URLs should be in form of repo_name/path_to_chart, got: {reference}");
            return Err(Error::new(ErrorKind::NotFound, reason));
        };
        let repositories = self.repositories()?;
        let repository = repositories
            .get(name)
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("repo {name} not found")))?;
        let index = self
            .of_known(name)
            .map_err(|failure| failure.prefix("no cached repo found. (try 'helm repo update')"))?;
        let choice = index.choose(chart, request.version).map_err(|error| {
            let wanted = request.version.unwrap_or_default();
            let reason = format!(
                "chart {chart:?} matching {wanted} not found in {name} index. (try 'helm repo update'): {error}"
            );
            let kind = if matches!(error, NoVersion::Constraint(_)) {
                ErrorKind::Invalid
            } else {
                ErrorKind::NotFound
            };
            Error::new(kind, reason)
        })?;
        let notice = choice.is_fallback.then(|| fallback(request, choice.chart));
        let access = merged(request.access, repository);
        let pulled = self.indexed(
            &format!("chart {reference:?}"),
            choice.chart,
            &address::parse(&repository.url)?,
            &access,
        )?;
        Ok(Pulled { notice, ..pulled })
    }

    /// `https://…/chart.tgz`: by the account of the repository that lists it, if one does.
    fn at_address(&self, request: &ChartRequest<'_>) -> Result<Pulled> {
        let address = address::parse(request.reference)?;
        let repositories = self.repositories()?;
        let owner = repositories.list.iter().find(|known| self.lists(known, &address));
        let (access, repository) = match owner {
            Some(owner) => (merged(request.access, owner), address::parse(&owner.url)?),
            None => (request.access.clone(), address.clone()),
        };
        self.archive(&Located { address, digest: None, repository, access: &access })
    }

    /// Returns true if a repository that would have a say in how an address is asked lists it.
    fn lists(&self, repository: &Repository, address: &Url) -> bool {
        let Ok(base) = address::parse(&repository.url) else { return false };
        if base.origin() != address.origin() && !repository.pass_credentials {
            return false;
        }
        let Ok(index) = self.of_known(&repository.name) else { return false };
        let is_it = |url: &String| {
            address::in_repository(&base, url).is_ok_and(|url| are_same(url.as_str(), address.as_str()))
        };
        index
            .names()
            .any(|name| index.versions(name).into_iter().flatten().any(|chart| chart.urls.iter().any(is_it)))
    }

    fn repositories(&self) -> Result<Repositories> {
        let loaded = Repositories::load(&self.homes.repository_config);
        loaded
            .map(Option::unwrap_or_default)
            .map_err(|error| Error::new(ErrorKind::Invalid, error.message().to_owned()))
    }
}

/// Returns what is refused where only the cache may be asked.
fn offline(address: &str) -> Error {
    let reason = format!("`{}` is not in the cache, and --offline forbids to ask for it", redact(address));
    Error::new(ErrorKind::Unavailable, reason).hint("run once without --offline")
}

fn fallback(request: &ChartRequest<'_>, chart: &IndexedChart) -> String {
    format!(
        "no version `{}` of the chart `{}`: using {}",
        request.version.unwrap_or_default(),
        request.reference,
        chart.version
    )
}

/// The flags, and above them what is known of a repository.
fn merged(flags: &Access, repository: &Repository) -> Access {
    let own = repository.access();
    let has_files = own.tls != Tls { is_unchecked: own.tls.is_unchecked, ..Tls::default() };
    let mut tls = if has_files { own.tls.clone() } else { flags.tls.clone() };
    tls.is_unchecked = flags.tls.is_unchecked || own.tls.is_unchecked;
    let has_account = own.account.is_some();
    Access {
        pass_credentials: if has_account { own.pass_credentials } else { flags.pass_credentials },
        account: own.account.or_else(|| flags.account.clone()),
        tls,
        plain_http: flags.plain_http,
    }
}
