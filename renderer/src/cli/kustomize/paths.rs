//! Which files the patterns of `kustomize edit add` name.
//!
//! In: patterns as Go's `filepath.Glob` has them, relative to the working directory. Out: paths in the order of their
//! names, hidden ones left out. The disk is only looked at.

use std::fs;
use std::path::Path;

use diagnostic::{Error, ErrorKind, Result};
use glob::path_match;

/// The paths that a pattern names.
///
/// # Errors
/// If the pattern is malformed.
pub(super) fn named(pattern: &str) -> Result<Vec<String>> {
    let malformed = |_| Error::new(ErrorKind::Invalid, format!("syntax error in pattern: `{pattern}`"));
    path_match(pattern, "").map_err(malformed)?;
    let mut found = walk(pattern).map_err(malformed)?;
    if !is_hidden(pattern) {
        found.retain(|path| !is_hidden(path));
    }
    Ok(found)
}

/// Returns true if an argument is no path but the address of something elsewhere: with a scheme, with a host before a colon as
/// in `git@host:path`, or on a host that Kustomize knows without either.
pub(super) fn is_address(argument: &str) -> bool {
    argument.contains("://")
        || argument.split('/').next().is_some_and(|start| start.contains(':'))
        || ["github.com/", "git::"].iter().any(|start| argument.starts_with(start))
}

fn walk(pattern: &str) -> std::result::Result<Vec<String>, glob::BadPattern> {
    if !has_meta(pattern) {
        let is_there = !pattern.is_empty() && fs::symlink_metadata(pattern).is_ok();
        return Ok(if is_there { vec![pattern.to_owned()] } else { Vec::new() });
    }
    let (folder, last) = match pattern.rfind('/') {
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    };
    let folders = match folder {
        "" if pattern.starts_with('/') => vec!["/".to_owned()],
        "" => vec![String::new()],
        folder => walk(folder)?,
    };
    let mut found = Vec::new();
    for folder in folders {
        for name in names(&folder) {
            if path_match(last, &name)? {
                found.push(join(&folder, &name));
            }
        }
    }
    Ok(found)
}

/// Returns what a folder holds, sorted; nothing where it is none, as patterns pass over what cannot be read.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(if folder.is_empty() { "." } else { folder });
    let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
    let mut names: Vec<String> = entries.into_iter().flatten().flatten().filter_map(name).collect();
    names.sort_unstable();
    names
}

/// A path in its shortest form, as Go's `filepath.Join` gives it.
fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain([name]) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if folder.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn has_meta(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '\\'])
}

/// Returns true if the last part of a path begins with a dot.
fn is_hidden(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_in_their_shortest_form() {
        for (folder, name, path) in [
            ("", "a", "a"),
            (".", "a", "a"),
            ("./b/", "a", "b/a"),
            ("../b//c/..", "a", "../b/a"),
            ("/", "a", "/a"),
        ] {
            assert_eq!(join(folder, name), path, "{folder}");
        }
    }
}
