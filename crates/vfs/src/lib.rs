//! Read access to files: the seam between the engines and a disk, a git tree, or memory.
//!
//! [`Files`] is what engines ask. [`Disk`] answers for this machine; [`Mounted`] shows a [`Tree`] (such as a [`MemoryTree`],
//! or the files of a commit) at a folder, with other files around it. Paths mean the same everywhere: symbolic links are
//! followed, `..` is the folder above what a link leads to, and nothing is read twice that was asked for once.

mod disk;
mod memory;
mod mounted;
mod recorder;

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use disk::Disk;
pub use memory::MemoryTree;
pub use mounted::{EmptyFiles, Mounted};
pub use recorder::{ReadSet, Recorder};

/// No file of a config repo is larger; etcd takes objects of 1.5 MiB, and a bundle of CRDs stays below 20.
pub const MAX_FILE_SIZE: u64 = 256 << 20;

/// No folder of a config repo has more entries.
pub const MAX_DIRECTORY_ENTRIES: usize = 100_000;

/// Files and directories by their paths.
pub trait Files: fmt::Debug + Send + Sync {
    /// The real path behind a path, symbolic links resolved, and what it is.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where there is nothing, [`io::ErrorKind::NotADirectory`] where a part of the path
    /// is a file, [`io::ErrorKind::Unsupported`] for what is neither a file nor a folder.
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)>;

    /// The content of a file at a real path.
    ///
    /// # Errors
    /// What reading gives; [`io::ErrorKind::FileTooLarge`] beyond [`MAX_FILE_SIZE`].
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>>;

    /// The names in a folder, in byte order. One that is no UTF-8 has a replacement character for what is none, so that
    /// who asks for the file is told that there is no such one.
    ///
    /// # Errors
    /// What reading gives; [`io::ErrorKind::FileTooLarge`] beyond [`MAX_DIRECTORY_ENTRIES`].
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// A path as the user would name it.
    fn display(&self, path: &Path) -> String {
        path.display().to_string()
    }

    /// Hears what a cache consulted before, on behalf of who asks it now.
    fn record_reads(&self, set: &ReadSet) {
        let _ = set;
    }
}

/// The kind of a resolved path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
}

/// Files below a root that symbolic links have not been followed in: a git tree, an archive in memory.
pub trait Tree: fmt::Debug + Send + Sync {
    /// What is at a path from the root, whose directories are real ones; the empty path is the root.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where there is nothing, and what reading gives.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// The content of a file.
    ///
    /// # Errors
    /// What reading gives; [`io::ErrorKind::FileTooLarge`] beyond [`MAX_FILE_SIZE`].
    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>>;

    /// The names in a folder, in byte order.
    ///
    /// # Errors
    /// If reading fails.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
}

/// A path without `.` and with `..` taken back by name, before links are followed, as Go's `filepath.Clean` has it; empty
/// for what is nothing but `.`.
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
    /// A folder.
    Directory,
    /// A symbolic link, and where it points to.
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
