//! Charts as files: a folder or an archive becomes a chart in memory.
//!
//! In: a path. Out: the chart. Refused: what is neither, and folders that have more than a chart has.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::{Chart, File, HelmVersion, IgnoreRules, archive};
use vfs::{FileKind, Files, ReadSet, Recorder};

use crate::remote::charts::Pulled;
use crate::roots;

/// Says what is no part of the chart.
const IGNORE_FILE: &str = ".helmignore";

/// Folders nest no deeper in a chart; a link could lead round in a circle.
const MAX_DEPTH: usize = 64;

/// The charts of a run, all for one generation of Helm.
#[derive(Debug, Default)]
pub(crate) struct Charts(Mutex<HashMap<Key, Slot>>);

/// A path, and the folder that nothing outside of may be read.
type Key = (PathBuf, Option<PathBuf>);

/// A chart that is read once; who asks for it while it is being read waits.
type Slot = Arc<OnceLock<(Result<Arc<Chart>>, ReadSet)>>;

impl Charts {
    /// The chart at a path; with a `boundary`, nothing outside of that folder is read.
    ///
    /// # Errors
    /// If it is invalid, with Helm's message.
    pub(crate) fn get(
        &self,
        files: &dyn Files,
        path: &Path,
        boundary: Option<&Path>,
        version: HelmVersion,
    ) -> Result<Arc<Chart>> {
        let slot = {
            let mut charts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(charts.entry((path.to_owned(), boundary.map(Path::to_owned))).or_default())
        };
        let (chart, consulted) = slot.get_or_init(|| {
            let recorder = Recorder::new(files);
            let chart = load_within(&recorder, path, boundary, version);
            (chart.map(Arc::new), recorder.into_read_set())
        });
        files.record_reads(consulted);
        chart.clone()
    }
}

/// Reads the chart at a path of this machine's disk.
///
/// # Errors
/// If it is invalid, with Helm's message.
pub(crate) fn load(path: &Path, version: HelmVersion) -> Result<Chart> {
    load_within(&roots::disk_for(path), path, None, version)
}

/// Reads the chart at a path; with a `boundary`, nothing outside of that folder is read, whatever links there are.
///
/// # Errors
/// If it is invalid, with Helm's message.
pub(crate) fn load_within(
    files: &dyn Files,
    path: &Path,
    boundary: Option<&Path>,
    version: HelmVersion,
) -> Result<Chart> {
    let name = path.display().to_string();
    let (real, kind) = files
        .resolve(path)
        .map_err(|_| Error::new(ErrorKind::Invalid, format!("path {name:?} not found")))?;
    if kind == FileKind::Directory {
        let files = Folder::new(files, path, boundary)?.read()?;
        return Chart::load(files, name.trim_end_matches('/'), version);
    }
    if boundary.is_some_and(|boundary| !real.starts_with(boundary)) {
        return Err(Error::new(
            ErrorKind::Invalid,
            format!("the chart {name:?} is outside of the repository"),
        ));
    }
    let bytes = files.read(&real).map_err(|error| Error::io("read", path, &error))?;
    if bytes.len() as u64 > archive::MAX_CHART_SIZE {
        return Err(Error::new(ErrorKind::Invalid, format!("the archive `{name}` is too large")));
    }
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        let reason = if name.ends_with(".yaml") || name.ends_with(".yml") {
            format!("file '{name}' seems to be a YAML file, but expected a gzipped archive")
        } else {
            format!("file '{name}' does not appear to be a gzipped archive")
        };
        return Err(Error::new(ErrorKind::Invalid, reason));
    }
    Chart::load_archive(&bytes, &name, version)
}

/// The files in a chart's folder that are part of the chart; with a `boundary`, none outside of that folder.
///
/// # Errors
/// If it is not part of a chart.
pub(crate) fn files(files: &dyn Files, folder: &Path, boundary: Option<&Path>) -> Result<Vec<File>> {
    Folder::new(files, folder, boundary)?.read()
}

/// The location of a chart.
#[derive(Debug)]
pub(crate) enum ChartLocation {
    /// On this disk.
    Disk(PathBuf),
    /// It was pulled.
    Pulled(Pulled),
}

impl ChartLocation {
    /// Reads the chart.
    ///
    /// # Errors
    /// If it is invalid, with Helm's message.
    pub(crate) fn load(&self, version: HelmVersion) -> Result<Chart> {
        match self {
            Self::Disk(path) => load(path, version),
            Self::Pulled(Pulled { bytes, file_name, .. }) => Chart::load_archive(bytes, file_name, version),
        }
    }
}

/// The folder of a chart, with the rules of what is no part of it.
struct Folder<'p> {
    source: &'p dyn Files,
    top: &'p Path,
    boundary: Option<&'p Path>,
    rules: IgnoreRules,
    files: Vec<File>,
    left: u64,
}

impl<'p> Folder<'p> {
    fn new(source: &'p dyn Files, top: &'p Path, boundary: Option<&'p Path>) -> Result<Self> {
        let parse =
            |text: &str| IgnoreRules::parse(text).map_err(|reason| Error::new(ErrorKind::Invalid, reason));
        let left = archive::MAX_CHART_SIZE;
        let mut folder = Self { source, top, boundary, rules: parse("")?, files: Vec::new(), left };
        let ignored = top.join(IGNORE_FILE);
        match source.resolve(&ignored) {
            Ok((real, FileKind::File)) => {
                // It is a file of the chart like any other, and is read again as one.
                let text = folder.content(&ignored, &real, IGNORE_FILE)?;
                folder.rules = parse(&String::from_utf8_lossy(&text))?;
                folder.left = left;
            }
            Ok((_, FileKind::Directory)) => return Err(irregular(&ignored)),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Err(irregular(&ignored)),
            Err(_) => {}
        }
        Ok(folder)
    }

    fn read(mut self) -> Result<Vec<File>> {
        self.walk(&PathBuf::new(), 0)?;
        Ok(self.files)
    }

    /// Reads a folder in the order of names, so that the same chart gives the same bytes everywhere.
    fn walk(&mut self, below: &Path, depth: usize) -> Result<()> {
        let folder = self.top.join(below);
        if depth > MAX_DEPTH {
            return Err(Error::new(ErrorKind::Invalid, format!("`{}` is nested too deep", folder.display())));
        }
        let names = self.source.resolve(&folder).and_then(|(real, _)| self.source.list(&real));
        for name in names.map_err(|error| Error::io("read", &folder, &error))? {
            // As Helm's own `.helmignore` has it; Git's files are read by nothing.
            if name == ".git" {
                continue;
            }
            let inner = below.join(&name);
            let path = self.top.join(&inner);
            let found = self.source.resolve(&path);
            let is_irregular = found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Unsupported);
            let is_folder = matches!(found, Ok((_, FileKind::Directory)));
            let shown = inner.to_string_lossy().replace('\\', "/");
            match found {
                Err(error) if !is_irregular => return Err(unreadable(&path, &error)),
                _ if self.rules.ignores(&shown, is_folder) => {}
                Err(_) => return Err(irregular(&path)),
                Ok((_, FileKind::Directory)) => self.walk(&inner, depth + 1)?,
                Ok((real, FileKind::File)) => {
                    let data = self.content(&path, &real, &shown)?;
                    self.files.push(File::new(shown, &data));
                }
            }
        }
        Ok(())
    }

    fn content(&mut self, path: &Path, real: &Path, name: &str) -> Result<Arc<[u8]>> {
        let refuse = |sentence: String| Err(Error::new(ErrorKind::Invalid, sentence));
        if self.boundary.is_some_and(|boundary| !real.starts_with(boundary)) {
            return refuse(format!("the chart's file `{name}` leads outside of the repository"));
        }
        let data = self.source.read(real).map_err(|error| Error::io("read", path, &error))?;
        let size = data.len() as u64;
        if size > archive::MAX_CHART_FILE_SIZE {
            let limit = archive::MAX_CHART_FILE_SIZE;
            return refuse(format!("chart file {name:?} is larger than the maximum file size {limit}"));
        }
        if size > self.left || self.files.len() == archive::MAX_CHART_FILES {
            return refuse(format!("the chart in `{}` is too large", self.top.display()));
        }
        self.left -= size;
        Ok(data)
    }
}

fn irregular(path: &Path) -> Error {
    let shown = path.display();
    let sentence = format!("cannot load irregular file {shown} as it has file mode type bits set");
    Error::new(ErrorKind::Invalid, sentence)
}

/// A link that leads nowhere is refused, also where it would be ignored: what is missing may be the chart's values.
fn unreadable(path: &Path, error: &io::Error) -> Error {
    let shown = path.display();
    Error::new(ErrorKind::Invalid, format!("error evaluating symlink {shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use vfs::Disk;

    use super::*;

    fn read(top: &Path, boundary: Option<&Path>) -> Result<Vec<String>> {
        let files = Folder::new(&Disk::new(), top, boundary)?.read()?;
        Ok(files.into_iter().map(|file| file.name).collect())
    }

    #[test]
    fn what_a_server_sent_reads_no_file_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("repo/chart/files")).unwrap();
        fs::create_dir(root.join("beside")).unwrap();
        fs::write(root.join("beside/secret"), "s").unwrap();
        fs::write(root.join("repo/shared"), "s").unwrap();
        let chart = root.join("repo/chart");
        symlink("../../shared", chart.join("files/a")).unwrap();
        assert_eq!(read(&chart, Some(&root.join("repo"))).unwrap(), ["files/a"]);
        symlink("../../../beside", chart.join("files/up")).unwrap();
        assert!(read(&chart, None).unwrap().contains(&"files/up/secret".to_owned()));
        let error = read(&chart, Some(&root.join("repo"))).unwrap_err();
        assert!(error.message().ends_with("leads outside of the repository"), "{error}");
    }

    /// As Helm has it, which would otherwise render without the values that the link stands for.
    #[test]
    fn a_link_that_leads_nowhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Chart.yaml"), "name: a").unwrap();
        symlink("nothing", folder.path().join("values.yaml")).unwrap();
        let error = read(folder.path(), None).unwrap_err();
        assert!(error.message().starts_with("error evaluating symlink"), "{error}");
        assert!(error.message().contains("values.yaml: No such file"), "{error}");
    }

    #[test]
    fn rules_that_never_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/dev/zero", folder.path().join(IGNORE_FILE)).unwrap();
        let error = read(folder.path(), None).unwrap_err();
        assert!(error.message().starts_with("cannot load irregular file"), "{error}");
    }
}
