//! The current values of parameters that nobody set: values of the chart, fields of the kustomization.
//!
//! In: what is asked for, and engines. Out: values by which the lines of the table announce theirs. Refused: what is
//! refused when it is rendered.

use std::collections::BTreeMap;

use yamltree::Node;

use super::given::Content;
use crate::application::Engine;

/// The current values found so far.
pub(super) struct Current {
    pub(super) engine: Engine,
    pub(super) chain: Option<String>,
    pub(super) application: String,
    pub(super) namespace: String,
    /// The chart's values by their paths.
    pub(super) values: BTreeMap<String, String>,
    /// The images of the kustomization's pods.
    pub(super) images: Vec<String>,
    pub(super) kustomization: Node,
}

impl Current {
    /// The engine, as the parameter of that name has it.
    pub(super) fn engine(&self) -> Content {
        Content::Text(self.engine.name().to_ascii_lowercase())
    }

    /// A field of the kustomization.
    pub(super) fn field(&self, name: &str) -> Option<Content> {
        let node = self.kustomization.get(name)?;
        let text = |node: &Node| node.text().unwrap_or_default().to_owned();
        if let Some(items) = node.items() {
            return Some(Content::List(items.iter().map(text).collect()));
        }
        if let Some(entries) = node.entries() {
            let entries = entries.iter().map(|entry| (text(&entry.key), text(&entry.value)));
            return Some(Content::Map(entries.collect()));
        }
        node.text().map(|text| Content::Text(text.to_owned()))
    }

    /// The field `replicas` of the kustomization.
    pub(super) fn counts(&self) -> Option<Content> {
        let text = |item: &Node, field: &str| item.get(field)?.text().map(str::to_owned);
        let items = self.kustomization.get("replicas")?.items()?;
        let counts = items.iter().filter_map(|item| Some((text(item, "name")?, text(item, "count")?)));
        Some(Content::Map(counts.collect()))
    }
}
