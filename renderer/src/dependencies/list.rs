//! Lists the dependencies of a chart and their state.
//!
//! In: a chart on disk. Out: for each dependency how it stands, and the charts in `charts/` that it does not declare. As
//! Helm's `pkg/action/dependency.go`.

use std::fs;
use std::path::{Path, PathBuf};

use diagnostic::Result;
use gotemplate::semver::{Constraints, Version};
use helm_lite::{Chart, Dependency, HelmVersion};

use crate::charts;

/// A dependency and how it stands.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) dependency: Dependency,
    /// `ok`, `missing`, `wrong version` and so on.
    pub(crate) status: &'static str,
}

/// Returns how the dependencies of a chart stand; nothing where it declares none. The second list are warnings.
///
/// # Errors
/// A chart that cannot be read.
pub(crate) fn list(path: &Path) -> Result<Option<(Vec<Status>, Vec<String>)>> {
    let chart = charts::load(path, HelmVersion::V4)?;
    if !chart.metadata.declares_dependencies() {
        return Ok(None);
    }
    let folder = path.join("charts");
    let entries = entries(&folder);
    let status = |dependency: &Dependency| Status {
        status: status(dependency, &entries, &chart),
        dependency: dependency.clone(),
    };
    let list = chart.metadata.dependencies.iter().map(status).collect();
    Ok(Some((list, undeclared(&chart, &entries))))
}

/// Returns what is in `charts/`, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn status(dependency: &Dependency, entries: &[PathBuf], chart: &Chart) -> &'static str {
    let start = format!("{}-", dependency.name);
    let version_of = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        Some(name.strip_prefix(&start)?.strip_suffix(".tgz")?.to_owned())
    };
    let archives: Vec<(&PathBuf, String)> =
        entries.iter().filter_map(|path| Some((path, version_of(path)?))).collect();
    let found: Vec<&PathBuf> = match archives.as_slice() {
        [(one, _)] => vec![one],
        // An archive of `db-extra` begins as one of `db` does.
        several => {
            let is_version = |version: &String| Version::parse_strict(version).is_ok();
            several.iter().filter(|(_, version)| is_version(version)).map(|(path, _)| *path).collect()
        }
    };
    match found.as_slice() {
        [] => unpacked(dependency, chart),
        [archive] => of_archive(dependency, archive),
        _ => "too many matches",
    }
}

fn of_archive(dependency: &Dependency, archive: &Path) -> &'static str {
    match charts::load(archive, HelmVersion::V4) {
        Err(_) => "corrupt",
        Ok(chart) if chart.metadata.name != dependency.name => "misnamed",
        Ok(chart) => version_fault(dependency, &chart).unwrap_or("ok"),
    }
}

fn unpacked(dependency: &Dependency, chart: &Chart) -> &'static str {
    match chart.dependencies.iter().rfind(|one| one.metadata.name == dependency.name) {
        None => "missing",
        Some(found) => version_fault(dependency, found).unwrap_or("unpacked"),
    }
}

fn version_fault(dependency: &Dependency, found: &Chart) -> Option<&'static str> {
    if found.metadata.version == dependency.version {
        return None;
    }
    match (Constraints::parse(&dependency.version), Version::parse(&found.metadata.version)) {
        (Ok(constraints), Ok(version)) => (!constraints.check(&version)).then_some("wrong version"),
        _ => Some("invalid version"),
    }
}

fn undeclared(chart: &Chart, entries: &[PathBuf]) -> Vec<String> {
    let mut warnings = Vec::new();
    for path in entries {
        let is_archive = path.extension().is_some_and(|extension| extension == "tgz");
        if !path.is_dir() && !is_archive {
            continue;
        }
        let shown = path.display().to_string();
        match charts::load(path, HelmVersion::V4) {
            Err(_) => warnings.push(format!("WARNING: {shown:?} is not a chart.")),
            Ok(found) => {
                let is_it = |dependency: &Dependency| dependency.name == found.metadata.name;
                if !chart.metadata.dependencies.iter().any(is_it) {
                    warnings.push(format!("WARNING: {shown:?} is not in Chart.yaml."));
                }
            }
        }
    }
    warnings
}
