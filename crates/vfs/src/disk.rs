//! The disk behind [`Files`]: real paths, bounded reads, names for hints.
//!
//! In: paths, absolute or relative to the working directory. Out: what is there, asked of the system once for each
//! path in a run. It rejects devices and pipes, which have no end or block, Git's own files and those of the system's
//! processes, which hold credentials, and, in a confined disk, everything outside of its roots.

use std::collections::HashMap;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::{FileKind, Files, MAX_DIRECTORY_ENTRIES, MAX_FILE_SIZE};

/// The maximum length of a path, as in Linux (`PATH_MAX`). It also limits the recursion over the parts of a path.
const MAX_PATH_LEN: usize = 4096;

/// The files of this machine.
#[derive(Debug)]
pub struct Disk {
    working_directory: PathBuf,
    /// The directories to which reads are confined.
    roots: Option<Vec<PathBuf>>,
    resolved: RwLock<HashMap<PathBuf, Resolved>>,
}

/// The file at a path, or why it cannot be determined.
type Resolved = Result<(PathBuf, FileKind), Refusal>;

/// An [`io::Error`] that can be kept.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    kind: io::ErrorKind,
    code: Option<i32>,
}

impl Disk {
    /// The disk as seen from the working directory.
    #[must_use]
    pub fn new() -> Self {
        // Where the working directory was removed, relative paths are not found and absolute ones still are.
        Self::seen_from(std::env::current_dir().unwrap_or_default())
    }

    /// The disk as seen from the working directory, confined to directories given by their real paths. Symbolic links are
    /// followed as far as they stay inside.
    #[must_use]
    pub fn confined(roots: Vec<PathBuf>) -> Self {
        Self { roots: Some(roots), ..Self::new() }
    }

    fn seen_from(working_directory: PathBuf) -> Self {
        // The system returns the real path of the working directory, so its parts need no further checks.
        let known = working_directory
            .ancestors()
            .filter(|ancestor| ancestor.is_absolute())
            .map(|ancestor| (ancestor.to_owned(), Ok((ancestor.to_owned(), FileKind::Directory))))
            .collect();
        Self { working_directory, roots: None, resolved: RwLock::new(known) }
    }

    /// Returns the directory that relative paths start from.
    #[must_use]
    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// Rejects a real path that no build may read.
    fn permit(&self, real: &Path) -> io::Result<()> {
        permit(real)?;
        match &self.roots {
            Some(roots) if !roots.iter().any(|root| has(real, root)) => {
                let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
                Err(denied(format!("it is outside of the repository `{}`", root.display())))
            }
            _ => Ok(()),
        }
    }

    fn lookup(&self, path: &Path) -> Resolved {
        if let Some(known) = self.resolved.read().unwrap_or_else(PoisonError::into_inner).get(path) {
            return known.clone();
        }
        let resolved = self.inspect(path);
        self.resolved
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), resolved.clone());
        resolved
    }

    /// Takes one system call if the last part of the path is not a link and its parent is known.
    fn inspect(&self, path: &Path) -> Resolved {
        let Some(parent) = path.parent() else {
            return if path.has_root() {
                Ok((path.to_owned(), FileKind::Directory))
            } else {
                Err(Refusal::of(io::ErrorKind::NotFound))
            };
        };
        let (folder, kind) = self.lookup(parent)?;
        if kind != FileKind::Directory {
            return Err(Refusal::of(io::ErrorKind::NotADirectory));
        }
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Ok((folder.parent().unwrap_or(&folder).to_owned(), FileKind::Directory));
        };
        let full = folder.join(name);
        let file_type = fs::symlink_metadata(&full)?.file_type();
        if file_type.is_symlink() {
            let real = fs::canonicalize(&full)?;
            let kind = kind_of(fs::metadata(&real)?.file_type())?;
            return Ok((real, kind));
        }
        Ok((full, kind_of(file_type)?))
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

fn kind_of(file_type: FileType) -> Result<FileKind, Refusal> {
    if file_type.is_file() {
        Ok(FileKind::File)
    } else if file_type.is_dir() {
        Ok(FileKind::Directory)
    } else {
        Err(Refusal::of(io::ErrorKind::Unsupported))
    }
}

impl Refusal {
    fn of(kind: io::ErrorKind) -> Self {
        Self { kind, code: None }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self { kind: error.kind(), code: error.raw_os_error() }
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        match (refusal.code, refusal.kind) {
            (Some(code), _) => io::Error::from_raw_os_error(code),
            (None, io::ErrorKind::Unsupported) => {
                io::Error::new(io::ErrorKind::Unsupported, "it is neither a file nor a directory")
            }
            (None, kind) => kind.into(),
        }
    }
}

impl Files for Disk {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        if path.as_os_str().len() > MAX_PATH_LEN {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let resolved = if path.is_absolute() {
            self.lookup(path)
        } else {
            self.lookup(&self.working_directory.join(path))
        };
        let (real, kind) = resolved?;
        self.permit(&real)?;
        Ok((real, kind))
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.permit(path)?;
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        if size > MAX_FILE_SIZE {
            return Err(too_large());
        }
        // One byte more than the file has, so that its end is seen without growing the buffer.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        if file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)? as u64 > MAX_FILE_SIZE {
            return Err(too_large());
        }
        Ok(bytes.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let path = self.working_directory.join(path);
        self.permit(&path)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            if names.len() == MAX_DIRECTORY_ENTRIES {
                let reason = format!("the directory has more than {MAX_DIRECTORY_ENTRIES} entries");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
            }
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Relative to the working directory where that is shorter.
    fn display(&self, path: &Path) -> String {
        if !path.is_absolute() || !self.working_directory.has_root() {
            return path.display().to_string();
        }
        let relative = relative_to(&self.working_directory, path);
        let shown = if relative.as_os_str().len() < path.as_os_str().len() { &relative } else { path };
        shown.display().to_string()
    }
}

/// Rejects Git's own files, which hold tokens, and the files of the system: those in `/proc` hold the environment.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`], with a sentence for the user.
pub fn permit(real: &Path) -> io::Result<()> {
    let bytes = real.as_os_str().as_encoded_bytes();
    if ["/proc", "/sys", "/dev"].iter().any(|directory| is_below(bytes, directory.as_bytes())) {
        return Err(denied("it is a file of the operating system".to_owned()));
    }
    if bytes.split(|byte| *byte == b'/').any(|part| part == b".git") {
        return Err(denied("files of Git in `.git` may hold credentials and are not read".to_owned()));
    }
    Ok(())
}

fn has(real: &Path, root: &Path) -> bool {
    is_below(real.as_os_str().as_encoded_bytes(), root.as_os_str().as_encoded_bytes())
}

/// Returns true if a real path is that of a directory or of something in it. By bytes, as every file is asked about.
fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let below = path.strip_prefix(directory.strip_suffix(b"/").unwrap_or(directory));
    below.is_some_and(|below| matches!(below.first(), None | Some(b'/')))
}

fn denied(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("the file is larger than {} MiB", MAX_FILE_SIZE >> 20),
    )
}

/// Returns the relative path from a directory to a path, both absolute.
fn relative_to(folder: &Path, path: &Path) -> PathBuf {
    let shared = folder.components().zip(path.components()).take_while(|(left, right)| left == right).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns a directory with `app/a.yaml`, and a disk whose working directory it is.
    fn repository() -> (tempfile::TempDir, PathBuf, Disk) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("app")).unwrap();
        fs::write(root.join("app/a.yaml"), "a: 1\n").unwrap();
        let disk = Disk::seen_from(root.clone());
        (folder, root, disk)
    }

    #[test]
    fn a_path_is_resolved_from_the_working_directory() {
        let (_folder, root, disk) = repository();
        for path in ["app", "./app", "app/", "app/../app"] {
            assert_eq!(
                disk.resolve(Path::new(path)).unwrap(),
                (root.join("app"), FileKind::Directory),
                "{path}"
            );
        }
        let file = (root.join("app/a.yaml"), FileKind::File);
        assert_eq!(disk.resolve(Path::new("app/a.yaml")).unwrap(), file);
        assert_eq!(disk.resolve(&root.join("app/a.yaml")).unwrap(), file);
        assert_eq!(disk.resolve(Path::new("/")).unwrap(), (PathBuf::from("/"), FileKind::Directory));
    }

    #[test]
    fn links_are_followed_in_every_part_of_a_path() {
        let (_folder, root, disk) = repository();
        symlink("app", root.join("link")).unwrap();
        symlink("../app/a.yaml", root.join("app/b.yaml")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let file = (root.join("app/a.yaml"), FileKind::File);
        assert_eq!(disk.resolve(Path::new("link/b.yaml")).unwrap(), file);
        // As the system resolves it: the parent of the link's target.
        assert_eq!(disk.resolve(Path::new("link/..")).unwrap(), (root.clone(), FileKind::Directory));
        assert_eq!(
            disk.resolve(Path::new("loop")).unwrap_err().kind(),
            fs::metadata(root.join("loop")).unwrap_err().kind()
        );
    }

    #[test]
    fn what_is_missing_stays_missing_in_a_run() {
        let (_folder, root, disk) = repository();
        let kind = |path: &str| disk.resolve(Path::new(path)).unwrap_err().kind();
        assert_eq!(kind("app/b.yaml"), io::ErrorKind::NotFound);
        assert_eq!(kind("app/a.yaml/b"), io::ErrorKind::NotADirectory);
        fs::write(root.join("app/b.yaml"), "").unwrap();
        assert_eq!(kind("app/b.yaml"), io::ErrorKind::NotFound);
    }

    #[test]
    fn devices_and_endless_paths_are_refused() {
        let (_folder, _root, disk) = repository();
        assert_eq!(disk.resolve(Path::new("/dev/zero")).unwrap_err().kind(), io::ErrorKind::Unsupported);
        let endless = "a/".repeat(100_000);
        assert_eq!(disk.resolve(Path::new(&endless)).unwrap_err().kind(), io::ErrorKind::InvalidFilename);
    }

    #[test]
    fn git_and_the_system_are_never_read() {
        let (_folder, root, disk) = repository();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "token").unwrap();
        fs::write(root.join(".gitignore"), "").unwrap();
        symlink("../.git/config", root.join("app/config")).unwrap();
        symlink("/proc/self/environ", root.join("app/environment")).unwrap();
        for path in [".git/config", ".git", "app/config", "app/environment", "/proc/self/environ", "/sys"] {
            let error = disk.resolve(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{path}");
        }
        assert_eq!(disk.read(&root.join(".git/config")).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(disk.resolve(Path::new(".gitignore")).is_ok());
    }

    #[test]
    fn a_confined_disk_has_nothing_outside_of_its_roots() {
        let (_folder, root, _) = repository();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("other/secret"), "s").unwrap();
        symlink("../other/secret", root.join("app/link")).unwrap();
        symlink("a.yaml", root.join("app/b.yaml")).unwrap();
        let disk = Disk { roots: Some(vec![root.join("app")]), ..Disk::seen_from(root.clone()) };
        assert_eq!(disk.resolve(Path::new("app/b.yaml")).unwrap().0, root.join("app/a.yaml"));
        for path in ["app/link", "other/secret", "app/../other", "."] {
            let error = disk.resolve(Path::new(path)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("it is outside of the repository `{}`", root.join("app").display())
            );
        }
        assert_eq!(
            disk.read(&root.join("other/secret")).unwrap_err().kind(),
            io::ErrorKind::PermissionDenied
        );
    }

    #[test]
    fn a_file_is_read_up_to_a_limit() {
        let (_folder, root, disk) = repository();
        assert_eq!(&*disk.read(&root.join("app/a.yaml")).unwrap(), b"a: 1\n");
        let large = File::create(root.join("large")).unwrap();
        large.set_len(MAX_FILE_SIZE + 1).unwrap();
        assert_eq!(disk.read(&root.join("large")).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_path_is_shown_as_one_would_type_it() {
        let disk = Disk::seen_from(PathBuf::from("/home/ann/repo/overlays/prod"));
        for (path, want) in [
            ("/home/ann/repo/overlays/prod/kustomization.yaml", "kustomization.yaml"),
            ("/home/ann/repo/overlays/prod", "."),
            ("/home/ann/repo/base/web.yaml", "../../base/web.yaml"),
            ("/srv/charts", "/srv/charts"),
            ("base", "base"),
        ] {
            assert_eq!(disk.display(Path::new(path)), want);
        }
    }

    #[test]
    fn names_are_listed_in_order() {
        let (_folder, root, disk) = repository();
        fs::write(root.join("app/0.yaml"), "").unwrap();
        assert_eq!(disk.list(Path::new("app")).unwrap(), ["0.yaml", "a.yaml"]);
        assert_eq!(disk.list(Path::new("nothing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
