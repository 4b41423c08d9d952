//! The files of a commit, read from git's objects without a work tree.
//!
//! In: a path or a glob pattern. Out: bytes, or paths in order. Refused: paths that lead out of the repository, files and
//! trees that are larger than what people keep in a config repo, and to follow symbolic links.

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::glob::wildmatch;
use gix::objs::tree::EntryKind;

use crate::commit::Person;

/// The largest file that is read; a values file of this size has a quarter of a million lines.
pub const MAX_FILE: u64 = 16 << 20;

/// Files and folders of a tree that are looked at; the largest known repositories have half as many.
const MAX_ENTRIES: usize = 1_000_000;

/// Maximum depth to which folders may nest; a path cannot be longer than 4,096 bytes anyway.
const MAX_DEPTH: usize = 1_000;

/// The files of a commit.
#[derive(Debug)]
pub struct Tree {
    pub(crate) repository: gix::Repository,
    pub(crate) id: ObjectId,
    commit: ObjectId,
}

/// The object at a path.
pub(crate) enum Found {
    Nothing,
    File { id: ObjectId, kind: EntryKind },
    Other(&'static str),
}

/// Returns true if a path matches a pattern: `*` and `?` stop at a slash, `**` as a whole part does not.
#[must_use]
pub fn matches(pattern: &str, path: &BStr) -> bool {
    wildmatch(pattern.into(), path, wildmatch::Mode::NO_MATCH_SLASH_LITERAL)
}

impl Tree {
    pub(crate) fn of_commit(repository: gix::Repository, commit: ObjectId) -> Result<Self> {
        let id = repository
            .find_commit(commit)
            .and_then(|commit| commit.tree_id().map(gix::Id::detach))
            .map_err(|error| damaged(&error))?;
        Ok(Self { repository, id, commit })
    }

    /// The commit whose files these are.
    #[must_use]
    pub fn commit(&self) -> ObjectId {
        self.commit
    }

    /// A file's content; nothing where there is none.
    ///
    /// # Errors
    /// If the path leads out of the repository, is that of a folder, link or submodule, or the file is too large.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let id = match self.find(path)? {
            Found::Nothing => return Ok(None),
            Found::File { id, .. } => id,
            Found::Other(what) => return Err(no_file(path, what)),
        };
        let size = self.repository.find_header(id).map_err(|error| damaged(&error))?.size();
        if size > MAX_FILE {
            let reason = format!("the file `{path}` is larger than {} MiB", MAX_FILE >> 20);
            return Err(Error::new(ErrorKind::Limit, reason));
        }
        let blob = self.repository.find_blob(id).map_err(|error| damaged(&error))?;
        // Its own buffer is used again, and as large as the largest tree that was read.
        Ok(Some(blob.data.clone()))
    }

    /// The paths of the files that match a pattern, in order: `*` and `?` stop at a slash, `**` as a whole part does not.
    /// Names that are no UTF-8 match nothing.
    ///
    /// # Errors
    /// If the tree is damaged or too large.
    pub fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        let is_wanted = |path: &BStr| matches(pattern, path);
        let mut paths = Vec::new();
        self.walk(literal_folder(pattern), |path| {
            if is_wanted(path)
                && let Ok(path) = path.to_str()
            {
                paths.push(path.to_owned());
            }
        })?;
        paths.sort_unstable();
        Ok(paths)
    }

    /// Returns the committer.
    pub(crate) fn committer(&self) -> Result<Person> {
        let commit = self.repository.find_commit(self.commit).map_err(|error| damaged(&error))?;
        let committer = commit.committer().map_err(|error| damaged(&error))?;
        Ok(Person { name: committer.name.to_string(), email: committer.email.to_string() })
    }

    /// Returns what a path leads to.
    pub(crate) fn find(&self, path: &str) -> Result<Found> {
        let parts = parts(path)?;
        let mut id = self.id;
        for (depth, part) in parts.iter().enumerate() {
            let tree = self.repository.find_tree(id).map_err(|error| damaged(&error))?;
            let entry = tree.lookup_entry([part.as_bytes()]).map_err(|error| damaged(&error))?;
            let Some(entry) = entry else { return Ok(Found::Nothing) };
            let is_last = depth + 1 == parts.len();
            id = entry.object_id();
            match entry.mode().kind() {
                EntryKind::Tree if is_last => return Ok(Found::Other("a directory")),
                EntryKind::Tree => {}
                kind @ (EntryKind::Blob | EntryKind::BlobExecutable) if is_last => {
                    return Ok(Found::File { id, kind });
                }
                EntryKind::Link => return Ok(Found::Other("a symbolic link, or below one")),
                EntryKind::Commit => return Ok(Found::Other("in a submodule")),
                EntryKind::Blob | EntryKind::BlobExecutable => return Ok(Found::Other("below a file")),
            }
        }
        Ok(Found::Nothing)
    }

    /// Shows the path of each file below a folder.
    fn walk(&self, folder: &str, mut show: impl FnMut(&BStr)) -> Result<()> {
        let Some(top) = self.folder(folder)? else { return Ok(()) };
        let mut pending = vec![(top, BString::from(folder), 0)];
        let mut left = MAX_ENTRIES;
        while let Some((id, folder, depth)) = pending.pop() {
            if depth > MAX_DEPTH {
                let reason = format!("directories are nested more than {MAX_DEPTH} deep");
                return Err(Error::new(ErrorKind::Limit, reason));
            }
            let tree = self.repository.find_tree(id).map_err(|error| damaged(&error))?;
            for entry in tree.iter() {
                let entry = entry.map_err(|error| damaged(&error))?;
                left = left.checked_sub(1).ok_or_else(|| {
                    let reason = format!("the repository has more than {MAX_ENTRIES} files");
                    Error::new(ErrorKind::Limit, reason)
                })?;
                let mut path = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(entry.filename());
                match entry.mode().kind() {
                    EntryKind::Tree => pending.push((entry.object_id(), path, depth + 1)),
                    EntryKind::Blob | EntryKind::BlobExecutable => show(path.as_bstr()),
                    EntryKind::Link | EntryKind::Commit => {}
                }
            }
        }
        Ok(())
    }

    fn folder(&self, path: &str) -> Result<Option<ObjectId>> {
        if path.is_empty() {
            return Ok(Some(self.id));
        }
        let tree = self.repository.find_tree(self.id).map_err(|error| damaged(&error))?;
        let entry = tree.lookup_entry(path.split('/').map(str::as_bytes)).map_err(|error| damaged(&error))?;
        Ok(entry.filter(|entry| entry.mode().is_tree()).map(|entry| entry.object_id()))
    }
}

/// The parts of a path that stays in its repository.
pub(crate) fn parts(path: &str) -> Result<Vec<&str>> {
    let parts: Vec<&str> = path.split('/').collect();
    let leads_away = |part: &&str| {
        matches!(*part, "" | "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains('\0')
    };
    if parts.iter().any(leads_away) {
        let reason =
            format!("invalid path `{}`: expected a file path in the repository", path.escape_debug());
        return Err(Error::new(ErrorKind::Invalid, reason));
    }
    Ok(parts)
}

/// The folders at the beginning of a pattern that stand for themselves.
fn literal_folder(pattern: &str) -> &str {
    let end = pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len());
    pattern[..end].rfind('/').map_or("", |slash| &pattern[..slash])
}

pub(crate) fn no_file(path: &str, what: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("`{path}` is not a file but {what}"))
}

pub(crate) fn damaged(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the repository is damaged: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_looked_for_in_its_folder_only() {
        assert_eq!(literal_folder("apps/prod/*.yaml"), "apps/prod");
        assert_eq!(literal_folder("apps/prod/values.yaml"), "apps/prod");
        assert_eq!(literal_folder("apps/pr*d/values.yaml"), "apps");
        assert_eq!(literal_folder("**/values.yaml"), "");
        assert_eq!(literal_folder("apps/[ab]/x"), "apps");
    }

    #[test]
    fn a_path_stays_in_its_repository() {
        for path in ["", "/etc/passwd", "a/../b", "a//b", "./a", "a/", ".git/config", "a/.GIT/x", "a\0b"] {
            assert_eq!(parts(path).unwrap_err().kind(), ErrorKind::Invalid, "{path}");
        }
        assert_eq!(parts("apps/prod/values.yaml").unwrap(), ["apps", "prod", "values.yaml"]);
    }
}
