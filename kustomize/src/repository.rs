//! The addresses of remote repositories, as a kustomization writes them.

use crate::world::Repository;

/// An entry that names a folder of a remote repository.
#[derive(Clone, Debug)]
pub(crate) struct RepositoryEntry {
    /// The repository and revision.
    pub(crate) repository: Repository,
    /// The folder in it; empty for the top.
    pub(crate) path: String,
    /// The entry as written, by which cycles are found.
    pub(crate) raw: String,
}

/// Reads an entry; `None` where it is no address of a repository.
pub(crate) fn parse(entry: &str) -> Option<RepositoryEntry> {
    let _ = entry;
    None
}
