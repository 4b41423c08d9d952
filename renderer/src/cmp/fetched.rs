//! A tree, and what was fetched for it beside: remote bases and charts are in folders of the cache.
//!
//! In: paths in the tree or in the cache. Out: what is there. Refused: everything else of the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vfs::{Disk, FileKind, Files, ReadSet};

/// Files of a tree first, then those of a cache.
#[derive(Debug)]
pub(super) struct WithFetched<'f> {
    tree: &'f dyn Files,
    cache: Option<&'f Path>,
    disk: Disk,
    were_asked: AtomicBool,
}

impl<'f> WithFetched<'f> {
    pub(super) fn new(tree: &'f dyn Files, cache: Option<&'f Path>) -> Self {
        Self { tree, cache, disk: Disk::new(), were_asked: AtomicBool::new(false) }
    }

    /// Returns true if anything of the cache was asked for.
    pub(super) fn were_asked(&self) -> bool {
        self.were_asked.load(Ordering::Relaxed)
    }

    /// The cache's answer to what the tree has none for.
    fn in_cache<T>(
        &self,
        path: &Path,
        answer: io::Result<T>,
        ask: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let Some(cache) = self.cache.filter(|_| answer.is_err()) else { return answer };
        // Folders are handed out by their real paths.
        let cache = fs::canonicalize(cache).unwrap_or_else(|_| cache.to_owned());
        if !path.starts_with(&cache) {
            return answer;
        }
        self.were_asked.store(true, Ordering::Relaxed);
        ask(&cache)
    }
}

impl Files for WithFetched<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        self.in_cache(path, self.tree.resolve(path), |cache| {
            let (real, kind) = self.disk.resolve(path)?;
            if real.starts_with(cache) { Ok((real, kind)) } else { Err(io::ErrorKind::NotFound.into()) }
        })
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.in_cache(path, self.tree.read(path), |_| self.disk.read(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.in_cache(path, self.tree.list(path), |_| self.disk.list(path))
    }

    fn display(&self, path: &Path) -> String {
        self.tree.display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        self.tree.record_reads(set);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use vfs::MemoryTree;

    use super::*;

    #[test]
    fn of_the_disk_there_is_only_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir(folder.join("cache")).unwrap();
        fs::write(folder.join("cache/base"), "b").unwrap();
        fs::write(folder.join("secret"), "s").unwrap();
        symlink("../secret", folder.join("cache/link")).unwrap();
        let cache = folder.join("cache");
        let tree: MemoryTree = [("a", &b"a"[..])].into_iter().collect();
        let files = WithFetched::new(&tree, Some(&cache));
        assert_eq!(&*files.read(Path::new("/a")).unwrap(), b"a");
        let missing = |path: &Path| files.resolve(path).unwrap_err().kind();
        assert_eq!(missing(&folder.join("secret")), io::ErrorKind::NotFound);
        assert!(!files.were_asked());
        assert_eq!(missing(&cache.join("../secret")), io::ErrorKind::NotFound);
        assert_eq!(missing(&cache.join("link")), io::ErrorKind::NotFound);
        let (real, kind) = files.resolve(&cache.join("base")).unwrap();
        assert_eq!((kind, &*files.read(&real).unwrap()), (FileKind::File, &b"b"[..]));
        assert!(files.were_asked());
    }
}
