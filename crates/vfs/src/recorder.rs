//! Records which files and directories a result depends on.
//!
//! Input: the reads of an engine. Output: their results, and a [`ReadSet`]. An engine reports reads that a cache of its own
//! answered with [`Files::record_reads`].

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{FileKind, Files, clean};

/// [`Files`] that records all reads.
#[derive(Debug)]
pub struct Recorder<'f> {
    files: &'f dyn Files,
    seen: Mutex<ReadSet>,
}

/// The files and directories that a result depends on: while they are unchanged, so is the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSet {
    /// Files, by requested path and by real path.
    pub files: BTreeSet<PathBuf>,
    /// Directories that had to exist.
    pub directories: BTreeSet<PathBuf>,
    /// Directories that were listed.
    pub listed: BTreeSet<PathBuf>,
    /// Paths without a readable file.
    pub missing: BTreeSet<PathBuf>,
}

impl<'f> Recorder<'f> {
    /// Records all reads of these files.
    #[must_use]
    pub fn new(files: &'f dyn Files) -> Self {
        Self { files, seen: Mutex::default() }
    }

    /// Returns the reads so far.
    #[must_use]
    pub fn into_read_set(self) -> ReadSet {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<T>(&self, note: impl FnOnce(&mut ReadSet) -> T) {
        let _ = note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl ReadSet {
    /// Adds the reads of another set.
    pub fn extend(&mut self, other: &Self) {
        let add = |to: &mut BTreeSet<PathBuf>, from: &BTreeSet<PathBuf>| to.extend(from.iter().cloned());
        add(&mut self.files, &other.files);
        add(&mut self.directories, &other.directories);
        add(&mut self.listed, &other.listed);
        add(&mut self.missing, &other.missing);
    }

    /// Returns true if a result based on these reads may change when the file, directory or link at this path is added,
    /// changed or removed.
    #[must_use]
    pub fn is_affected_by(&self, changed: &Path) -> bool {
        let holds = |set: &BTreeSet<PathBuf>| {
            // Paths below it count too: it may have become a link, or have been one.
            set.range(changed.to_owned()..).next().is_some_and(|path| path.starts_with(changed))
        };
        holds(&self.files)
            || holds(&self.directories)
            || holds(&self.missing)
            || changed.ancestors().skip(1).any(|parent| self.missing.contains(parent))
            || changed.parent().is_some_and(|parent| self.listed.contains(parent))
    }
}

impl Files for Recorder<'_> {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let resolved = self.files.resolve(path);
        // Changed paths have no `..`; the real path covers `..` behind a link.
        let asked = clean(path);
        self.note(|seen| match &resolved {
            Err(_) => seen.missing.insert(asked),
            Ok((real, kind)) => {
                let set = if *kind == FileKind::File { &mut seen.files } else { &mut seen.directories };
                if *real != asked && asked.is_absolute() {
                    set.insert(asked);
                }
                set.insert(real.clone())
            }
        });
        resolved
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.note(|seen| seen.files.insert(path.to_owned()));
        self.files.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.note(|seen| seen.listed.insert(path.to_owned()));
        self.files.list(path)
    }

    fn display(&self, path: &Path) -> String {
        self.files.display(path)
    }

    fn record_reads(&self, set: &ReadSet) {
        self.note(|seen| seen.extend(set));
        self.files.record_reads(set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTree;

    fn paths(paths: &[&str]) -> BTreeSet<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn each_read_is_recorded_with_its_result() {
        let mut tree: MemoryTree =
            [("app/a.yaml", b"a" as &[u8]), ("base/b.yaml", b"b")].into_iter().collect();
        tree.add_link(Path::new("link"), PathBuf::from("base")).unwrap();
        let recorder = Recorder::new(&tree);
        let (real, _) = recorder.resolve(Path::new("/app/../link/b.yaml")).unwrap();
        recorder.read(&real).unwrap();
        recorder.resolve(Path::new("/app")).unwrap();
        recorder.resolve(Path::new("/app/none.yaml")).unwrap_err();
        recorder.list(Path::new("/app")).unwrap();
        let set = recorder.into_read_set();
        let want = ReadSet {
            files: paths(&["/base/b.yaml", "/link/b.yaml"]),
            directories: paths(&["/app"]),
            listed: paths(&["/app"]),
            missing: paths(&["/app/none.yaml"]),
        };
        assert_eq!(set, want);
    }

    #[test]
    fn a_change_affects_the_results_that_depend_on_it() {
        let set = ReadSet {
            files: paths(&["/base/b.yaml", "/link/b.yaml"]),
            directories: paths(&["/app"]),
            listed: paths(&["/app"]),
            missing: paths(&["/charts/web"]),
        };
        for (changed, want) in [
            ("/base/b.yaml", true),
            ("/base", true),
            ("/link", true),
            ("/app/new.yaml", true),
            ("/charts/web/Chart.yaml", true),
            ("/base/c.yaml", false),
            ("/app/sub/new.yaml", false),
            ("/base/b.yaml.orig", false),
        ] {
            assert_eq!(set.is_affected_by(Path::new(changed)), want, "{changed}");
        }
    }
}
