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

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::tree::EntryKind;
use kustomize::ErrorKind;

use super::failure::{Failure, Result};

/// Files, folders and links of a tree; the largest known repositories have half as many.
const MAX_ENTRIES: usize = 1_000_000;

/// Bytes of all files of a tree.
const MAX_BYTES: u64 = 4 << 30;

/// How deep folders may nest; a path cannot be longer than 4,096 bytes anyway.
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
    fs::create_dir(folder).map_err(|error| Failure::cache("make the folder", folder, &error))?;
    let mut checkout = Checkout {
        repository,
        top: folder.join("tree"),
        entries_left: MAX_ENTRIES,
        bytes_left: MAX_BYTES,
        links: Vec::new(),
    };
    checkout.write(tree.detach())?;
    let links = folder.join("links");
    fs::write(&links, Link::write_all(&checkout.links))
        .map_err(|error| Failure::cache("write", &links, &error))
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

impl Checkout<'_> {
    fn write(&mut self, tree: ObjectId) -> Result<()> {
        let mut pending = vec![Pending { tree, path: PathBuf::new(), depth: 0 }];
        while let Some(Pending { tree, path, depth }) = pending.pop() {
            if depth > MAX_DEPTH {
                return Err(Failure::new(
                    ErrorKind::Limit,
                    format!("folders nest more than {MAX_DEPTH} deep"),
                ));
            }
            self.make("make the folder", &path, |full| fs::create_dir(full))?;
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
                        self.make("make the folder", &path, |full| fs::create_dir(full))?;
                        self.links.push(Link { commit: id, path });
                    }
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<()> {
        let left = self.entries_left.checked_sub(1).ok_or_else(|| {
            Failure::new(ErrorKind::Limit, format!("the repository has more than {MAX_ENTRIES} files"))
        })?;
        self.entries_left = left;
        Ok(())
    }

    fn write_file(&mut self, id: ObjectId, path: &Path, mode: u32) -> Result<()> {
        let size = self.repository.find_header(id).map_err(|error| damaged(&error))?.size();
        self.bytes_left = self.bytes_left.checked_sub(size).ok_or_else(|| {
            Failure::new(ErrorKind::Limit, format!("the repository is larger than {} MiB", MAX_BYTES >> 20))
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
            return Err(Failure::new(ErrorKind::Limit, reason));
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
                Err(Failure::new(ErrorKind::Invalid, reason))
            }
            made => made.map_err(|error| Failure::cache(doing, &full, &error)),
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
        return Err(Failure::new(ErrorKind::Denied, reason));
    }
    Ok(Path::new(std::ffi::OsStr::from_bytes(name)))
}

fn damaged(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(ErrorKind::Unavailable, format!("the repository is damaged: {error}"))
}
