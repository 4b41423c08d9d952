//! A repository as a source sees it: paths from its root, from the source's folder, and none that lead out.
//!
//! In: paths as an Application writes them. Out: paths on the disk. Refused: what leaves the repository, by name or by a
//! symbolic link.

use std::io;
use std::path::{Component, Path, PathBuf};

use vfs::{FileKind, Files, clean};

/// A repository in a folder.
#[derive(Clone)]
pub(crate) struct Checkout<'f> {
    pub(crate) files: &'f dyn Files,
    /// Its real path.
    root: PathBuf,
}

/// Why there is no file at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It is outside of the repository.
    Outside,
    /// There is nothing.
    Missing,
    /// It is something else than what is asked for.
    WrongKind,
    /// It cannot be read.
    Unreadable(String),
}

impl<'f> Checkout<'f> {
    /// The repository in a folder.
    pub(crate) fn new(folder: &Path, files: &'f dyn Files) -> io::Result<Self> {
        match files.resolve(folder)? {
            (root, FileKind::Directory) => Ok(Self { files, root }),
            (_, FileKind::File) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The path that a text stands for: from the root where it begins with `/`, and else from a folder.
    pub(crate) fn locate(&self, folder: &Path, text: &str) -> Result<PathBuf, Absence> {
        let path = if text.starts_with('/') {
            self.root.join(text.trim_start_matches('/'))
        } else {
            folder.join(text)
        };
        let is_above = leads_above(&path);
        let path = clean(&path);
        if path.starts_with(&self.root) && !is_above { Ok(path) } else { Err(Absence::Outside) }
    }

    /// Returns what is at a path, links followed.
    pub(crate) fn real(&self, path: &Path) -> Result<(PathBuf, FileKind), Absence> {
        match self.files.resolve(path) {
            Ok((real, _)) if !real.starts_with(&self.root) => Err(Absence::Outside),
            Ok(found) => Ok(found),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(Absence::Missing)
            }
            Err(error) => Err(Absence::Unreadable(error.to_string())),
        }
    }

    /// The file at a path, links followed.
    pub(crate) fn file(&self, path: &Path) -> Result<PathBuf, Absence> {
        match self.real(path)? {
            (real, FileKind::File) => Ok(real),
            (_, FileKind::Directory) => Err(Absence::WrongKind),
        }
    }
}

/// Returns true if a path leads above the root of all folders, which is a repository's own where it is in memory.
fn leads_above(path: &Path) -> bool {
    let mut depth = 0_usize;
    path.components().any(|component| match component {
        Component::Normal(_) => {
            depth += 1;
            false
        }
        Component::ParentDir if depth == 0 => true,
        Component::ParentDir => {
            depth -= 1;
            false
        }
        _ => false,
    })
}
