//! The checkout that argocd-cmp-server starts a plugin in, and nothing else of the disk.
//!
//! In: the working directory, and what Argo CD says of the source's path. Out: the repository's files, named from its root.
//! Refused: everything outside of it, links there too.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use vfs::{Disk, FileKind, Files};

/// The folder in which argocd-cmp-server has a folder for each request.
const WORK: &str = "_cmp_server";

/// A repository on the disk.
#[derive(Debug)]
pub(crate) struct Confined {
    disk: Disk,
    root: PathBuf,
}

impl Confined {
    /// The repository in a folder, by its real path.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { disk: Disk::new(), root }
    }

    fn within<T>(&self, path: &Path, ask: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if path.starts_with(&self.root) { ask() } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Files for Confined {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let (real, kind) = self.disk.resolve(path)?;
        self.within(&real, || Ok((real.clone(), kind)))
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.within(path, || self.disk.read(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.within(path, || self.disk.list(path))
    }

    fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

/// The root of the repository that an application's folder is in: the folder of the request, where argocd-cmp-server has
/// made one; else that of a git work tree; else what the source's path leads down from. A folder that is in none of these
/// is its own root.
pub(crate) fn root<'f>(folder: &'f Path, source_path: Option<&str>) -> &'f Path {
    let is_request =
        |above: &&Path| above.parent().and_then(Path::file_name).is_some_and(|name| name == WORK);
    let is_work_tree = |above: &&Path| above.join(".git").exists();
    folder
        .ancestors()
        .find(is_request)
        .or_else(|| folder.ancestors().find(is_work_tree))
        .or_else(|| above(folder, Path::new(source_path?)))
        .unwrap_or(folder)
}

/// The folder that a path leads down from to another one.
fn above<'f>(folder: &'f Path, path: &Path) -> Option<&'f Path> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir).rev();
    parts.try_fold(folder, |folder, part| match part {
        Component::Normal(name) if folder.file_name() == Some(name) => folder.parent(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_root_is_where_the_server_has_put_it() {
        for (folder, path, want) in [
            ("/tmp/_cmp_server/8b1/apps/web", Some("apps/web"), "/tmp/_cmp_server/8b1"),
            // What is sent begins at the common root of `manifest-generate-paths`.
            ("/tmp/_cmp_server/8b1/web", Some("apps/web"), "/tmp/_cmp_server/8b1"),
            ("/tmp/_cmp_server/8b1", Some("."), "/tmp/_cmp_server/8b1"),
            ("/nowhere/repo/apps/web", Some("./apps/web"), "/nowhere/repo"),
            ("/nowhere/repo/apps/web", Some("other/web"), "/nowhere/repo/apps/web"),
            ("/nowhere/repo/apps/web", Some("../web"), "/nowhere/repo/apps/web"),
            ("/nowhere/web", None, "/nowhere/web"),
        ] {
            assert_eq!(root(Path::new(folder), path), Path::new(want), "{folder} {path:?}");
        }
    }

    #[test]
    fn nothing_is_outside() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::create_dir_all(top.join("repo/app")).unwrap();
        fs::write(top.join("repo/app/a"), "a").unwrap();
        fs::write(top.join("secret"), "s").unwrap();
        symlink("../../secret", top.join("repo/app/link")).unwrap();
        assert_eq!(root(&top.join("repo/app"), None), top.join("repo"));
        let files = Confined::new(top.join("repo"));
        let missing = |path: &str| files.resolve(&top.join(path)).unwrap_err().kind();
        assert_eq!(missing("repo/../secret"), io::ErrorKind::NotFound);
        assert_eq!(missing("repo/app/link"), io::ErrorKind::NotFound);
        assert_eq!(files.read(&top.join("secret")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let (real, _) = files.resolve(&top.join("repo/app/a")).unwrap();
        assert_eq!((files.display(&real).as_str(), &*files.read(&real).unwrap()), ("app/a", &b"a"[..]));
    }
}
