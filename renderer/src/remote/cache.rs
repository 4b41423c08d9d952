//! The cache of remote resources: a folder that any number of processes share.
//!
//! ```text
//! git/NAME-HASH/revisions/HASH     the commit that a branch, tag or commit id was last
//! git/NAME-HASH/commits/ID/tree/   its files, read-only
//! git/NAME-HASH/commits/ID/links   the submodules that it names
//! git/NAME-HASH/commits/ID/whole/  its files with those of its submodules
//! charts/                          charts, see `charts/store.rs`
//! files/HASH                       a file from the web: a line with the server's tag, then the file
//! staging/                         what is being made
//! ```
//!
//! Entries are complete and never change: they are made in `staging` and moved into place in one step. `HASH` is of a
//! URL or a revision, which may contain characters that file names cannot.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use diagnostic::Result;
use gix::ObjectId;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::checkout::Link;
use super::failure::cache_failure;

/// Age after which leftovers of a killed process are removed. No fetch takes as long.
const STALE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// The cache's folder.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    root: PathBuf,
}

/// The cached state of a repository.
#[derive(Clone, Debug)]
pub(super) struct CachedRepository {
    folder: PathBuf,
}

/// The cached state of a commit.
#[derive(Clone, Debug)]
pub(super) struct CachedCommit {
    folder: PathBuf,
}

/// A file from the web.
pub(super) struct CachedFile {
    /// By which its server knows this version of it.
    pub(super) tag: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Cache {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn repository(&self, url: &str) -> CachedRepository {
        let name = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let plain = |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
        let name: String = name.chars().filter(plain).take(40).collect();
        CachedRepository { folder: self.root.join("git").join(format!("{name}-{}", hash(url))) }
    }

    pub(super) fn file(&self, url: &str) -> Option<CachedFile> {
        let mut bytes = fs::read(self.file_path(url)).ok()?;
        let line = bytes.iter().position(|byte| *byte == b'\n')?;
        let body = bytes.split_off(line + 1);
        bytes.truncate(line);
        let tag = String::from_utf8(bytes).ok()?;
        Some(CachedFile { tag: Some(tag).filter(|tag| !tag.is_empty()), body })
    }

    pub(super) fn put_file(&self, url: &str, file: &CachedFile) -> Result<()> {
        let mut bytes = file.tag.clone().unwrap_or_default().into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&file.body);
        self.put(&self.file_path(url), &bytes)
    }

    fn file_path(&self, url: &str) -> PathBuf {
        self.root.join("files").join(hash(url))
    }

    /// A folder to make something in, on the disk that has the cache. It goes when it is dropped.
    pub(super) fn staging(&self) -> Result<TempDir> {
        let folder = self.root.join("staging");
        create_folders(&folder)?;
        remove_stale(&folder);
        TempDir::new_in(&folder).map_err(|error| cache_failure("create a directory in", &folder, &error))
    }

    /// Gives a file its content in one step.
    pub(super) fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let staging = self.staging()?;
        let staged = staging.path().join("file");
        fs::write(&staged, bytes).map_err(|error| cache_failure("write", &staged, &error))?;
        publish(&staged, path)
    }

    /// Notes which commit a revision is.
    pub(super) fn remember(
        &self,
        repository: &CachedRepository,
        revision: &str,
        commit: ObjectId,
    ) -> Result<()> {
        if repository.recall(revision) == Some(commit) {
            return Ok(());
        }
        self.put(&repository.revision_path(revision), commit.to_string().as_bytes())
    }
}

impl CachedRepository {
    /// The commit that a revision was last.
    pub(super) fn recall(&self, revision: &str) -> Option<ObjectId> {
        let text = fs::read_to_string(self.revision_path(revision)).ok()?;
        ObjectId::from_str(&text).ok()
    }

    fn revision_path(&self, revision: &str) -> PathBuf {
        self.folder.join("revisions").join(hash(revision))
    }

    /// A commit, cached or not.
    pub(super) fn commit(&self, id: ObjectId) -> CachedCommit {
        CachedCommit { folder: self.folder.join("commits").join(id.to_string()) }
    }
}

impl CachedCommit {
    pub(super) fn exists(&self) -> bool {
        self.folder.exists()
    }

    /// Its files.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Its files with those of its submodules; may not have been made yet.
    pub(super) fn whole(&self) -> PathBuf {
        self.folder.join("whole")
    }

    /// The submodules that it names.
    pub(super) fn links(&self) -> Result<Vec<Link>> {
        let path = self.folder.join("links");
        let text = fs::read(&path).map_err(|error| cache_failure("read", &path, &error))?;
        Ok(Link::parse_all(&text))
    }

    /// Gives what was made in a staging folder (`tree` and `links`) its place.
    pub(super) fn publish(&self, staged: &Path) -> Result<()> {
        publish(staged, &self.folder)
    }

    /// Gives the files with those of the submodules their place.
    pub(super) fn publish_whole(&self, staged: &Path) -> Result<()> {
        publish(staged, &self.whole())
    }
}

/// Moves what is complete to its place. Where another process was faster, its work is as good.
pub(super) fn publish(staged: &Path, place: &Path) -> Result<()> {
    if let Some(folder) = place.parent() {
        create_folders(folder)?;
    }
    match fs::rename(staged, place) {
        Err(error) if place.is_dir() && is_taken(&error) => Ok(()),
        Err(error) => Err(cache_failure("write", place, &error)),
        Ok(()) => Ok(()),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// Folders for the user's eyes only: what is cached may be private.
pub(super) fn create_folders(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| cache_failure("create the directory", folder, &error))
}

fn remove_stale(staging: &Path) {
    let Ok(entries) = fs::read_dir(staging) else { return };
    for entry in entries.flatten() {
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .map(|modified| SystemTime::now().duration_since(modified).unwrap_or_default());
        if age.is_ok_and(|age| age > STALE) {
            // Another process may be at it too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// 128 bits of SHA-256, for names that do not collide by chance or by intent.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..16].iter().fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}
