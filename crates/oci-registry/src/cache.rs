//! The cache between runs: a directory that any number of processes share.
//!
//! ```text
//! content/sha256/HEX    manifests and configurations, by their digest
//! tags/HASH             a list of tags with its validators
//! digests/HASH          which manifest a tag was last
//! staging/              what is being written
//! ```
//!
//! A file is written in `staging` and moved to its place in one step. What is read is checked: content by its name, the
//! rest by the digest in its first line. What is damaged is removed and counts as absent.

use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};

use diagnostic::{Error, ErrorKind, Result};
use tempfile::NamedTempFile;

use crate::digest::Digest;
use crate::tags::TagList;

/// Nothing larger is written.
const MAX_FILE: u64 = 128 << 20;

/// Age after which leftovers of a killed process are removed. No write takes as long.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub(crate) struct Cache {
    root: PathBuf,
    swept: Once,
}

impl Cache {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, swept: Once::new() }
    }

    pub(crate) fn content(&self, digest: &Digest) -> Option<Vec<u8>> {
        let path = self.content_path(digest);
        let bytes = read(&path)?;
        if digest.matches(&bytes) {
            return Some(bytes);
        }
        remove(&path);
        None
    }

    pub(crate) fn put_content(&self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        self.write(&self.content_path(digest), &[bytes])
    }

    /// The list of tags that was had last from an address.
    pub(crate) fn tags(&self, url: &str) -> Option<TagList> {
        serde_json::from_slice(&self.checked("tags", url)?).ok()
    }

    pub(crate) fn put_tags(&self, url: &str, tags: &TagList) -> Result<()> {
        let text = serde_json::to_vec(tags)
            .map_err(|error| Error::new(ErrorKind::Environment, error.to_string()))?;
        self.put_checked("tags", url, &text)
    }

    /// The manifest that an address was last.
    pub(crate) fn digest(&self, url: &str) -> Option<Digest> {
        String::from_utf8(self.checked("digests", url)?).ok()?.parse().ok()
    }

    pub(crate) fn put_digest(&self, url: &str, digest: &Digest) -> Result<()> {
        if self.digest(url).as_ref() == Some(digest) {
            return Ok(());
        }
        self.put_checked("digests", url, digest.as_str().as_bytes())
    }

    fn content_path(&self, digest: &Digest) -> PathBuf {
        self.root.join("content").join(digest.algorithm()).join(digest.hex())
    }

    fn named_path(&self, kind: &str, name: &str) -> PathBuf {
        self.root.join(kind).join(Digest::of(name.as_bytes()).hex())
    }

    fn checked(&self, kind: &str, name: &str) -> Option<Vec<u8>> {
        let path = self.named_path(kind, name);
        let mut bytes = read(&path)?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let content = end.map(|end| bytes.split_off(end + 1));
        bytes.pop();
        match content {
            Some(content) if Digest::of(&content).as_str().as_bytes() == bytes => Some(content),
            _ => {
                remove(&path);
                None
            }
        }
    }

    fn put_checked(&self, kind: &str, name: &str, content: &[u8]) -> Result<()> {
        let digest = Digest::of(content);
        self.write(&self.named_path(kind, name), &[digest.as_str().as_bytes(), b"\n", content])
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> Result<()> {
        let failed = |error: io::Error| {
            Error::new(
                ErrorKind::Environment,
                format!("the cache cannot write `{}`: {error}", path.display()),
            )
            .hint("choose another cache directory")
        };
        let staging = self.root.join("staging");
        create_folders(&staging).map_err(failed)?;
        self.swept.call_once(|| remove_stale(&staging));
        create_folders(path.parent().unwrap_or(path)).map_err(failed)?;
        let mut file = NamedTempFile::new_in(&staging).map_err(failed)?;
        for part in parts {
            file.write_all(part).map_err(failed)?;
        }
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn remove(path: &Path) {
    // Another process may have done it, or may have put a good one there: then that is fetched once more.
    let _ = fs::remove_file(path);
}

/// Folders for the user's eyes only: what is cached may be private.
fn create_folders(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn remove_stale(staging: &Path) {
    for entry in fs::read_dir(staging).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.map(|modified| SystemTime::now().duration_since(modified).unwrap_or_default());
        if age.is_ok_and(|age| age > STALE) {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_is_damaged_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let digest = Digest::of(b"content");
        assert_eq!(cache.content(&digest), None);
        cache.put_content(&digest, b"content").unwrap();
        assert_eq!(cache.content(&digest).as_deref(), Some(&b"content"[..]));
        fs::write(cache.content_path(&digest), b"conten").unwrap();
        assert_eq!(cache.content(&digest), None);
        assert!(!cache.content_path(&digest).exists());

        cache.put_digest("a", &digest).unwrap();
        assert_eq!((cache.digest("a"), cache.digest("b")), (Some(digest), None));
        for damaged in ["", "\n", "sha256:12\nsha256:34", "no line"] {
            fs::write(cache.named_path("digests", "a"), damaged).unwrap();
            assert_eq!(cache.digest("a"), None);
        }
        assert_eq!(cache.tags("a"), None);
        cache.put_tags("a", &TagList::default()).unwrap();
        assert_eq!(cache.tags("a"), Some(TagList::default()));
    }

    #[test]
    fn what_a_killed_process_left_behind_goes() {
        let folder = tempfile::tempdir().unwrap();
        let staging = folder.path().join("staging");
        fs::create_dir(&staging).unwrap();
        let old = fs::File::create(staging.join("old")).unwrap();
        old.set_modified(SystemTime::now() - 2 * STALE).unwrap();
        fs::write(staging.join("new"), "").unwrap();
        Cache::new(folder.path().to_owned()).put_content(&Digest::of(b"x"), b"x").unwrap();
        let left: Vec<_> = fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["new"]);
    }

    #[test]
    fn many_may_write_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let contents: Vec<Vec<u8>> = (0..8_u8).map(|byte| vec![byte; 100_000]).collect();
        thread::scope(|scope| {
            for content in &contents {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cache.put_checked("tags", "same", content).unwrap();
                        // Whoever wrote it, it is whole.
                        assert!(contents.contains(&cache.checked("tags", "same").unwrap()));
                    }
                });
            }
        });
    }
}
