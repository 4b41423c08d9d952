//! Finds CustomResourceDefinitions in a folder, and projects of Argo CD.
//!
//! In: a file or folder. Out: the definitions in it, and in what else is read of the files. Only files that speak of
//! them are parsed, so that a whole repository can be looked through. In a folder what is no YAML is passed over:
//! templates of charts look like it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::objects::{self, Object};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, FileKind, Files};
use yamltree::Source;

use crate::git::Repository;
use crate::roots;

/// Objects that are looked for.
#[derive(Clone, Copy)]
struct Wanted {
    /// The text that marks each of them.
    sign: &'static [u8],
    is_one: fn(&Object) -> bool,
}

const DEFINITIONS: Wanted = Wanted { sign: b"CustomResourceDefinition", is_one: Object::is_crd };
const PROJECTS: Wanted = Wanted {
    sign: b"AppProject",
    is_one: |object| object.kind() == "AppProject" && object.group() == "argoproj.io",
};

/// No repository is deeper.
const MAX_DEPTH: usize = 64;

/// Folders that hold no manifests of the repository's own.
const PASSED_OVER: [&str; 2] = ["node_modules", "target"];

/// Returns where definitions are looked for when nobody says: in the repository that the working directory is in.
pub(crate) fn default_folders() -> Vec<PathBuf> {
    let here = Path::new(".");
    Repository::discover(here).map(|repository| repository.work_tree().to_owned()).into_iter().collect()
}

/// The definitions in a file or folder.
///
/// # Errors
/// A path that is not there, and a file that is no YAML.
pub(crate) fn find(path: &Path) -> Result<Vec<Object>> {
    look_for(DEFINITIONS, path)
}

/// The projects in a file or folder.
///
/// # Errors
/// A path that is not there, and a file that is no YAML.
pub(crate) fn find_projects(path: &Path) -> Result<Vec<Object>> {
    look_for(PROJECTS, path)
}

fn look_for(wanted: Wanted, path: &Path) -> Result<Vec<Object>> {
    let mut search =
        Search { wanted, disk: Disk::confined(roots::of_repository(None, [path])), found: Vec::new() };
    search.look(path, 0)?;
    Ok(search.found)
}

struct Search {
    wanted: Wanted,
    disk: Disk,
    found: Vec<Object>,
}

impl Search {
    fn look(&mut self, path: &Path, depth: usize) -> Result<()> {
        let missing =
            |_| Error::new(ErrorKind::Invalid, format!("no such file or directory: `{}`", path.display()));
        let (real, kind) = match self.disk.resolve(path) {
            Err(_) if depth > 0 => return Ok(()),
            resolved => resolved.map_err(missing)?,
        };
        match kind {
            FileKind::File => match self.file(path, &real) {
                Err(error) if depth == 0 => Err(error),
                _ => Ok(()),
            },
            FileKind::Directory => self.folder(path, &real, depth),
        }
    }

    fn folder(&mut self, path: &Path, real: &Path, depth: usize) -> Result<()> {
        let is_link = depth > 0 && path.is_symlink();
        if depth > MAX_DEPTH || is_link {
            return Ok(());
        }
        let names = self.disk.list(real).map_err(|error| Error::io("read", path, &error))?;
        for name in names {
            let is_hidden = name.starts_with('.');
            if is_hidden || PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            let inner = path.join(&name);
            let is_file = [".yaml", ".yml", ".json"].iter().any(|extension| name.ends_with(extension));
            let is_folder = || matches!(self.disk.resolve(&inner), Ok((_, FileKind::Directory)));
            if is_file || is_folder() {
                self.look(&inner, depth + 1)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, real: &Path) -> Result<()> {
        let bytes = self.disk.read(real).map_err(|error| Error::io("read", path, &error))?;
        if memchr::memmem::find(&bytes, self.wanted.sign).is_none() {
            return Ok(());
        }
        let name = self.disk.display(path);
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::new(ErrorKind::Invalid, format!("`{name}` is not valid UTF-8")))?;
        let objects = objects::read(&Arc::new(Source { name, text: text.into() }))?;
        self.found.extend(objects.into_iter().filter(self.wanted.is_one));
        Ok(())
    }
}
