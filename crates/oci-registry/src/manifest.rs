//! Manifests: what an image consists of, or which images an index lists. In: the bytes of one. Out: its descriptors. It
//! refuses what could be read as both.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use diagnostic::{Error, ErrorKind, Result};
use serde::Deserialize;

use crate::digest::Digest;

/// All kinds that are asked for: a registry that has another kind than asked for says that it has none.
pub(crate) const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// The least that registries must take; none has larger ones.
pub(crate) const MAX_MANIFEST: u64 = 4 << 20;

/// A manifest whose bytes are what its digest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// By which it is known.
    pub digest: Digest,
    /// As it was sent.
    pub bytes: Vec<u8>,
}

/// A parsed manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Images for several platforms.
    Index(Index),
    /// One image, or another artifact.
    Image(ImageManifest),
}

/// Images for several platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The images, and what belongs to them.
    pub manifests: Vec<Descriptor>,
    /// The annotations of all entries.
    pub annotations: BTreeMap<String, String>,
}

/// One image, or another artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageManifest {
    /// Its configuration.
    pub config: Descriptor,
    /// Its content.
    pub layers: Vec<Descriptor>,
    /// The annotations.
    pub annotations: BTreeMap<String, String>,
}

/// Content by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The media type.
    #[serde(default)]
    pub media_type: String,
    /// The artifact type, if it is an artifact; provided by the list.
    #[serde(default, deserialize_with = "or_default")]
    pub artifact_type: String,
    /// By which it is known.
    pub digest: Digest,
    /// The size in bytes.
    pub size: u64,
    /// The annotations.
    #[serde(default, deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
    /// The platform, in an index.
    #[serde(default)]
    pub platform: Option<Platform>,
}

/// The platform of an image: `os/architecture[/variant]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Platform {
    /// `linux`
    #[serde(default)]
    pub os: String,
    /// `amd64`
    #[serde(default)]
    pub architecture: String,
    /// `v7`; empty where there is none.
    #[serde(default, deserialize_with = "or_default")]
    pub variant: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parsed {
    schema_version: Option<u64>,
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    #[serde(default, deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
}

impl Manifest {
    /// Returns what it says.
    ///
    /// # Errors
    /// If it is no manifest of a known kind.
    pub fn content(&self) -> Result<Content> {
        let refused = |reason: &str| {
            Error::new(
                ErrorKind::Protocol,
                format!("the manifest `{}` cannot be used: {reason}", self.digest),
            )
        };
        let parsed: Parsed = serde_json::from_slice(&self.bytes)
            .map_err(|error| refused(&format!("it is not well-formed: {error}")))?;
        if parsed.schema_version == Some(1) {
            return Err(refused("it is of Docker's first kind, which registries no longer take")
                .hint("push it again"));
        }
        let annotations = parsed.annotations;
        match (parsed.manifests, parsed.config, parsed.layers) {
            (Some(manifests), None, None) => Ok(Content::Index(Index { manifests, annotations })),
            (None, Some(config), layers) => {
                Ok(Content::Image(ImageManifest { config, layers: layers.unwrap_or_default(), annotations }))
            }
            (Some(_), ..) => Err(refused("it could be read both as an index and as an image")),
            _ => Err(refused("it is neither an index nor an image")),
        }
    }
}

impl Platform {
    /// Returns true if an image for this runs where the other is asked for; without a variant asked for, any will do.
    #[must_use]
    pub fn satisfies(&self, wanted: &Self) -> bool {
        let same_variant = wanted.variant.is_empty() || self.variant == wanted.variant;
        self.os == wanted.os && self.architecture == wanted.architecture && same_variant
    }

    /// Attestations and other things that run nowhere have none, or this.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.os.is_empty() || self.os == "unknown" || self.architecture == "unknown"
    }
}

impl FromStr for Platform {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let is_plain = |part: &&str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        match parts.as_slice() {
            [os, architecture, rest @ ..] if rest.len() <= 1 && parts.iter().all(is_plain) => Ok(Self {
                os: os.to_ascii_lowercase(),
                architecture: architecture.to_ascii_lowercase(),
                variant: rest.first().map(|variant| variant.to_ascii_lowercase()).unwrap_or_default(),
            }),
            _ => Err(Error::new(ErrorKind::Invalid, format!("invalid platform `{}`", text.escape_debug()))
                .hint("a platform is `os/architecture` or `os/architecture/variant`")),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        if self.variant.is_empty() { Ok(()) } else { write!(f, "/{}", self.variant) }
    }
}

/// Some write `null` for what they do not have.
pub(crate) fn or_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Result<Content> {
        Manifest { digest: Digest::of(text.as_bytes()), bytes: text.as_bytes().to_vec() }.content()
    }

    const DESCRIPTOR: &str = r#"{"mediaType": "x", "size": 1,
        "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "annotations": null}"#;

    #[test]
    fn a_manifest_is_an_index_or_an_image_and_never_both() {
        let index = content(&format!(r#"{{"schemaVersion": 2, "manifests": [{DESCRIPTOR}]}}"#));
        assert!(matches!(index, Ok(Content::Index(index)) if index.manifests.len() == 1));
        let image =
            content(&format!(r#"{{"config": {DESCRIPTOR}, "layers": [{DESCRIPTOR}], "annotations": null}}"#));
        assert!(matches!(image, Ok(Content::Image(image)) if image.layers.len() == 1));
        for wrong in [
            format!(r#"{{"config": {DESCRIPTOR}, "manifests": []}}"#),
            r#"{"layers": [], "manifests": []}"#.to_owned(),
            r#"{"schemaVersion": 1, "history": []}"#.to_owned(),
            r#"{"manifests": [{"digest": "sha256:../../x", "size": 1}]}"#.to_owned(),
            "{}".to_owned(),
            "no".to_owned(),
            "[".repeat(100_000),
        ] {
            assert!(content(&wrong).is_err(), "{}", &wrong[..wrong.len().min(80)]);
        }
    }

    #[test]
    fn platforms_are_compared_by_what_is_asked_for() {
        let platform = |text: &str| text.parse::<Platform>().unwrap();
        for (has, wants, fits) in [
            ("linux/amd64", "linux/amd64", true),
            ("linux/arm/v7", "linux/arm", true),
            ("linux/arm/v7", "linux/arm/v6", false),
            ("linux/arm64", "linux/arm64/v8", false),
            ("linux/arm", "linux/arm/v7", false),
            ("windows/amd64", "linux/amd64", false),
        ] {
            assert_eq!(platform(has).satisfies(&platform(wants)), fits, "{has} for {wants}");
        }
        assert_eq!(platform("linux/ARM/v7").to_string(), "linux/arm/v7");
        for wrong in ["", "linux", "linux/", "/amd64", "a/b/c/d", "a b/c"] {
            assert!(wrong.parse::<Platform>().is_err(), "{wrong}");
        }
    }
}
