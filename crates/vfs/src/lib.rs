//! Read access to files, the seam between the engines and a file system: a disk, a git tree, or memory.
//!
//! Engines read through [`Files`]. [`Disk`] reads the file system of this machine; [`Mounted`] mounts a [`Tree`] (a
//! [`MemoryTree`], or the files of a commit) at a directory of other files; [`Recorder`] records what was read. All of them
//! resolve paths as Linux does: symbolic links are followed, and `..` after a link is the parent of the link's target.
//! Rejects devices and pipes, Git's own files, files over [`MAX_FILE_SIZE`], directories over [`MAX_DIRECTORY_ENTRIES`], and cycles of links.
//!
//! ```
//! use std::path::Path;
//! use vfs::{Files, MemoryTree, Recorder};
//!
//! let tree: MemoryTree = [("app/kustomization.yaml", "resources: [web.yaml]".as_bytes())].into_iter().collect();
//! let recorder = Recorder::new(&tree);
//! let (path, _) = recorder.resolve(Path::new("/app/./kustomization.yaml"))?;
//! assert_eq!(&*recorder.read(&path)?, b"resources: [web.yaml]");
//! assert!(recorder.into_read_set().is_affected_by(Path::new("/app/kustomization.yaml")));
//! # Ok::<(), std::io::Error>(())
//! ```

mod disk;
mod memory;
mod mounted;
mod recorder;

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use disk::{Disk, permit};
pub use memory::MemoryTree;
pub use mounted::{EmptyFiles, Mounted};
pub use recorder::{ReadSet, Recorder};

/// The maximum size of a file. etcd accepts objects of 1.5 MiB, and a bundle of CRDs stays below 20 MiB.
pub const MAX_FILE_SIZE: u64 = 256 << 20;

/// The maximum number of entries of a directory.
pub const MAX_DIRECTORY_ENTRIES: usize = 100_000;

/// Read access to files and directories by path.
pub trait Files: fmt::Debug + Send + Sync {
    /// Resolves symbolic links, `.` and `..`, and returns the real path and its kind.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the path does not exist, [`io::ErrorKind::NotADirectory`] if a part of it is a file,
    /// [`io::ErrorKind::Unsupported`] if it is neither a file nor a directory.
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)>;

    /// Returns the content of a file, given its real path.
    ///
    /// # Errors
    /// The error of the read; [`io::ErrorKind::FileTooLarge`] above [`MAX_FILE_SIZE`].
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>>;

    /// Returns the names in a directory, in byte order. Bytes of a name that are not UTF-8 become replacement characters,
    /// so that opening the file fails as not found.
    ///
    /// # Errors
    /// The error of the read; [`io::ErrorKind::FileTooLarge`] above [`MAX_DIRECTORY_ENTRIES`].
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Returns a path as the user would write it.
    fn display(&self, path: &Path) -> String {
        path.display().to_string()
    }

    /// Records paths that were read earlier and whose results now come from a cache.
    fn record_reads(&self, set: &ReadSet) {
        let _ = set;
    }
}

/// The kind of a resolved path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// Files below a root, with symbolic links not followed: a git tree, an archive in memory.
pub trait Tree: fmt::Debug + Send + Sync {
    /// Returns the entry at a path from the root, whose directories are real ones; the empty path is the root.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the path does not exist, or the error of the read.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// Returns the content of a file.
    ///
    /// # Errors
    /// The error of the read; [`io::ErrorKind::FileTooLarge`] above [`MAX_FILE_SIZE`].
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>>;

    /// Returns the names in a directory, in byte order.
    ///
    /// # Errors
    /// If reading fails.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
}

/// Removes `.` and resolves `..` by name, without following links, as Go's `filepath.Clean` does. Returns an empty path for
/// `.`.
#[must_use]
pub fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some_and(|name| name != "..") => {
                clean.pop();
            }
            Component::ParentDir if clean.has_root() => {}
            other => clean.push(other),
        }
    }
    clean
}

/// An entry of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with its target.
    Link(PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_by_name() {
        for (path, want) in [
            ("/a/./b/../c", "/a/c"),
            ("/../a", "/a"),
            ("a/../../b", "../b"),
            ("../../a/..", "../.."),
            ("a/b/", "a/b"),
            ("./.", ""),
        ] {
            assert_eq!(clean(Path::new(path)), Path::new(want), "{path}");
        }
    }
}
