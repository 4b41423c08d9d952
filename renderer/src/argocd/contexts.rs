//! The context of Applications: a context file, or what this checkout provides.
//!
//! In: the path of a context file, or none. Out: the context, and where its repositories are. Refused: what is wrong in the
//! file, with its place.

use std::path::{Path, PathBuf};

use argocd::project::Projects;
use argocd::{Context, Repositories};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{FileKind, Files};
use yamlserde::{Spanned, YamlFile};

use crate::git::Repository;

/// The name of a context file that need not be named.
pub(crate) const FILE_NAME: &str = "renderer-context.yaml";

/// The context and the repositories.
#[derive(Debug)]
pub(crate) struct KnownWorld {
    pub(crate) context: Context,
    pub(crate) repositories: Repositories,
    /// The projects, where the context has any.
    pub(crate) projects: Option<Projects>,
    /// True if there is no context file.
    pub(crate) is_default: bool,
    /// The repository that the working directory is in, or that directory.
    pub(crate) root: PathBuf,
}

impl KnownWorld {
    /// The world of a context file; without one, that of `renderer-context.yaml` in the working directory or a folder
    /// above it in the repository; without that, the repository alone.
    ///
    /// # Errors
    /// If the file is invalid.
    pub(crate) fn load(named: Option<&Path>, working_directory: &Path, files: &dyn Files) -> Result<Self> {
        let repository = Repository::discover(working_directory).ok();
        let root = repository.as_ref().map_or(working_directory, Repository::work_tree).to_owned();
        let found = match named {
            Some(path) => Some(working_directory.join(path)),
            None => beside(working_directory, &root, files),
        };
        if let Some(path) = found {
            let text = read(&path, files)?;
            let context = Context::read(&text)?;
            let has_projects = !context.projects.is_empty();
            let projects = has_projects.then(|| Projects::new(&context, &text)).transpose()?;
            let base = path.parent().unwrap_or(Path::new("/"));
            let repositories = Repositories::new(&context, base);
            return Ok(Self { context, repositories, projects, is_default: false, root });
        }
        Ok(Self::of_checkout(working_directory))
    }

    /// The repository that a folder is in, and nothing else.
    pub(crate) fn of_checkout(working_directory: &Path) -> Self {
        let repository = Repository::discover(working_directory).ok();
        let root = repository.as_ref().map_or(working_directory, Repository::work_tree).to_owned();
        let context = repository.as_ref().map(of_repository).unwrap_or_default();
        let repositories = Repositories::new(&context, &root);
        Self { context, repositories, projects: None, is_default: true, root }
    }
}

/// The nearest context file that need not be named.
fn beside(working_directory: &Path, root: &Path, files: &dyn Files) -> Option<PathBuf> {
    let within = working_directory.ancestors().take_while(|folder| folder.starts_with(root));
    let path = |folder: &Path| folder.join(FILE_NAME);
    within.map(path).find(|path| matches!(files.resolve(path), Ok((_, FileKind::File))))
}

fn read(path: &Path, files: &dyn Files) -> Result<YamlFile> {
    let shown = files.display(path);
    let bytes = files.resolve(path).and_then(|(real, _)| files.read(&real)).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("cannot read the context `{shown}`: {error}"))
    })?;
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| {
        Error::new(ErrorKind::Invalid, format!("the context file `{shown}` is not valid UTF-8"))
    })?;
    Ok(YamlFile::new(&shown, &text))
}

/// The repository itself, at the commit that is checked out.
fn of_repository(repository: &Repository) -> Context {
    let revision = repository.commit("HEAD").ok().map(|commit| commit.to_string());
    let known = |url: String| Spanned {
        value: argocd::context::Repository { url, path: ".".to_owned(), revision: revision.clone() },
        start: 0,
    };
    let mut context = Context::default();
    context.repositories = repository.remotes().into_iter().map(known).collect();
    context
}
