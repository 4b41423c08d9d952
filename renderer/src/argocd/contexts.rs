//! The context of Applications: a context file, or what this checkout provides.
//!
//! In: the path of a context file, or none. Out: the context, and where its repositories are. Refused: what is wrong in the
//! file, with its place.

use std::path::{Path, PathBuf};

use argocd::project::Projects;
use argocd::{Context, Repositories};
use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, FileKind, Files, clean};
use yamlserde::{Spanned, YamlFile};

use crate::git::Repository;
use crate::grants::Grants;
use crate::roots;

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
    /// The capabilities that the operator grants by the context.
    pub(crate) grants: Grants,
}

impl KnownWorld {
    /// The context file that the operator names; without one, that of the repository.
    ///
    /// # Errors
    /// If the file is invalid.
    pub(crate) fn load(named: Option<&Path>, working_directory: &Path, files: &dyn Files) -> Result<Self> {
        match named {
            Some(path) => Self::named(path, working_directory, &Disk::new()),
            None => Self::found(working_directory, files),
        }
    }

    /// The context file that the operator names: its settings grant what they ask for.
    ///
    /// # Errors
    /// If the file is invalid.
    pub(crate) fn named(path: &Path, working_directory: &Path, files: &dyn Files) -> Result<Self> {
        let known = Self::read(&working_directory.join(path), working_directory, files)?;
        Ok(Self { grants: Grants::of_context(&known.context), ..known })
    }

    /// `renderer-context.yaml` in the working directory or a directory above it in the repository; without that, the
    /// repository alone. It grants nothing, and its repositories must be inside of this one.
    ///
    /// # Errors
    /// If the file is invalid.
    pub(crate) fn found(working_directory: &Path, files: &dyn Files) -> Result<Self> {
        let root = root_of(working_directory);
        match beside(working_directory, &root, files) {
            Some(path) => {
                let known = Self::read(&path, working_directory, files)?;
                known.refuse_outside(&path, files)?;
                Ok(known)
            }
            None => Ok(Self::of_checkout(working_directory)),
        }
    }

    fn read(path: &Path, working_directory: &Path, files: &dyn Files) -> Result<Self> {
        let text = read(path, files)?;
        let context = Context::read(&text)?;
        let has_projects = !context.projects.is_empty();
        let projects = has_projects.then(|| Projects::new(&context, &text)).transpose()?;
        let base = path.parent().unwrap_or(Path::new("/"));
        let repositories = Repositories::new(&context, base);
        let root = root_of(working_directory);
        Ok(Self { context, repositories, projects, is_default: false, root, grants: Grants::default() })
    }

    /// Returns the real paths of the directories of its repositories.
    pub(crate) fn checkouts(&self) -> impl Iterator<Item = PathBuf> {
        self.repositories.folders().map(roots::real)
    }

    /// Rejects repositories outside of this one.
    fn refuse_outside(&self, path: &Path, files: &dyn Files) -> Result<()> {
        let text = read(path, files)?;
        let base = path.parent().unwrap_or(Path::new("/"));
        for repository in &self.context.repositories {
            let wanted = &repository.value.path;
            if roots::real(&clean(&base.join(wanted))).starts_with(roots::real(&self.root)) {
                continue;
            }
            let start = repository.start;
            let message = format!("the directory `{wanted}` of a repository is outside of this repository");
            let error = text.error(message, yamltree::Span { source: 0, start, end: start });
            return Err(error.hint("only a context file that `--context` names can name directories outside"));
        }
        Ok(())
    }

    /// The repository that a folder is in, and nothing else.
    pub(crate) fn of_checkout(working_directory: &Path) -> Self {
        let repository = Repository::discover(working_directory).ok();
        let root = repository.as_ref().map_or(working_directory, Repository::work_tree).to_owned();
        let context = repository.as_ref().map(of_repository).unwrap_or_default();
        let repositories = Repositories::new(&context, &root);
        Self { context, repositories, projects: None, is_default: true, root, grants: Grants::default() }
    }
}

/// The directories that a command reads from which looks at a repository: see [`roots::of_repository`]; and the repositories of
/// the context file that the operator names.
///
/// # Errors
/// If the context file is invalid.
pub(crate) fn readable<'p>(
    root: Option<&Path>,
    context: Option<&Path>,
    named: impl IntoIterator<Item = &'p Path>,
) -> Result<Vec<PathBuf>> {
    let mut readable = roots::of_repository(root, named);
    if let Some(path) = context {
        let disk = Disk::new();
        readable.extend(KnownWorld::named(path, disk.working_directory(), &disk)?.checkouts());
    }
    Ok(readable)
}

fn root_of(working_directory: &Path) -> PathBuf {
    let repository = Repository::discover(working_directory).ok();
    repository.as_ref().map_or(working_directory, Repository::work_tree).to_owned()
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
