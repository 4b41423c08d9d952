//! The files of a commit, read from git's objects.
//!
//! In: a path from the root. Out: what is there, links not followed. Each folder is read once. A submodule is an empty
//! folder, as it is after a clone.

use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use diagnostic::{Error, ErrorKind, Result};
use gix::objs::tree::EntryKind;
use gix::{ObjectId, ThreadSafeRepository};
use vfs::{Entry, MAX_FILE_SIZE, Tree};

use super::repository::innermost;

/// The files of a commit.
#[derive(Debug)]
pub struct RevisionTree {
    objects: Arc<ThreadSafeRepository>,
    root: ObjectId,
    folders: RwLock<HashMap<PathBuf, Arc<Folder>>>,
}

/// The entries of a directory, by name in byte order.
type Folder = Vec<(String, EntryKind, ObjectId)>;

impl RevisionTree {
    pub(super) fn new(objects: Arc<ThreadSafeRepository>, commit: ObjectId) -> Result<Self> {
        let repository = objects.to_thread_local();
        let root = repository.find_commit(commit).and_then(|commit| Ok(commit.tree_id()?.detach()));
        let root = root.map_err(|error| {
            let sentence = format!("cannot read the files of {commit}: {}", innermost(&error));
            Error::new(ErrorKind::Invalid, sentence)
        })?;
        Ok(Self { objects, root, folders: RwLock::default() })
    }

    /// Returns what git calls a file, folder or link: the same for the same content.
    pub fn id(&self, path: &Path) -> io::Result<ObjectId> {
        Ok(self.find(path)?.1)
    }

    fn find(&self, path: &Path) -> io::Result<(EntryKind, ObjectId)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return match path.components().next() {
                None => Ok((EntryKind::Tree, self.root)),
                Some(_) => Err(io::ErrorKind::InvalidFilename.into()),
            };
        };
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let name = name.to_str().ok_or(io::ErrorKind::NotFound)?;
        let folder = self.folder(parent)?;
        let at = folder.binary_search_by(|(other, _, _)| other.as_str().cmp(name));
        let (_, kind, id) = &folder[at.map_err(|_| io::Error::from(io::ErrorKind::NotFound))?];
        Ok((*kind, *id))
    }

    fn folder(&self, path: &Path) -> io::Result<Arc<Folder>> {
        if let Some(folder) = self.folders.read().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Ok(Arc::clone(folder));
        }
        let (kind, id) = self.find(path)?;
        let folder = match kind {
            EntryKind::Tree => self.read_folder(id)?,
            EntryKind::Commit => Folder::new(),
            _ => return Err(io::ErrorKind::NotADirectory.into()),
        };
        let folder = Arc::new(folder);
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(folders.entry(path.to_owned()).or_insert(folder)))
    }

    fn read_folder(&self, id: ObjectId) -> io::Result<Folder> {
        let repository = self.objects.to_thread_local();
        let tree = repository.find_tree(id).map_err(|error| damaged(&error))?;
        let mut folder = Folder::new();
        for entry in tree.iter() {
            let entry = entry.map_err(|error| damaged(&error))?;
            let name = String::from_utf8_lossy(entry.filename()).into_owned();
            folder.push((name, entry.kind(), entry.object_id()));
        }
        // Git has folders in the order of their names with a slash at the end.
        folder.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Ok(folder)
    }

    fn blob(&self, id: ObjectId) -> io::Result<Vec<u8>> {
        let repository = self.objects.to_thread_local();
        let size = repository.find_header(id).map_err(|error| damaged(&error))?.size();
        if size > MAX_FILE_SIZE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut blob = repository.find_blob(id).map_err(|error| damaged(&error))?;
        Ok(std::mem::take(&mut blob.data))
    }
}

impl Tree for RevisionTree {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        Ok(match self.find(path)? {
            (EntryKind::Blob | EntryKind::BlobExecutable, _) => Entry::File,
            (EntryKind::Tree | EntryKind::Commit, _) => Entry::Directory,
            (EntryKind::Link, id) => {
                let target = String::from_utf8(self.blob(id)?).map_err(|_| io::ErrorKind::InvalidData)?;
                Entry::Link(PathBuf::from(target))
            }
        })
    }

    fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.find(path)? {
            (EntryKind::Blob | EntryKind::BlobExecutable, id) => Ok(self.blob(id)?.into()),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        Ok(self.folder(path)?.iter().map(|(name, _, _)| name.clone()).collect())
    }
}

fn damaged(error: &dyn std::error::Error) -> io::Error {
    io::Error::other(format!("git cannot read it: {}", innermost(error)))
}
