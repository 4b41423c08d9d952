//! A tree of files in memory, for unpacked archives, tests and fuzzing.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::{EmptyFiles, Entry, FileKind, Files, Mounted, Tree};

/// Files, directories and links by their paths from the root.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree(BTreeMap<PathBuf, Node>);

#[derive(Clone, Debug)]
enum Node {
    File(Arc<[u8]>),
    Directory,
    Link(PathBuf),
}

impl MemoryTree {
    /// Creates an empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces what was there.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidFilename`] for a path that is not from the root down,
    /// [`io::ErrorKind::NotADirectory`] where one of its directories is something else.
    pub fn add_file(&mut self, path: &Path, content: Arc<[u8]>) -> io::Result<()> {
        self.add(path, Node::File(content))
    }

    /// Adds a directory, unless it exists.
    ///
    /// # Errors
    /// As [`Self::add_file`].
    pub fn add_directory(&mut self, path: &Path) -> io::Result<()> {
        match self.0.get(path) {
            Some(Node::Directory) => Ok(()),
            _ => self.add(path, Node::Directory),
        }
    }

    /// Adds a symbolic link, or replaces what was there.
    ///
    /// # Errors
    /// As [`Self::add_file`].
    pub fn add_link(&mut self, path: &Path, target: PathBuf) -> io::Result<()> {
        self.add(path, Node::Link(target))
    }

    /// The files and their content, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Arc<[u8]>)> {
        self.0.iter().filter_map(|(path, node)| match node {
            Node::File(content) => Some((path.as_path(), content)),
            Node::Directory | Node::Link(_) => None,
        })
    }

    /// The links and where they point to, in the order of their paths.
    pub fn links(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.0.iter().filter_map(|(path, node)| match node {
            Node::Link(target) => Some((path.as_path(), target.as_path())),
            Node::Directory | Node::File(_) => None,
        })
    }

    fn add(&mut self, path: &Path, node: Node) -> io::Result<()> {
        let is_from_root = path.components().all(|part| matches!(part, Component::Normal(_)));
        if path.as_os_str().is_empty() || !is_from_root {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        for parent in path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            match self.0.get(parent) {
                // Its own directories were added with it.
                Some(Node::Directory) => break,
                Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
                None => drop(self.0.insert(parent.to_owned(), Node::Directory)),
            }
        }
        if matches!(self.0.get(path), Some(Node::Directory)) && self.first_below(path).is_some() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.0.insert(path.to_owned(), node);
        Ok(())
    }

    /// Returns the first path below a directory.
    fn first_below(&self, directory: &Path) -> Option<&PathBuf> {
        // Paths are sorted part by part, so the entries of a directory follow it.
        let below = (Bound::Excluded(directory.to_owned()), Bound::Unbounded);
        self.0.range(below).map(|(path, _)| path).next().filter(|path| path.starts_with(directory))
    }
}

impl<P: AsRef<Path>, B: Into<Arc<[u8]>>> FromIterator<(P, B)> for MemoryTree {
    /// Paths are taken from the root, whether they begin with `/` or not.
    ///
    /// # Panics
    /// If a path leads out of the root, or is both a file and a directory.
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        let mut tree = Self::new();
        for (path, content) in files {
            let path = path.as_ref();
            let path = path.strip_prefix("/").unwrap_or(path);
            tree.add_file(path, content.into()).expect("paths of files lead down from the root");
        }
        tree
    }
}

impl Tree for MemoryTree {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        if path.as_os_str().is_empty() {
            return Ok(Entry::Directory);
        }
        match self.0.get(path) {
            Some(Node::File(_)) => Ok(Entry::File),
            Some(Node::Directory) => Ok(Entry::Directory),
            Some(Node::Link(target)) => Ok(Entry::Link(target.clone())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.0.get(path) {
            Some(Node::File(content)) => Ok(Arc::clone(content)),
            Some(_) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        if self.entry(path)? != Entry::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let below = (Bound::Excluded(path.to_owned()), Bound::Unbounded);
        let inner = self.0.range(below).map(|(inner, _)| inner).take_while(|inner| inner.starts_with(path));
        let direct = inner.filter(|inner| inner.parent() == Some(path));
        Ok(direct.filter_map(|inner| Some(inner.file_name()?.to_string_lossy().into_owned())).collect())
    }
}

/// Reads the tree with `/` as its root.
impl Files for MemoryTree {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        Mounted::new("/", self, EmptyFiles).resolve(&Path::new("/").join(path))
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        Tree::read(self, path.strip_prefix("/").unwrap_or(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        Tree::list(self, path.strip_prefix("/").unwrap_or(path))
    }

    fn display(&self, path: &Path) -> String {
        path.strip_prefix("/").unwrap_or(path).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> MemoryTree {
        files.iter().map(|(path, text)| (path, text.as_bytes())).collect()
    }

    #[test]
    fn adding_a_file_adds_its_directories() {
        let tree = tree(&[("app/base/a.yaml", "a"), ("app-b/c.yaml", "c"), ("app.yaml", "d")]);
        assert_eq!(tree.entry(Path::new("app/base")).unwrap(), Entry::Directory);
        assert_eq!(Tree::list(&tree, Path::new("")).unwrap(), ["app", "app-b", "app.yaml"]);
        assert_eq!(Tree::list(&tree, Path::new("app")).unwrap(), ["base"]);
        assert_eq!(&*Tree::read(&tree, Path::new("app/base/a.yaml")).unwrap(), b"a");
        assert_eq!(tree.entry(Path::new("app/none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn paths_out_of_the_root_or_through_a_file_are_rejected() {
        let mut tree = tree(&[("a", "")]);
        let mut add = |path: &str| tree.add_file(Path::new(path), Arc::from([])).unwrap_err().kind();
        assert_eq!(add("../b"), io::ErrorKind::InvalidFilename);
        assert_eq!(add("/b"), io::ErrorKind::InvalidFilename);
        assert_eq!(add(""), io::ErrorKind::InvalidFilename);
        assert_eq!(add("a/b"), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_directory_with_files_is_not_replaced() {
        let mut tree = tree(&[("a/b", "")]);
        let error = tree.add_link(Path::new("a"), PathBuf::from("/etc")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        tree.add_directory(Path::new("a")).unwrap();
        assert_eq!(Tree::list(&tree, Path::new("a")).unwrap(), ["b"]);
    }
}
