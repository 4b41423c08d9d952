//! The indexes of repositories, each read once in a run.
//!
//! In: the address of a repository, or the name of one that Helm knows. Out: its index. An index from a server is kept
//! in the cache, so that the server may say that it did not change; of a known repository it is the file that Helm keeps.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gitremote::redact;
use helm_lite::repository::Index;

use super::super::cache::CachedFile;
use super::super::failure::{ErrorKind, Failure, Result};
use super::super::slots::Slots;
use super::super::web::Answer;
use super::access::Access;
use super::address;
use super::http::Request;
use super::repositories::Repository;
use super::{ChartSources, offline};
use crate::error;
use crate::homes::Homes;
use crate::output;

/// The largest public indexes have thirty megabytes.
const MAX_INDEX: u64 = yamltree::MAX_TEXT_LEN as u64;

/// The indexes of a run.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    of_addresses: Slots<(String, Access), Fetched>,
    of_files: Slots<PathBuf, Arc<Index>>,
}

/// An index with the file that it was read from.
type Fetched = (Arc<Index>, Arc<[u8]>);

impl Indexes {
    /// The index that Helm keeps of a repository it knows.
    pub(super) fn of_known(&self, homes: &Homes, name: &str) -> Result<Arc<Index>> {
        let path = file(&homes.repository_cache, name);
        self.of_files.get(&path, Duration::ZERO, || read(&path))
    }
}

impl ChartSources {
    /// The index of the repository at an address, as its server has it now.
    pub(super) fn index_at(&self, repo: &str, access: &Access) -> Result<Arc<Index>> {
        let index = self.index_and_text(repo, access).map_err(|failure| {
            let repo = redact(repo);
            failure.during(format_args!(
                "looks like {repo:?} is not a valid chart repository or cannot be reached"
            ))
        })?;
        Ok(index.0)
    }

    /// Gets the index of a repository that Helm knows, and keeps it where Helm does.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn refresh(&self, repository: &Repository) -> error::Result<()> {
        let (index, text) = self.index_and_text(&repository.url, &repository.access())?;
        let folder = &self.homes.repository_cache;
        fs::create_dir_all(folder).map_err(|error| error::Error::io("make", folder, &error))?;
        let names: String = index.names().flat_map(|name| [name, "\n"]).collect();
        output::replace(&charts_file(folder, &repository.name), names.as_bytes())?;
        output::replace(&file(folder, &repository.name), &text)
    }

    /// Forgets what Helm keeps of a repository.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(crate) fn forget(&self, name: &str) -> error::Result<()> {
        let folder = &self.homes.repository_cache;
        for path in [charts_file(folder, name), file(folder, name)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error::Error::io("remove", &path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn index_and_text(&self, repo: &str, access: &Access) -> Result<Fetched> {
        let key = (repo.to_owned(), access.clone());
        self.indexes.of_addresses.get(&key, Duration::ZERO, || {
            let text = self.index_text(repo, access)?;
            let index = Index::parse(&text).map_err(|reason| Failure::new(ErrorKind::Invalid, reason))?;
            Ok((Arc::new(index), text.into()))
        })
    }

    fn index_text(&self, repo: &str, access: &Access) -> Result<Vec<u8>> {
        let repository = address::parse(repo)?;
        let address = address::in_repository(&repository, "index.yaml")?;
        // Servers may show each user an index of their own.
        let user = access.account.as_ref().map(|account| account.user.as_str()).unwrap_or_default();
        let key = format!("{user}@{address}");
        let cached = self.cache.as_ref().and_then(|cache| cache.file(&key));
        if self.offline {
            return cached.map(|file| file.body).ok_or_else(|| offline(address.as_str()));
        }
        let request = Request {
            address: &address,
            repository: &repository,
            access,
            accept: "*/*",
            tag: cached.as_ref().and_then(|file| file.tag.as_deref()),
            limit: MAX_INDEX,
        };
        let file = match (self.http.get(&request)?, cached) {
            (Answer::Unchanged, Some(cached)) => return Ok(cached.body),
            (Answer::Unchanged, None) => CachedFile { tag: None, body: Vec::new() },
            (Answer::Content { body, tag }, _) => CachedFile { tag, body },
        };
        // What is no index is not kept: the next run asks again.
        if let Some(cache) = self.cache.as_ref().filter(|_| Index::parse(&file.body).is_ok()) {
            cache.put_file(&key, &file)?;
        }
        Ok(file.body)
    }
}

/// Where Helm keeps the index of a repository that it knows.
pub(super) fn file(cache: &Path, name: &str) -> PathBuf {
    cache.join(format!("{name}-index.yaml"))
}

/// Where Helm keeps the names of its charts.
fn charts_file(cache: &Path, name: &str) -> PathBuf {
    cache.join(format!("{name}-charts.txt"))
}

fn read(path: &Path) -> Result<Arc<Index>> {
    let wrong = |reason: String| Failure::new(ErrorKind::NotFound, reason);
    let metadata = fs::metadata(path).map_err(|error| wrong(format!("open {}: {error}", path.display())))?;
    if metadata.len() > MAX_INDEX {
        return Err(Failure::new(
            ErrorKind::Limit,
            format!("{} is larger than {MAX_INDEX} bytes", path.display()),
        ));
    }
    let bytes = fs::read(path).map_err(|error| wrong(format!("open {}: {error}", path.display())))?;
    let index = Index::parse(&bytes).map_err(|reason| {
        Failure::new(ErrorKind::Invalid, format!("error loading {}: {reason}", path.display()))
    })?;
    Ok(Arc::new(index))
}
