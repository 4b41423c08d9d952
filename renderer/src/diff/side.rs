//! Two states of the user's repository, as files to render.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use vfs::{Disk, FileKind, Files, clean};

use super::Request;
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
        let disk_renderer = Renderer::new(config).with_places();
        let base = disk_renderer.over(Arc::new(repository.files(Arc::clone(&base_tree))));
        let (head, comparison) = match head_commit {
            None => (disk_renderer, Comparison::with_work_tree(top.clone(), base_tree)),
            Some(commit) => {
                let tree = Arc::new(repository.tree(commit)?);
                let head = disk_renderer.over(Arc::new(repository.files(Arc::clone(&tree))));
                (head, Comparison::of_commits(top.clone(), base_tree, tree))
            }
        };
        let places = places(request.paths, &working_directory, &top, base.files(), head.files())?;
        let title = format!("{} → {}", request.base, request.head.unwrap_or("work tree"));
        Ok(Self { base, head, comparison, places, working_directory, title })
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
