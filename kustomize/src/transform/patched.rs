//! Resources under patches: what finds a patch's target, applies it, and says what is near where there is none.

use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamltree::{Node, Span};

use crate::context::Context;
use crate::decode::closest;
use crate::merge::json6902::JsonPatch;
use crate::merge::strategic;
use crate::resid::ResId;
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null, new_style};
use crate::schema::Schema;
use crate::selector::Selector;
use crate::warning::{Code, Warning};

/// Maximum number of warnings of one step get a hint; each costs a look at every resource.
const MAX_HINTS: usize = 20;

/// A strategic merge patch.
#[derive(Debug)]
pub(super) struct StrategicPatch {
    node: Node,
    id: ResId,
    pub(super) may_rename: bool,
    pub(super) may_change_kind: bool,
}

impl StrategicPatch {
    pub(super) fn new(node: &Node, schema: &Schema) -> Self {
        let resource = Resource::new(node.clone(), schema);
        let id = resource.id().clone();
        Self { node: resource.node, id, may_rename: false, may_change_kind: false }
    }

    /// The id of the resource that it is for, where no selector says so.
    pub(super) fn id(&self) -> &ResId {
        &self.id
    }

    pub(super) fn span(&self) -> Span {
        let name = self.node.lookup(&["metadata", "name"]);
        name.map_or(self.node.span, |name| name.span)
    }

    /// Makes strings of all labels or annotations, as Kustomize does when it sets them anew. So a null is no deletion
    /// any more, but the string that is written for it.
    pub(super) fn stringify(&mut self, field: &str, cx: &Context<'_>) {
        let Some(metadata) = self.node.get_mut("metadata") else { return };
        let Some(values) = metadata.get_mut(field) else { return };
        let Some(entries) = values.entries_mut().filter(|entries| !entries.is_empty()) else {
            metadata.remove(field);
            return;
        };
        for entry in entries {
            let text = entry.value.text().unwrap_or_default();
            if is_null(&entry.value) {
                let sentence = format!("the null deletes nothing here; it sets the text `{text}`");
                let warning = Warning::new(Code::Ignored, sentence).at(entry.value.span);
                cx.push_warning(warning.hint("a patch without `target` and `options` can delete it"));
            }
            entry.value = Node::string(text).with_style(new_style(text)).at(entry.value.span);
        }
    }

    /// Returns true if it wipes all annotations, and with them what Kustomize keeps there.
    fn wipes_annotations(&self) -> bool {
        let wipes = |node: &Node| {
            is_null(node) || matches!(node.get("$patch").and_then(Node::text), Some("delete" | "replace"))
        };
        let metadata = self.node.get("metadata");
        metadata.is_some_and(|metadata| wipes(metadata) || metadata.get("annotations").is_some_and(wipes))
    }
}

/// The resources while patches are applied. What a patch deletes is gone for the next ones, but leaves its place until
/// the end, so that deleting many costs no more than deleting one.
pub(super) struct Patched<'m> {
    map: &'m mut ResMap,
    deleted: HashSet<usize>,
    hints: usize,
}

impl<'m> Patched<'m> {
    pub(super) fn new(map: &'m mut ResMap) -> Self {
        Self { map, deleted: HashSet::new(), hints: 0 }
    }

    /// Takes the deleted resources out.
    pub(super) fn finish(self) {
        let mut position = 0;
        if !self.deleted.is_empty() {
            self.map.retain(|_| {
                position += 1;
                !self.deleted.contains(&(position - 1))
            });
        }
    }

    pub(super) fn refuse_duplicates(&self) -> Result<()> {
        self.map.refuse_duplicates()
    }

    /// The positions of the resources that a selector selects. Warns where there are none.
    pub(super) fn select(&mut self, selector: &Selector, cx: &Context<'_>) -> Result<Vec<usize>> {
        let mut selected = selector.select(self.map)?;
        selected.retain(|position| !self.deleted.contains(position));
        if selected.is_empty() {
            let warning =
                Warning::new(Code::PatchWithoutTarget, "the target selects no resource").at(selector.span());
            cx.push_warning(match self.near(selector) {
                Some(hint) => warning.hint(hint),
                None => warning,
            });
        }
        Ok(selected)
    }

    /// The one resource that has or had an id.
    pub(super) fn target(&self, patch: &StrategicPatch) -> Result<usize> {
        let id = patch.id();
        match self.map.with_any_id(id) {
            [position] => Ok(*position),
            [] => {
                let sentence = format!("patch target matches no resource: {}", id.described());
                let error = Error::invalid(sentence).at(patch.span());
                Err(match self.near_id(id) {
                    Some(hint) => error.hint(hint),
                    None => error,
                })
            }
            [first, second, ..] => {
                let sentence = format!("the patch is for {}, which several resources are", id.described());
                let span = |position: usize| self.map.get(position).span();
                Err(Error::invalid(sentence)
                    .at(patch.span())
                    .via("one of them is defined here", span(*first))
                    .via("another one here", span(*second)))
            }
        }
    }

    /// Applies a patch to a resource, whose name, namespace and kind stay unless the patch may change them.
    pub(super) fn merge(&mut self, position: usize, patch: &StrategicPatch, cx: &Context<'_>) -> Result<()> {
        let schema = self.map.schema().clone();
        let is_deleted = self.map.modify(position, |resource| {
            let merged = merge(resource, patch, &schema)?;
            merged.warnings.into_iter().for_each(|warning| cx.push_warning(warning));
            Ok(merged.is_deleted)
        })?;
        if is_deleted {
            self.deleted.insert(position);
        }
        Ok(())
    }

    /// Applies a JSON patch to a resource.
    pub(super) fn change(
        &mut self,
        position: usize,
        patch: &JsonPatch,
        remember: bool,
        cx: &Context<'_>,
    ) -> Result<()> {
        self.map.modify(position, |resource| {
            let place = resource.span();
            if remember {
                resource.store_previous_id();
            }
            if resource.has_history() {
                make_annotations(&mut resource.node);
            }
            let inexact = patch
                .apply(&mut resource.node, &cx.growth)
                .map_err(|error| error.via("for this resource", place))?;
            for span in inexact {
                let sentence = "the number loses its last digits, because a JSON patch touches the resource";
                let warning = Warning::new(Code::PrecisionLost, sentence).at(span);
                cx.push_warning(warning.hint("quote it, or use a strategic merge patch"));
            }
            set_annotations_anew(&mut resource.node);
            Ok(())
        })
    }

    fn near(&mut self, selector: &Selector) -> Option<String> {
        let name = selector.literal_name()?;
        self.hints += 1;
        if self.hints > MAX_HINTS {
            return None;
        }
        let of_kind = self.map.iter().filter(|resource| selector.matches_gvk(resource.gvk()));
        let near = nearest(name, &of_kind).or_else(|| of_name(name, self.map.iter()));
        Some(format!("there is {}", near?))
    }

    /// Returns the id that is most similar to one that no resource has.
    fn near_id(&self, id: &ResId) -> Option<String> {
        let described = |resource: &Resource| {
            let ResId { gvk, name, namespace, .. } = resource.id();
            let namespace = if namespace.is_empty() {
                "no namespace".to_owned()
            } else {
                format!("namespace `{namespace}`")
            };
            format!("there is {}/{name} of apiVersion `{}` in {namespace}", gvk.kind, gvk.api_version())
        };
        let of_kind = self.map.iter().filter(|resource| resource.kind() == id.gvk.kind);
        if let Some(same) = of_kind.clone().find(|resource| resource.name() == id.name) {
            return Some(described(same));
        }
        let near = nearest(&id.name, &of_kind).or_else(|| of_name(&id.name, self.map.iter()));
        Some(format!("there is {}", near?))
    }
}

/// The resource whose name is most like a given one.
fn nearest<'r>(name: &str, resources: &(impl Iterator<Item = &'r Resource> + Clone)) -> Option<String> {
    let names = || resources.clone().map(Resource::name);
    let near =
        closest(name, names()).or_else(|| names().find(|other| other.contains(name) || name.contains(other)));
    // A single one is perhaps meant whatever its name.
    let near = near.or_else(|| {
        let mut names = names();
        names.next().filter(|_| names.next().is_none())
    })?;
    let found = resources.clone().find(|resource| resource.name() == near)?;
    Some(format!("{}/{near}", found.kind()))
}

/// A resource of another kind that has the name.
fn of_name<'r>(name: &str, mut resources: impl Iterator<Item = &'r Resource>) -> Option<String> {
    let found = resources.find(|resource| resource.name() == name)?;
    Some(format!("{}/{name}", found.kind()))
}

fn merge(resource: &mut Resource, patch: &StrategicPatch, schema: &Schema) -> Result<strategic::Merged> {
    let id = resource.id().clone();
    let api_version = resource.node.get("apiVersion").cloned();
    if patch.may_rename || patch.may_change_kind {
        resource.store_previous_id();
    }
    let place = resource.span();
    let merged = strategic::apply(&mut resource.node, &patch.node, schema)
        .map_err(|error| error.via("for this resource", place))?;
    if merged.is_deleted {
        *resource = Resource::default();
        return Ok(merged);
    }
    if patch.wipes_annotations() {
        resource.forget_history();
    }
    if let Some(api_version) = api_version {
        resource.node.set("apiVersion", api_version);
    }
    if !patch.may_change_kind {
        resource.set_kind(&id.gvk.kind);
    }
    if !patch.may_rename {
        resource.set_name(&id.name);
    }
    if id.namespace.is_empty() {
        resource.remove_metadata("namespace");
    } else {
        resource.set_namespace(&id.namespace);
    }
    resource.sync_aliases();
    Ok(merged)
}

/// Makes annotations for a patch to find, where Kustomize has its own there.
fn make_annotations(node: &mut Node) {
    if let Some(metadata) = node.get_mut("metadata")
        && metadata.get("annotations").is_none_or(is_null)
    {
        metadata.set("annotations", Node::mapping(Vec::new()));
    }
}

/// Kustomize sets all annotations anew after a JSON patch, which makes strings of them, and metadata where it is gone.
fn set_annotations_anew(node: &mut Node) {
    if node.get("metadata").is_none() {
        node.set("metadata", Node::mapping(Vec::new()));
    }
    let Some(metadata) = node.get_mut("metadata") else { return };
    let Some(annotations) = metadata.get_mut("annotations") else { return };
    let Some(entries) = annotations.entries_mut().filter(|entries| !entries.is_empty()) else {
        metadata.remove("annotations");
        return;
    };
    for entry in entries {
        let text = entry.value.text().unwrap_or_default();
        entry.value = Node::string(text).with_style(new_style(text)).at(entry.value.span);
    }
}
