//! The directories that a command reads from.
//!
//! In: the working directory and the paths of a command line. Out: the real paths of the directories that may be read. Links
//! that lead out of them are rejected by [`vfs::Disk`].

use std::io;
use std::path::{Path, PathBuf};

use vfs::{Disk, clean};

/// Returns the top of the git work tree that a path is in.
pub(crate) fn work_tree(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    real.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned)
}

/// Returns the roots of a command that looks at a repository: `root`, or the work tree that the working directory is in, or
/// that directory; and what the command line names outside of it.
pub(crate) fn of_repository<'p>(
    root: Option<&Path>,
    named: impl IntoIterator<Item = &'p Path>,
) -> Vec<PathBuf> {
    let top = root.map(real).or_else(|| work_tree(Path::new("."))).unwrap_or_else(|| real(Path::new(".")));
    let outside = named.into_iter().filter_map(|path| granted(path, &top)).collect::<Vec<_>>();
    std::iter::once(top).chain(outside).collect()
}

/// Returns the roots of a build: `root`, or the work trees that the targets are in. Where a target is in no work tree, the
/// build has no roots and follows the rules of the real tools.
pub(crate) fn of_targets<'p>(
    root: Option<&Path>,
    targets: impl IntoIterator<Item = &'p Path>,
) -> Option<Vec<PathBuf>> {
    if let Some(root) = root {
        return Some(vec![real(root)]);
    }
    let local = targets.into_iter().filter(|target| target.exists());
    let tops = local.map(enclosing).collect::<Option<Vec<_>>>()?;
    Some(tops).filter(|tops| !tops.is_empty())
}

/// Returns the work tree that a typed path is in. A link in a work tree does not lead to another one.
fn enclosing(path: &Path) -> Option<PathBuf> {
    parent(path).and_then(|parent| work_tree(&parent)).or_else(|| work_tree(path))
}

/// Returns what a typed path grants beside a root: a path in the root, which may be a link, grants nothing.
fn granted(path: &Path, top: &Path) -> Option<PathBuf> {
    if parent(path).is_some_and(|parent| real(&parent).starts_with(top)) {
        return None;
    }
    let real = path.canonicalize().ok()?;
    if real.starts_with(top) || top.starts_with(&real) {
        return None;
    }
    Some(work_tree(&real).unwrap_or(real))
}

/// Returns the disk that a typed path is read from: confined to the work tree that it is in, if any.
pub(crate) fn disk_for(path: &Path) -> Disk {
    of_targets(None, [path]).map_or_else(Disk::new, Disk::confined)
}

/// Rejects a typed file that is a link out of the work tree which it is in, or to a file that nobody means to read. The
/// descriptors of a shell's process substitution are no such files.
///
/// # Errors
/// Why it is not read.
pub(crate) fn permit_file(path: &Path) -> io::Result<()> {
    let is_descriptor =
        ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|known| path.starts_with(known));
    if is_descriptor {
        return Ok(());
    }
    let real = path.canonicalize()?;
    vfs::permit(&real)?;
    match enclosing(path) {
        Some(top) if real.starts_with(&top) && !real.is_file() && !real.is_dir() => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "it is neither a file nor a directory"))
        }
        Some(top) if !real.starts_with(&top) => {
            let message = format!("it is outside of the repository `{}`", top.display());
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
        _ => Ok(()),
    }
}

fn parent(path: &Path) -> Option<PathBuf> {
    let full = clean(&std::path::absolute(path).ok()?);
    full.parent().map(Path::to_owned)
}

/// Returns the real path, also of what does not exist yet.
pub(crate) fn real(path: &Path) -> PathBuf {
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = full.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match existing {
        Some((above, real)) => real.join(full.strip_prefix(above).unwrap_or(Path::new(""))),
        None => full,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_in_the_root_grants_nothing_outside_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for path in ["repo/.git", "repo/app", "other/.git", "other/app", "plain"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        symlink("../other/app", top.join("repo/link")).unwrap();
        let repo = top.join("repo");
        assert_eq!(granted(&top.join("repo/link"), &repo), None);
        assert_eq!(granted(&top.join("repo/app"), &repo), None);
        assert_eq!(granted(&top.join("other/app"), &repo), Some(top.join("other")));
        assert_eq!(granted(&top.join("plain"), &repo), Some(top.join("plain")));
        assert_eq!(granted(&top, &repo), None);
        let targets = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| top.join(path)).collect();
            of_targets(None, paths.iter().map(PathBuf::as_path))
        };
        assert_eq!(targets(&["repo/app", "other"]), Some(vec![repo.clone(), top.join("other")]));
        assert_eq!(targets(&["repo/link"]), Some(vec![repo]));
        assert_eq!(targets(&["repo/app", "plain"]), None);
        assert_eq!(targets(&["missing"]), None);
    }

    #[test]
    fn real_paths_of_missing_files_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        assert_eq!(real(&top.join("a/b")), top.join("a/b"));
        symlink(".", top.join("link")).unwrap();
        assert_eq!(real(&top.join("link/a")), top.join("a"));
    }
}
