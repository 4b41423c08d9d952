//! A HelmRelease.
//!
//! In: an object of `helm.toolkit.fluxcd.io`, v2 and before. Out: its fields. Refused: fields of another type than Flux',
//! and releases of no chart.

use std::collections::BTreeMap;

use argocd::objects::Object;
use diagnostic::{Error, Result};
use sha2::{Digest, Sha256};
use yamltree::{Location, Node};

use crate::kustomization::{Image, Reference, images, patches};
use crate::section::{Section, is_null};
use crate::source::SourceRef;

/// The group of HelmReleases.
pub const GROUP: &str = "helm.toolkit.fluxcd.io";

/// The namespace of a HelmRelease that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// The longest name of a release.
const MAX_NAME: usize = 53;

/// A HelmRelease.
#[derive(Clone, Debug)]
pub struct HelmRelease {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The name of the release.
    pub release_name: String,
    /// The namespace of the release.
    pub target_namespace: String,
    /// True if it is left alone.
    pub suspend: bool,
    /// The location of the HelmRelease.
    pub place: Option<Location>,
    pub(crate) chart: Chart,
    pub(crate) values_from: Vec<ValuesReference>,
    pub(crate) values: Option<Node>,
    pub(crate) installs_crds: bool,
    pub(crate) runs_hooks: bool,
    pub(crate) runs_tests: bool,
    pub(crate) checks_schemas: bool,
    pub(crate) post_renderers: Vec<PostRenderer>,
    pub(crate) strategy: Strategy,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
}

/// Which chart.
#[derive(Clone, Debug)]
pub(crate) enum Chart {
    /// By its name or path in a source.
    Named(NamedChart),
    /// An object that stands for one: an OCIRepository or a HelmChart.
    Object(SourceRef),
}

/// A chart by its name or path in a source.
#[derive(Clone, Debug)]
pub(crate) struct NamedChart {
    pub(crate) chart: String,
    pub(crate) version: String,
    pub(crate) source: SourceRef,
    pub(crate) values_files: Vec<String>,
    pub(crate) ignores_missing_values_files: bool,
    pub(crate) place: Option<Location>,
}

/// Values in a ConfigMap or Secret.
#[derive(Clone, Debug)]
pub(crate) struct ValuesReference {
    pub(crate) reference: Reference,
    pub(crate) key: String,
    pub(crate) target_path: String,
    pub(crate) is_literal: bool,
}

/// A kustomization over what a chart renders to.
#[derive(Clone, Debug)]
pub(crate) struct PostRenderer {
    pub(crate) patches: Vec<Node>,
    pub(crate) images: Vec<Image>,
}

/// The handling of hooks in post-rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// They are left as they are.
    NoHooks,
    /// They go with the manifests.
    Combined,
    /// They go apart.
    Separate,
}

/// Returns true if an object is a HelmRelease.
#[must_use]
pub fn is_helm_release(object: &Object) -> bool {
    object.group() == GROUP && object.kind() == "HelmRelease"
}

impl HelmRelease {
    /// Reads a HelmRelease.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn read(object: &Object) -> Result<Self> {
        let metadata = Section::of(object, "metadata")?;
        let spec = Section::of(object, "spec")?;
        let name = metadata.required("name")?;
        let namespace = or(metadata.text("namespace")?, DEFAULT_NAMESPACE);
        let target = spec.text("targetNamespace")?;
        let own = if target.is_empty() { name.clone() } else { format!("{target}-{name}") };
        let install = spec.section("install")?;
        let common = spec.section("commonMetadata")?;
        let values_from = spec.sections("valuesFrom")?.into_iter().map(|from| ValuesReference::read(&from));
        let renderers =
            spec.sections("postRenderers")?.into_iter().map(|renderer| PostRenderer::read(&renderer));
        Ok(Self {
            release_name: shortened(&or(spec.text("releaseName")?, &own)),
            target_namespace: or(target, &namespace),
            suspend: spec.flag("suspend")?,
            place: metadata.place("name"),
            chart: Chart::read(&spec, &namespace)?,
            values_from: values_from.collect::<Result<_>>()?,
            values: spec.get("values").filter(|node| !is_null(node)).cloned(),
            installs_crds: installs_crds(&install)?,
            runs_hooks: !install.flag("disableHooks")?,
            runs_tests: spec.section("test")?.flag("enable")?,
            checks_schemas: !install.flag("disableSchemaValidation")?,
            post_renderers: renderers.filter_map(Result::transpose).collect::<Result<_>>()?,
            strategy: strategy(&spec)?,
            labels: common.map("labels")?,
            annotations: common.map("annotations")?,
            name,
            namespace,
        })
    }

    /// Its namespace and name.
    #[must_use]
    pub fn id(&self) -> (String, String) {
        (self.namespace.clone(), self.name.clone())
    }
}

fn or(text: String, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text }
}

/// A name that is too long ends in a part of its hash (helm-controller, `ShortenName`).
fn shortened(name: &str) -> String {
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    let hash: String =
        Sha256::digest(name.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let beginning = name.get(..MAX_NAME - hash.len() - 1).unwrap_or(name);
    format!("{beginning}-{hash}")
}

fn installs_crds(install: &Section<'_>) -> Result<bool> {
    match install.text("crds")?.as_str() {
        "" | "Create" | "CreateReplace" => Ok(true),
        "Skip" => Ok(false),
        other => Err(Error::invalid(format!("unknown CRD policy `{other}`"))
            .at(install.place("crds"))
            .hint("it is one of `Skip`, `Create` and `CreateReplace`")),
    }
}

fn strategy(spec: &Section<'_>) -> Result<Strategy> {
    match spec.text("postRenderStrategy")?.as_str() {
        "" | "combined" => Ok(Strategy::Combined),
        "nohooks" => Ok(Strategy::NoHooks),
        "separate" => Ok(Strategy::Separate),
        other => Err(Error::invalid(format!("unknown post-rendering strategy `{other}`"))
            .at(spec.place("postRenderStrategy"))
            .hint("it is one of `nohooks`, `combined` and `separate`")),
    }
}

impl Chart {
    fn read(spec: &Section<'_>, namespace: &str) -> Result<Self> {
        let reference = spec.section("chartRef")?;
        if reference.exists() {
            return Ok(Self::Object(SourceRef::read(&reference, namespace)?));
        }
        let template = spec.section("chart")?.section("spec")?;
        if !template.exists() {
            return Err(Error::invalid("the HelmRelease lacks a chart")
                .at(spec.place("chart"))
                .hint("say `chart` with a `spec`, or `chartRef`"));
        }
        NamedChart::read(&template, namespace).map(Self::Named)
    }
}

impl NamedChart {
    /// Reads the chart of a HelmRelease's template, or of a HelmChart.
    pub(crate) fn read(spec: &Section<'_>, namespace: &str) -> Result<Self> {
        let mut values_files = spec.texts("valuesFiles")?;
        let single = spec.text("valuesFile")?;
        if values_files.is_empty() && !single.is_empty() {
            values_files.push(single);
        }
        Ok(Self {
            chart: spec.required("chart")?,
            version: spec.text("version")?,
            source: SourceRef::read(&spec.section("sourceRef")?, namespace)?,
            values_files,
            ignores_missing_values_files: spec.flag("ignoreMissingValuesFiles")?,
            place: spec.place("chart"),
        })
    }
}

impl ValuesReference {
    fn read(section: &Section<'_>) -> Result<Self> {
        Ok(Self {
            reference: Reference::read(section)?,
            key: or(section.text("valuesKey")?, "values.yaml"),
            target_path: section.text("targetPath")?,
            is_literal: section.flag("literal")?,
        })
    }
}

impl PostRenderer {
    fn read(section: &Section<'_>) -> Result<Option<Self>> {
        let kustomize = section.section("kustomize")?;
        if !kustomize.exists() {
            return Ok(None);
        }
        Ok(Some(Self { patches: patches(&kustomize)?, images: images(&kustomize)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `echo -n … | sha256sum`
    #[test]
    fn long_names_of_releases_end_in_a_hash() {
        let long = "a".repeat(54);
        let short = shortened(&long);
        assert_eq!((short.len(), &short[..41]), (53, format!("{}-", "a".repeat(40)).as_str()));
        assert_eq!(shortened(&"a".repeat(53)).len(), 53);
    }
}
