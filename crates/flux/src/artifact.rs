//! A repository as Flux' controllers get it: the archive that source-controller makes of it.
//!
//! In: files and the folder of the repository. Out: the same files without what `.sourceignore` and a source's `ignore`
//! leave out, without symbolic links, and without anything outside of the folder.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use vfs::{FileKind, Files, ReadSet};

use crate::ignore::{self, Pattern};

const IGNORE_FILE: &str = ".sourceignore";

/// The files of an artifact.
#[derive(Debug)]
pub struct Artifact<'f> {
    files: &'f dyn Files,
    /// Its real path.
    root: PathBuf,
    defaults: Vec<Pattern>,
    /// The patterns of the source itself.
    own: Vec<Pattern>,
    /// The directory of fetched remote bases.
    fetched: Option<PathBuf>,
    /// The patterns of folders, from the root.
    by_folder: Mutex<HashMap<PathBuf, Arc<[Pattern]>>>,
}

impl<'f> Artifact<'f> {
    /// The artifact of the repository in a folder.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn new(
        files: &'f dyn Files,
        folder: &Path,
        ignored: &str,
        fetched: Option<&Path>,
    ) -> io::Result<Self> {
        let (root, kind) = files.resolve(folder)?;
        if kind != FileKind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self {
            files,
            root,
            defaults: ignore::defaults(),
            own: ignore::read(ignored),
            fetched: fetched.map(Path::to_owned),
            by_folder: Mutex::default(),
        })
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path that a text stands for, which cannot lead out: what is above the root is the root.
    #[must_use]
    pub fn join(&self, text: &str) -> PathBuf {
        let mut below = PathBuf::new();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(name) => below.push(name),
                Component::ParentDir => drop(below.pop()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        self.root.join(below)
    }

    fn is_ignored(&self, below: &Path) -> bool {
        let names: Vec<&str> = below.iter().filter_map(|name| name.to_str()).collect();
        let said = |patterns: &[Pattern], from: usize| {
            patterns.iter().rev().find_map(|pattern| pattern.leaves_out(&names[from..]))
        };
        if let Some(said) = said(&self.own, 0) {
            return said;
        }
        // The patterns of the nearest folder count most.
        for depth in (0..names.len()).rev() {
            let folder: PathBuf = names[..depth].iter().collect();
            if let Some(said) = said(&self.patterns(&folder), depth) {
                return said;
            }
        }
        said(&self.defaults, 0).unwrap_or(false)
    }

    fn patterns(&self, folder: &Path) -> Arc<[Pattern]> {
        let mut known = self.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(patterns) = known.get(folder) {
            return Arc::clone(patterns);
        }
        let path = self.root.join(folder).join(IGNORE_FILE);
        let text = self.files.resolve(&path).and_then(|(real, _)| self.files.read(&real));
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let patterns: Arc<[Pattern]> = ignore::read(&text).into();
        known.insert(folder.to_owned(), Arc::clone(&patterns));
        patterns
    }
}

impl Files for Artifact<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let path = clean(path);
        let (real, kind) = self.files.resolve(&path)?;
        if self.fetched.as_ref().is_some_and(|fetched| real.starts_with(fetched)) {
            return Ok((real, kind));
        }
        let below = real.strip_prefix(&self.root).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        let is_link = path.starts_with(&self.root) && real != path;
        if is_link || (kind == FileKind::File && self.is_ignored(below)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok((real, kind))
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.files.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = self.files.list(path)?;
        names.retain(|name| self.resolve(&path.join(name)).is_ok());
        Ok(names)
    }

    fn display(&self, path: &Path) -> String {
        self.files.display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        self.files.record_reads(set);
    }
}

/// A path with `..` taken back by name: there are no links in an artifact.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::*;

    #[test]
    fn what_is_ignored_is_not_there() {
        let tree: MemoryTree = [
            ("repo/.sourceignore", b"*.md\n/docs\n" as &[u8]),
            ("repo/docs/a.yaml", b""),
            ("repo/apps/.sourceignore", b"!keep.md\ntests/\n"),
            ("repo/apps/keep.md", b""),
            ("repo/apps/read.md", b""),
            ("repo/apps/a.yaml", b""),
            ("repo/apps/b.yaml", b""),
            ("repo/apps/tests/a.yaml", b""),
            ("repo/apps/.sops.yaml", b""),
            ("beside/a.yaml", b""),
        ]
        .into_iter()
        .collect();
        let artifact = Artifact::new(&tree, Path::new("/repo"), "b.yaml\n", None).unwrap();
        let is_there = |path: &str| artifact.resolve(Path::new(path)).is_ok();
        for (path, want) in [
            ("/repo/apps/a.yaml", true),
            ("/repo/apps/keep.md", true),
            ("/repo/apps/read.md", false),
            ("/repo/apps/b.yaml", false),
            ("/repo/apps/tests/a.yaml", false),
            ("/repo/docs/a.yaml", false),
            ("/repo/apps/.sops.yaml", false),
            ("/repo/../beside/a.yaml", false),
        ] {
            assert_eq!(is_there(path), want, "{path}");
        }
        assert_eq!(
            artifact.list(Path::new("/repo/apps")).unwrap(),
            [".sourceignore", "a.yaml", "keep.md", "tests"]
        );
        assert_eq!(artifact.join("./../../apps/../apps"), Path::new("/repo/apps"));
    }
}
