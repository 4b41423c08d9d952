//! The patterns of value files: those of the Go library `bmatcuk/doublestar`, expanded over files.
//!
//! In: a pattern whose parts lead down from a folder. Out: the paths that match, in the library's order: folder by folder,
//! each by names, and by names over all where there are alternatives. Refused: more alternatives, folders or matches than
//! a person means.

use std::path::{Path, PathBuf};

use goregex::Regex;
use vfs::{FileKind, Files};

use glob::doublestar::{alternatives, name_pattern};

/// A pattern leads to no more paths, on the way to its matches too.
const MAX_PATHS: usize = 100_000;

/// Folders nest no deeper; a link could lead round in a circle.
const MAX_DEPTH: usize = 64;

/// The paths that match a pattern below a folder.
///
/// # Errors
/// A sentence about the pattern.
pub(crate) fn expand(folder: &Path, pattern: &str, files: &dyn Files) -> Result<Vec<PathBuf>, String> {
    let alternatives = alternatives(pattern)?;
    let mut found = Vec::new();
    for alternative in &alternatives {
        found.extend(matches_of(folder, alternative, files)?);
    }
    if alternatives.len() > 1 {
        found.sort();
        found.dedup();
    }
    Ok(found)
}

/// Returns true if a path is a pattern to Argo CD, which does not heed braces alone (repository.go `isGlobPath`).
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

fn matches_of(folder: &Path, pattern: &str, files: &dyn Files) -> Result<Vec<PathBuf>, String> {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let mut paths = vec![folder.to_owned()];
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let step = Step::new(part)?;
        let mut next = Vec::new();
        for path in &paths {
            step.take(path, is_last, files, &mut next, 0);
            if next.len() > MAX_PATHS {
                return Err(format!("`{pattern}` matches too many files"));
            }
        }
        paths = next;
    }
    Ok(paths)
}

/// A part of a pattern.
enum Step {
    Name(String),
    Names(Regex),
    /// `**`: the folder itself and all below it.
    Below,
}

impl Step {
    fn new(part: &str) -> Result<Self, String> {
        if part == "**" {
            return Ok(Self::Below);
        }
        if !part.contains(['*', '?', '[', '\\']) {
            return Ok(Self::Name(part.to_owned()));
        }
        name_pattern(part).map(Self::Names)
    }

    fn take(&self, path: &Path, is_last: bool, files: &dyn Files, found: &mut Vec<PathBuf>, depth: usize) {
        let kind = |path: &Path| files.resolve(path).ok().map(|(_, kind)| kind);
        match self {
            Self::Name(name) => {
                let path = path.join(name);
                if kind(&path).is_some_and(|kind| is_last || kind == FileKind::Directory) {
                    found.push(path);
                }
            }
            Self::Names(regex) => {
                for name in files.list(path).unwrap_or_default() {
                    let inner = path.join(&name);
                    let is_wanted = || is_last || kind(&inner) == Some(FileKind::Directory);
                    if regex.is_match(&name) && is_wanted() {
                        found.push(inner);
                    }
                }
            }
            Self::Below => {
                let Ok(names) = files.list(path) else { return };
                found.push(path.to_owned());
                if depth == MAX_DEPTH || found.len() > MAX_PATHS {
                    return;
                }
                for name in names {
                    let inner = path.join(name);
                    match kind(&inner) {
                        Some(FileKind::Directory) => self.take(&inner, is_last, files, found, depth + 1),
                        _ if is_last => found.push(inner),
                        _ => {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use vfs::MemoryTree;

    use super::*;

    fn found(pattern: &str) -> Vec<String> {
        let names =
            ["a.yaml", "envs/b.yaml", "envs/a.yml", "envs/eu/a.yaml", "envs/us/a.yaml", ".hidden.yaml"];
        let tree: MemoryTree = names.iter().map(|name| (*name, b"" as &[u8])).collect();
        let found = expand(Path::new("/"), pattern, &tree).unwrap();
        found.iter().map(|path| path.strip_prefix("/").unwrap().display().to_string()).collect()
    }

    #[test]
    fn patterns_lead_to_files_in_order() {
        for (pattern, want) in [
            ("*.yaml", &[".hidden.yaml", "a.yaml"][..]),
            ("**/*.yaml", &[".hidden.yaml", "a.yaml", "envs/b.yaml", "envs/eu/a.yaml", "envs/us/a.yaml"]),
            ("envs/*/a.yaml", &["envs/eu/a.yaml", "envs/us/a.yaml"]),
            ("envs/{us,eu}/a.y*", &["envs/eu/a.yaml", "envs/us/a.yaml"]),
            ("envs/[e-f]u/?.yaml", &["envs/eu/a.yaml"]),
            ("envs/[!e]*/a.yaml", &["envs/us/a.yaml"]),
            ("envs/[^e]*", &["envs/a.yml", "envs/b.yaml", "envs/us"]),
            ("envs/e*/**", &["envs/eu", "envs/eu/a.yaml"]),
            ("none/*", &[]),
        ] {
            assert_eq!(found(pattern), want, "{pattern}");
        }
    }

    #[test]
    fn what_never_ends_is_refused() {
        let tree = MemoryTree::new();
        assert!(expand(Path::new("/"), &"{a,b}".repeat(40), &tree).is_err());
        assert!(expand(Path::new("/"), "[a", &tree).is_err());
    }
}
