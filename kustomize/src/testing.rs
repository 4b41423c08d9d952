//! Builds over files in memory, for tests.

use std::path::Path;

use crate::build::{Shared, build};
use diagnostic::Error;
use vfs::MemoryTree;

use crate::options::Options;
use crate::output::Output;
use crate::world::{ChartInflator, World};

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
    let memory: MemoryTree = files.iter().map(|(path, text)| (path, text.as_bytes())).collect();
    let world = World { files: &memory, remote: None, charts, functions: None };
    build(Path::new("/"), world, options, &Shared::default())
}

/// Returns what a build of these files prints.
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
        |warning: &crate::Warning| warning.location.as_ref().map_or_else(String::new, ToString::to_string);
    output
        .warnings()
        .iter()
        .map(|warning| format!("{} {} {}", warning.code.as_str(), place(warning), warning.message))
        .collect()
}
