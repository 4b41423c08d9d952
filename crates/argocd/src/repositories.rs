//! Maps each `repoURL` to a directory on this disk.
//!
//! In: the repositories of a [`Context`] and the folder of its file. Out: the folder of an address at a revision, and
//! the commit that it stands for. Refused, with what to add to the context: addresses that it does not have, and
//! revisions that none of several folders is for.

use std::path::{Path, PathBuf};

use diagnostic::{Error, Result};

use crate::context::Context;

/// The repositories that are on this disk.
#[derive(Clone, Debug, Default)]
pub struct Repositories(Vec<Checkout>);

/// A repository at a revision, as a folder.
#[derive(Clone, Debug)]
pub struct Checkout {
    address: String,
    folder: PathBuf,
    revision: Option<String>,
}

impl Repositories {
    /// The repositories of a context whose file is in a folder.
    #[must_use]
    pub fn new(context: &Context, base: &Path) -> Self {
        let checkout = |repository: &crate::context::Repository| Checkout {
            address: normalized(&repository.url),
            folder: base.join(&repository.path),
            revision: repository.revision.clone(),
        };
        Self(context.repositories.iter().map(|repository| checkout(&repository.value)).collect())
    }

    /// Returns what there is for an address at a `targetRevision`, where the empty one is `HEAD`.
    ///
    /// One folder alone serves every revision; of several the one for the revision does, and else that which names none.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, url: &str, revision: &str) -> Result<&Checkout> {
        let address = normalized(url);
        let all: Vec<&Checkout> = self.0.iter().filter(|checkout| checkout.address == address).collect();
        let wanted = if revision.is_empty() { "HEAD" } else { revision };
        let chosen = match all.as_slice() {
            [only] => Some(*only),
            _ => all
                .iter()
                .find(|checkout| checkout.revision.as_deref() == Some(wanted))
                .or_else(|| all.iter().find(|checkout| checkout.revision.is_none()))
                .copied(),
        };
        chosen.ok_or_else(|| refused(&shown(url), wanted, &all))
    }

    /// Returns the directories of all repositories.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|checkout| checkout.folder.as_path())
    }

    /// Returns true if the context has an address at all.
    #[must_use]
    pub fn has(&self, url: &str) -> bool {
        let address = normalized(url);
        self.0.iter().any(|checkout| checkout.address == address)
    }
}

impl Checkout {
    /// The folder, whose path may lead up from that of the context.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The revision that the folder stands for.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }
}

/// Returns true if two addresses are of one repository, in Argo CD's eyes.
#[must_use]
pub fn same_repository(one: &str, other: &str) -> bool {
    normalized(one) == normalized(other)
}

/// An address without who asks and by which secret, for messages.
#[must_use]
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => url.to_owned(),
    }
}

/// One form for all ways to write the address of a repository (util/git/git.go `NormalizeGitURL`).
///
/// Argo CD tells `https://host/a/` from `https://host/a`. Git servers do not, and so a final slash does not count here.
fn normalized(url: &str) -> String {
    let lower = url.trim().to_lowercase();
    let address = lower.trim_end_matches('/');
    let address = match address.strip_prefix("ssh://") {
        Some(rest) if is_ssh(rest) => rest.to_owned(),
        Some(_) => address.to_owned(),
        // Of `git@host:path` the colon is what a slash is elsewhere.
        None if is_ssh(address) => address.replacen(':', "/", 1),
        None => address.to_owned(),
    };
    address.strip_suffix(".git").unwrap_or(&address).to_owned()
}

/// Returns true if an address without its scheme begins with who logs in, as only those of ssh do.
pub(crate) fn is_ssh(address: &str) -> bool {
    let mut parts = address.split('@');
    let user = parts.next().unwrap_or_default();
    let host = parts.next().unwrap_or_default();
    !host.is_empty() && parts.next().is_none() && !user.contains(['/', ':'])
}

fn refused(url: &str, revision: &str, all: &[&Checkout]) -> Error {
    if all.is_empty() {
        return Error::invalid(format!("unknown repository `{url}`"))
            .hint("add it to `repositories` in the context file: `{url: …, path: …}`");
    }
    let known: Vec<&str> = all.iter().filter_map(|checkout| checkout.revision()).collect();
    Error::invalid(format!(
        "the context has the repository `{url}` at {}, but not at `{revision}`",
        known.iter().map(|revision| format!("`{revision}`")).collect::<Vec<_>>().join(" and ")
    ))
    .hint("add the directory of this revision, or one without `revision` for all others, to `repositories`")
}

#[cfg(test)]
mod tests {
    use yamlserde::YamlFile;

    use super::*;

    fn repositories(entries: &str) -> Repositories {
        let text = format!("apiVersion: renderer/v1alpha1\nkind: Context\nrepositories: [{entries}]\n");
        let context = Context::read(&YamlFile::new("context.yaml", &text)).unwrap();
        Repositories::new(&context, Path::new("/repo/ci"))
    }

    #[test]
    fn addresses_of_one_repository_are_the_same() {
        for (one, other) in [
            ("https://GIT.example.com/Team/Deploy.git", " https://git.example.com/team/deploy "),
            ("https://git.example.com/team/deploy/", "https://git.example.com/team/deploy.git"),
            ("git@git.example.com:team/deploy.git", "ssh://git@git.example.com/team/deploy"),
            ("git@git.example.com:team/deploy", "ssh://GIT@git.example.com/team/deploy.git/"),
            ("git.example.com/a", "git.example.com/a.git"),
        ] {
            assert!(same_repository(one, other), "{one} {other}");
        }
        for (one, other) in [
            // Argo CD compares whole addresses: neither the scheme nor who logs in is dropped.
            ("http://git.example.com/a", "https://git.example.com/a"),
            ("git@git.example.com:a", "https://git.example.com/a"),
            ("https://me@git.example.com/a", "https://git.example.com/a"),
            ("ssh://git@git.example.com:22/a", "git@git.example.com:a"),
            ("https://git.example.com/a.git.git", "https://git.example.com/a"),
        ] {
            assert!(!same_repository(one, other), "{one} {other}");
        }
    }

    #[test]
    fn one_folder_serves_every_revision() {
        let repositories = repositories("{url: https://h/a.git, path: .., revision: 0a1b}");
        for revision in ["", "HEAD", "v1", "0a1b"] {
            let checkout = repositories.find("https://h/a", revision).unwrap();
            assert_eq!(checkout.folder(), Path::new("/repo/ci/.."));
            assert_eq!(checkout.revision(), Some("0a1b"));
        }
        let error = repositories.find("https://token@h/b", "").unwrap_err();
        assert_eq!(error.message(), "unknown repository `https://h/b`");
        assert!(repositories.has("https://H/a") && !repositories.has("https://h/b"));
    }

    #[test]
    fn of_several_folders_the_revision_chooses() {
        let two =
            "{url: https://h/a, path: main, revision: main}, {url: https://h/a.git, path: v1, revision: v1}";
        let folder = |repositories: &Repositories, revision: &str| {
            repositories
                .find("https://h/a", revision)
                .map(|it| it.folder().strip_prefix("/repo/ci").unwrap().display().to_string())
        };
        let both = repositories(two);
        assert_eq!(folder(&both, "v1").unwrap(), "v1");
        assert_eq!(folder(&both, "main").unwrap(), "main");
        let error = folder(&both, "").unwrap_err();
        assert_eq!(
            error.message(),
            "the context has the repository `https://h/a` at `main` and `v1`, but not at `HEAD`"
        );
        let more = repositories(&format!("{two}, {{url: https://h/a, path: other}}"));
        assert_eq!(folder(&more, "v1").unwrap(), "v1");
        assert_eq!(folder(&more, "HEAD").unwrap(), "other");
    }
}
