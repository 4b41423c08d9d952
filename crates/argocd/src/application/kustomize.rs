//! From what an Application says to Kustomize to an edited kustomization and flags of its build (util/kustomize/kustomize.go
//! `Build`).
//!
//! In: a source and its folder. Out: the kustomization as Argo CD's `kustomize edit` leaves it, and the commands that do
//! so. Nothing is written. Refused: what `kustomize edit` refuses, and versions of Kustomize that the settings lack.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, Result};
use kustomize_edit::{AddLabels, FILE_NAMES, Kustomization, List, Patch, Target};
use vfs::FileKind;
use yamltree::{Dialect, Node, Resolved, Span};

use super::checkout::Checkout;
use super::context::shown;
use super::doublestar;
use super::engines::{ChartOutput, EditedKustomization, KustomizationRequest};
use super::environment::Environment;
use super::fields::{At, Reading, place_of};
use super::settings::Settings;
use super::source::Kustomize;
use crate::objects::Sources;

/// The inputs of an Application's kustomization edits.
pub(crate) struct Editing<'e> {
    pub(crate) folder: &'e Path,
    pub(crate) checkout: &'e Checkout<'e>,
    pub(crate) environment: &'e Environment,
    pub(crate) texts: &'e Sources,
    /// The rendered chart that is one of the resources.
    pub(crate) chart: Option<&'e ChartOutput>,
}

/// The kustomization as the Application's edits leave it, and the commands that make them.
#[derive(Debug, Default)]
pub(crate) struct Edited {
    pub(crate) kustomization: Option<EditedKustomization>,
    pub(crate) commands: Vec<String>,
}

impl Editing<'_> {
    /// Makes the edits in Argo CD's order.
    pub(crate) fn edit(&self, section: &Kustomize) -> Result<Edited> {
        let steps = self.steps(section)?;
        if steps.is_empty() {
            return Ok(Edited::default());
        }
        let (path, text) = self.read(section)?;
        let source =
            Arc::new(yamltree::Source { name: self.checkout.files.display(&path), text: Arc::from(text) });
        let refuse = |error: Error, span: Span| {
            let located = error.located(|span| {
                span.is_some().then(|| yamltree::Location { source: Arc::clone(&source), span })
            });
            located.at(place_of(self.texts, span))
        };
        let mut kustomization =
            Kustomization::parse(&source.text).map_err(|error| refuse(error, section.span))?;
        let mut commands = Vec::with_capacity(steps.len());
        for step in &steps {
            step.make(&mut kustomization).map_err(|error| refuse(error, section.span))?;
            commands.push(step.command());
        }
        let text = kustomization.finish().map_err(|error| refuse(error, section.span))?;
        let is_changed = *text != *source.text;
        Ok(Edited { kustomization: is_changed.then_some(EditedKustomization { path, text }), commands })
    }

    /// The one file that the folder's kustomization is in.
    fn read(&self, section: &Kustomize) -> Result<(PathBuf, String)> {
        let is_there = |name: &&str| self.checkout.real(&self.folder.join(name)).is_ok();
        let names: Vec<&str> = FILE_NAMES.into_iter().filter(is_there).collect();
        let folder = self.checkout.files.display(self.folder);
        let place = || place_of(self.texts, section.span);
        let name = match names.as_slice() {
            [name] => name,
            [] => {
                return Err(Error::invalid(format!("no kustomization file found in `{folder}`")).at(place()));
            }
            several => {
                let message = format!("several kustomization files in `{folder}`: {}", several.join(", "));
                return Err(Error::invalid(message).at(place()));
            }
        };
        let path = self.folder.join(name);
        let unreadable =
            |reason: &str| Error::invalid(format!("cannot read `{folder}/{name}`: {reason}")).at(place());
        let Ok((real, FileKind::File)) = self.checkout.real(&path) else {
            return Err(unreadable("it is not a file of the repository"));
        };
        let bytes = self.checkout.files.read(&real).map_err(|error| unreadable(&error.to_string()))?;
        let text = yamltree::decode(&bytes, 0).map_err(|error| unreadable(error.message()))?;
        Ok((path, text.into_owned()))
    }

    fn steps(&self, section: &Kustomize) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        if let Some(name) = self.chart.and_then(|chart| chart.path.file_name()) {
            steps.push(Step::Resource(name.to_string_lossy().into_owned()));
        }
        if !section.name_prefix.is_empty() {
            steps.push(Step::NamePrefix(section.name_prefix.clone()));
        }
        if !section.name_suffix.is_empty() {
            steps.push(Step::NameSuffix(section.name_suffix.clone()));
        }
        if !section.images.is_empty() {
            let images = section.images.iter().map(|image| self.environment.expand(&image.value));
            steps.push(Step::Images(images.collect()));
        }
        if !section.replicas.is_empty() {
            let replicas =
                section.replicas.iter().map(|replica| format!("{}={}", replica.name, replica.count));
            steps.push(Step::Replicas(replicas.collect()));
        }
        if !section.common_labels.is_empty() {
            let how = AddLabels {
                force: section.force_common_labels,
                without_selector: section.label_without_selector,
                include_templates: section.label_include_templates,
            };
            let labels = section.common_labels.iter();
            let labels = labels.map(|(key, value)| format!("{key}:{}", self.environment.expand(value)));
            steps.push(Step::Labels(how, labels.collect()));
        }
        if !section.common_annotations.is_empty() {
            let expands = section.common_annotations_envsubst;
            let value = |text: &String| if expands { self.environment.expand(text) } else { text.clone() };
            let annotations = section.common_annotations.iter();
            let annotations = annotations.map(|(key, text)| format!("{key}:{}", value(text)));
            steps.push(Step::Annotations(section.force_common_annotations, annotations.collect()));
        }
        if !section.namespace.is_empty() {
            steps.push(Step::Namespace(section.namespace.clone()));
        }
        if !section.patches.is_empty() {
            let mut reading = Reading::new(self.texts);
            let patches = section.patches.iter().map(|node| patch(node, &mut reading));
            steps.push(Step::Patches(patches.collect::<Result<_>>()?));
        }
        let components = self.components(section)?;
        if !components.is_empty() {
            steps.push(Step::Components(components));
        }
        Ok(steps)
    }

    /// The components that are there; a pattern stands for what matches it.
    fn components(&self, section: &Kustomize) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for component in &section.components {
            let text = &component.value;
            let path = self.checkout.locate(self.folder, text.trim_start_matches('/'));
            let is_there = path.as_ref().is_ok_and(|path| self.checkout.real(path).is_ok());
            // What is on a server is for the build to find.
            if is_there || (text.contains("://") && !section.ignore_missing_components) {
                found.push(text.clone());
                continue;
            }
            let matching = self.matching(component)?;
            if matching.is_empty() && !section.ignore_missing_components {
                let message = format!("the component `{text}` does not exist");
                return Err(Error::invalid(message)
                    .at(place_of(self.texts, component.span))
                    .hint("with `ignoreMissingComponents: true` it may be missing"));
            }
            found.extend(matching);
        }
        Ok(found)
    }

    fn matching(&self, component: &At<String>) -> Result<Vec<String>> {
        if !doublestar::is_pattern(&component.value) {
            return Ok(Vec::new());
        }
        let refuse = |message: String| Error::invalid(message).at(place_of(self.texts, component.span));
        let found = doublestar::expand(self.folder, &component.value, self.checkout.files).map_err(refuse)?;
        let relative = |path: &PathBuf| path.strip_prefix(self.folder).map(|path| path.display().to_string());
        Ok(found.iter().filter_map(|path| relative(path).ok()).collect())
    }
}

/// One `kustomize edit`, or what Argo CD writes itself.
enum Step {
    Resource(String),
    NamePrefix(String),
    NameSuffix(String),
    Images(Vec<String>),
    Replicas(Vec<String>),
    Labels(AddLabels, Vec<String>),
    Annotations(bool, Vec<String>),
    Namespace(String),
    Patches(Vec<Patch>),
    Components(Vec<String>),
}

impl Step {
    fn make(&self, kustomization: &mut Kustomization<'_>) -> Result<()> {
        match self {
            Self::Resource(path) => kustomization.add_paths(List::Resources, &[path]),
            Self::NamePrefix(prefix) => kustomization.set_name_prefix(prefix),
            Self::NameSuffix(suffix) => kustomization.set_name_suffix(suffix),
            Self::Images(images) => kustomization.set_images(images)?,
            Self::Replicas(replicas) => kustomization.set_replicas(replicas)?,
            Self::Labels(how, labels) => {
                kustomization.add_labels(*how, &kustomize_edit::parse_labels(labels)?)?;
            }
            Self::Annotations(force, annotations) => {
                kustomization.add_annotations(*force, &kustomize_edit::parse_annotations(annotations)?)?;
            }
            Self::Namespace(namespace) => kustomization.set_namespace(namespace),
            Self::Patches(patches) => kustomization.append_patches(patches),
            Self::Components(components) => kustomization.add_paths(List::Components, components),
        }
        Ok(())
    }

    fn command(&self) -> String {
        let one = |words: [&'static str; 2], value: &str| {
            shown(["kustomize", "edit"].into_iter().chain(words).chain(["--", value]))
        };
        let many = |words: [&'static str; 2], flags: &[(bool, &'static str)], values: &[String]| {
            let flags: Vec<&str> = flags.iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| *flag).collect();
            let values = values.iter().map(String::as_str);
            shown(["kustomize", "edit"].into_iter().chain(words).chain(flags).chain(values))
        };
        match self {
            Self::Resource(path) => one(["add", "resource"], path),
            Self::NamePrefix(prefix) => one(["set", "nameprefix"], prefix),
            Self::NameSuffix(suffix) => one(["set", "namesuffix"], suffix),
            Self::Images(images) => many(["set", "image"], &[], images),
            Self::Replicas(replicas) => many(["set", "replicas"], &[], replicas),
            Self::Labels(how, labels) => {
                let flags = [
                    (how.force, "--force"),
                    (how.without_selector, "--without-selector"),
                    (how.include_templates, "--include-templates"),
                ];
                many(["add", "label"], &flags, labels)
            }
            Self::Annotations(force, annotations) => {
                many(["add", "annotation"], &[(*force, "--force")], annotations)
            }
            Self::Namespace(namespace) => one(["set", "namespace"], namespace),
            Self::Patches(_) => "# add the patches of the Application to the kustomization".to_owned(),
            Self::Components(components) => many(["add", "component"], &[], components),
        }
    }
}

const PATCH: &[&str] = &["path", "patch", "target", "options"];
const TARGET: &[&str] =
    &["group", "version", "kind", "name", "namespace", "annotationSelector", "labelSelector"];

fn patch(node: &Node, reading: &mut Reading<'_>) -> Result<Patch> {
    let Some(fields) = reading.fields(node, "kustomize.patches", PATCH)? else { return Ok(Patch::default()) };
    let target = match fields.get("target") {
        Some(node) => reading.fields(node, "kustomize.patches.target", TARGET)?,
        None => None,
    };
    let target = match target {
        Some(fields) => Some(Target {
            group: fields.text("group", reading)?,
            version: fields.text("version", reading)?,
            kind: fields.text("kind", reading)?,
            name: fields.text("name", reading)?,
            namespace: fields.text("namespace", reading)?,
            annotation_selector: fields.text("annotationSelector", reading)?,
            label_selector: fields.text("labelSelector", reading)?,
        }),
        None => None,
    };
    let mut options = Vec::new();
    for entry in fields.get("options").and_then(Node::entries).into_iter().flatten() {
        let Ok(Resolved::Bool(value)) = entry.value.resolved(Dialect::V2) else {
            return Err(reading.error("an option of a patch must be `true` or `false`", entry.value.span));
        };
        options.push((entry.key.text().unwrap_or_default().to_owned(), value));
    }
    Ok(Patch { path: fields.text("path", reading)?, patch: fields.text("patch", reading)?, target, options })
}

/// The build of an edited kustomization as a command, with paths from the repository's root.
pub(crate) fn build_command(request: &KustomizationRequest) -> String {
    let folder = request.folder.strip_prefix(&request.repository).unwrap_or(&request.folder);
    let folder =
        if folder.as_os_str().is_empty() { ".".to_owned() } else { format!("./{}", folder.display()) };
    let build = ["kustomize", "build", &folder].into_iter();
    shown(build.chain(request.options.iter().map(String::as_str)))
}

/// Refuses a version of Kustomize that the settings do not have.
pub(crate) fn check_version(kustomize: &Kustomize, settings: Settings<'_>, texts: &Sources) -> Result<()> {
    let version = &kustomize.version;
    if version.value.is_empty() || settings.has_kustomize(&version.value) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "unknown Kustomize version `{}`: Argo CD's settings do not define it",
        version.value
    ))
    .at(place_of(texts, version.span))
    .hint("add `kustomize.path.VERSION` to the `settings` of the context, as `argocd-cm` has it"))
}
