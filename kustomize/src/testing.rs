//! Builds over files in memory, for tests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build::{Shared, build};
use crate::error::Error;
use crate::options::Options;
use crate::output::Output;
use crate::world::{ChartInflator, FileKind, Files, World};

struct Memory(BTreeMap<PathBuf, Arc<[u8]>>);

impl Files for Memory {
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, FileKind)> {
        let kind = if self.0.contains_key(path) {
            FileKind::File
        } else if self.0.keys().any(|file| file.starts_with(path)) {
            FileKind::Directory
        } else {
            return Err(io::ErrorKind::NotFound.into());
        };
        Ok((path.to_owned(), kind))
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn display(&self, path: &Path) -> String {
        path.strip_prefix("/").unwrap_or(path).display().to_string()
    }
}

/// Builds the kustomization at the root of some files.
pub(crate) fn build_files(files: &[(&str, &str)]) -> Result<Output, Error> {
    build_in_memory(files, None, &Options::default())
}

/// Builds the kustomization at the root of some files, with a renderer of charts.
pub(crate) fn build_with_charts(
    files: &[(&str, &str)],
    charts: &dyn ChartInflator,
    options: &Options,
) -> Result<Output, Error> {
    build_in_memory(files, Some(charts), options)
}

fn build_in_memory(
    files: &[(&str, &str)],
    charts: Option<&dyn ChartInflator>,
    options: &Options,
) -> Result<Output, Error> {
    let file = |&(path, text): &(&str, &str)| (Path::new("/").join(path), text.as_bytes().into());
    let memory = Memory(files.iter().map(file).collect());
    let world = World { files: &memory, remote: None, charts, functions: None, variable: &|_| None };
    build(Path::new("/"), world, options, &Shared::default())
}

/// What a build of these files prints.
#[track_caller]
pub(crate) fn built(files: &[(&str, &str)]) -> String {
    match build_files(files) {
        Ok(output) => output.yaml().to_owned(),
        Err(error) => panic!("{error}"),
    }
}

/// Why a build of these files fails, with its place.
#[track_caller]
pub(crate) fn refused(files: &[(&str, &str)]) -> String {
    match build_files(files) {
        Ok(output) => panic!("built:\n{}", output.yaml()),
        Err(error) => error.to_string(),
    }
}

/// The codes, places and sentences of the warnings of a build.
#[track_caller]
pub(crate) fn warned(files: &[(&str, &str)]) -> Vec<String> {
    let output = build_files(files).unwrap_or_else(|error| panic!("{error}"));
    let place =
        |warning: &crate::Warning| warning.place.as_ref().map_or_else(String::new, crate::Place::location);
    output
        .warnings()
        .iter()
        .map(|warning| format!("{} {} {}", warning.code.as_str(), place(warning), warning.message))
        .collect()
}
