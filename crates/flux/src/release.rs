//! A HelmRelease from its chart to what is applied (helm-controller); reads top to bottom.
//!
//! In: a HelmRelease, and what is known of its cluster. Out: objects as Helm would apply them: post-rendered, with the labels
//! by which Flux knows its own, in the release's namespace. Refused: what Flux and Helm refuse.

use std::sync::Arc;

use argocd::objects::{self, Object, Scopes};
use diagnostic::{Error, Result};
use yamltree::{Node, Source};

use crate::artifact::Artifact;
use crate::build::{Rendered, World};
use crate::engines::{ChartPlace, ChartRequest, Engines, MANIFESTS, Manifests};
use crate::helm_release::{Chart, GROUP, HelmRelease, NamedChart, PostRenderer, Strategy};
use crate::kustomization::Image;
use crate::metadata;
use crate::section::Section;
use crate::source::{Folder, SourceRef};
use crate::values;
use crate::warning::{Code, Warning};

/// Renders a HelmRelease.
///
/// # Errors
/// If it or its chart is invalid.
pub fn release<E: Engines>(release: &HelmRelease, world: &World<'_, E>) -> Result<Rendered, E::Error> {
    let mut warnings = Vec::new();
    let HelmRelease { name, namespace, place, .. } = release;
    if release.suspend {
        let message =
            format!("the HelmRelease `{namespace}/{name}` is suspended: nothing of it is rolled out");
        warnings.push(Warning::new(Code::Suspended, message).at(place.clone()));
    }
    let rendered = manifests(release, world, &mut warnings)?;
    let mut all = if release.installs_crds { crds(&rendered.crds, release)? } else { Vec::new() };
    let mut hooks = if release.runs_hooks { rendered.hooks } else { String::new() };
    if release.runs_tests {
        hooks = joined(&hooks, &rendered.tests);
    }
    match release.strategy {
        Strategy::Combined => {
            all.extend(post_rendered(joined(&rendered.manifests, &hooks), release, world)?);
        }
        Strategy::Separate => {
            all.extend(post_rendered(rendered.manifests, release, world)?);
            all.extend(post_rendered(hooks, release, world)?);
        }
        Strategy::NoHooks => {
            all.extend(post_rendered(rendered.manifests, release, world)?);
            all.extend(parsed(&hooks, release)?);
        }
    }
    settle(&mut all, &release.target_namespace);
    Ok(Rendered { objects: all, warnings })
}

/// A chart that is found.
enum Located {
    Folder(Box<NamedChart>, Folder),
    Remote { repository: Option<String>, passes_credentials: bool, chart: Box<NamedChart> },
}

impl Located {
    fn of<E: Engines>(release: &HelmRelease, world: &World<'_, E>) -> Result<Self> {
        match &release.chart {
            Chart::Named(chart) => Self::named(chart.clone(), world),
            Chart::Object(reference) if reference.kind == "HelmChart" => {
                let object = reference.object(world.known).ok_or_else(|| reference.missing())?;
                let chart = NamedChart::read(&Section::of(object, "spec")?, &reference.namespace)?;
                Self::named(chart, world)
            }
            Chart::Object(reference) if reference.kind == "OCIRepository" => {
                Self::artifact_of(reference, world)
            }
            Chart::Object(reference) => {
                Err(Error::invalid(format!("a chart comes from no {}", reference.kind))
                    .at(reference.place.clone())
                    .hint("`chartRef` names an OCIRepository or a HelmChart"))
            }
        }
    }

    fn named<E: Engines>(chart: NamedChart, world: &World<'_, E>) -> Result<Self> {
        if chart.source.kind != "HelmRepository" {
            let folder = chart.source.folder(world.known, world.places)?;
            return Ok(Self::Folder(Box::new(chart), folder));
        }
        let object = chart.source.object(world.known).ok_or_else(|| chart.source.missing())?;
        let spec = Section::of(object, "spec")?;
        Ok(Self::Remote {
            repository: Some(spec.required("url")?),
            passes_credentials: spec.flag("passCredentials")?,
            chart: Box::new(chart),
        })
    }

    /// An OCIRepository that is the chart itself.
    fn artifact_of<E: Engines>(reference: &SourceRef, world: &World<'_, E>) -> Result<Self> {
        let object = reference.object(world.known).ok_or_else(|| reference.missing())?;
        let spec = Section::of(object, "spec")?;
        let wanted = spec.section("ref")?;
        let mut chart = spec.required("url")?;
        let digest = wanted.text("digest")?;
        let mut version = wanted.text("semver")?;
        if !digest.is_empty() {
            chart = format!("{chart}@{digest}");
            version.clear();
        } else if version.is_empty() {
            version = wanted.text("tag")?;
            if version.is_empty() {
                "latest".clone_into(&mut version);
            }
        }
        let chart = NamedChart {
            chart,
            version,
            source: reference.clone(),
            values_files: Vec::new(),
            ignores_missing_values_files: false,
            place: reference.place.clone(),
        };
        Ok(Self::Remote { repository: None, passes_credentials: false, chart: Box::new(chart) })
    }
}

/// Returns what the chart renders to.
fn manifests<E: Engines>(
    release: &HelmRelease,
    world: &World<'_, E>,
    warnings: &mut Vec<Warning>,
) -> Result<Manifests, E::Error> {
    match Located::of(release, world)? {
        Located::Remote { repository, passes_credentials, chart } => {
            let place = ChartPlace::Remote {
                repository,
                name: chart.chart.clone(),
                version: chart.version.clone(),
                passes_credentials,
            };
            world.engines.chart(&request(release, &chart, place, world, warnings)?)
        }
        Located::Folder(chart, folder) => {
            warnings.extend(folder.warnings);
            let artifact = Artifact::new(world.files, &folder.path, &folder.ignored, world.fetched);
            let artifact = artifact.map_err(|error| {
                let shown = world.files.display(&folder.path);
                Error::invalid(format!("cannot read the repository in `{shown}`: {error}"))
                    .at(chart.place.clone())
            })?;
            let path = artifact.join(&chart.chart);
            let place = ChartPlace::Folder { files: &artifact, root: artifact.root().to_owned(), path };
            world.engines.chart(&request(release, &chart, place, world, warnings)?)
        }
    }
}

fn request<'r, E: Engines>(
    release: &HelmRelease,
    chart: &NamedChart,
    place: ChartPlace<'r>,
    world: &World<'_, E>,
    warnings: &mut Vec<Warning>,
) -> Result<ChartRequest<'r>> {
    Ok(ChartRequest {
        chart: place,
        place: chart.place.clone(),
        release_name: release.release_name.clone(),
        namespace: release.target_namespace.clone(),
        values_files: chart.values_files.clone(),
        ignores_missing_values_files: chart.ignores_missing_values_files,
        values: values::of(release, world.known, warnings)?,
        checks_schemas: release.checks_schemas,
    })
}

/// Of the files below `crds/` only what is a CRD is applied.
fn crds(text: &str, release: &HelmRelease) -> Result<Vec<Object>> {
    let mut crds = parsed(text, release)?;
    crds.retain(Object::is_crd);
    crds.iter_mut().for_each(|object| mark(object, release));
    Ok(crds)
}

/// The post-renderers in their order, then what is common to all, then whose it is.
fn post_rendered<E: Engines>(
    mut text: String,
    release: &HelmRelease,
    world: &World<'_, E>,
) -> Result<Vec<Object>, E::Error> {
    let mut objects = parsed(&text, release)?;
    for renderer in &release.post_renderers {
        if objects.is_empty() {
            break;
        }
        objects = world.engines.stream(&text, &renderer.kustomization()?)?;
        text = objects::to_yaml(&objects)?;
    }
    for object in &mut objects {
        for (field, pairs) in [("labels", &release.labels), ("annotations", &release.annotations)] {
            for (key, value) in pairs {
                metadata::set(object, field, key, value);
            }
        }
        mark(object, release);
    }
    Ok(objects)
}

fn mark(object: &mut Object, release: &HelmRelease) {
    metadata::set(object, "labels", &format!("{GROUP}/name"), &release.name);
    metadata::set(object, "labels", &format!("{GROUP}/namespace"), &release.namespace);
}

fn parsed(text: &str, release: &HelmRelease) -> Result<Vec<Object>> {
    let name = format!("release {}", release.release_name);
    objects::read(&Arc::new(Source { name, text: text.into() }))
}

fn joined(one: &str, other: &str) -> String {
    match (one.trim().is_empty(), other.trim().is_empty()) {
        (_, true) => one.to_owned(),
        (true, _) => other.to_owned(),
        _ => format!("{}\n---\n{other}", one.trim_end()),
    }
}

/// Helm applies what names no namespace in that of the release.
fn settle(objects: &mut [Object], namespace: &str) {
    let scopes = Scopes::of(&*objects);
    for object in objects {
        if object.namespace().is_empty() && scopes.is_namespaced(object.group(), object.kind()) {
            object.set_namespace(namespace);
        }
    }
}

impl PostRenderer {
    fn kustomization(&self) -> Result<String> {
        let mut root = Node::mapping(Vec::new());
        root.set("resources", Node::sequence(vec![Node::string(MANIFESTS)]));
        if !self.images.is_empty() {
            root.set("images", Node::sequence(self.images.iter().map(Image::node).collect()));
        }
        if !self.patches.is_empty() {
            root.set("patches", Node::sequence(self.patches.clone()));
        }
        let mut text = String::new();
        yamltree::to_sigs_yaml(&root, &mut text).map_err(|error| {
            Error::invalid(format!("a post-renderer cannot be written: {}", error.message()))
        })?;
        Ok(text)
    }
}
