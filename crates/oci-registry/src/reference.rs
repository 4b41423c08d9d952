//! References: what names an image. In: a text as it stands in manifests and on command lines. Out: host, repository,
//! tag and digest in the one form in which two of them can be compared. It refuses what no registry could have.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use diagnostic::{Error, ErrorKind, Result};

use crate::digest::Digest;

/// The host of Docker Hub, as it is written in references.
pub const DOCKER_HUB: &str = "docker.io";

/// Other names of Docker Hub.
const HUB_ALIASES: &[&str] = &["index.docker.io", "registry-1.docker.io"];

/// The namespace of Docker Hub's official images.
const HUB_NAMESPACE: &str = "library";

/// The longest name that Docker takes for a repository, its host included.
const MAX_NAME: usize = 255;

/// The longest tag.
const MAX_TAG: usize = 128;

/// A repository on a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    registry: String,
    name: String,
}

/// An image in a repository: by tag, by digest, by both or by neither.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    repository: Repository,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Repository {
    /// A repository on a host that is named apart from it: nothing is taken for granted but Docker Hub's aliases.
    ///
    /// # Errors
    /// If either is not well-formed.
    pub fn new(registry: &str, name: &str) -> Result<Self> {
        let repository = Self { registry: normal_host(registry)?, name: name.to_owned() };
        repository.check()?;
        Ok(repository)
    }

    /// The host, with its port if it has one; Docker Hub is `docker.io`.
    #[must_use]
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The name on that host, such as `library/nginx`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it is on a host, or below a path on it.
    #[must_use]
    pub fn is_below(&self, prefix: &str) -> bool {
        let prefix = prefix.trim_end_matches('/');
        let (host, path) = prefix.split_once('/').unwrap_or((prefix, ""));
        if normal_host(host).ok().is_none_or(|host| host != self.registry) {
            return false;
        }
        let below = self.name.strip_prefix(path);
        path.is_empty() || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// The image with a tag.
    ///
    /// # Errors
    /// If the tag is not well-formed.
    pub fn with_tag(&self, tag: &str) -> Result<Reference> {
        check_tag(tag)?;
        Ok(Reference { repository: self.clone(), tag: Some(tag.to_owned()), digest: None })
    }

    /// The image with a digest.
    #[must_use]
    pub fn with_digest(&self, digest: Digest) -> Reference {
        Reference { repository: self.clone(), tag: None, digest: Some(digest) }
    }

    fn check(&self) -> Result<()> {
        let invalid = |reason: &str| {
            let shown = self.name.escape_debug();
            Error::new(ErrorKind::Invalid, format!("invalid repository name `{shown}`: {reason}"))
        };
        if self.name.is_empty() {
            return Err(invalid("it is empty"));
        }
        if self.registry.len() + 1 + self.name.len() > MAX_NAME {
            return Err(invalid("it is longer than 255 characters"));
        }
        if self.name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(invalid("it has upper-case letters").hint("repositories are named in lower case"));
        }
        if !self.name.split('/').all(is_path_component) {
            let hint =
                "the parts between slashes are letters and digits, with `.`, `_`, `__` or `-` between them";
            return Err(invalid("it is not well-formed").hint(hint));
        }
        Ok(())
    }
}

impl Reference {
    /// Reads a reference to a chart or another artifact, `oci://host/repository[:tag][@digest]`: its first part is
    /// always a host, and nothing is implied.
    ///
    /// # Errors
    /// If it is not well-formed.
    pub fn parse_oci(text: &str) -> Result<Self> {
        let rest = text.strip_prefix("oci://").unwrap_or(text);
        let (host, rest) = rest.split_once('/').ok_or_else(|| {
            Error::new(ErrorKind::Invalid, format!("`{}` names no repository", text.escape_debug()))
                .hint("write it as `oci://host/repository`")
        })?;
        let (name, tag, digest) = split(rest)?;
        Ok(Self { repository: Repository::new(host, name)?, tag, digest })
    }

    /// Returns true if a text says which registry an image is in; what does not is on Docker Hub.
    #[must_use]
    pub fn names_registry(text: &str) -> bool {
        text.split_once('/').is_some_and(|(first, _)| is_host(first))
    }

    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The tag, if one is named.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, if one is named.
    #[must_use]
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// By what a registry is asked for it: the digest, else the tag, else `latest`.
    pub(crate) fn selector(&self) -> &str {
        self.digest.as_ref().map_or_else(|| self.tag().unwrap_or("latest"), Digest::as_str)
    }
}

/// Reads an image as Docker does: `nginx` is `docker.io/library/nginx`.
impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (host, rest) = match text.split_once('/') {
            Some((first, rest)) if is_host(first) => (first, rest),
            _ => (DOCKER_HUB, text),
        };
        let registry = normal_host(host)?;
        let (name, tag, digest) = split(rest)?;
        let implied = registry == DOCKER_HUB && !name.contains('/') && !name.is_empty();
        let name = if implied { format!("{HUB_NAMESPACE}/{name}") } else { name.to_owned() };
        let repository = Repository { registry, name };
        repository.check()?;
        Ok(Self { repository, tag, digest })
    }
}

/// Reads the name of an image without tag and digest, as Docker does.
impl FromStr for Repository {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let reference: Reference = text.parse()?;
        if reference.tag.is_some() || reference.digest.is_some() {
            let shown = text.escape_debug();
            let reason = format!("`{shown}` has a tag or a digest, and a repository is asked for");
            return Err(Error::new(ErrorKind::Invalid, reason));
        }
        Ok(reference.repository)
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.repository.fmt(f)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// Returns true if a text may be a tag.
#[must_use]
pub fn is_tag(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = text.bytes();
    bytes.next().is_some_and(word)
        && bytes.all(|byte| word(byte) || byte == b'.' || byte == b'-')
        && text.len() <= MAX_TAG
}

/// A host in the form in which two can be compared: lower case, and one name for Docker Hub.
pub(crate) fn normal_host(host: &str) -> Result<String> {
    let invalid = || {
        Error::new(ErrorKind::Invalid, format!("invalid registry host `{}`", host.escape_debug()))
            .hint("a host is a name or an address, with `:PORT` where it needs one")
    };
    let (name, port) = match host.rfind(':') {
        // The colons of an address of IPv6 are in brackets.
        Some(colon) if !host[colon..].contains(']') => (&host[..colon], Some(&host[colon + 1..])),
        _ => (host, None),
    };
    if port.is_some_and(|port| port.parse::<u16>().is_err() || port.starts_with('+')) {
        return Err(invalid());
    }
    let is_name = name.split('.').all(is_host_label);
    let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_address = bracketed.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    if !is_name && !is_address {
        return Err(invalid());
    }
    let host = host.to_ascii_lowercase();
    if HUB_ALIASES.contains(&host.as_str()) {
        return Ok(DOCKER_HUB.to_owned());
    }
    Ok(host)
}

/// The first part is a host where it cannot be part of a repository on Docker Hub. Docker also takes `Foo` for one, which
/// in lower case would be none any more; such is refused, as it is a mistake.
fn is_host(first: &str) -> bool {
    first.contains(['.', ':']) || first.eq_ignore_ascii_case("localhost")
}

fn is_host_label(label: &str) -> bool {
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_path_component(part: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends_well = |byte: Option<&u8>| byte.is_some_and(|byte| is_alphanumeric(*byte));
    let bytes = part.as_bytes();
    let separators =
        part.split(|character: char| character.is_ascii_lowercase() || character.is_ascii_digit());
    ends_well(bytes.first())
        && ends_well(bytes.last())
        && separators.into_iter().all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
        })
}

type Parts<'t> = (&'t str, Option<String>, Option<Digest>);

/// Name, tag and digest of what stands behind the host.
fn split(rest: &str) -> Result<Parts<'_>> {
    let (rest, digest) = match rest.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest.parse()?)),
        None => (rest, None),
    };
    let tag = rest.rfind(':').filter(|colon| !rest[*colon..].contains('/'));
    let (name, tag) = match tag {
        Some(colon) => (&rest[..colon], Some(&rest[colon + 1..])),
        None => (rest, None),
    };
    if let Some(tag) = tag {
        check_tag(tag)?;
    }
    Ok((name, tag.map(str::to_owned), digest))
}

fn check_tag(tag: &str) -> Result<()> {
    if is_tag(tag) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Invalid, format!("invalid tag `{}`", tag.escape_debug()))
        .hint("a tag has at most 128 letters, digits, `_`, `.` and `-`, and does not start with `.` or `-`"))
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    /// As Docker normalises them (distribution/reference, `ParseNormalizedNamed`).
    #[test]
    fn images_are_read_as_docker_reads_them() {
        for (text, want) in [
            ("nginx", "docker.io/library/nginx"),
            ("nginx:1.27", "docker.io/library/nginx:1.27"),
            ("docker.io/nginx", "docker.io/library/nginx"),
            ("index.docker.io/library/nginx", "docker.io/library/nginx"),
            ("registry-1.docker.io/bitnami/redis", "docker.io/bitnami/redis"),
            ("bitnami/redis", "docker.io/bitnami/redis"),
            ("localhost/app", "localhost/app"),
            ("localhost:5000/app:v1", "localhost:5000/app:v1"),
            ("GHCR.io/org/app", "ghcr.io/org/app"),
            ("LOCALHOST/app", "localhost/app"),
            ("[::1]:5000/app", "[::1]:5000/app"),
            ("quay.io/a/b/c_d/e__f/g-h/i---j:v1.0_x", "quay.io/a/b/c_d/e__f/g-h/i---j:v1.0_x"),
            (&format!("a/b:c@sha256:{HEX}"), &format!("docker.io/a/b:c@sha256:{HEX}")),
            (&format!("b@sha256:{HEX}"), &format!("docker.io/library/b@sha256:{HEX}")),
        ] {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), want, "{text}");
        }
    }

    #[test]
    fn what_no_registry_could_have_is_refused() {
        for text in [
            "",
            ":v1",
            "/",
            "a/",
            "/a",
            "a//b",
            "Nginx",
            "Foo/bar",
            "a:",
            "a:b:c",
            "a b",
            "a\nb",
            "-a",
            "a-",
            "a..b",
            "a___b",
            "host:port/a",
            "host.:5/a",
            "host.example:99999/a",
            "a@",
            "a@sha256:12",
            "a:-x",
            "a/../b",
            "a.b/../c",
            "[::1/a",
            "[zz]:1/a",
            "ghcr.io/",
            "localhost:5000/app:~1.2",
            "https://ghcr.io/a",
            "u:p@host/a",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
        assert!(format!("a/{}", "b".repeat(255)).parse::<Reference>().is_err());
        assert!(is_tag(&"a".repeat(128)) && !is_tag(&"a".repeat(129)));
        assert!("nginx:1".parse::<Repository>().is_err());
    }

    proptest! {
        /// Expected values: what is accepted is named by its normal form, which is accepted too and is its own.
        #[test]
        fn the_normal_form_is_its_own(text in "([a-zA-Z0-9.:\\[\\]-]{0,12}/)?[a-z0-9._/-]{1,12}(:[\\w.-]{1,5})?") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string().parse::<Reference>().unwrap(), reference);
            }
        }
    }

    #[test]
    fn the_first_part_of_a_chart_is_its_host() {
        let chart = Reference::parse_oci("oci://registry/charts/web:1.0.0").unwrap();
        assert_eq!(chart.repository().registry(), "registry");
        assert_eq!(chart.to_string(), "registry/charts/web:1.0.0");
        let hub = Reference::parse_oci("oci://registry-1.docker.io/redis").unwrap();
        assert_eq!(hub.to_string(), "docker.io/redis");
        assert!(Reference::parse_oci("oci://registry").is_err());
    }
}
