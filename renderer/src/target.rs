//! One argument of `build`: what it names, and the file that its manifests are written to.
//!
//! In: a folder or the address of one in a repository. Out: the path below the output folder. It refuses a folder that
//! has no place there.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use diagnostic::{Error, ErrorKind, Result};

use crate::chart_target::is_archive;
use crate::output::Format;

/// Something to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As the user named it.
    pub(crate) argument: PathBuf,
}

impl AsRef<Path> for Target {
    fn as_ref(&self) -> &Path {
        &self.argument
    }
}

impl Target {
    pub(crate) fn new(argument: impl Into<PathBuf>) -> Self {
        Self { argument: argument.into() }
    }

    /// `OUT/DIR.yaml` for `DIR`.
    fn file(&self, folder: &Path, format: Format, working_directory: &Path) -> Result<PathBuf> {
        let place = match self.argument.to_str() {
            Some(text) if is_address(text) => place_of_address(text),
            _ => place_of_folder(&self.argument, working_directory),
        };
        let refused = || {
            let sentence = format!("`{}` has no path below an output directory", self.argument.display());
            Error::new(ErrorKind::Usage, sentence)
                .hint("run from a folder above it, or name it by its absolute path")
        };
        // `web-1.0.0.tgz` is written to `web-1.0.0.yaml`.
        let place = if is_archive(&place) { place.with_extension("") } else { place };
        let mut name = place.file_name().ok_or_else(refused)?.to_owned();
        name.push(".");
        name.push(format.extension());
        Ok(folder.join(place.with_file_name(name)))
    }
}

/// The targets, each once, with the files that they are written to.
///
/// # Errors
/// A target without a place, and two that would be written to one file.
pub(crate) fn files(
    targets: Vec<Target>,
    folder: &Path,
    format: Format,
    working_directory: &Path,
) -> Result<Vec<(Target, PathBuf)>> {
    let mut taken: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut planned = Vec::with_capacity(targets.len());
    for target in targets {
        let file = target.file(folder, format, working_directory)?;
        // `a`, `a/` and `./a` are one target named three times.
        let same: PathBuf = target.argument.components().filter(|part| *part != Component::CurDir).collect();
        match taken.insert(file.clone(), same.clone()) {
            None => planned.push((target, file)),
            Some(other) if other == same => {}
            Some(other) => {
                let (one, two) = (other.display(), same.display());
                let sentence = format!("`{one}` and `{two}` would both be written to `{}`", file.display());
                return Err(Error::new(ErrorKind::Usage, sentence));
            }
        }
    }
    Ok(planned)
}

/// Returns true if an argument cannot be a path: it has a scheme, or a host before a colon as in `git@host:path`.
fn is_address(argument: &str) -> bool {
    argument.contains("://") || argument.split('/').next().is_some_and(|start| start.contains(':'))
}

/// Host and path of an address: `https://host/org/repo//sub?ref=v1` is kept at `host/org/repo/sub`.
fn place_of_address(address: &str) -> PathBuf {
    let address = address.strip_prefix("git::").unwrap_or(address);
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let address = address.split('?').next().unwrap_or_default();
    let (authority, path) = address.split_once('/').unwrap_or((address, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let parts = host.split(':').chain(path.split('/'));
    parts.filter(|part| !matches!(*part, "" | "." | "..")).collect()
}

/// A folder's way down from the working directory, or else from the root; nothing where it has none.
fn place_of_folder(argument: &Path, working_directory: &Path) -> PathBuf {
    let full = working_directory.join(argument);
    let mut clean = PathBuf::new();
    for part in full.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    match clean.strip_prefix(working_directory) {
        // The working directory itself goes by its own name.
        Ok(below) if below.as_os_str().is_empty() => clean.file_name().map(PathBuf::from).unwrap_or_default(),
        Ok(below) => below.to_owned(),
        Err(_) if argument.is_absolute() => {
            clean.components().filter(|part| matches!(part, Component::Normal(_))).collect()
        }
        Err(_) => PathBuf::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(argument: &str) -> Result<String> {
        let file = Target::new(argument).file(Path::new("out"), Format::Yaml, Path::new("/work/repo"))?;
        Ok(file.display().to_string())
    }

    #[test]
    fn parents_are_kept() {
        for (argument, want) in [
            ("app", "out/app.yaml"),
            ("apps/web/overlays/prod", "out/apps/web/overlays/prod.yaml"),
            ("./apps/web/", "out/apps/web.yaml"),
            ("apps/../infra", "out/infra.yaml"),
            ("v1.2", "out/v1.2.yaml"),
            ("charts/web-1.2.tgz", "out/charts/web-1.2.yaml"),
            (".", "out/repo.yaml"),
            ("../repo/app", "out/app.yaml"),
            ("/work/repo/app", "out/app.yaml"),
            ("/srv/app", "out/srv/app.yaml"),
        ] {
            assert_eq!(file(argument).unwrap(), want, "{argument}");
        }
    }

    #[test]
    fn addresses_are_kept_by_host_and_path() {
        for (argument, want) in [
            ("https://example.com/org/repo//sub/dir?ref=v1", "out/example.com/org/repo/sub/dir.yaml"),
            ("git@example.com:org/repo", "out/example.com/org/repo.yaml"),
            ("git::ssh://git@example.com/org/repo.git", "out/example.com/org/repo.git.yaml"),
            ("https://user:secret@example.com/../../etc", "out/example.com/etc.yaml"),
            ("file:///srv/repo", "out/srv/repo.yaml"),
        ] {
            assert_eq!(file(argument).unwrap(), want, "{argument}");
        }
    }

    #[test]
    fn nothing_is_written_outside() {
        for argument in ["..", "../sibling", "/"] {
            assert_eq!(file(argument).unwrap_err().kind(), ErrorKind::Usage, "{argument}");
        }
    }

    #[test]
    fn one_target_is_rendered_once_and_two_never_share_a_file() {
        let plan = |arguments: &[&str]| {
            let targets = arguments.iter().map(Target::new).collect();
            files(targets, Path::new("out"), Format::Yaml, Path::new("/work/repo"))
        };
        assert_eq!(plan(&["a", "./a", "a/", "b"]).unwrap().len(), 2);
        let error = plan(&["https://h/r?ref=1", "https://h/r?ref=2"]).unwrap_err();
        assert!(error.message().contains("both be written to `out/h/r.yaml`"), "{error}");
    }
}
