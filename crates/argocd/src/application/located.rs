//! The location of a source: a directory of a repository, or a chart; and the repositories that sources refer to.
//!
//! In: the sources of an Application. Out: checkouts that nothing leaves, and the folder in one. Refused, with the place of
//! the field: repositories that are not known, paths that lead out, and references that no source has.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use diagnostic::Result;
use vfs::{FileKind, Files};

use super::checkout::{Absence, Checkout};
use super::context::{Run, World};
use super::engines::{Engines, RemoteChart};
use super::model::Application;
use super::source::Source;
use super::value_files::References;
use crate::repositories;

/// The location of a source.
pub(crate) struct Place<'r> {
    pub(crate) checkout: Checkout<'r>,
    /// Its folder, by name.
    pub(crate) folder: PathBuf,
    pub(crate) revision: String,
}

/// The repositories that sources may refer to (argo.go `GetRefSources`).
pub(super) fn references<'w, E>(application: &Application, world: &World<'w, E>) -> Result<References<'w>> {
    let mut references = References::new();
    if !application.has_multiple_sources {
        return Ok(references);
    }
    for source in application.sources.iter().filter(|source| !source.reference.value.is_empty()) {
        let (name, span) = (&source.reference.value, source.reference.span);
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
            let message =
                format!("the `ref` `{name}` has other characters than letters, digits, `_` and `-`");
            return Err(application.error(message, span));
        }
        if references.contains_key(&format!("${name}")) {
            return Err(application.error(format!("two sources have the `ref` `{name}`"), span));
        }
        // A chart can be no reference: who uses it is told.
        if source.chart.value.is_empty() {
            let checkout = world.repositories.find(&source.repo_url.value, &source.target_revision.value);
            let checkout = checkout.map_err(|error| error.at(application.place(source.repo_url.span)))?;
            let opened = open(application, source, checkout.folder(), world.files)?;
            references.insert(format!("${name}"), opened);
        }
    }
    Ok(references)
}

fn open<'f>(
    application: &Application,
    source: &Source,
    folder: &Path,
    files: &'f dyn Files,
) -> Result<Checkout<'f>> {
    Checkout::new(folder, files).map_err(|error| {
        let url = repositories::shown(&source.repo_url.value);
        let message = format!("cannot read the directory `{}` of `{url}`: {error}", files.display(folder));
        application.error(message, source.repo_url.span)
    })
}

impl<E: Engines> Run<'_, E> {
    /// Returns what a source refers to must be there before anything else is (repository.go `runManifestGenAsync`).
    pub(super) fn check_references(&self, source: &Source) -> Result<()> {
        let (application, Some(helm)) = (self.application, &source.helm) else { return Ok(()) };
        if !application.has_multiple_sources {
            return Ok(());
        }
        let files =
            helm.value_files.iter().chain(helm.file_parameters.iter().map(|parameter| &parameter.path));
        let mut seen: HashMap<&Path, &Source> = HashMap::new();
        for file in files.filter(|file| file.value.starts_with('$')) {
            let name = file.value.split('/').next().unwrap_or_default();
            let named = |source: &&Source| format!("${}", source.reference.value) == name;
            let Some(referred) = application.sources.iter().find(named).filter(|_| name.len() > 1) else {
                let known: Vec<String> = self.references.keys().map(|name| format!("`{name}`")).collect();
                let error =
                    application.error(format!("no source has the `ref` of `{}`", file.value), file.span);
                return Err(error.hint(if known.is_empty() {
                    "give the source with the file a `ref`".to_owned()
                } else {
                    format!("there is {}", known.join(", "))
                }));
            };
            let Some(checkout) = self.references.get(name) else {
                let message = format!("`{}` refers to a chart, and a chart cannot be a `ref`", file.value);
                return Err(application.error(message, file.span));
            };
            let first = seen.entry(checkout.root()).or_insert(referred);
            if first.target_revision.value != referred.target_revision.value {
                let message = format!(
                    "`${}` and `${}` are one repository at the revisions `{}` and `{}`",
                    first.reference.value,
                    referred.reference.value,
                    first.target_revision.value,
                    referred.target_revision.value
                );
                return Err(application
                    .error(message, file.span)
                    .hint("Argo CD checks a repository out once for an Application"));
            }
        }
        Ok(())
    }

    /// The folder of a source in a repository (util/app/path `Path`).
    pub(super) fn folder(&self, source: &Source) -> Result<Place<'_>> {
        let application = self.application;
        let (url, revision) = (&source.repo_url.value, &source.target_revision.value);
        if url.starts_with("oci://") && !self.world.repositories.has(url) {
            let message =
                format!("`{}` is an OCI artifact, which is not rendered here", repositories::shown(url));
            return Err(application
                .error(message, source.repo_url.span)
                .hint("add it to `repositories` in the context file, or name a `chart` in it"));
        }
        let found = self.world.repositories.find(url, revision);
        let found = found.map_err(|error| error.at(application.place(source.repo_url.span)))?;
        let checkout = open(application, source, found.folder(), self.world.files)?;
        let path = &source.path;
        if path.value.starts_with('/') {
            let message = format!("the path `{}` is absolute", path.value);
            let error = application.error(message, path.span);
            return Err(error.hint("`path` begins at the repository's root, without a `/`"));
        }
        let refuse = |absence: Absence| match absence {
            Absence::Outside => {
                application.error(format!("the path `{}` leads out of the repository", path.value), path.span)
            }
            Absence::Missing => {
                let message = format!("the path `{}` does not exist in the repository", path.value);
                application.error(message, path.span)
            }
            Absence::WrongKind => {
                application.error(format!("`{}` is not a directory", path.value), path.span)
            }
            Absence::Unreadable(reason) => {
                application.error(format!("cannot read `{}`: {reason}", path.value), path.span)
            }
        };
        let folder = checkout.locate(checkout.root(), &path.value).map_err(refuse)?;
        match checkout.real(&folder).map_err(refuse)? {
            (_, FileKind::Directory) => {}
            (_, FileKind::File) => return Err(refuse(Absence::WrongKind)),
        }
        Ok(Place { checkout, folder, revision: found.revision().unwrap_or_default().to_owned() })
    }

    /// The chart of a source in a repository of charts: on this disk where the context says so, and else from there.
    pub(super) fn chart(&self, source: &Source) -> Result<Place<'_>, E::Error> {
        let application = self.application;
        let (url, version) = (&source.repo_url.value, &source.target_revision.value);
        if self.world.repositories.has(url) {
            let found = self.world.repositories.find(url, version);
            let found = found.map_err(|error| error.at(application.place(source.repo_url.span)))?;
            let checkout =
                open(application, source, &found.folder().join(&source.chart.value), self.world.files)?;
            let folder = checkout.root().to_owned();
            return Ok(Place { checkout, folder, revision: version.clone() });
        }
        let pulled = self.world.engines.pull(&RemoteChart {
            repo_url: url,
            name: &source.chart.value,
            version,
            pass_credentials: source.helm.as_ref().is_some_and(|helm| helm.pass_credentials),
            place: application.place(source.chart.span),
        })?;
        let checkout = open(application, source, &pulled.path, self.world.files)?;
        let folder = checkout.root().to_owned();
        Ok(Place { checkout, folder, revision: pulled.version })
    }
}
