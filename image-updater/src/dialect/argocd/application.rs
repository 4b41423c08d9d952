//! Argo CD Applications: which of their sources counts, and what renders it.

use diagnostic::{Error, Result};
use std::collections::HashSet;

use yamltree::Node;

use super::super::objects::Object;
use super::super::within;

/// The files that make a folder Kustomize's.
pub(super) const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The renderer of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renderer {
    Helm,
    Kustomize,
    Plugin,
    /// Neither its own words nor the files tell.
    Unknown,
}

/// The source of an Application that images are written for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'o> {
    node: &'o Node,
    /// The offset of its first byte.
    pub(super) start: u32,
    /// True if it is one of several.
    pub(super) is_one_of_many: bool,
    /// The renderer that Argo CD detected.
    found_out: Option<&'o str>,
}

/// The paths of the files that are there.
#[derive(Debug)]
pub(super) struct Paths<'f>(HashSet<&'f str>);

impl<'f> Paths<'f> {
    pub(super) fn new(files: &'f [(String, String)]) -> Self {
        Self(files.iter().map(|(path, _)| path.as_str()).collect())
    }

    /// The first of these names that a folder has.
    pub(super) fn first(&self, folder: &str, names: &[&str]) -> Option<String> {
        let paths = names.iter().filter_map(|name| within(folder, name));
        paths.into_iter().find(|path| self.0.contains(path.as_str()))
    }
}

impl<'o> Source<'o> {
    /// The source of an Application: its only one, the one before hydration, or of several the first that Helm or
    /// Kustomize is told about.
    ///
    /// # Errors
    /// If it has none.
    pub(super) fn of(application: &'o Object) -> Result<Self> {
        let source = |node: &'o Node, is_one_of_many, found_out| Self {
            node,
            start: node.span.start,
            is_one_of_many,
            found_out,
        };
        let status = |key: &str| application.get(&["status", key]);
        let many = application.get(&["spec", "sources"]).and_then(Node::items);
        if let Some(many) = many.filter(|many| !many.is_empty()) {
            let told =
                |node: &&Node| ["helm", "kustomize", "plugin"].iter().any(|key| node.get(key).is_some());
            let place = many.iter().position(|node| told(&node)).unwrap_or_default();
            let types = status("sourceTypes").and_then(Node::items);
            let found_out = types.and_then(|types| types.get(place)).and_then(Node::text);
            let chosen = many.get(place);
            return chosen
                .map(|node| source(node, many.len() > 1, found_out))
                .ok_or_else(|| missing(application));
        }
        let hydrated = application.get(&["spec", "sourceHydrator", "drySource"]);
        let one = hydrated.or_else(|| application.get(&["spec", "source"]));
        let found_out = status("sourceType").and_then(Node::text);
        one.map(|node| source(node, false, found_out)).ok_or_else(|| missing(application))
    }

    fn field(&self, key: &str) -> Option<&'o str> {
        self.node.get(key).and_then(Node::text).filter(|text| !text.is_empty())
    }

    pub(super) fn repository(&self) -> Option<&'o str> {
        self.field("repoURL")
    }

    /// The branch that is deployed; nothing for the repository's own choice.
    pub(super) fn revision(&self) -> Option<&'o str> {
        self.field("targetRevision").filter(|revision| *revision != "HEAD")
    }

    pub(super) fn folder(&self) -> &'o str {
        self.field("path").unwrap_or_default()
    }

    /// Returns true if it is a chart from a repository of charts.
    pub(super) fn is_chart(&self) -> bool {
        self.field("chart").is_some()
    }

    /// Returns what renders it: as it says, or as Argo CD finds out by the files in its folder.
    pub(super) fn renderer(&self, paths: &Paths<'_>) -> Renderer {
        let is_told = |key: &str| self.node.get(key).is_some();
        let has = |names: &[&str]| paths.first(self.folder(), names).is_some();
        if is_told("plugin") {
            Renderer::Plugin
        } else if is_told("helm") || self.is_chart() {
            Renderer::Helm
        } else if is_told("kustomize") {
            Renderer::Kustomize
        } else if let Some(renderer) = self.found_out.and_then(found_out) {
            renderer
        } else if has(&["Chart.yaml"]) {
            Renderer::Helm
        } else if has(&KUSTOMIZATIONS) {
            Renderer::Kustomize
        } else {
            Renderer::Unknown
        }
    }
}

/// Returns what a type of source means that Argo CD writes into the status.
fn found_out(kind: &str) -> Option<Renderer> {
    match kind {
        "Helm" => Some(Renderer::Helm),
        "Kustomize" => Some(Renderer::Kustomize),
        "Plugin" => Some(Renderer::Plugin),
        _ => None,
    }
}

fn missing(application: &Object) -> Error {
    Error::invalid(format!("{} lacks a source", application.title())).at(application.place())
}
