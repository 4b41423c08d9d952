//! Writes the files of a commit, as they are in git: no filters, no conversions, no hooks.
//!
//! In: a repository, a commit, a folder. Out: its tree there, read-only, and the submodules that it names. It refuses
//! names that lead anywhere else, and more files or bytes than a config repo has. Every folder and file is made anew,
//! so that nothing is ever written through a symbolic link.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::tree::EntryKind;

use super::failure::cache_failure;

/// Files, folders and links of a tree; the largest known repositories have half as many.
const MAX_ENTRIES: usize = 1_000_000;

/// Bytes of all files of a tree.
const MAX_BYTES: u64 = 4 << 30;

/// Maximum depth to which folders may nest; a path cannot be longer than 4,096 bytes anyway.
const MAX_DEPTH: usize = 1_000;

/// The target of a symbolic link is a path.
const MAX_LINK: u64 = 4096;

/// A submodule as a tree names it: a commit of another repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) commit: ObjectId,
    pub(super) path: PathBuf,
}

impl Link {
    /// One after the other, each ended by a NUL, which no path holds.
    fn write_all(links: &[Self]) -> Vec<u8> {
        let mut text = Vec::new();
        for link in links {
            text.extend_from_slice(link.commit.to_string().as_bytes());
            text.push(b' ');
            text.extend_from_slice(link.path.as_os_str().as_bytes());
            text.push(0);
        }
        text
    }

    pub(super) fn parse_all(text: &[u8]) -> Vec<Self> {
        let parse = |line: &[u8]| {
            let (commit, path) = line.split_once_str(" ")?;
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
            Some(Self { commit: ObjectId::from_hex(commit).ok()?, path })
        };
        text.split(|byte| *byte == 0).filter_map(parse).collect()
    }
}

/// Makes a folder with `tree`, the files of a commit, and `links`, its submodules.
pub(super) fn write(repository: &gix::Repository, commit: ObjectId, folder: &Path) -> Result<()> {
    let tree = repository
        .find_commit(commit)
        .and_then(|commit| commit.tree_id())
        .map_err(|error| damaged(&error))?;
    fs::create_dir(folder).map_err(|error| cache_failure("create the directory", folder, &error))?;
    let mut checkout = Checkout::new(repository, folder.join("tree"));
    checkout.write(tree.detach())?;
    let links = folder.join("links");
    fs::write(&links, Link::write_all(&checkout.links))
        .map_err(|error| cache_failure("write", &links, &error))
}

struct Checkout<'r> {
    repository: &'r gix::Repository,
    top: PathBuf,
    entries_left: usize,
    bytes_left: u64,
    links: Vec<Link>,
}

/// A folder that is still to be written.
struct Pending {
    tree: ObjectId,
    path: PathBuf,
    depth: usize,
}

impl<'r> Checkout<'r> {
    fn new(repository: &'r gix::Repository, top: PathBuf) -> Self {
        Self { repository, top, entries_left: MAX_ENTRIES, bytes_left: MAX_BYTES, links: Vec::new() }
    }

    fn write(&mut self, tree: ObjectId) -> Result<()> {
        let mut pending = vec![Pending { tree, path: PathBuf::new(), depth: 0 }];
        while let Some(Pending { tree, path, depth }) = pending.pop() {
            if depth > MAX_DEPTH {
                return Err(Error::new(
                    ErrorKind::Limit,
                    format!("directories are nested more than {MAX_DEPTH} deep"),
                ));
            }
            self.make("create the directory", &path, |full| fs::create_dir(full))?;
            let tree = self.repository.find_tree(tree).map_err(|error| damaged(&error))?;
            for entry in tree.iter() {
                let entry = entry.map_err(|error| damaged(&error))?;
                let id = entry.object_id();
                let path = path.join(file_name(entry.filename(), &path)?);
                self.count()?;
                match entry.mode().kind() {
                    EntryKind::Tree => pending.push(Pending { tree: id, path, depth: depth + 1 }),
                    EntryKind::Blob => self.write_file(id, &path, 0o444)?,
                    EntryKind::BlobExecutable => self.write_file(id, &path, 0o555)?,
                    EntryKind::Link => self.write_symlink(id, &path)?,
                    EntryKind::Commit => {
                        self.make("create the directory", &path, |full| fs::create_dir(full))?;
                        self.links.push(Link { commit: id, path });
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<()> {
        let left = self.entries_left.checked_sub(1).ok_or_else(|| {
            Error::new(ErrorKind::Limit, format!("the repository has more than {MAX_ENTRIES} files"))
        })?;
        self.entries_left = left;
        Ok(())
    }

    fn write_file(&mut self, id: ObjectId, path: &Path, mode: u32) -> Result<()> {
        let size = self.repository.find_header(id).map_err(|error| damaged(&error))?.size();
        self.bytes_left = self.bytes_left.checked_sub(size).ok_or_else(|| {
            Error::new(ErrorKind::Limit, format!("the repository is larger than {} MiB", MAX_BYTES >> 20))
        })?;
        let blob = self.repository.find_blob(id).map_err(|error| damaged(&error))?;
        self.make("write", path, |full| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(full)?;
            file.write_all(&blob.data)
        })
    }

    fn write_symlink(&self, id: ObjectId, path: &Path) -> Result<()> {
        let size = self.repository.find_header(id).map_err(|error| damaged(&error))?.size();
        if size > MAX_LINK {
            let reason = format!("the symbolic link `{}` is too long", path.display());
            return Err(Error::new(ErrorKind::Limit, reason));
        }
        let blob = self.repository.find_blob(id).map_err(|error| damaged(&error))?;
        self.make("make the link", path, |full| symlink(std::ffi::OsStr::from_bytes(&blob.data), full))
    }

    fn make(&self, doing: &str, path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
        // The top has an empty path; joining one would end the path with a slash.
        let full = if path.as_os_str().is_empty() { self.top.clone() } else { self.top.join(path) };
        match make(&full) {
            // In a new folder only the tree itself can have named it before: a link, then a folder of that name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let reason = format!("the repository is damaged: it has `{}` twice", path.display());
                Err(Error::new(ErrorKind::Invalid, reason))
            }
            made => made.map_err(|error| cache_failure(doing, &full, &error)),
        }
    }
}

/// A name that stays in its folder. git refuses the others, so that only somebody with a purpose makes them.
fn file_name<'n>(name: &'n BStr, folder: &Path) -> Result<&'n Path> {
    let leads_away = name.is_empty()
        || matches!(name.as_bytes(), b"." | b"..")
        || name.eq_ignore_ascii_case(b".git")
        || name.find_byteset(b"/\0").is_some();
    if leads_away {
        let reason =
            format!("the repository has the forbidden file name `{name}` in `/{}`", folder.display());
        return Err(Error::new(ErrorKind::Denied, reason));
    }
    Ok(Path::new(std::ffi::OsStr::from_bytes(name)))
}

fn damaged(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the repository is damaged: {error}"))
}

#[cfg(test)]
mod tests {
    use gix::objs::tree::{Entry, EntryMode};
    use gix::objs::{Blob, Tree};
    use tempfile::TempDir;

    use super::*;

    /// A bare repository, and a place for a checkout.
    fn repository() -> (TempDir, gix::Repository) {
        let folder = TempDir::new().unwrap();
        let repository = gix::init_bare(folder.path().join("git")).unwrap();
        (folder, repository)
    }

    fn entry(kind: EntryKind, name: &str, oid: ObjectId) -> Entry {
        Entry { mode: EntryMode::from(kind), filename: name.into(), oid }
    }

    fn tree(repository: &gix::Repository, entries: Vec<Entry>) -> ObjectId {
        repository.write_object(Tree { entries }).unwrap().detach()
    }

    fn blob(repository: &gix::Repository, content: &[u8]) -> ObjectId {
        repository.write_object(Blob { data: content.to_vec() }).unwrap().detach()
    }

    fn is_limit(outcome: Result<()>) -> bool {
        outcome.unwrap_err().kind() == ErrorKind::Limit
    }

    #[test]
    fn a_small_repository_with_a_huge_tree_is_refused() {
        let (folder, repository) = repository();
        let mut top = tree(&repository, Vec::new());
        for _ in 0..9 {
            let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
            top = tree(&repository, names.map(|name| entry(EntryKind::Tree, name, top)).to_vec());
        }
        let mut checkout = Checkout::new(&repository, folder.path().join("tree"));
        checkout.entries_left = 500;
        assert!(is_limit(checkout.write(top)));
    }

    #[test]
    fn more_bytes_than_are_allowed_are_not_written() {
        let (folder, repository) = repository();
        let content = blob(&repository, &[b'a'; 600]);
        let top = tree(&repository, ["x", "y"].map(|name| entry(EntryKind::Blob, name, content)).to_vec());
        let mut checkout = Checkout::new(&repository, folder.path().join("tree"));
        checkout.bytes_left = 1000;
        assert!(is_limit(checkout.write(top)));
        assert!(!folder.path().join("tree/y").exists());
    }

    #[test]
    fn folders_nest_only_so_deep() {
        let (folder, repository) = repository();
        let mut top = tree(&repository, Vec::new());
        for _ in 0..=MAX_DEPTH {
            top = tree(&repository, vec![entry(EntryKind::Tree, "d", top)]);
        }
        assert!(is_limit(Checkout::new(&repository, folder.path().join("tree")).write(top)));
    }

    #[test]
    fn a_link_is_no_longer_than_a_path() {
        let (folder, repository) = repository();
        let target = blob(&repository, &[b'a'; 5000]);
        let top = tree(&repository, vec![entry(EntryKind::Link, "link", target)]);
        assert!(is_limit(Checkout::new(&repository, folder.path().join("tree")).write(top)));
    }

    #[test]
    fn what_is_executable_stays_so_and_nothing_can_be_written() {
        let (folder, repository) = repository();
        let content = blob(&repository, b"#!/bin/sh\n");
        let entries =
            vec![entry(EntryKind::Blob, "a", content), entry(EntryKind::BlobExecutable, "b", content)];
        let top = tree(&repository, entries);
        Checkout::new(&repository, folder.path().join("tree")).write(top).unwrap();
        let mode = |name: &str| {
            let metadata = fs::metadata(folder.path().join("tree").join(name)).unwrap();
            std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
        };
        assert_eq!((mode("a") & 0o333, mode("b") & 0o222), (0, 0));
        assert_ne!(mode("b") & 0o100, 0);
    }

    #[test]
    fn links_to_submodules_survive_their_file() {
        let commit = ObjectId::from_hex(&[b'1'; 40]).unwrap();
        let links = ["a b/c", "d\ne"].map(|path| Link { commit, path: path.into() });
        assert_eq!(Link::parse_all(&Link::write_all(&links)), links);
    }
}
