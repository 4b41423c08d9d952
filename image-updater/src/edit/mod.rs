//! Writes a version of an image into one file, and changes nothing else of it.
//!
//! In: a file's text, the version, and what kind of place to look in. Out: the new text, or nothing where all is right
//! already. Every edit is proven by [`yamledit`]; what cannot be edited safely is refused, and the text is as it was.

mod argocd;
mod argocd_application;
mod argocd_plugin;
mod argocd_source;
mod convention;
mod current;
mod flux;
mod helm_values;
mod kustomization;
mod manifest;
mod parts;
#[cfg(test)]
mod properties;
mod source;
#[cfg(test)]
mod testing;

use diagnostic::{Error, Result};
use oci_registry::{Reference, Repository};
use yamledit::Path;

pub(crate) use current::{Standing, current, sought};
pub(crate) use flux::{MARKER_KEY, Policy, TARGET as FLUX, policies_of};
pub(crate) use parts::Parts;
pub(crate) use source::Source;

/// The version that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// The name as its author spells it.
    pub(crate) name: String,
    repository: Repository,
    tag: String,
    digest: Option<String>,
}

/// A requested edit of a file.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) version: Version,
    pub(crate) paths: Paths,
    /// The policy whose markers are edited, for Flux.
    pub(crate) policy: Option<Policy>,
    /// The name of the image in manifests, if different, for Kustomize.
    pub(crate) image_name: Option<String>,
    /// True if the file was named: then one without a place for the image gets it, or is an error.
    pub(crate) insists: bool,
}

/// The paths of a version's parts in values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    pub(crate) tag: Option<Path>,
    /// The name, without the registry where that has a path of its own.
    pub(crate) name: Option<Path>,
    pub(crate) registry: Option<Path>,
    /// The whole reference.
    pub(crate) spec: Option<Path>,
    pub(crate) digest: Option<Path>,
}

/// Which options of a request a target heeds; any other is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    None,
    /// Paths, at least one.
    Paths,
    /// Paths, or none.
    MaybePaths,
    Policy,
}

/// A kind of place that versions are written to.
#[derive(Debug)]
pub(crate) struct Target {
    /// As it is typed.
    pub(crate) name: &'static str,
    pub(crate) options: Options,
    /// True if it may be told what manifests call the image.
    pub(crate) renames: bool,
    /// True if a file that is not there is as good as an empty one.
    pub(crate) creates_file: bool,
    pub(crate) edit: fn(&Source<'_>, &Request) -> Result<Outcome>,
}

/// The result of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The image has no place in the file.
    NotThere,
    /// All is right already.
    Right,
    /// The file's new text.
    Changed(String),
}

impl From<Option<String>> for Outcome {
    /// The outcome for an image that has a place.
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Right, Self::Changed)
    }
}

/// Every kind of place.
pub(crate) const TARGETS: &[Target] = &[
    kustomization::TARGET,
    helm_values::TARGET,
    manifest::TARGET,
    flux::TARGET,
    argocd_application::TARGET,
    argocd_source::TARGET,
    argocd_plugin::TARGET,
];

/// The kinds of place, but for markers, that a file may have by its name.
pub(crate) fn kinds_of(path: &std::path::Path) -> &'static [Target] {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        "kustomization.yaml" | "kustomization.yml" | "Kustomization" => &[kustomization::TARGET],
        _ if name.starts_with(".argocd-source") => &[argocd_source::TARGET],
        _ => &[argocd_application::TARGET, manifest::TARGET, convention::TARGET],
    }
}

impl Version {
    /// Reads `NAME:TAG[@DIGEST]`.
    ///
    /// # Errors
    /// If it names no tag, or a registry could have no such image.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let reference: Reference = text.parse().map_err(|error: Error| {
            let refusal = Error::invalid(error.message());
            match error.get_hint() {
                Some(hint) => refusal.hint(hint),
                None => refusal,
            }
        })?;
        let Some(tag) = reference.tag() else {
            return Err(Error::invalid(format!("`{text}` names no tag"))
                .hint("write it as `NAME:TAG` or `NAME:TAG@DIGEST`"));
        };
        Ok(Self {
            name: Parts::split(text).name.to_owned(),
            repository: reference.repository().clone(),
            tag: tag.to_owned(),
            digest: reference.digest().map(|digest| digest.as_str().to_owned()),
        })
    }

    /// Returns where it comes from.
    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// It as it stands in a file.
    pub(crate) fn standing(&self) -> Standing {
        Standing { tag: self.tag.clone(), digest: self.digest.clone().unwrap_or_default() }
    }

    /// Returns true if a name is this image's, however it is spelled.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        name == self.name || name.parse::<Repository>().is_ok_and(|repository| repository == self.repository)
    }

    /// `tag` or `tag@digest`.
    fn tag_and_digest(&self) -> String {
        match &self.digest {
            Some(digest) => format!("{}@{digest}", self.tag),
            None => self.tag.clone(),
        }
    }

    /// The whole reference. The spelling of a name for the same image stays.
    fn reference(&self, written: &str) -> String {
        let name = Parts::split(written).name;
        let name = if self.is_of(name) { name } else { &self.name };
        format!("{name}:{}", self.tag_and_digest())
    }

    /// The digest, which a place asks for.
    fn digest_for(&self, place: &str) -> Result<&str> {
        self.digest.as_deref().ok_or_else(|| {
            Error::invalid(format!("{place} wants a digest, and there is none"))
                .hint(format!("name one: {}:{}@sha256:…", self.name, self.tag))
        })
    }
}

/// Returns true if two names are of one image, however they are spelled.
fn is_same_name(first: &str, second: &str) -> bool {
    let parsed = |name: &str| name.parse::<Repository>().ok();
    first == second || parsed(first).is_some_and(|repository| parsed(second) == Some(repository))
}

impl Paths {
    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        let Self { tag, name, registry, spec, digest } = self;
        [tag, name, registry, spec, digest].iter().filter(|path| path.is_some()).count()
    }
}

impl Request {
    /// The image as Argo CD overrides images of Kustomize: `[CALLED=]NAME:TAG`.
    fn image_override(&self) -> String {
        let called = self.image_name.as_deref().filter(|name| !self.version.is_of(name));
        let called = called.map(|name| format!("{name}=")).unwrap_or_default();
        called + &self.version.reference("")
    }

    /// Checks that a target heeds what is asked and is told what it needs.
    pub(crate) fn check(&self, target: &Target) -> Result<()> {
        let Paths { tag, name, registry, spec, digest } = &self.paths;
        let paths = [
            ("--tag-path", tag),
            ("--name-path", name),
            ("--registry-path", registry),
            ("--spec-path", spec),
            ("--digest-path", digest),
        ];
        let first = paths.iter().find(|(_, path)| path.is_some()).map(|(option, _)| *option);
        let takes_paths = matches!(target.options, Options::Paths | Options::MaybePaths);
        let unheeded = first.filter(|_| !takes_paths).or_else(|| {
            self.policy.as_ref().filter(|_| target.options != Options::Policy).map(|_| "--policy")
        });
        if let Some(option) = unheeded {
            return Err(Error::invalid(format!("`{option}` is not for the target `{}`", target.name)));
        }
        if self.image_name.is_some() && (!target.renames || first.is_some()) {
            let error =
                Error::invalid(format!("another name of the image is not for the target `{}`", target.name));
            return Err(error.hint("it is for the images of Kustomize"));
        }
        if target.options == Options::Paths && first.is_none() {
            return Err(Error::invalid(format!("the target `{}` needs a path", target.name))
                .hint("name one with `--tag-path`, `--spec-path`, `--name-path` or `--digest-path`"));
        }
        if target.options == Options::Policy && self.policy.is_none() {
            return Err(Error::invalid("the target `flux` needs `--policy NAMESPACE:NAME`"));
        }
        if digest.is_some() {
            self.version.digest_for("`--digest-path`")?;
        }
        Ok(())
    }
}
