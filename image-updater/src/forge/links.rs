//! Links to the source of an image. Input: the labels `org.opencontainers.image.source` and `.revision` of the
//! versions. Output: URLs. Labels are untrusted, so they are parsed, not copied.

use super::Address;
use crate::change::{Change, Version};

const SOURCE: &str = "org.opencontainers.image.source";
const REVISION: &str = "org.opencontainers.image.revision";

/// A revision is a hash or the name of a tag.
const MAX_REVISION: usize = 100;

/// The links for a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    /// The repository of the new version.
    pub(super) source: Option<String>,
    /// The new revision there.
    pub(super) commit: Option<String>,
    /// The comparison of the old and the new revision.
    pub(super) compare: Option<String>,
}

impl Links {
    pub(super) fn of(change: &Change) -> Self {
        let Some(source) = source(&change.new) else { return Self::default() };
        let web = source.web();
        let (forge, new) = (source.forge(), revision(&change.new));
        let commit = forge.zip(new).map(|(forge, new)| forge.commit(&web, new));
        // A version without a source is of the same, as far as is known; one of another cannot be compared.
        let is_same =
            !change.old.labels.contains_key(SOURCE) || self::source(&change.old).as_ref() == Some(&source);
        let old = revision(&change.old).filter(|old| is_same && Some(*old) != new);
        let compare = forge.zip(old.zip(new)).map(|(forge, (old, new))| forge.compare(&web, old, new));
        Self { source: Some(web), commit, compare }
    }
}

/// A repository that everybody can reach: `data:a/b` is an address for git too, of a host `data`.
fn source(version: &Version) -> Option<Address> {
    let address = Address::parse(version.labels.get(SOURCE)?.trim()).ok()?;
    address.host().contains('.').then_some(address)
}

fn revision(version: &Version) -> Option<&str> {
    let revision = version.labels.get(REVISION)?.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let is_revision = !revision.is_empty()
        && revision.len() <= MAX_REVISION
        && revision.bytes().all(is_plain)
        && revision.split('/').all(|part| !part.is_empty() && !part.contains("..") && part != ".");
    is_revision.then_some(revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(source: &str, revision: &str) -> Version {
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let all = [label(SOURCE, source), label(REVISION, revision)];
        Version {
            labels: all.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
            ..Version::default()
        }
    }

    fn links(old: Version, new: Version) -> Links {
        Links::of(&Change { old, new, ..Change::default() })
    }

    #[test]
    fn revisions_of_one_source_are_compared() {
        let compare = |source: &str| links(version(source, "aa"), version(source, "bb")).compare;
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(compare("https://github.com/org/app"), some("https://github.com/org/app/compare/aa...bb"));
        assert_eq!(
            compare("git@gitlab.com:g/s/app.git"),
            some("https://gitlab.com/g/s/app/-/compare/aa...bb")
        );
        assert_eq!(
            compare("https://codeberg.org/org/app.git"),
            some("https://codeberg.org/org/app/compare/aa...bb")
        );
        assert_eq!(compare("https://git.example/org/app"), None);
    }

    #[test]
    fn what_is_not_known_is_not_linked() {
        let github = "https://github.com/org/app";
        let other = links(version("https://github.com/org/other", "aa"), version(github, "bb"));
        assert_eq!(other.compare, None);
        assert_eq!(other.commit.as_deref(), Some("https://github.com/org/app/commit/bb"));
        assert_eq!(links(version(github, "bb"), version(github, "bb")).compare, None);
        assert!(links(version("", "aa"), version(github, "bb")).compare.is_some());
        assert_eq!(links(version(github, "aa"), version("", "bb")), Links::default());
        let foreign = links(version("", ""), version("https://git.example/org/app", "bb"));
        assert_eq!((foreign.source.as_deref(), foreign.commit), (Some("https://git.example/org/app"), None));
    }

    #[test]
    fn labels_are_not_trusted() {
        let github = "https://github.com/org/app";
        for revision in ["../../evil/x", "a b", "a)(b", "a/../b", "x\ny", "a?b", &"a".repeat(200)] {
            let links = links(version(github, "aa"), version(github, revision));
            assert_eq!((links.compare, links.commit), (None, None), "{revision}");
        }
        for source in [
            "javascript:alert(1)",
            "https://user:password@github.com",
            "https://github.com/a/b\nc",
            "data:a/b",
        ] {
            let links = links(version("", ""), version(source, "aa"));
            assert_eq!(links, Links::default(), "{source}");
        }
        let user = links(version("", ""), version("https://user:password@github.com/a/b", "aa"));
        assert_eq!(user.source.as_deref(), Some("https://github.com/a/b"));
    }
}
