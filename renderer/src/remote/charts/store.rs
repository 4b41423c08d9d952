//! The store of pulled archives by digest, and the last digest of each URL.
//!
//! ```text
//! charts/blobs/DIGEST              an archive; read only if its bytes still have that digest
//! charts/links/HASH                what an address gave last: its digest, a name for the file, the server's tag
//! charts/indexes/DIGEST            what an index with that digest says of versions, behind a digest of its own
//! charts/folders/DIGEST/NAME/      the archive's files, unpacked
//! charts/locks/NN                  held while something is fetched, so that others wait for it and then find it
//! ```
//!
//! Like all of the cache: what has its name there is complete, as it was made elsewhere and moved into place.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::archive;
use helm_lite::repository::Index;
use oci_registry::Digest;

use super::super::cache::{Cache, create_folders, hash, publish};
use super::super::failure::cache_failure;

/// Time to wait for a lock; if two processes fetch the same content at once, one fetches in vain.
const PATIENCE: Duration = Duration::from_secs(150);

/// Repositories change, and with them their indexes: those of a time before need not stay.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum number of times a lock is asked for.
const TICK: Duration = Duration::from_millis(25);

/// The cache's part for charts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store<'c>(pub(super) &'c Cache);

/// The last answer of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) digest: Digest,
    /// `web-1.0.0.tgz`
    pub(super) file_name: String,
    /// By which the server knows this version of it.
    pub(super) tag: Option<String>,
}

impl Store<'_> {
    /// An archive; nothing where it is not here, or is not what it was.
    pub(super) fn archive(&self, digest: &Digest) -> Option<Vec<u8>> {
        let file = File::open(self.blob_path(digest)).ok()?;
        let mut bytes = Vec::new();
        file.take(archive::MAX_CHART_SIZE + 1).read_to_end(&mut bytes).ok()?;
        digest.matches(&bytes).then_some(bytes)
    }

    pub(super) fn put_archive(&self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        self.0.put(&self.blob_path(digest), bytes)
    }

    /// Returns what an index with this digest says; nothing where it was not read before.
    pub(super) fn index(&self, digest: &Digest) -> Option<Index> {
        let text = fs::read_to_string(self.index_path(digest)).ok()?;
        let (own, digested) = text.split_once('\n')?;
        own.parse::<Digest>().ok()?.matches(digested.as_bytes()).then(|| Index::from_digested(digested))?
    }

    pub(super) fn put_index(&self, digest: &Digest, digested: &str) -> Result<()> {
        let path = self.index_path(digest);
        path.parent().inspect(|folder| remove_old(folder));
        let text = format!("{}\n{digested}", Digest::of(digested.as_bytes()));
        self.0.put(&path, text.as_bytes())
    }

    fn index_path(&self, digest: &Digest) -> PathBuf {
        self.0.root().join("charts/indexes").join(digest.hex())
    }

    pub(super) fn link(&self, address: &str) -> Option<Link> {
        let text = fs::read_to_string(self.link_path(address)).ok()?;
        let mut lines = text.lines();
        let digest = lines.next()?.parse().ok()?;
        let file_name = lines.next()?.to_owned();
        Some(Link { digest, file_name, tag: lines.next().map(str::to_owned) })
    }

    pub(super) fn put_link(&self, address: &str, link: &Link) -> Result<()> {
        let tag = link.tag.as_ref().map_or_else(String::new, |tag| format!("{tag}\n"));
        let text = format!("{}\n{}\n{tag}", link.digest.as_str(), link.file_name);
        self.0.put(&self.link_path(address), text.as_bytes())
    }

    /// A folder with the files of an archive, by the name that the archive's file has.
    pub(super) fn folder(&self, digest: &Digest, file_name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let name = file_name.strip_suffix(".tgz").unwrap_or(file_name);
        let folder = self.0.root().join("charts/folders").join(digest.hex()).join(name);
        if folder.is_dir() {
            return Ok(folder);
        }
        let staging = self.0.staging()?;
        let staged = staging.path().join("folder");
        unpack(bytes, &staged)?;
        publish(&staged, &folder)?;
        Ok(folder)
    }

    /// Waits until no other process fetches what a key stands for, if the disk knows locks. Others wait until the file is
    /// closed.
    pub(super) fn lock(&self, key: &str) -> Option<File> {
        let folder = self.0.root().join("charts/locks");
        create_folders(&folder).ok()?;
        let file = OpenOptions::new().append(true).create(true).open(folder.join(&hash(key)[..2])).ok()?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => thread::sleep(TICK),
                Err(_) => return None,
            }
        }
    }

    fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.0.root().join("charts/blobs").join(digest.hex())
    }

    fn link_path(&self, address: &str) -> PathBuf {
        self.0.root().join("charts/links").join(hash(address))
    }
}

/// Removes what was written long ago. It is made anew where it is still of use.
fn remove_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.map(|written| SystemTime::now().duration_since(written).unwrap_or_default());
        if age.is_ok_and(|age| age > MONTH) {
            // Another process may be at it too.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn unpack(bytes: &[u8], folder: &Path) -> Result<()> {
    for file in archive::files(bytes).map_err(|reason| Error::new(ErrorKind::Invalid, reason))? {
        let path = folder.join(&file.name);
        create_folders(path.parent().unwrap_or(folder))?;
        fs::write(&path, &file.data).map_err(|error| cache_failure("write", &path, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_changed_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let store = Store(&cache);
        let digest = Digest::of(b"chart");
        assert_eq!(store.archive(&digest), None);
        store.put_archive(&digest, b"chart").unwrap();
        assert_eq!(store.archive(&digest).as_deref(), Some(&b"chart"[..]));
        fs::write(store.blob_path(&digest), b"other").unwrap();
        assert_eq!(store.archive(&digest), None);
        store.put_archive(&digest, b"chart").unwrap();
        assert!(store.archive(&digest).is_some());
    }

    #[test]
    fn what_an_index_says_is_checked_and_does_not_stay_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let store = Store(&cache);
        let (first, second) = (Digest::of(b"first"), Digest::of(b"second"));
        store.put_index(&first, "charts 1\nweb\n\t1.0.0\t\n").unwrap();
        assert_eq!(store.index(&first).unwrap().versions("web").unwrap().len(), 1);
        let path = store.index_path(&first);
        let changed = fs::read_to_string(&path).unwrap().replace("1.0.0", "2.0.0");
        fs::write(&path, changed).unwrap();
        assert!(store.index(&first).is_none());
        let past = SystemTime::now() - MONTH - Duration::from_secs(60);
        File::options().append(true).open(&path).unwrap().set_modified(past).unwrap();
        store.put_index(&second, "charts 1\n").unwrap();
        assert!(!path.exists() && store.index(&second).is_some());
    }

    #[test]
    fn a_link_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        for tag in [None, Some("\"abc\"".to_owned())] {
            let link = Link { digest: Digest::of(b"x"), file_name: "web-1.0.0.tgz".to_owned(), tag };
            Store(&cache).put_link("https://a/b", &link).unwrap();
            assert_eq!(Store(&cache).link("https://a/b"), Some(link));
        }
        assert_eq!(Store(&cache).link("https://a/c"), None);
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let held = Store(&cache).lock("a").expect("the disk knows locks");
        let other = OpenOptions::new()
            .append(true)
            .open(folder.path().join("charts/locks").join(&hash("a")[..2]))
            .unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
    }
}
