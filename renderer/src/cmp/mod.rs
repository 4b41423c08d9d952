//! The engines behind Argo CD's plugin server.
//!
//! In: an application's folder in a tree in memory, and what Argo CD says of the application. Out: its objects as JSON.
//! Nothing is read but the tree, and what was fetched for it.

mod fetched;

use std::path::Path;

use cmp::{Announcement, Failure, Generated, Generator, Request};
use files::{FileKind, Files};
use gitremote::redact;
use helm_lite::values::UserValues;

use crate::built::json_objects;
use crate::chart::Release;
use crate::chart::text::Selection;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::render::{ENGINE, Engines, Renderer};

use fetched::WithFetched;

/// What a file of a directory source ends with.
const MANIFESTS: [&str; 3] = [".yaml", ".yml", ".json"];

/// Renders applications as Argo CD's own repo-server would.
#[derive(Debug)]
pub(crate) struct Plugin {
    config: Config,
}

/// What an application's folder is, as Argo CD finds out (util/app/discovery).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Helm,
    Kustomize,
    Directory,
}

impl Plugin {
    pub(crate) fn new(config: Config) -> Self {
        Self { config }
    }
}

impl Generator for Plugin {
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn generate(&self, request: &Request<'_>, files: &dyn Files) -> Result<Generated, Failure> {
        // Branches move: what was fetched for one request is not taken for what the next one asks for.
        let renderer = Renderer::new(self.config.clone()).over(request.tree());
        let files = WithFetched::new(files, self.config.cache_dir.as_deref());
        let engines = renderer.engines(&files);
        let source = Source::of(request.path(), &files).map_err(|error| failure(&error))?;
        let manifests = match source {
            Source::Helm => helm(engines, request),
            Source::Kustomize => {
                let overlay = engines.kustomize(request.path(), &self.config.options);
                overlay.and_then(|overlay| overlay.json_objects())
            }
            Source::Directory => directory(request.path(), &files),
        };
        Ok(Generated {
            manifests: manifests.map_err(|error| failure(&error))?,
            source_type: source.name().to_owned(),
            is_reproducible: !files.were_asked() && !renderer.has_fetched_files(),
        })
    }

    fn supports(&self, request: &Request<'_>, files: &dyn Files) -> Result<bool, Failure> {
        Ok(Source::of(request.path(), files).map_err(|error| failure(&error))? != Source::Directory)
    }

    fn parameters(&self, _request: &Request<'_>, _files: &dyn Files) -> Result<Vec<Announcement>, Failure> {
        Ok(Vec::new())
    }
}

impl Source {
    /// The last name in order decides, so that a kustomization beside a chart wins.
    fn of(folder: &Path, files: &dyn Files) -> Result<Self> {
        let names = files.list(folder).map_err(|error| Error::io("list", folder, &error))?;
        let known = names.iter().rev().find_map(|name| match name.as_str() {
            "kustomization.yaml" | "kustomization.yml" | "Kustomization" => Some(Self::Kustomize),
            name if name.ends_with("Chart.yaml") => Some(Self::Helm),
            _ => None,
        });
        Ok(known.unwrap_or(Self::Directory))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::Kustomize => "Kustomize",
            Self::Directory => "Directory",
        }
    }
}

/// As `helm template` with the flags that the repo-server gives it.
fn helm(engines: Engines<'_>, request: &Request<'_>) -> Result<Vec<String>> {
    let loaded = engines.chart(request.path(), None)?;
    let versions = request.variable("KUBE_API_VERSIONS").unwrap_or_default().split(',');
    let api_versions: Vec<String> =
        versions.filter(|version| !version.is_empty()).map(str::to_owned).collect();
    let release = Release {
        name: request.variable("ARGOCD_APP_NAME").unwrap_or(&loaded.chart.metadata.name),
        namespace: request.variable("ARGOCD_APP_NAMESPACE").filter(|namespace| !namespace.is_empty()),
        is_upgrade: false,
        kube_version: request.variable("KUBE_VERSION").filter(|version| !version.is_empty()),
        api_versions: &api_versions,
        version: ENGINE,
        checks_schemas: true,
        debug: false,
        cluster: None,
    };
    let rendered = engines.helm(&loaded, &UserValues::default(), &release, Vec::new())?;
    json_objects(&rendered.text(Selection { crds: true, hooks: true, tests: true }).whole())
}

/// The manifests in a folder, in the order of their names.
fn directory(folder: &Path, files: &dyn Files) -> Result<Vec<String>> {
    let mut objects = Vec::new();
    let names = files.list(folder).map_err(|error| Error::io("list", folder, &error))?;
    for name in names.iter().filter(|name| MANIFESTS.iter().any(|ending| name.ends_with(ending))) {
        let path = folder.join(name);
        let (real, FileKind::File) =
            files.resolve(&path).map_err(|error| Error::io("read", &path, &error))?
        else {
            continue;
        };
        let bytes = files.read(&real).map_err(|error| Error::io("read", &path, &error))?;
        let within = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Input, format!("{}: {error}", files.display(&path)))
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| within(&error))?;
        objects.extend(json_objects(text).map_err(|error| within(&error))?);
    }
    Ok(objects)
}

/// An error in one line, place first.
fn failure(error: &Error) -> Failure {
    let hint = error.help().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let message = redact(&format!("{error}{hint}")).into_owned();
    match error.kind() {
        ErrorKind::Environment => Failure::transient(message),
        ErrorKind::Input | ErrorKind::Usage => Failure::input(message),
    }
}

#[cfg(test)]
mod tests {
    use files::MemoryTree;

    use super::*;

    #[test]
    fn a_source_is_what_its_last_name_says() {
        for (names, want) in [
            (&["Chart.yaml", "kustomization.yaml"][..], Source::Kustomize),
            (&["Kustomization", "MyChart.yaml"], Source::Helm),
            (&["a.yaml", "sub/Chart.yaml"], Source::Directory),
        ] {
            let tree: MemoryTree = names.iter().map(|name| (format!("app/{name}"), &b""[..])).collect();
            assert_eq!(Source::of(Path::new("/app"), &tree).unwrap(), want, "{names:?}");
        }
    }
}
