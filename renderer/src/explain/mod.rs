//! Explains the origin of an object's fields.
//!
//! In: an object with its places, what a watched build noted of it, and the path of a field. Out: an [`Explanation`]: for
//! each field the [`Link`]s of the chain that led to its value, from the line where it was first written to what the
//! last step did to it. Values of Secrets are in none of it.

mod application;
mod configured;
pub(crate) mod path;
pub(crate) mod template;

use argocd::objects::{Object, Sources};
use diagnostic::Result;
use kustomize::{BuildStep, History};
use yamltree::{JsonOptions, Location, Node};

use self::path::Step;
use self::template::{Inflation, Line};
use crate::render::Renderer;

/// The replacement of a secret.
const MASK: &str = "***";

/// The public fields of a Secret.
const OPEN_FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

/// The annotation in which kubectl keeps the whole object, secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Why fields are what they are.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// `Deployment/web`
    pub(crate) object: String,
    /// The fields, in the order of the object.
    pub(crate) fields: Vec<Field>,
}

/// Why a field is what it is.
#[derive(Debug)]
pub(crate) struct Field {
    /// The path in the object.
    pub(crate) path: Vec<Step>,
    /// The value, as JSON.
    pub(crate) value: String,
    /// The chain that led to it; the last link is effective.
    pub(crate) chain: Vec<Link>,
}

/// A step that gave a field a value, or moved it to another place.
#[derive(Debug)]
pub(crate) struct Link {
    /// The name of the step: a field of a kustomization, `template`, `file`.
    pub(crate) step: String,
    /// The location of the value.
    pub(crate) place: Option<Location>,
    /// The location of the step's configuration, if different.
    pub(crate) by: Option<Location>,
    /// The value after the step, as JSON.
    pub(crate) value: String,
    /// The values that the template's line uses.
    pub(crate) line: Option<Line>,
}

/// An object with what is known of it.
pub(crate) struct Subject<'r> {
    renderer: &'r Renderer,
    object: &'r Object,
    applications: &'r [Object],
    versions: Vec<(BuildStep, Node)>,
}

impl<'r> Subject<'r> {
    /// An object, the Applications that it may be of, and what a build noted of it.
    pub(crate) fn new(
        renderer: &'r Renderer,
        object: &'r Object,
        applications: &'r [Object],
        history: Option<&History>,
    ) -> Self {
        let none: Sources = Vec::new().into();
        let version = |version: &kustomize::Version| {
            // Scalars are compared as JSON has them.
            let read = Object::new(&version.node, &none);
            (version.step.clone(), read.map_or_else(|_| version.node.clone(), |read| read.node().clone()))
        };
        let versions = history.map(|history| history.versions.iter().map(version).collect());
        Self { renderer, object, applications, versions: versions.unwrap_or_default() }
    }

    /// Explains a field and what is in it; without a path, all of the object.
    ///
    /// # Errors
    /// If there is no such field.
    pub(crate) fn explain(&self, path: Option<&str>) -> Result<Explanation> {
        let object = self.object.to_string();
        let start = match path {
            Some(path) => path::find(self.object.node(), path, &object)?,
            None => Vec::new(),
        };
        let mut fields = Vec::new();
        if let Some(node) = path::lookup(self.object.node(), &start) {
            self.add(node, start, &mut fields);
        }
        Ok(Explanation { object, fields })
    }

    /// Explains the values in a part of the object.
    fn add(&self, node: &Node, path: Vec<Step>, fields: &mut Vec<Field>) {
        let within = |step: Step| [path.as_slice(), &[step]].concat();
        match (node.entries(), node.items()) {
            (Some(entries), _) if !entries.is_empty() => {
                for entry in entries {
                    let key = entry.key.text().unwrap_or_default().to_owned();
                    self.add(&entry.value, within(Step::Key(key)), fields);
                }
            }
            (_, Some(items)) if !items.is_empty() => {
                for (item, step) in items.iter().zip(path::items(items)) {
                    self.add(item, within(step), fields);
                }
            }
            _ => {
                let is_secret = self.is_secret(&path);
                let chain = self.chain(&path, node, is_secret);
                fields.push(Field { path, value: value(node, is_secret), chain });
            }
        }
    }

    /// Returns what led to a value.
    fn chain(&self, path: &[Step], node: &Node, is_secret: bool) -> Vec<Link> {
        let mut chain: Vec<Link> = Vec::new();
        let mut before: Option<&Node> = None;
        for (step, version) in &self.versions {
            let Some(after) = path::lookup(version, path) else {
                before = None;
                continue;
            };
            let is_moved = after.span.is_some() && before.is_none_or(|before| before.span != after.span);
            if is_moved || before.is_none_or(|before| !is_equal(before, after)) {
                chain.push(self.link(step, before, after, is_moved, is_secret));
            }
            before = Some(after);
        }
        let is_last = before.is_some_and(|before| is_equal(before, node));
        if !is_last {
            chain.push(self.rendered(node, before.is_some() || !self.versions.is_empty(), is_secret));
        }
        chain
    }

    fn link(
        &self,
        step: &BuildStep,
        before: Option<&Node>,
        after: &Node,
        is_moved: bool,
        is_secret: bool,
    ) -> Link {
        let written = is_moved.then(|| self.renderer.place(after.span)).flatten();
        let text = |node: &Node| node.text().unwrap_or_default().to_owned();
        let (old, new) = (before.map(text), text(after));
        let asked = configured::span(step, old.as_deref(), &new, written.as_ref());
        let asked = self.renderer.place(asked);
        let by = written.as_ref().and(asked.clone());
        let place = written.or(asked);
        let line = self.line(place.as_ref(), Some(step), is_secret);
        Link { step: step.name.to_string(), place, by, value: value(after, is_secret), line }
    }

    /// Returns what is in no kustomization, or came after it.
    fn rendered(&self, node: &Node, is_after: bool, is_secret: bool) -> Link {
        let place = argocd::objects::place_of(self.object.sources(), node.span).filter(|_| !is_after);
        let line = self.line(place.as_ref(), None, is_secret);
        let step = match (&line, &place) {
            (Some(_), _) => "template",
            (None, Some(place)) if self.is_template(place) => "template",
            (None, Some(_)) => "file",
            (None, None) => "Argo CD",
        };
        Link { step: step.to_owned(), place, by: None, value: value(node, is_secret), line }
    }

    fn is_template(&self, place: &Location) -> bool {
        self.renderer.inputs(&place.source).is_some()
    }

    /// Returns what a line of a template uses. The line of a secret may hold it, and so may its values.
    fn line(&self, place: Option<&Location>, step: Option<&BuildStep>, is_secret: bool) -> Option<Line> {
        let place = place?;
        let inputs = self.renderer.inputs(&place.source)?;
        let find = |span| self.renderer.place(span);
        let field = step.and_then(|step| step.fields.first()).filter(|field| field.name == "helmCharts");
        let file = field.and_then(|field| find(field.value.span)).map(|place| place.source.name.clone());
        let folder = file.as_deref().and_then(|file| file.rsplit_once('/')).map_or("", |(folder, _)| folder);
        let inflation = field.map(|field| Inflation { entry: &field.value, folder, place: &find });
        let mut line = template::line(place, &inputs, inflation.as_ref(), self.applications);
        if is_secret {
            MASK.clone_into(&mut line.text);
            for change in line.values.iter_mut().flat_map(|value| &mut value.changes) {
                change.value = format!("\"{MASK}\"");
            }
        }
        Some(line)
    }

    fn is_secret(&self, path: &[Step]) -> bool {
        if self.object.kind() != "Secret" {
            return false;
        }
        let is_open = |step: &Step| matches!(step, Step::Key(key) if OPEN_FIELDS.contains(&key.as_str()));
        let is_copy = |step: &Step| matches!(step, Step::Key(key) if key == LAST_APPLIED);
        !path.first().is_some_and(is_open) || path.iter().any(is_copy)
    }
}

/// A value as JSON on one line.
fn value(node: &Node, is_secret: bool) -> String {
    if is_secret {
        return format!("\"{MASK}\"");
    }
    let mut text = String::new();
    // What has no JSON is nothing that could be in an object.
    let _ = yamltree::to_json(node, JsonOptions { escape_html: false, ..JsonOptions::SIGS }, &mut text);
    text.trim_end().to_owned()
}

/// Returns true if two values are the same text.
fn is_equal(left: &Node, right: &Node) -> bool {
    value(left, false) == value(right, false)
}

/// The history of an object among those of a run: of the last build that has one which ends as the object is called.
pub(crate) fn history_of<'h>(object: &Object, histories: &'h [History]) -> Option<&'h History> {
    let text = |node: &Node, key: &str| {
        node.lookup(&["metadata", key]).and_then(Node::text).unwrap_or_default().to_owned()
    };
    let ends_as = |history: &&History| {
        history.versions.last().is_some_and(|last| text(&last.node, "name") == object.name())
    };
    let in_namespace = |history: &&&History| {
        let namespace = history.versions.last().map(|last| text(&last.node, "namespace"));
        namespace.is_some_and(|namespace| namespace == object.namespace())
    };
    let ending: Vec<&History> = histories.iter().filter(ends_as).collect();
    ending.iter().rev().find(in_namespace).or(ending.last()).copied()
}

/// The names that an object had in the course of a build.
pub(crate) fn had_name(history: &History, name: &str) -> bool {
    history
        .versions
        .iter()
        .any(|version| version.node.lookup(&["metadata", "name"]).and_then(Node::text) == Some(name))
}
