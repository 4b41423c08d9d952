//! Remote repositories and files: what a kustomization names that is on a server.
//!
//! In: an address and a revision. Out: a read-only folder of the cache with the repository's files, or the bytes behind
//! an `http(s)` address; each is asked for once in a run, however often and from however many threads. It refuses
//! protocols other than https, http, ssh and file, and what is too large or takes too long.
//!
//! A build without remote entries gets no further than [`Remotes::new`]: git's configuration, TLS and the cache are
//! looked at when the first entry asks for them.

mod cache;
pub(crate) mod charts;
mod checkout;
mod failure;
mod slots;
mod submodules;
mod web;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use gitremote::{Access, HEAD};
use gix::ObjectId;
use kustomize::{Remote, Repository};

use cache::{Cache, CachedCommit, CachedFile, CachedRepository};
use diagnostic::{Error, ErrorKind, Result};
use failure::{cache_failure, no_cache};
use slots::Slots;
use web::Answer;

use crate::roots::real;

/// The user agent.
const AGENT: &str = concat!("renderer/", env!("CARGO_PKG_VERSION"));

/// Submodules of submodules.
const MAX_SUBMODULE_DEPTH: usize = 16;

/// Gets what is remote, from servers or from a cache.
#[derive(Debug)]
pub struct Remotes {
    cache: Option<Cache>,
    offline: bool,
    /// The directories to which local repositories are confined.
    roots: Option<Vec<PathBuf>>,
    commits: Slots<(String, Option<String>), ObjectId>,
    wholes: Slots<PathBuf, PathBuf>,
    files: Slots<String, Arc<[u8]>>,
    web: web::Files,
    /// The folders that were handed out, and the addresses that they are of.
    addresses: RwLock<HashMap<PathBuf, String>>,
}

impl Remotes {
    /// With a folder for the cache, where there is a place for one; `offline` takes from it only.
    #[must_use]
    pub fn new(cache: Option<PathBuf>, offline: bool) -> Self {
        Self {
            cache: cache.map(Cache::new),
            offline,
            roots: None,
            commits: Slots::default(),
            wholes: Slots::default(),
            files: Slots::default(),
            web: web::Files::default(),
            addresses: RwLock::default(),
        }
    }

    /// The same, where repositories of this machine are confined to directories.
    #[must_use]
    pub(crate) fn confined_to(self, roots: Option<Vec<PathBuf>>) -> Self {
        Self { roots, ..self }
    }

    /// Rejects a repository of this machine outside of the roots.
    fn permit(&self, request: &Repository) -> Result<()> {
        let Some(roots) = self.roots.as_ref().filter(|_| request.is_local()) else { return Ok(()) };
        let path = request.url.strip_prefix("file://").unwrap_or(&request.url);
        let real = real(Path::new(path));
        if roots.iter().any(|root| real.starts_with(root)) {
            return Ok(());
        }
        let Some(root) = roots.first().map(|root| root.display()) else {
            return Err(Error::new(ErrorKind::Denied, "repositories of this machine are not read here"));
        };
        Err(Error::new(ErrorKind::Denied, format!("it is outside of the repository `{root}`"))
            .hint("`--root DIR` names a directory that has both"))
    }

    /// A path in one of the folders that were handed out as its user would name it: `https://host/repository//path`.
    #[must_use]
    pub fn display(&self, path: &Path) -> Option<String> {
        let addresses = self.addresses.read().unwrap_or_else(PoisonError::into_inner);
        if addresses.is_empty() {
            return None;
        }
        let (top, url) = path.ancestors().find_map(|folder| addresses.get_key_value(folder))?;
        let below = path.strip_prefix(top).ok()?;
        let separator = if below.as_os_str().is_empty() { "" } else { "//" };
        Some(format!("{url}{separator}{}", below.display()))
    }

    /// Returns true if files were asked for by their addresses.
    pub(crate) fn have_files(&self) -> bool {
        !self.files.is_empty()
    }

    fn cache(&self) -> Result<&Cache> {
        self.cache.as_ref().ok_or_else(no_cache)
    }

    fn tree(&self, request: &Repository, depth: usize) -> Result<PathBuf> {
        let key = (request.url.clone(), request.revision.clone());
        let id = self.commits.get(&key, request.timeout, || self.commit(request)).map_err(|failure| {
            let revision = request.revision.as_deref().unwrap_or(HEAD);
            failure.prefix(format!("cannot fetch `{}` at `{revision}`", request.url))
        })?;
        let commit = self.cache()?.repository(&request.url).commit(id);
        if !request.submodules {
            return Ok(commit.tree());
        }
        let whole = commit.whole();
        self.wholes.get(&whole, request.timeout, || self.whole(request, &commit, depth))
    }

    /// The commit that a revision is, which is cached afterwards.
    fn commit(&self, request: &Repository) -> Result<ObjectId> {
        self.permit(request)?;
        let cache = self.cache()?;
        let repository = cache.repository(&request.url);
        let revision = request.revision.as_deref().unwrap_or(HEAD);
        let is_cached = |commit: &ObjectId| repository.commit(*commit).exists();
        // A commit id is the same commit for ever.
        let by_id = ObjectId::from_hex(revision.as_bytes()).ok().filter(is_cached);
        let recalled = by_id.or_else(|| repository.recall(revision).filter(is_cached));
        match recalled {
            Some(commit) if self.offline || by_id.is_some() => Ok(commit),
            None if self.offline && !request.is_local() => Err(Error::new(
                ErrorKind::Unavailable,
                "it is not in the cache, and --offline forbids to ask for it",
            )
            .hint("build once without --offline")),
            recalled => self.fetch(request, cache, &repository).map_err(|failure| match recalled {
                Some(commit) if failure.kind() == ErrorKind::Unavailable => {
                    failure.hint(format!("--offline would take commit {commit} from the cache"))
                }
                _ => failure,
            }),
        }
    }

    fn fetch(&self, request: &Repository, cache: &Cache, repository: &CachedRepository) -> Result<ObjectId> {
        let staging = cache.staging()?;
        let remote =
            gitremote::Remote { url: request.url.clone(), access: Access::new(AGENT, request.timeout) };
        let known = repository.clone();
        let fetched = gitremote::fetch_commit(
            &remote,
            request.revision.as_deref(),
            &staging.path().join("scratch.git"),
            move |commit| known.commit(commit).exists(),
        )?;
        if let Some(objects) = &fetched.repository {
            let staged = staging.path().join("commit");
            checkout::write(&gitremote::open_repository(objects)?, fetched.commit, &staged)?;
            repository.commit(fetched.commit).publish(&staged)?;
        }
        let revision = request.revision.as_deref().unwrap_or(HEAD);
        cache.remember(repository, revision, fetched.commit)?;
        Ok(fetched.commit)
    }

    /// The files of a commit with those of its submodules.
    fn whole(&self, request: &Repository, commit: &CachedCommit, depth: usize) -> Result<PathBuf> {
        let whole = commit.whole();
        if whole.exists() {
            return Ok(whole);
        }
        let links = commit.links()?;
        if links.is_empty() {
            return Ok(commit.tree());
        }
        if depth >= MAX_SUBMODULE_DEPTH {
            let reason = format!("submodules of `{}` nest more than {MAX_SUBMODULE_DEPTH} deep", request.url);
            return Err(Error::new(ErrorKind::Limit, reason));
        }
        let staging = self.cache()?.staging()?;
        let staged = staging.path().join("whole");
        let place = |from: &PathBuf, to: PathBuf| {
            submodules::link_tree(from, &to).map_err(|error| cache_failure("write", &to, &error))
        };
        place(&commit.tree(), staged.clone())?;
        for submodule in submodules::find(request, &commit.tree(), links)? {
            place(&self.tree(&submodule.repository, depth + 1)?, staged.join(&submodule.path))?;
        }
        commit.publish_whole(&staged)?;
        Ok(whole)
    }

    fn body(&self, url: &str) -> Result<Arc<[u8]>> {
        // A file needs no cache to be had once.
        let cached = self.cache.as_ref().and_then(|cache| cache.file(url));
        if self.offline {
            let body = cached.map(|file| file.body.into());
            return body.ok_or_else(|| {
                Error::new(
                    ErrorKind::Unavailable,
                    "it is not in the cache, and --offline forbids to ask for it",
                )
                .hint("build once without --offline")
            });
        }
        let tag = cached.as_ref().and_then(|file| file.tag.as_deref());
        let file = match (self.web.get(url, tag)?, cached) {
            (Answer::Unchanged, Some(cached)) => return Ok(cached.body.into()),
            (Answer::Unchanged, None) => CachedFile { tag: None, body: Vec::new() },
            (Answer::Content { body, tag }, _) => CachedFile { tag, body },
        };
        if let Some(cache) = &self.cache {
            cache.put_file(url, &file)?;
        }
        Ok(file.body.into())
    }
}

impl Remote for Remotes {
    fn repository(&self, repository: &Repository) -> Result<PathBuf> {
        let folder = self.tree(repository, 0)?;
        // The engine goes by real paths.
        let folder = folder.canonicalize().unwrap_or(folder);
        let mut addresses = self.addresses.write().unwrap_or_else(PoisonError::into_inner);
        addresses.entry(folder.clone()).or_insert_with(|| repository.url.clone());
        Ok(folder)
    }

    fn file(&self, url: &str) -> Result<Arc<[u8]>> {
        let body = self.files.get(&url.to_owned(), Duration::ZERO, || self.body(url));
        body.map_err(|failure| failure.prefix(format!("cannot get `{url}`")))
    }
}
