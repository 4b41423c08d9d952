//! A tree mounted at a directory of other files.
//!
//! Input: an absolute path. Output: its file or directory, with links followed within the tree, out of it and into it.
//! Rejects cycles of links.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::disk::permit;
use crate::{Entry, FileKind, Files, ReadSet, Tree};

/// The maximum number of links in one path, as in Linux (`MAXSYMLINKS`).
const MAX_LINKS: usize = 40;

/// A [`Tree`] mounted at a directory; it hides that directory of `around`.
#[derive(Clone, Debug)]
pub struct Mounted<T, F> {
    at: PathBuf,
    tree: T,
    around: F,
}

/// A file system without files.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyFiles;

impl<T: Tree, F: Files> Mounted<T, F> {
    /// Mounts a tree at an absolute real path.
    #[must_use]
    pub fn new(at: impl Into<PathBuf>, tree: T, around: F) -> Self {
        Self { at: at.into(), tree, around }
    }

    /// Returns the path relative to the tree's root, if it is inside.
    fn within<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.at).ok()
    }

    /// Resolves a path in the tree part by part, starting at a real directory.
    fn descend(&self, path: &Path, links: usize) -> io::Result<(PathBuf, FileKind)> {
        let mut real = self.at.clone();
        let mut kind = FileKind::Directory;
        let Some(below) = self.within(path) else { return self.outside(path) };
        let mut parts = below.components();
        while let Some(part) = parts.next() {
            if kind != FileKind::Directory {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::Normal(name) => real.push(name),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
            let Some(inner) = self.within(&real) else {
                // It has left the tree, as `/repo/../elsewhere` does.
                return self.follow(&real.join(parts.as_path()), links);
            };
            permit(&real)?;
            match self.tree.entry(inner)? {
                Entry::File => kind = FileKind::File,
                Entry::Directory => kind = FileKind::Directory,
                Entry::Link(target) => {
                    real.pop();
                    return self.follow(&real.join(target).join(parts.as_path()), links);
                }
            }
        }
        Ok((real, kind))
    }

    fn follow(&self, path: &Path, links: usize) -> io::Result<(PathBuf, FileKind)> {
        if links == 0 {
            return Err(io::Error::other("too many levels of symbolic links"));
        }
        self.descend(path, links - 1)
    }

    /// Resolves a path outside of the tree, whose links may lead back into it.
    fn outside(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let (real, kind) = self.around.resolve(path)?;
        if self.within(&real).is_some() { self.descend(&real, MAX_LINKS / 2) } else { Ok((real, kind)) }
    }
}

impl<T: Tree, F: Files> Files for Mounted<T, F> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        self.descend(path, MAX_LINKS)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.within(path) {
            Some(inner) => self.tree.read(inner),
            None => self.around.read(path),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        match self.within(path) {
            Some(inner) => self.tree.list(inner),
            None => self.around.list(path),
        }
    }

    fn display(&self, path: &Path) -> String {
        self.around.display(path)
    }
}

impl<T: Tree + ?Sized> Tree for &T {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        (**self).entry(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        (**self).read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        (**self).list(path)
    }
}

impl<T: Tree + ?Sized> Tree for Arc<T> {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        (**self).entry(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        (**self).read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        (**self).list(path)
    }
}

impl<F: Files + ?Sized> Files for &F {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        (**self).resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        (**self).read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        (**self).list(path)
    }

    fn display(&self, path: &Path) -> String {
        (**self).display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        (**self).record_reads(set);
    }
}

impl<F: Files + ?Sized> Files for Arc<F> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        (**self).resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        (**self).read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        (**self).list(path)
    }

    fn display(&self, path: &Path) -> String {
        (**self).display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        (**self).record_reads(set);
    }
}

impl Files for EmptyFiles {
    fn resolve(&self, _path: &Path) -> io::Result<(PathBuf, FileKind)> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read(&self, _path: &Path) -> io::Result<Arc<[u8]>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _path: &Path) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTree;

    /// A tree at `/repo`, beside `/cache/chart`.
    fn mounted() -> Mounted<MemoryTree, MemoryTree> {
        let mut tree: MemoryTree =
            [("app/a.yaml", b"a" as &[u8]), ("base/b.yaml", b"b")].into_iter().collect();
        for (path, target) in [
            ("app/b.yaml", "../base/b.yaml"),
            ("link", "app"),
            ("loop", "loop"),
            ("out", "/cache/chart"),
            ("up", "../cache"),
            ("nothing", "none"),
        ] {
            tree.add_link(Path::new(path), PathBuf::from(target)).unwrap();
        }
        let around: MemoryTree = [("cache/chart", b"c" as &[u8])].into_iter().collect();
        Mounted::new("/repo", tree, around)
    }

    #[test]
    fn links_are_followed_in_every_part_of_a_path() {
        let files = mounted();
        for (path, want) in [
            ("/repo/app/a.yaml", "/repo/app/a.yaml"),
            ("/repo/./link/a.yaml", "/repo/app/a.yaml"),
            ("/repo/link/b.yaml", "/repo/base/b.yaml"),
            ("/repo/link/../base/b.yaml", "/repo/base/b.yaml"),
            ("/repo/out", "/cache/chart"),
            ("/repo/up/chart", "/cache/chart"),
            ("/repo/../cache/chart", "/cache/chart"),
            ("/cache/chart", "/cache/chart"),
        ] {
            assert_eq!(
                files.resolve(Path::new(path)).unwrap(),
                (PathBuf::from(want), FileKind::File),
                "{path}"
            );
        }
        let directory = (PathBuf::from("/repo"), FileKind::Directory);
        assert_eq!(files.resolve(Path::new("/repo/app/..")).unwrap(), directory);
    }

    #[test]
    fn missing_paths_have_the_error_kind_of_the_system() {
        let files = mounted();
        let kind = |path: &str| files.resolve(Path::new(path)).unwrap_err().kind();
        assert_eq!(kind("/repo/none"), io::ErrorKind::NotFound);
        assert_eq!(kind("/repo/nothing"), io::ErrorKind::NotFound);
        assert_eq!(kind("/repo/app/a.yaml/b"), io::ErrorKind::NotADirectory);
        assert_eq!(kind("/etc/passwd"), io::ErrorKind::NotFound);
        assert_eq!(kind("/repo/loop"), io::ErrorKind::Other);
    }
}
