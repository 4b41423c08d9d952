//! A resource: its tree, with what the build must remember of it.

use std::cell::Cell;

use compact_str::CompactString;
use yamltree::{Dialect, Entry, Node, Resolved, Span, Style, resolve};

use crate::origin::Origin;
use crate::resid::{Gvk, ResId};
use crate::schema::Schema;

/// A Kubernetes object on its way through a build.
///
/// Kustomize keeps what it remembers in annotations under `internal.config.kubernetes.io` and drops them at the end;
/// here it stands beside the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    pub(crate) node: Node,
    id: ResId,
    /// The ids it had before its name, namespace or kind was changed, oldest first.
    previous: Vec<ResId>,
    /// Name prefixes and suffixes added so far, innermost first.
    pub(crate) prefixes: Vec<CompactString>,
    pub(crate) suffixes: Vec<CompactString>,
    pub(crate) behavior: Behavior,
    /// True if a content hash is appended to the name at the end.
    pub(crate) needs_hash: bool,
    /// True if the text came from a chart, which the namespace transformer leaves alone.
    pub(crate) helm_generated: bool,
    /// The names of the vars that stand for a field of it.
    pub(crate) vars: Vec<CompactString>,
    pub(crate) origin: Option<Box<Origin>>,
    pub(crate) transformations: Vec<Origin>,
    /// Number of alias ids assigned to shared nodes.
    shares: u32,
    /// The number of the resource in a recorded build; 0 if nothing is recorded.
    pub(crate) lineage: Cell<u32>,
}

/// The effect of a generated resource on an existing one with the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    #[default]
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Resource {
    pub(crate) fn new(node: Node, schema: &Schema) -> Self {
        let mut resource = Self { node, ..Self::default() };
        resource.refresh(schema);
        resource.read_history(schema);
        resource
    }

    /// Takes in what annotations of Kustomize's own say, as they are in a resource that a plugin hands on.
    fn read_history(&mut self, schema: &Schema) {
        const PREFIX: &str = "internal.config.kubernetes.io/";
        let Some(annotations) = self.metadata("annotations").and_then(Node::entries) else { return };
        let is_internal = |entry: &Entry| entry.key.text().is_some_and(|key| key.starts_with(PREFIX));
        if !annotations.iter().any(is_internal) {
            return;
        }
        let list = |name: &str| -> Vec<CompactString> {
            let text = self.annotation(&format!("{PREFIX}{name}"));
            text.into_iter().flat_map(|text| text.split(',')).map(CompactString::from).collect()
        };
        let (prefixes, suffixes) = (list("prefixes"), list("suffixes"));
        let names = list("previousNames").into_iter();
        let places = list("previousKinds").into_iter().zip(list("previousNamespaces"));
        let previous = names.zip(places).map(|(name, (kind, namespace))| {
            ResId::new(Gvk { kind, ..self.id.gvk.clone() }, &name, &namespace, schema)
        });
        self.previous = previous.collect();
        self.needs_hash = self.annotation(&format!("{PREFIX}needsHashSuffix")) == Some("enabled");
        self.helm_generated = self.annotation(&format!("{PREFIX}helm-generated")) == Some("true");
        (self.prefixes, self.suffixes) = (prefixes, suffixes);
    }

    /// The current id.
    pub(crate) fn id(&self) -> &ResId {
        &self.id
    }

    /// The id it had when it was read.
    pub(crate) fn original_id(&self) -> &ResId {
        self.previous.first().unwrap_or(&self.id)
    }

    /// Every former id, oldest first, without the current one.
    pub(crate) fn previous_ids(&self) -> &[ResId] {
        &self.previous
    }

    /// Every id it has and had, the current one last.
    pub(crate) fn all_ids(&self) -> impl Iterator<Item = &ResId> {
        self.previous.iter().chain([&self.id])
    }

    pub(crate) fn gvk(&self) -> &Gvk {
        &self.id.gvk
    }

    pub(crate) fn kind(&self) -> &str {
        &self.id.gvk.kind
    }

    pub(crate) fn name(&self) -> &str {
        &self.id.name
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.id.namespace
    }

    /// Returns where the resource stands in its file.
    pub(crate) fn span(&self) -> Span {
        self.node.span
    }

    /// A value under `metadata`.
    pub(crate) fn metadata(&self, key: &str) -> Option<&Node> {
        self.node.lookup(&["metadata", key])
    }

    /// The text of an annotation.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata("annotations")?.get(key)?.text()
    }

    /// Remembers the current id before it is changed. A former id has the namespace in effect, as Kustomize keeps it.
    pub(crate) fn store_previous_id(&mut self) {
        let mut id = self.id.clone();
        id.namespace = CompactString::from(id.effective_namespace());
        self.previous.push(id);
    }

    /// Takes another resource's place: remembers its former ids and stands for its vars, instead of its own.
    pub(crate) fn take_history(&mut self, other: &Resource) {
        self.previous.clone_from(&other.previous);
        self.prefixes.clone_from(&other.prefixes);
        self.suffixes.clone_from(&other.suffixes);
        self.vars.clone_from(&other.vars);
        self.lineage.clone_from(&other.lineage);
    }

    /// Returns true if there is something that Kustomize keeps in annotations, so that the resource has some to it.
    pub(crate) fn has_history(&self) -> bool {
        !self.previous.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
            || self.behavior != Behavior::Unspecified
            || self.needs_hash
            || self.helm_generated
            || self.origin.is_some()
    }

    /// Forgets what Kustomize keeps in annotations, as when a patch has wiped those.
    pub(crate) fn forget_history(&mut self) {
        let resource = std::mem::take(self);
        let Self { node, id, vars, shares, lineage, .. } = resource;
        *self = Self { node, id, vars, shares, lineage, ..Self::default() };
    }

    /// Numbers for values that are to stand in several places as one node; returns the first.
    pub(crate) fn hand_out_shares(&mut self, count: usize) -> u32 {
        let first = self.shares;
        self.shares = first.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        first
    }

    /// Brings the nodes that stand in several places up to date after some were overwritten.
    pub(crate) fn sync_aliases(&mut self) {
        if self.shares > 0 {
            self.node.sync_aliases();
        }
    }

    /// Reads the id anew after the tree was changed. Former ids follow a new group and version, as in Kustomize.
    pub(crate) fn refresh(&mut self, schema: &Schema) {
        let gvk_text = |key| self.node.get(key).and_then(Node::text).unwrap_or_default();
        if !self.id.gvk.is(gvk_text("apiVersion"), gvk_text("kind")) {
            return self.rescope(schema);
        }
        // Most changes leave the id alone, and none of these needs the schema.
        let name = self.metadata_text("name");
        if self.id.name != name {
            let name = CompactString::from(name);
            self.id.name = name;
        }
        let namespace = self.metadata_text("namespace");
        if self.id.namespace != namespace {
            let namespace = CompactString::from(namespace);
            self.id.namespace = namespace;
        }
    }

    /// Makes each annotation a node of its own, as Kustomize does when it notes something among them.
    pub(crate) fn unshare_annotations(&mut self) {
        if let Some(annotations) =
            self.node.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
        {
            annotations.clear_alias_ids();
        }
    }

    /// Reads the id anew after the tree or the schema was changed.
    pub(crate) fn rescope(&mut self, schema: &Schema) {
        let (name, namespace) = (self.metadata_text("name"), self.metadata_text("namespace"));
        let id = ResId::new(Gvk::of(&self.node), name, namespace, schema);
        for former in &mut self.previous {
            if former.gvk.group != id.gvk.group || former.gvk.version != id.gvk.version {
                former.gvk.group.clone_from(&id.gvk.group);
                former.gvk.version.clone_from(&id.gvk.version);
            }
            former.cluster_scoped = schema.is_cluster_scoped(&former.gvk);
        }
        self.id = id;
    }

    /// The text under `metadata`, empty where it is absent or null.
    fn metadata_text(&self, key: &str) -> &str {
        self.metadata(key).filter(|node| !is_null(node)).and_then(Node::text).unwrap_or_default()
    }

    pub(crate) fn set_kind(&mut self, kind: &str) {
        let style = self.node.get("kind").map_or_else(|| new_style(kind), |old| old.style);
        self.node.set("kind", Node::plain(kind).with_style(style));
    }

    pub(crate) fn set_name(&mut self, name: &str) {
        self.set_text("name", name);
    }

    pub(crate) fn set_namespace(&mut self, namespace: &str) {
        self.set_text("namespace", namespace);
    }

    /// Puts a text under `metadata` as kyaml's `FieldSetter` does: without a tag, in the style of what stood there.
    fn set_text(&mut self, key: &str, text: &str) {
        let style = self.metadata(key).map_or_else(|| new_style(text), |old| old.style);
        self.set_metadata(key, Node::plain(text).with_style(style));
    }

    /// Takes a value out from under `metadata`.
    pub(crate) fn remove_metadata(&mut self, key: &str) {
        if let Some(metadata) = self.node.get_mut("metadata") {
            metadata.remove(key);
        }
    }

    /// Makes the annotations where Kustomize has some of its own in the tree by now, so that what is only set where it
    /// exists is set. Those that stay empty are dropped at the end.
    pub(crate) fn hold_annotations(&mut self) {
        let has_own = !self.previous.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
            || self.behavior != Behavior::Unspecified
            || self.needs_hash
            || self.helm_generated
            || self.origin.is_some();
        if has_own && self.metadata("annotations").is_none() {
            self.set_metadata("annotations", Node::mapping(Vec::new()));
        }
    }

    /// Puts a value under `metadata`, which is made where it is missing.
    pub(crate) fn set_metadata(&mut self, key: &str, value: Node) {
        if self.node.get("metadata").is_none_or(|metadata| !metadata.is_mapping()) {
            self.node.set("metadata", Node::mapping(Vec::new()));
        }
        if let Some(metadata) = self.node.get_mut("metadata") {
            metadata.set(key, value);
        }
    }
}

/// The style that kyaml's `FieldSetter` gives to a new string: quotes where it would else be read as something else.
pub(crate) fn new_style(text: &str) -> Style {
    let is_string = text.is_empty() || resolve(text, Dialect::V2) == Resolved::Str;
    if is_string { Style::Plain } else { Style::DoubleQuoted }
}

/// Returns true if a node is a null in go-yaml v3's reading.
pub(crate) fn is_null(node: &Node) -> bool {
    use yamltree::{Style, Tag};
    match (node.tag, node.text()) {
        (Tag::Null, _) => true,
        (Tag::Implicit, Some(text)) => {
            node.style == Style::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
        }
        _ => false,
    }
}
