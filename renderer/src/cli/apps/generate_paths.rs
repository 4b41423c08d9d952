//! The annotation by which Argo CD knows which changes concern an Application: what it should say, or whether it does.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use argocd::Repositories;
use argocd::application::{Application, Rendered};
use argocd::generate_paths::{ANNOTATION, SourceFolders};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{Files, ReadSet};

use crate::argocd::Member;
use crate::report::Reporter;

/// A fault names no more files than these.
const MAX_NAMED: usize = 5;

/// Returns what the annotation of each Application should be, as a line of YAML below its name.
pub(super) fn print(
    good: &[(&Member, &Rendered)],
    repositories: &Repositories,
    files: &dyn Files,
) -> Result<String> {
    let mut text = String::new();
    for (member, consulted) in consulted(good) {
        let paths: Vec<String> = repositories_of(&member.application, repositories, files)
            .iter()
            .flat_map(|folders| folders.suggest(consulted))
            .collect();
        let name = member.application.instance_name();
        let _ = writeln!(text, "{name}:\n  {ANNOTATION}: {}", paths.join(";"));
    }
    Ok(text)
}

/// Reports each Application whose annotation misses something that it reads.
pub(super) fn check(
    good: &[(&Member, &Rendered)],
    repositories: &Repositories,
    files: &dyn Files,
    reporter: &mut Reporter,
) {
    for (member, consulted) in consulted(good) {
        let application = &member.application;
        let Some(annotation) = application.annotations.get(ANNOTATION) else { continue };
        let missed: Vec<PathBuf> = repositories_of(application, repositories, files)
            .iter()
            .flat_map(|folders| folders.uncovered(annotation, consulted))
            .collect();
        if missed.is_empty() {
            continue;
        }
        let mut named: Vec<String> =
            missed.iter().take(MAX_NAMED).map(|path| format!("`{}`", path.display())).collect();
        if missed.len() > MAX_NAMED {
            named.push(format!("{} more", missed.len() - MAX_NAMED));
        }
        let sentence = format!("`{ANNOTATION}` does not cover {}", named.join(", "));
        let error = Error::new(ErrorKind::Invalid, sentence)
            .hint("`renderer apps --manifest-generate-paths` prints what it should be")
            .at(application.place(application.name.span));
        reporter.application_error(&error, &application.name.value);
    }
}

fn consulted<'m>(good: &'m [(&'m Member, &'m Rendered)]) -> impl Iterator<Item = (&'m Member, &'m ReadSet)> {
    good.iter().filter_map(|(member, _)| Some((*member, &member.outcome.as_ref()?.consulted)))
}

/// The repositories on disk that an Application's sources are in, with the sources' folders.
fn repositories_of(
    application: &Application,
    repositories: &Repositories,
    files: &dyn Files,
) -> Vec<SourceFolders> {
    let mut all: Vec<SourceFolders> = Vec::new();
    for source in &application.sources {
        let found = repositories.find(&source.repo_url.value, &source.target_revision.value);
        let Some(root) = found.ok().and_then(|checkout| files.resolve(checkout.folder()).ok()) else {
            continue;
        };
        let (root, _) = root;
        let folder = (!source.path.value.is_empty())
            .then(|| Path::new(&source.path.value).components().collect::<PathBuf>());
        let folder = folder.map(|folder| folder.strip_prefix(".").map(Path::to_owned).unwrap_or(folder));
        match all.iter_mut().find(|known| known.root == root) {
            Some(known) => known.folders.extend(folder),
            None => all.push(SourceFolders { root, folders: folder.into_iter().collect() }),
        }
    }
    all
}
