//! The origin of a dependency.
//!
//! In: what a chart or a lock says of its repository. Out: a folder, a repository, a registry. Refused: names of
//! repositories that nobody added.

use std::path::{Path, PathBuf};

use diagnostic::Result;
use helm_lite::Dependency;
use reqwest::Url;

use super::{Manager, input};
use crate::remote::charts::repositories::Repository;
use crate::remote::charts::{OCI, are_same};

/// A folder in place of a repository.
const FILE: &str = "file://";

/// The origin of a dependency.
#[derive(Debug)]
pub(super) enum Origin<'o> {
    /// It is in `charts/` already.
    Beside,
    /// A folder on this disk.
    Folder(PathBuf),
    /// A registry, by `oci://…`.
    Registry(String),
    /// A repository that Helm knows.
    Known(&'o Repository),
    /// A repository that only the chart knows of.
    Stranger(String),
}

impl Manager<'_> {
    /// The origin of each dependency; the aliases of repositories are replaced by their addresses.
    pub(super) fn origins(&self, dependencies: &mut [Dependency]) -> Result<Vec<Origin<'_>>> {
        let mut unknown: Vec<String> = Vec::new();
        let mut origins = Vec::with_capacity(dependencies.len());
        for dependency in dependencies {
            match self.origin(&dependency.repository)? {
                Some(Origin::Known(repository)) => {
                    if alias(&dependency.repository).is_some() {
                        dependency.repository.clone_from(&repository.url);
                    }
                    origins.push(Origin::Known(repository));
                }
                Some(origin) => origins.push(origin),
                None => unknown.push(dependency.repository.clone()),
            }
        }
        if unknown.is_empty() { Ok(origins) } else { Err(not_added(&unknown)) }
    }

    fn origin(&self, repository: &str) -> Result<Option<Origin<'_>>> {
        if repository.is_empty() {
            return Ok(Some(Origin::Beside));
        }
        if let Some(path) = repository.strip_prefix(FILE) {
            return self.local(path).map(|path| Some(Origin::Folder(path)));
        }
        if repository.starts_with(OCI) {
            return Ok(Some(Origin::Registry(repository.to_owned())));
        }
        let is_it = |known: &&Repository| match alias(repository) {
            Some(name) => known.name == name,
            None => are_same(&known.url, repository),
        };
        if let Some(known) = self.known.list.iter().find(is_it) {
            return Ok(Some(Origin::Known(known)));
        }
        Ok(Url::parse(repository).is_ok().then(|| Origin::Stranger(repository.to_owned())))
            .map(|origin| origin.filter(|_| alias(repository).is_none()))
    }

    /// A folder as Helm finds it: from the chart's folder on, whatever links there are on the way.
    pub(super) fn local(&self, path: &str) -> Result<PathBuf> {
        let path = clean(&self.folder.join(path));
        let is_there = match self.repository {
            Some((files, _)) => files.resolve(&path).is_ok(),
            None => path.exists(),
        };
        if !is_there {
            return Err(input(format!("directory {} not found", path.display())));
        }
        Ok(path)
    }

    /// Refuses a lock with repositories that nobody added, as `build` does.
    pub(super) fn refuse_strangers(&self, dependencies: &[Dependency]) -> Result<()> {
        let is_known = |repository: &str| {
            repository.is_empty()
                || repository.starts_with(FILE)
                || repository.starts_with(OCI)
                || self.known.list.iter().any(|known| are_same(&known.url, repository))
        };
        let repositories = dependencies.iter().map(|dependency| dependency.repository.as_str());
        let missing = repositories.filter(|repository| !is_known(repository));
        let missing: Vec<_> = missing.map(diagnostic::redact).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(input(format!(
            "no repository definition for {}. Please add the missing repos via 'helm repo add'",
            missing.join(", ")
        )))
    }
}

/// The name in `@name` and `alias:name`.
fn alias(repository: &str) -> Option<&str> {
    repository.strip_prefix('@').or_else(|| repository.strip_prefix("alias:"))
}

fn not_added(unknown: &[String]) -> diagnostic::Error {
    let list = unknown.join(", ");
    let error = input(format!("no repository definition for {list}. Please add them via 'helm repo add'"));
    let is_name = |repository: &String| !repository.contains("//") && alias(repository).is_none();
    if !unknown.iter().any(is_name) {
        return error;
    }
    error.hint("a repository is an address, `https://charts.example.com`, or the name of one that was added: `@example`")
}

/// Go's `filepath.Clean`: what is above a folder is told by its path alone.
fn clean(path: &Path) -> PathBuf {
    let clean = vfs::clean(path);
    if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_go_does() {
        for (path, want) in [
            ("c/../lib", "lib"),
            ("./c/./lib/", "c/lib"),
            ("../c/../../lib", "../../lib"),
            ("/c/../../lib", "/lib"),
            ("c/..", "."),
        ] {
            assert_eq!(clean(Path::new(path)), Path::new(want), "{path}");
        }
    }
}
