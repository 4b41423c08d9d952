//! Reads the metadata of an image: platforms, creation time, labels. Fetches only what is requested.
//!
//! An index is as old as its annotation says; without one as the youngest of its images, each as its descriptor says or
//! else its configuration. What is in an index but runs nowhere, such as attestations, is passed over. An image is as
//! old as its manifest's annotation says, or its configuration, or at last its label, which may be that of its base.

use std::collections::BTreeMap;

use diagnostic::{Error, ErrorKind, Result};
use jiff::Timestamp;
use serde::Deserialize;

use crate::client::Client;
use crate::digest::Digest;
use crate::manifest::{Content, Descriptor, ImageManifest, Index, Manifest, Platform, or_default};
use crate::reference::{Reference, Repository};

/// When it was made, as labels and annotations name it, newest convention first.
const CREATED: &[&str] = &["org.opencontainers.image.created", "org.label-schema.build-date"];

/// Configurations have the history of all layers, and are still small.
const MAX_CONFIG: u64 = 8 << 20;

/// An index has an image or two for each platform.
const MAX_IMAGES: usize = 200;

/// The requested metadata.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The platforms that matter; all where none is named.
    pub platforms: Vec<Platform>,
    /// When it was made.
    pub created: bool,
    /// Its labels.
    pub labels: bool,
}

/// The metadata of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// By which it is known: that of the index, where there is one.
    pub digest: Digest,
    /// Its platforms; for an image without an index only if its configuration was read.
    pub platforms: Vec<Platform>,
    /// When it was made, where that was asked for and is known.
    pub created: Option<Timestamp>,
    /// Labels of the first image that matters, and annotations of the manifest and the index over them.
    pub labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    created: Option<String>,
    #[serde(flatten)]
    platform: Platform,
    #[serde(default, deserialize_with = "or_default")]
    config: Inner,
}

#[derive(Default, Deserialize)]
struct Inner {
    #[serde(rename = "Labels", default, deserialize_with = "or_default")]
    labels: BTreeMap<String, String>,
}

impl Image {
    /// The platforms among those that are wanted for which there is no image.
    #[must_use]
    pub fn lacks<'w>(&self, wanted: &'w [Platform]) -> Vec<&'w Platform> {
        lacking(&self.platforms, wanted).collect()
    }
}

/// The platforms among those that are wanted which are not there.
fn lacking<'w>(there: &[Platform], wanted: &'w [Platform]) -> impl Iterator<Item = &'w Platform> {
    wanted.iter().filter(move |wanted| !there.iter().any(|there| there.satisfies(wanted)))
}

impl Client {
    /// Returns the requested metadata of an image.
    ///
    /// # Errors
    /// If any requested part cannot be read.
    pub fn image(&self, reference: &Reference, wanted: &Wanted) -> Result<Image> {
        let manifest = self.manifest(reference)?;
        let inspection = Inspection { client: self, repository: reference.repository(), wanted };
        match manifest.content().map_err(|error| error.prefix(format!("`{reference}`")))? {
            Content::Index(index) => inspection.index(&manifest, index),
            Content::Image(image) => inspection.image(&manifest, &image),
        }
    }
}

struct Inspection<'i> {
    client: &'i Client,
    repository: &'i Repository,
    wanted: &'i Wanted,
}

impl Inspection<'_> {
    fn image(&self, manifest: &Manifest, image: &ImageManifest) -> Result<Image> {
        let (created, config) = self.single(image)?;
        let mut labels = if self.wanted.labels { config.config.labels } else { BTreeMap::new() };
        labels.extend(image.annotations.clone());
        let platforms = if config.platform.is_unknown() { Vec::new() } else { vec![config.platform] };
        Ok(Image { digest: manifest.digest.clone(), platforms, created, labels })
    }

    fn index(&self, manifest: &Manifest, index: Index) -> Result<Image> {
        let images = self.images(manifest, &index)?;
        let platforms: Vec<Platform> = images.iter().filter_map(|image| image.platform.clone()).collect();
        // What lacks a platform is of no use, and neither is its date.
        let wants_date = self.wanted.created && lacking(&platforms, &self.wanted.platforms).next().is_none();
        let matters: Vec<&Descriptor> = images.into_iter().filter(|image| self.matters(image)).collect();
        let mut labels = BTreeMap::new();
        let of_index = created_in(&index.annotations);
        // The youngest is known only where the age of each is.
        let mut ages = Vec::with_capacity(matters.len());
        for (place, image) in matters.iter().enumerate() {
            let of_entry = created_in(&image.annotations);
            let needs_date = wants_date && of_index.is_none() && of_entry.is_none();
            let needs_labels = self.wanted.labels && place == 0;
            let mut created = of_entry;
            if needs_date || needs_labels {
                let (found, single, config) = self.entry(image)?;
                created = created.or(found);
                if needs_labels {
                    labels.extend(config.config.labels);
                    labels.extend(single.annotations);
                }
            }
            ages.push(created);
        }
        let youngest = ages.into_iter().collect::<Option<Vec<_>>>().and_then(|ages| ages.into_iter().max());
        labels.extend(index.annotations);
        let created = of_index.or(youngest).filter(|_| self.wanted.created);
        Ok(Image { digest: manifest.digest.clone(), platforms, created, labels })
    }

    /// Returns what runs somewhere.
    fn images<'i>(&self, manifest: &Manifest, index: &'i Index) -> Result<Vec<&'i Descriptor>> {
        let runs =
            |entry: &&Descriptor| entry.platform.as_ref().is_some_and(|platform| !platform.is_unknown());
        let images: Vec<&Descriptor> = index.manifests.iter().filter(runs).take(MAX_IMAGES + 1).collect();
        if images.len() <= MAX_IMAGES {
            return Ok(images);
        }
        let message =
            format!("`{}@{}` lists more than {MAX_IMAGES} images", self.repository, manifest.digest);
        Err(Error::new(ErrorKind::Limit, message))
    }

    fn matters(&self, image: &Descriptor) -> bool {
        let wanted = &self.wanted.platforms;
        let platform = image.platform.as_ref();
        wanted.is_empty()
            || platform.is_some_and(|platform| wanted.iter().any(|wanted| platform.satisfies(wanted)))
    }

    /// An image of an index.
    fn entry(&self, entry: &Descriptor) -> Result<(Option<Timestamp>, ImageManifest, Config)> {
        let reference = self.repository.with_digest(entry.digest.clone());
        let manifest = self.client.manifest(&reference)?;
        match manifest.content()? {
            Content::Image(image) => self.single(&image).map(|(created, config)| (created, image, config)),
            Content::Index(_) => {
                let message = format!("`{reference}` is an index inside an index");
                Err(Error::new(ErrorKind::Protocol, message))
            }
        }
    }

    fn single(&self, image: &ImageManifest) -> Result<(Option<Timestamp>, Config)> {
        let bytes = self.client.content(self.repository, &image.config, MAX_CONFIG)?;
        let config: Config = serde_json::from_slice(&bytes).map_err(|_| {
            let name = format!("{}@{}", self.repository, image.config.digest);
            Error::new(ErrorKind::Protocol, format!("`{name}` is not an image configuration"))
        })?;
        let created = created_in(&image.annotations)
            .or_else(|| parse_date(config.created.as_deref()?))
            .or_else(|| created_in(&config.config.labels));
        Ok((created.filter(|_| self.wanted.created), config))
    }
}

fn created_in(annotations: &BTreeMap<String, String>) -> Option<Timestamp> {
    CREATED.iter().find_map(|name| parse_date(annotations.get(*name)?))
}

/// A date; the one that Go writes for none is none.
fn parse_date(text: &str) -> Option<Timestamp> {
    let date: Timestamp = text.trim().parse().ok()?;
    (date.as_second() >= 0).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_say_nothing_are_none() {
        assert!(parse_date("2024-01-02T03:04:05.123456789Z").is_some());
        assert!(parse_date("2024-01-02T03:04:05+02:00").is_some());
        for nothing in ["0001-01-01T00:00:00Z", "", "yesterday", "2024-01-02"] {
            assert_eq!(parse_date(nothing), None, "{nothing}");
        }
        let old = BTreeMap::from([(CREATED[1].to_owned(), "2020-01-01T00:00:00Z".to_owned())]);
        assert_eq!(created_in(&old), parse_date("2020-01-01T00:00:00Z"));
    }
}
