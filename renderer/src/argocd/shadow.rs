//! Files in which one has another content, which is written nowhere: a kustomization with an Application's edits, or what
//! a chart renders to in the place of its `Chart.yaml`.
//!
//! The changed file has a real path of its own, so that caches that go by paths keep it apart from the file on the disk
//! and from the same file with other edits.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use vfs::{FileKind, Files, ReadSet};

/// Files with one in another's place.
#[derive(Debug)]
pub(crate) struct Shadowed<'f> {
    files: &'f dyn Files,
    path: PathBuf,
    stand_in: PathBuf,
    content: Arc<[u8]>,
    /// The edit of the file.
    note: &'static str,
}

impl<'f> Shadowed<'f> {
    /// Shows another content at the path of a file.
    pub(crate) fn new(files: &'f dyn Files, path: &Path, text: &str, note: &'static str) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (folder, _) = files.resolve(path.parent().unwrap_or(Path::new("/")))?;
        let name = path.file_name().unwrap_or_default();
        let path = folder.join(name);
        let mut stand_in = name.to_owned();
        stand_in.push(format!(".edited-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        Ok(Self { files, stand_in: folder.join(stand_in), path, content: text.as_bytes().into(), note })
    }
}

impl Files for Shadowed<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        if path == self.path || path == self.stand_in {
            return Ok((self.stand_in.clone(), FileKind::File));
        }
        self.files.resolve(path)
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        if path == self.stand_in { Ok(Arc::clone(&self.content)) } else { self.files.read(path) }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.files.list(path)
    }

    fn display(&self, path: &Path) -> String {
        if path == self.stand_in {
            return format!("{} ({})", self.files.display(&self.path), self.note);
        }
        self.files.display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        self.files.record_reads(set);
    }
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::*;

    #[test]
    fn one_file_has_another_content_and_a_path_of_its_own() {
        let tree: MemoryTree =
            [("app/kustomization.yaml", b"old" as &[u8]), ("app/a.yaml", b"a")].into_iter().collect();
        let path = Path::new("/app/kustomization.yaml");
        let one = Shadowed::new(&tree, path, "one", "edited").unwrap();
        let other = Shadowed::new(&tree, path, "other", "edited").unwrap();
        let (real, _) = one.resolve(path).unwrap();
        assert_eq!(&*one.read(&real).unwrap(), b"one");
        assert_ne!(real, other.resolve(path).unwrap().0);
        assert_eq!(one.display(&real), "app/kustomization.yaml (edited)");
        assert_eq!(&*one.read(Path::new("/app/a.yaml")).unwrap(), b"a");
        assert_eq!(one.list(Path::new("/app")).unwrap(), ["a.yaml", "kustomization.yaml"]);
    }
}
