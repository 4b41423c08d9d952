//! Submodules: where their repositories are, and a commit's files with theirs in place.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use diagnostic::{Error, ErrorKind, Result};
use kustomize::Repository;

use super::checkout::Link;

/// The file in which a repository says where its submodules are.
const GITMODULES: &str = ".gitmodules";

/// It has three short lines for each submodule.
const MAX_GITMODULES: u64 = 1 << 20;

/// A submodule to fetch.
pub(super) struct Submodule {
    /// The path.
    pub(super) path: PathBuf,
    pub(super) repository: Repository,
}

/// The submodules of a commit whose files are in `tree`.
pub(super) fn find(parent: &Repository, tree: &Path, links: Vec<Link>) -> Result<Vec<Submodule>> {
    let declared = Declared::read(tree)?;
    let mut submodules = Vec::with_capacity(links.len());
    for Link { commit, path } in links {
        let shown = path.display();
        let Some(section) = declared.section(&path) else {
            let reason = format!("the submodule `{shown}` is not in {GITMODULES}");
            return Err(
                Error::new(ErrorKind::Invalid, reason).hint("leave submodules out with `submodules=false`")
            );
        };
        if section.value("update").is_some_and(|update| update == "none") {
            continue;
        }
        let Some(url) = section.value("url").and_then(|url| String::from_utf8(url.into()).ok()) else {
            let reason = format!("the submodule `{shown}` lacks `url` in {GITMODULES}");
            return Err(Error::new(ErrorKind::Invalid, reason));
        };
        let url = resolve(&parent.url, &url)
            .map_err(|failure| failure.prefix(format!("the submodule `{shown}`")))?;
        let repository = Repository { url, revision: Some(commit.to_string()), ..parent.clone() };
        if repository.is_local() && !parent.is_local() {
            let reason =
                format!("the submodule `{shown}` is on the local disk, which a server may not refer to");
            return Err(Error::new(ErrorKind::Denied, reason));
        }
        submodules.push(Submodule { path, repository });
    }
    Ok(submodules)
}

struct Declared(gix::config::File);

impl Declared {
    fn read(tree: &Path) -> Result<Self> {
        let path = tree.join(GITMODULES);
        let malformed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Invalid, format!("{GITMODULES} cannot be read: {error}"))
        };
        // Not following a link: it could lead anywhere.
        let text = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_GITMODULES => {
                fs::read(&path).map_err(|error| malformed(&error))?
            }
            Ok(_) => return Err(malformed(&"it is not a file, or too large")),
            Err(_) => Vec::new(),
        };
        let parsed = gix::config::File::from_bytes_no_includes(
            &text,
            gix::config::file::Metadata::api(),
            gix::config::file::init::Options::default(),
        );
        parsed.map(Self).map_err(|error| malformed(&error))
    }

    fn section(&self, path: &Path) -> Option<gix::config::file::SectionRef<'_>> {
        self.0.sections_by_name("submodule")?.find(|section| {
            let declared = section.value("path");
            declared.is_some_and(|declared| {
                Path::new(OsStr::from_bytes(&declared)).components().eq(path.components())
            })
        })
    }
}

/// The address of a submodule, which may be relative to that of its parent, as git resolves it (submodule--helper.c,
/// `relative_url`).
fn resolve(parent: &str, url: &str) -> Result<String> {
    if url.starts_with('-') || url.contains(|character: char| character.is_control()) {
        return Err(Error::new(
            ErrorKind::Denied,
            format!("the address `{}` is not allowed", url.escape_debug()),
        ));
    }
    if !(url.starts_with("./") || url.starts_with("../")) {
        if url.starts_with('/') {
            return Ok(format!("file://{url}"));
        }
        return Ok(url.to_owned());
    }
    let mut base = parent.trim_end_matches('/').to_owned();
    let mut rest = url;
    let mut separator = '/';
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(above) = rest.strip_prefix("../") {
            rest = above;
            let cut = base.rfind('/').or_else(|| base.rfind(':'));
            let Some(cut) = cut.filter(|cut| !base[..*cut].ends_with([':', '/'])) else {
                let reason = format!("the address `{url}` leads above the host of its repository");
                return Err(Error::new(ErrorKind::Invalid, reason));
            };
            separator = if base.as_bytes()[cut] == b':' { ':' } else { '/' };
            base.truncate(cut);
        } else {
            let rest = rest.trim_end_matches('/');
            return Ok(format!("{base}{separator}{rest}"));
        }
    }
}

/// Puts the files of a cached tree into a folder that does not exist yet or is empty, without taking up room twice.
pub(super) fn link_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    if !to.exists() {
        fs::create_dir(to)?;
    }
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                fs::create_dir(&target)?;
                pending.push((source, target));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
            } else if fs::hard_link(&source, &target).is_err() {
                // Some disks have no hard links.
                fs::copy(&source, &target)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: what `git submodule` makes of the same addresses (t/t0060-path-utils.sh tells the rules).
    #[test]
    fn addresses_are_relative_to_that_of_the_parent() {
        for (parent, url, want) in [
            ("https://h/org/repo", "../sub.git", "https://h/org/sub.git"),
            ("https://h/org/repo.git/", "../../other/sub", "https://h/other/sub"),
            ("https://h/org/repo", "./sub", "https://h/org/repo/sub"),
            ("git@h:org/repo", "../sub", "git@h:org/sub"),
            ("git@h:repo", "../sub", "git@h:sub"),
            ("ssh://git@h:22/org/repo", "../sub/", "ssh://git@h:22/org/sub"),
            ("file:///srv/repo", "../sub", "file:///srv/sub"),
            ("https://h/org/repo", "https://other/x", "https://other/x"),
            ("file:///srv/repo", "/srv/sub", "file:///srv/sub"),
        ] {
            assert_eq!(resolve(parent, url).unwrap(), want, "{parent} {url}");
        }
    }

    #[test]
    fn addresses_that_lead_above_the_host_or_read_as_options_are_refused() {
        for url in ["../../../x", "../../../../../x", "-uecho", "https://h/\nx"] {
            assert!(resolve("https://h/org/repo", url).is_err(), "{url}");
        }
    }
}
