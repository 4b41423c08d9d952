//! `git.directories`: a set for each folder that a pattern of Go's `path.Match` names (reposerver's
//! `GetGitDirectories`, git.go `filterApps`).
//!
//! Hidden folders are not seen, nor is what a link leads to. The order of patterns does not count: a folder is there when
//! one includes it and none excludes it. A pattern that is malformed is passed over with a warning, as Argo CD does
//! without one.

use diagnostic::Result;
use glob::path_match;
use vfs::FileKind;

use super::Run;
use super::git_tree::{Found, Repository, add_path};
use crate::appset::params::Params;
use crate::appset::tree::Tree;
use crate::warning::Code;

/// Patterns by their effect.
struct Patterns<'t> {
    included: Vec<&'t str>,
    excluded: Vec<&'t str>,
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, repository: &Repository<'_>) -> Result<Vec<Params>> {
    let patterns = Patterns::read(run, config.items_of("directories"));
    let mut folders = Vec::new();
    patterns.walk(repository, "", &mut folders)?;
    let mut sets = Vec::with_capacity(folders.len());
    for folder in folders {
        let params = Params::default();
        add_path(run, config, &params, &folder, None);
        run.add_values(config, &params)?;
        sets.push(params);
    }
    Ok(sets)
}

impl<'t> Patterns<'t> {
    fn read(run: &Run<'_>, items: &'t [Tree]) -> Self {
        let mut patterns = Self { included: Vec::new(), excluded: Vec::new() };
        for item in items {
            let pattern = item.text_of("path");
            // Go finds the fault of a pattern with any path.
            if path_match(pattern, "").is_err() {
                run.warn(
                    Code::UnusablePattern,
                    format!("invalid pattern `{pattern}`: Argo CD ignores it"),
                    "close the class, or put a backslash before a bracket that is meant",
                    item.span,
                );
            } else if item.is_set("exclude") {
                patterns.excluded.push(pattern);
            } else {
                patterns.included.push(pattern);
            }
        }
        patterns
    }

    /// Goes down in lexical order, as Go's `filepath.WalkDir` does.
    fn walk(&self, repository: &Repository<'_>, folder: &str, chosen: &mut Vec<String>) -> Result<()> {
        for Found { path, kind, is_link, .. } in repository.list(folder)? {
            let name = path.rsplit('/').next().unwrap_or_default();
            if kind != FileKind::Directory || is_link || name.starts_with('.') {
                continue;
            }
            if self.has(&path) {
                chosen.push(path.clone());
            }
            if self.included.iter().any(|pattern| leads_below(pattern, &path)) {
                self.walk(repository, &path, chosen)?;
            }
        }
        Ok(())
    }

    fn has(&self, path: &str) -> bool {
        let matches = |pattern: &&str| path_match(pattern, path) == Ok(true);
        self.included.iter().any(matches) && !self.excluded.iter().any(matches)
    }
}

/// Returns true if a pattern may name something below a folder. Stars do not cross slashes, so that it has a part for each
/// folder on the way; a class may hold a slash, and then anything goes.
fn leads_below(pattern: &str, folder: &str) -> bool {
    if pattern.contains(['[', '\\']) {
        return true;
    }
    let mut parts = pattern.split('/');
    let all =
        folder.split('/').all(|name| parts.next().is_some_and(|part| path_match(part, name) == Ok(true)));
    all && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_on_the_way_are_listed() {
        assert!(leads_below("apps/*/overlays", "apps"));
        assert!(leads_below("apps/*/overlays", "apps/a"));
        assert!(!leads_below("apps/*/overlays", "apps/a/overlays"));
        assert!(!leads_below("apps/*", "infra"));
        // `[/]` is a slash to Go.
        assert!(leads_below("apps[/]a/b", "apps"));
        assert_eq!(path_match("apps[/]a", "apps/a"), Ok(true));
    }
}
