//! The files that a round reads: those of a folder, or those of a commit on a server. A path is from the root of the
//! repository, with `/`, and never leads out of it.

use diagnostic::{Error, Result};
use std::fs;
use std::path::PathBuf;

use crate::disk;

/// Maximum number of files of a folder a pattern that is held against.
const MAX_FILES: usize = 100_000;

/// Maximum depth to which folders may lie within one another.
const MAX_DEPTH: usize = 64;

/// Files by their paths.
pub trait Files {
    /// Returns what is in a file; nothing where there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>>;

    /// A file's text; nothing where there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    fn read(&self, path: &str) -> Result<Option<String>> {
        self.bytes(path)?.map(|bytes| disk::text(bytes, path)).transpose()
    }

    /// The paths that match a pattern, in order.
    ///
    /// # Errors
    /// If the files cannot be listed.
    fn glob(&self, pattern: &str) -> Result<Vec<String>>;
}

/// Returns true if a path is a pattern for more than one.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// None at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoFiles;

impl Files for NoFiles {
    fn bytes(&self, _: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn glob(&self, _: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// The files below a folder of this machine.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The files below a folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written, or a link leads out of the folder.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        disk::replace(&self.locate(path)?, text)
    }

    fn locate(&self, path: &str) -> Result<PathBuf> {
        let is_within = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        if !is_within {
            return Err(Error::invalid(format!("`{path}` is not a path in the repository")));
        }
        let file = self.root.join(path);
        // A folder on the way may be a link as well as the file, which may not be there yet.
        let there = file.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(&self.root);
        let failed = |error| Error::io("follow", there, &error);
        let real = fs::canonicalize(there).map_err(failed)?;
        if real.starts_with(fs::canonicalize(&self.root).map_err(failed)?) {
            return disk::locate(&file, &self.root);
        }
        Err(Error::invalid(format!("`{path}` leads by a link out of `{}`", self.root.display())))
    }

    fn walk(&self, below: &str, depth: usize, paths: &mut Vec<String>) -> Result<()> {
        let folder = self.root.join(below);
        let failed = |error| Error::io("read", &folder, &error);
        if depth > MAX_DEPTH || paths.len() > MAX_FILES {
            return Err(Error::invalid(format!("there are too many files below `{}`", self.root.display())));
        }
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && name != ".git" {
                self.walk(&path, depth + 1, paths)?;
            } else if kind.is_file() {
                paths.push(path);
            }
        }
        Ok(())
    }
}

impl Files for Folder {
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>> {
        disk::bytes(&self.locate(path)?)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        self.walk("", 0, &mut paths)?;
        paths.retain(|path| gitremote::matches(pattern, path.as_bytes().into()));
        paths.sort_unstable();
        Ok(paths)
    }
}

impl Files for gitremote::Tree {
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>> {
        self.read(path)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        self.glob(pattern)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_is_read_or_written() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("a.yaml"), "a: 1\n").unwrap();
        let inside = tempfile::tempdir().unwrap();
        symlink(outside.path(), inside.path().join("out")).unwrap();
        symlink(outside.path().join("a.yaml"), inside.path().join("a.yaml")).unwrap();
        symlink(outside.path().join("gone"), inside.path().join("gone")).unwrap();
        let folder = Folder::new(inside.path());
        for path in ["out/a.yaml", "a.yaml", "gone", "../x", "/etc/hostname", "out/../out/a.yaml"] {
            assert!(folder.read(path).is_err(), "{path}");
            assert!(folder.write(path, "b").is_err(), "{path}");
        }
        // What is not there yet is not made there either.
        assert!(folder.write("out/new.yaml", "b").is_err());
        assert!(!outside.path().join("new.yaml").exists());
        assert_eq!(folder.read("missing/b.yaml").unwrap(), None);
        assert_eq!(folder.glob("**").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_pattern_gives_paths_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b/values.yaml", "a/values.yaml", "a/x/values.yaml", ".git/values.yaml"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let folder = Folder::new(folder.path());
        assert_eq!(folder.glob("*/values.yaml").unwrap(), ["a/values.yaml", "b/values.yaml"]);
        assert_eq!(folder.glob("a/**").unwrap(), ["a/values.yaml", "a/x/values.yaml"]);
    }
}
