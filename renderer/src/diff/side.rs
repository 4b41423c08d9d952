//! Two states of the user's repository, as files to render.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, FileKind, Files, clean};

use super::Request;
use crate::argocd::KnownWorld;
use crate::config::Config;
use crate::git::{Comparison, Repository};
use crate::render::Renderer;

/// Both states.
pub(super) struct States {
    /// Renders the earlier one.
    pub(super) base: Renderer,
    /// Renders the later one.
    pub(super) head: Renderer,
    /// The comparison of both sides.
    pub(super) comparison: Comparison,
    /// The searched paths, absolute.
    pub(super) places: Vec<PathBuf>,
    /// The folder that paths of the command line start from.
    pub(super) working_directory: PathBuf,
    /// The names of the two sides.
    pub(super) title: String,
    /// The context file that the operator names, if it is not a file of the change.
    context: Named,
}

/// The location of the context file that the operator names.
enum Named {
    /// None is named.
    Nowhere,
    /// A file that is not in Git: the operator's own.
    Disk(PathBuf),
    /// A file of the repository, to be taken from the earlier state.
    Repository(PathBuf),
}

impl States {
    pub(super) fn new(request: &Request<'_>, config: Config) -> Result<Self> {
        let disk = Disk::new();
        let working_directory = disk.working_directory().to_owned();
        let repository = Repository::discover(&working_directory)?;
        let head_commit = request.head.map(|revision| repository.commit(revision)).transpose()?;
        let mut base_commit = repository.commit(request.base)?;
        if request.from_merge_base {
            let head = head_commit.map_or_else(|| repository.commit("HEAD"), Ok)?;
            base_commit = repository.merge_base(base_commit, head)?;
        }
        let base_tree = Arc::new(repository.tree(base_commit)?);
        let top = repository.work_tree().to_owned();
        let context = match request.context {
            None => Named::Nowhere,
            Some(path) => {
                let newest = head_commit.map_or_else(|| repository.commit("HEAD"), Ok)?;
                let is_tracked =
                    [Arc::clone(&base_tree), Arc::new(repository.tree(newest)?)].into_iter().any(|tree| {
                        repository.files(tree, config.disk()).resolve(&working_directory.join(path)).is_ok()
                    });
                let is_of_change = is_tracked && clean(&working_directory.join(path)).starts_with(&top);
                if is_of_change { Named::Repository(path.to_owned()) } else { Named::Disk(path.to_owned()) }
            }
        };
        let files = repository.files(Arc::clone(&base_tree), config.disk());
        let config = match context.load(&working_directory, &files)? {
            Some(world) => config.reading(world.checkouts()),
            None => config,
        };
        let disk = || config.disk();
        let disk_renderer = Renderer::new(config.clone()).with_places();
        let base = disk_renderer.over(Arc::new(repository.files(Arc::clone(&base_tree), disk())));
        let (head, comparison) = match head_commit {
            None => (disk_renderer, Comparison::with_work_tree(top.clone(), base_tree)),
            Some(commit) => {
                let tree = Arc::new(repository.tree(commit)?);
                let head = disk_renderer.over(Arc::new(repository.files(Arc::clone(&tree), disk())));
                (head, Comparison::of_commits(top.clone(), base_tree, tree))
            }
        };
        let places = places(request.paths, &working_directory, &top, base.files(), head.files())?;
        let title = format!("{} → {}", request.base, request.head.unwrap_or("work tree"));
        Ok(Self { base, head, comparison, places, working_directory, title, context })
    }

    /// The context of a side, from its files. A change must not steer its own review: the context file of the later state counts only
    /// where the operator trusts it.
    pub(super) fn world(
        &self,
        request: &Request<'_>,
        files: &dyn Files,
        is_head: bool,
    ) -> Result<KnownWorld> {
        let files = if is_head && !request.trust_head { self.base.files() } else { files };
        match self.context.load(&self.working_directory, files)? {
            Some(world) => Ok(world),
            None => KnownWorld::found(&self.working_directory, files),
        }
    }
}

impl Named {
    /// Reads the file, from the files of a side if it is one of the repository.
    fn load(&self, working_directory: &Path, files: &dyn Files) -> Result<Option<KnownWorld>> {
        match self {
            Self::Nowhere => Ok(None),
            Self::Disk(path) => KnownWorld::named(path, working_directory, &Disk::new()).map(Some),
            Self::Repository(path) => {
                KnownWorld::named(path, working_directory, files).map(Some).map_err(|error| {
                    error.hint(
                        "a file of the repository is read as it was before the change; see `--trust-head`",
                    )
                })
            }
        }
    }
}

/// The paths as absolute ones: also what is only there on one side has a path.
fn places(
    paths: &[PathBuf],
    working_directory: &Path,
    top: &Path,
    base: &dyn Files,
    head: &dyn Files,
) -> Result<Vec<PathBuf>> {
    if paths.is_empty() {
        return Ok(vec![top.to_owned()]);
    }
    let place = |path: &PathBuf| {
        let full = clean(&working_directory.join(path));
        let shown = path.display();
        if !full.starts_with(top) {
            let sentence = format!("`{shown}` is not in the repository `{}`", top.display());
            return Err(Error::new(ErrorKind::Invalid, sentence));
        }
        if base.resolve(&full).is_err() && head.resolve(&full).is_err() {
            let sentence = format!("no `{shown}` before or after the change");
            return Err(Error::new(ErrorKind::Invalid, sentence));
        }
        Ok(full)
    };
    paths.iter().map(place).collect()
}

/// Returns whether there is a folder or file at a path.
pub(super) fn kind(path: &Path, files: &dyn Files) -> Option<FileKind> {
    files.resolve(path).ok().map(|(_, kind)| kind)
}
