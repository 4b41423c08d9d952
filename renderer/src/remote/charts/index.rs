//! The indexes of repositories, each read once in a run.
//!
//! In: the address of a repository, or the name of one that Helm knows. Out: its index. An index from a server is kept
//! in the cache, so that the server may say that it did not change; of a known repository it is the file that Helm keeps.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result, redact};
use helm_lite::repository::Index;
use oci_registry::Digest;
use reqwest::Url;

use super::super::cache::CachedFile;
use super::super::slots::Slots;
use super::super::web::Answer;
use super::access::Access;
use super::address;
use super::http::Request;
use super::store::Store;
use super::{ChartSources, offline};

/// The largest public indexes have thirty megabytes.
const MAX_INDEX: u64 = yamltree::MAX_TEXT_LEN as u64;

/// An index that is no larger is not kept in another form.
const SMALL: usize = 1 << 20;

/// The indexes of a run.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    of_addresses: Slots<(String, Access), Fetched>,
    of_files: Slots<PathBuf, Arc<Index>>,
}

/// An index with the file that it was read from.
type Fetched = (Arc<Index>, Arc<[u8]>);

impl ChartSources {
    /// The index that Helm keeps of a repository it knows.
    pub(super) fn of_known(&self, name: &str) -> Result<Arc<Index>> {
        let path = file(&self.homes.repository_cache, name);
        self.indexes.of_files.get(&path, Duration::ZERO, || self.read_file(&path))
    }

    /// The index of the repository at an address, as its server has it now.
    pub(super) fn index_at(&self, repo: &str, access: &Access) -> Result<Arc<Index>> {
        let index = self.index_and_text(repo, access).map_err(|failure| {
            let repo = redact(repo);
            failure.prefix(format_args!(
                "looks like {repo:?} is not a valid chart repository or cannot be reached"
            ))
        })?;
        Ok(index.0)
    }

    /// Asks for the index of a repository, and keeps it.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn check_index(&self, repo: &str, access: &Access) -> Result<()> {
        self.index_at(repo, access).map(drop)
    }

    /// The index that the cache has of the repository at an address.
    pub(super) fn kept_index(&self, repo: &str, access: &Access) -> Result<Arc<Index>> {
        let place = Place::new(repo, access)?;
        let kept = self.kept(&place).ok_or_else(|| {
            let reason = format!("no cached index of {}", redact(repo));
            Error::new(ErrorKind::NotFound, reason).hint("run once without --skip-refresh")
        })?;
        self.read(&kept.body)
    }

    /// An index with the file that it was read from.
    pub(super) fn index_and_text(&self, repo: &str, access: &Access) -> Result<Fetched> {
        let key = (repo.to_owned(), access.clone());
        self.indexes.of_addresses.get(&key, Duration::ZERO, || self.fetch(&Place::new(repo, access)?, access))
    }

    fn fetch(&self, place: &Place, access: &Access) -> Result<Fetched> {
        let kept = self.kept(place);
        if self.offline {
            let kept = kept.ok_or_else(|| offline(place.address.as_str()))?;
            return Ok((self.read(&kept.body)?, kept.body.into()));
        }
        let request = Request {
            address: &place.address,
            repository: &place.repository,
            access,
            accept: "*/*",
            tag: kept.as_ref().and_then(|file| file.tag.as_deref()),
            limit: MAX_INDEX,
        };
        let file = match (self.http.get(&request)?, kept) {
            (Answer::Unchanged, Some(kept)) => return Ok((self.read(&kept.body)?, kept.body.into())),
            (Answer::Unchanged, None) => CachedFile { tag: None, body: Vec::new() },
            (Answer::Content { body, tag }, _) => CachedFile { tag, body },
        };
        // What is no index is not kept: the next run asks again.
        let index = self.read(&file.body)?;
        if let Some(cache) = &self.cache {
            cache.put_file(&place.key, &file)?;
        }
        Ok((index, file.body.into()))
    }

    fn read(&self, text: &[u8]) -> Result<Arc<Index>> {
        read(text, self.cache.as_ref().map(Store))
    }

    fn read_file(&self, path: &Path) -> Result<Arc<Index>> {
        let wrong =
            |error: io::Error| Error::new(ErrorKind::NotFound, format!("open {}: {error}", path.display()));
        if fs::metadata(path).map_err(wrong)?.len() > MAX_INDEX {
            let reason = format!("{} is larger than {MAX_INDEX} bytes", path.display());
            return Err(Error::new(ErrorKind::Limit, reason));
        }
        let bytes = fs::read(path).map_err(wrong)?;
        self.read(&bytes).map_err(|failure| failure.prefix(format_args!("error loading {}", path.display())))
    }

    fn kept(&self, place: &Place) -> Option<CachedFile> {
        self.cache.as_ref().and_then(|cache| cache.file(&place.key))
    }
}

/// The location of an index.
struct Place {
    repository: Url,
    address: Url,
    /// Its name in the cache: servers may show each user an index of their own.
    key: String,
}

impl Place {
    fn new(repo: &str, access: &Access) -> Result<Self> {
        let repository = address::parse(repo)?;
        let address = address::in_repository(&repository, "index.yaml")?;
        let user = access.account.as_ref().map(|account| account.user.as_str()).unwrap_or_default();
        Ok(Self { key: format!("{user}@{address}"), repository, address })
    }
}

/// Reads an index: what the cache has of the same text, else the text itself.
fn read(text: &[u8], store: Option<Store<'_>>) -> Result<Arc<Index>> {
    // A small one is read as fast as its digest is made.
    let store = store.filter(|_| text.len() > SMALL);
    let digest = store.map(|store| (store, Digest::of(text)));
    if let Some(index) = digest.as_ref().and_then(|(store, digest)| store.index(digest)) {
        return Ok(Arc::new(index));
    }
    let index = Index::parse(text).map_err(|reason| Error::new(ErrorKind::Invalid, reason))?;
    if let Some((store, digest)) = digest
        && let Some(digested) = index.digested()
    {
        store.put_index(&digest, &digested)?;
    }
    Ok(Arc::new(index))
}

/// Returns where Helm keeps the index of a repository that it knows.
pub(super) fn file(cache: &Path, name: &str) -> PathBuf {
    cache.join(format!("{name}-index.yaml"))
}

/// Returns where Helm keeps the names of its charts.
pub(super) fn charts_file(cache: &Path, name: &str) -> PathBuf {
    cache.join(format!("{name}-charts.txt"))
}
