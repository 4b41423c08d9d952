//! Finds the repository that a folder is in, and the commit that a word means.
//!
//! In: a folder, and a revision as git takes it. Out: the files of that commit, below the folder of the work tree. Refused:
//! what git does not know, with what may be done about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use gix::bstr::BStr;
use gix::{ObjectId, ThreadSafeRepository};
use vfs::{Disk, Mounted};

use super::tree::RevisionTree;

/// A repository with a work tree.
#[derive(Debug)]
pub struct Repository {
    objects: Arc<ThreadSafeRepository>,
    work_tree: PathBuf,
}

impl Repository {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// If it is in none, or in one without a work tree.
    pub fn discover(folder: &Path) -> Result<Self> {
        let input = |sentence: String| Error::new(ErrorKind::Invalid, sentence);
        let shown = folder.display();
        let objects = ThreadSafeRepository::discover(folder).map_err(|error| {
            input(format!("`{shown}` is in no git repository that can be read: {}", innermost(&error)))
        })?;
        let work_tree = objects.work_dir().ok_or_else(|| {
            input(format!("the repository of `{shown}` is bare: paths require a work tree"))
        })?;
        let work_tree = work_tree.canonicalize().map_err(|error| Error::disk("find", work_tree, &error))?;
        Ok(Self { objects: Arc::new(objects), work_tree })
    }

    /// The real path of the work tree.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The addresses of its remotes, as they are in its configuration.
    pub fn remotes(&self) -> Vec<String> {
        let repository = self.objects.to_thread_local();
        let names = repository.remote_names();
        let remotes = names.iter().filter_map(|name| repository.find_remote(BStr::new(name.as_slice())).ok());
        let url = |remote: gix::Remote<'_>| {
            Some(remote.url(gix::remote::Direction::Fetch)?.to_bstring().to_string())
        };
        remotes.filter_map(url).collect()
    }

    /// The commit that a word means: a branch, a tag, a commit, `HEAD~2`.
    ///
    /// # Errors
    /// If git knows no such commit; where the clone is shallow, how to get it.
    pub fn commit(&self, revision: &str) -> Result<ObjectId> {
        let repository = self.objects.to_thread_local();
        let found =
            repository.rev_parse_single(BStr::new(revision)).and_then(|id| id.object()?.peel_to_commit());
        match found {
            Ok(commit) => Ok(commit.id),
            // What git says of it is that it is not found, in the words of its parts.
            Err(_) => {
                let sentence = format!("no commit `{revision}` in this repository");
                let error = Error::new(ErrorKind::Invalid, sentence);
                let is_shallow = repository.is_shallow().unwrap_or(false);
                Err(error.hint(if is_shallow {
                    format!(
                        "the clone is shallow: fetch it with `git fetch --depth=1 origin {}`, or clone with the \
                         whole history",
                        revision.trim_start_matches("origin/")
                    )
                } else {
                    format!("fetch it, or name another: `git rev-parse {revision}` has to know it")
                }))
            }
        }
    }

    /// The commit at which two lines of work parted.
    ///
    /// # Errors
    /// If they have none in common, or the clone is too shallow to know.
    pub fn merge_base(&self, one: ObjectId, other: ObjectId) -> Result<ObjectId> {
        let repository = self.objects.to_thread_local();
        match repository.merge_base(one, other) {
            Ok(Some(base)) => Ok(base.detach()),
            Ok(None) | Err(_) => {
                let sentence = format!("{one} and {other} do not share a commit in this repository");
                Err(Error::new(ErrorKind::Invalid, sentence).hint(
                    "fetch more of the history: `git fetch --unshallow`, or compare with the commit itself",
                ))
            }
        }
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// If the commit's tree is not here.
    pub fn tree(&self, commit: ObjectId) -> Result<RevisionTree> {
        RevisionTree::new(Arc::clone(&self.objects), commit)
    }

    /// The files of a commit where the work tree has its own, and those of a disk around them.
    pub fn files(&self, tree: Arc<RevisionTree>, around: Disk) -> Mounted<Arc<RevisionTree>, Disk> {
        Mounted::new(self.work_tree.clone(), tree, around)
    }
}

/// Returns what is at the bottom of an error: the words around it say what we know.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
