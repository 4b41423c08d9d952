//! Files in memory: for tests, for trees that never touch a disk, for fuzzing.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::world::{FileKind, Files};

/// A tree of files below `/`, without links.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(BTreeMap<PathBuf, Arc<[u8]>>);

impl<P: AsRef<Path>, B: Into<Arc<[u8]>>> FromIterator<(P, B)> for MemoryFiles {
    /// Relative paths start at `/`.
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let file = |(path, content): (P, B)| (Path::new("/").join(path), content.into());
        Self(files.into_iter().map(file).collect())
    }
}

impl MemoryFiles {
    /// The first file below a folder.
    fn first_below(&self, folder: &Path) -> Option<&PathBuf> {
        let from = (Bound::Excluded(folder.to_owned()), Bound::Unbounded);
        self.0.range(from).map(|(path, _)| path).find(|path| path.starts_with(folder))
    }
}

impl Files for MemoryFiles {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let path = Path::new("/").join(path);
        if self.0.contains_key(&path) {
            return Ok((path, FileKind::File));
        }
        match self.first_below(&path) {
            Some(_) => Ok((path, FileKind::Directory)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, path: &Path) -> Vec<String> {
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|file| file.strip_prefix(path).ok()?.components().next()?.as_os_str().to_str())
            .map(str::to_owned)
            .collect();
        names.dedup();
        names
    }

    fn display(&self, path: &Path) -> String {
        path.strip_prefix("/").unwrap_or(path).display().to_string()
    }
}
