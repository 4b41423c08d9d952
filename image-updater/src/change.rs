//! The changes that a reconcile decided and edited: the data of commit messages, branch names and pull requests.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

/// The label that says when an image was made.
const CREATED: &str = "org.opencontainers.image.created";

/// One image that goes from one version to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The image with its registry, without a tag: `ghcr.io/org/app`.
    pub image: String,
    /// The alias in the configuration, if any.
    pub alias: Option<String>,
    /// The Application of the image, if known.
    pub application: Option<Named>,
    /// The old version.
    pub old: Version,
    /// The new version.
    pub new: Version,
    /// The edited files.
    pub edits: Vec<Edit>,
    /// The reason of the decision.
    pub reason: String,
}

/// A version of an image: a tag, a digest, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The tag.
    pub tag: Option<String>,
    /// The digest, with its algorithm.
    pub digest: Option<String>,
    /// The labels of the image, as far as they were read.
    pub labels: BTreeMap<String, String>,
    /// When the image was made, where that was read anyway.
    pub created: Option<Timestamp>,
}

/// One value that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The file, from the root of the repository, with `/`.
    pub file: String,
    /// The object it is in, where the file has objects.
    pub object: Option<ObjectId>,
    /// The value that was there.
    pub old: String,
    /// The value that is there now.
    pub new: String,
    /// The setter: for a Flux marker `namespace:policy[:part]`, otherwise empty.
    pub setter: String,
}

/// Which object of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId {
    /// `apps/v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
}

/// A name within a namespace, which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Named {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

impl Change {
    /// Returns what it is found by among the changes of a round.
    pub(crate) fn key(&self) -> (&str, Option<&str>, Option<&Named>) {
        (&self.image, self.alias.as_deref(), self.application.as_ref())
    }

    /// The image without its registry, and for Docker Hub's own images without `library/`, as Argo CD Image Updater
    /// names it.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let (host, path) = match self.image.split_once('/') {
            Some((host, path)) if host == "localhost" || host.contains(['.', ':']) => (host, path),
            _ => ("docker.io", self.image.as_str()),
        };
        let hub = matches!(host, "docker.io" | "index.docker.io" | "registry-1.docker.io");
        path.strip_prefix("library/").filter(|_| hub).unwrap_or(path)
    }
}

impl Version {
    /// The version that is a tag.
    #[must_use]
    pub fn of_tag(tag: &str) -> Self {
        Self { tag: Some(tag.to_owned()), ..Self::default() }
    }

    /// Returns what tells it from others: the digest, or else the tag, or nothing.
    #[must_use]
    pub fn identifier(&self) -> &str {
        self.digest.as_deref().or(self.tag.as_deref()).unwrap_or_default()
    }

    /// When the image was made: by what was read anyway, or by its label.
    pub(crate) fn created(&self) -> Option<Timestamp> {
        self.created.or_else(|| self.labels.get(CREATED)?.parse().ok())
    }

    /// All of it, as it stands after an image's name: `1.2.3`, `1.2.3@sha256:…`, `@sha256:…`.
    #[must_use]
    pub fn full(&self) -> String {
        let tag = self.tag.as_deref().unwrap_or_default();
        self.digest.as_deref().map_or_else(|| tag.to_owned(), |digest| format!("{tag}@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_without_its_registry() {
        let name =
            |image: &str| Change { image: image.to_owned(), ..Change::default() }.short_name().to_owned();
        assert_eq!(name("ghcr.io/org/app"), "org/app");
        assert_eq!(name("localhost:5000/app"), "app");
        assert_eq!(name("org/app"), "org/app");
        assert_eq!(name("docker.io/library/nginx"), "nginx");
        assert_eq!(name("nginx"), "nginx");
        // Only Docker Hub implies that folder.
        assert_eq!(name("quay.example/library/nginx"), "library/nginx");
    }

    #[test]
    fn a_version_is_its_digest_before_its_tag() {
        let version = Version { digest: Some("sha256:a".to_owned()), ..Version::of_tag("1") };
        assert_eq!((version.identifier(), version.full().as_str()), ("sha256:a", "1@sha256:a"));
        assert_eq!(Version::of_tag("1").full(), "1");
        assert_eq!(Version::default().identifier(), "");
    }
}
