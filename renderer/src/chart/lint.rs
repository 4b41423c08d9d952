//! Charts on disk before the linter.
//!
//! In: the path of a folder or an archive. Out: what the linter says. Refused, in Helm's words: what is no chart at all.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::lint::{self, Folder, Found, Message};
use helm_lite::values::UserValues;
use helm_lite::{Chart, HelmVersion, KubeVersion, Options, Warning, archive};

use super::{limits, now, random};
use crate::charts;

/// The inputs of linting a chart.
#[derive(Debug)]
pub(crate) struct Linting<'l> {
    /// The values of a user.
    pub(crate) user: &'l UserValues,
    /// The namespace of the release.
    pub(crate) namespace: &'l str,
    /// The cluster's version.
    pub(crate) kube_version: &'l KubeVersion,
    /// True if values are checked against schemas.
    pub(crate) checks_schemas: bool,
}

/// The name of the release that charts are rendered as.
const RELEASE: &str = "test-release";

const CHART: &str = "Chart.yaml";
const VALUES: &str = "values.yaml";
const SCHEMA: &str = "values.schema.json";

/// Returns true if a path is that of an archive.
pub(crate) fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".tgz") || name.ends_with(".tar.gz")
}

impl Linting<'_> {
    /// Returns what the linter says of the chart at a path.
    ///
    /// # Errors
    /// If there is no chart.
    pub(crate) fn messages(&self, path: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Message>> {
        if is_archive(path) { self.archive(path, warnings) } else { self.folder(path, warnings) }
    }

    fn folder(&self, path: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Message>> {
        let chart_file = read(&path.join(CHART)).map_err(|error| {
            let reason = if error.kind() == io::ErrorKind::NotFound {
                "no such file or directory".to_owned()
            } else {
                error.to_string()
            };
            let file = path.join(CHART);
            let sentence =
                format!("unable to check Chart.yaml file in chart: stat {}: {reason}", file.display());
            Error::new(ErrorKind::Invalid, sentence)
        })?;
        let optional = |name: &str| read(&path.join(name)).ok();
        let found = |name: &str| match fs::metadata(path.join(name)) {
            Ok(metadata) if metadata.is_dir() => Found::Folder,
            Ok(_) => Found::Other,
            Err(_) => Found::Nothing,
        };
        let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (values, schema) = (optional(VALUES), optional(SCHEMA));
        let folder = Folder {
            path: &shown.to_string_lossy(),
            chart_file: &chart_file,
            values: values.as_deref(),
            schema: schema.as_deref(),
            templates: found("templates"),
            crds: found("crds"),
            chart: charts::load(path, HelmVersion::V4).map_err(|error| Error::invalid(error.message())),
        };
        Ok(self.lint(&folder, warnings))
    }

    fn archive(&self, path: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Message>> {
        let refuse =
            |reason: String| Error::new(ErrorKind::Invalid, format!("unable to extract tarball: {reason}"));
        let name = path.to_string_lossy();
        let bytes = read_at_most(path, archive::MAX_CHART_SIZE).map_err(|error| {
            Error::new(ErrorKind::Invalid, format!("unable to open tarball: {name}: {error}"))
        })?;
        let files = archive::files(&bytes).map_err(refuse)?;
        let file = |name: &str| files.iter().find(|file| file.name == name).map(|file| &*file.data);
        let chart_file = file(CHART).ok_or_else(|| refuse("Chart.yaml file is missing".to_owned()))?;
        let found = |folder: &str| {
            let has_files = files.iter().any(|file| file.name.starts_with(folder));
            if has_files { Found::Folder } else { Found::Nothing }
        };
        let folder = Folder {
            path: &name,
            chart_file,
            values: file(VALUES),
            schema: file(SCHEMA),
            templates: found("templates/"),
            crds: found("crds/"),
            chart: Chart::load_archive(&bytes, &name, HelmVersion::V4),
        };
        Ok(self.lint(&folder, warnings))
    }

    fn lint(&self, folder: &Folder<'_>, warnings: &mut Vec<Warning>) -> Vec<Message> {
        warnings.extend(folder.chart.iter().flat_map(|chart| chart.warnings.iter().cloned()));
        let random = random();
        let zone = std::env::var("TZ").unwrap_or_else(|_| "UTC".to_owned());
        let options = Options {
            release_name: RELEASE.to_owned(),
            namespace: self.namespace.to_owned(),
            kube_version: self.kube_version.clone(),
            lint: true,
            now: now(),
            random: Some(&random),
            zone: &zone,
            limits: limits(),
            ..Options::default()
        };
        lint::lint(folder, self.user, &options, self.checks_schemas)
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, archive::MAX_CHART_FILE_SIZE)
}

fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // A device would never end, a pipe would hang.
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
