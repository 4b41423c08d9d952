//! The end of a build: local resources are dropped, order, the managed-by label, annotations.

use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamltree::{Entry, Node, Style, Tag};

use crate::context::Context;
use crate::kustomization::Kustomization;
use crate::options::Reorder;
use crate::origin::{self, Origin};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::setter::set_entry;
use crate::sort::SortOrder;

/// Keeps a resource in the build but out of its output.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
const ORIGIN: &str = "config.kubernetes.io/origin";
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kustomize-v5.8.1");

/// Annotations by which kustomize's tools talk to each other; they never reach the output.
const BUILD_ANNOTATIONS: &[&str] = &[
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/needsHashSuffix",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/helm-generated",
];

/// Drops resources that are only there for others to use, and refuses those that lost what makes them resources and
/// those that have become the same.
pub(crate) fn drop_local_config(map: &mut ResMap) -> Result<()> {
    for resource in map.iter() {
        let missing = match (resource.kind(), resource.name()) {
            ("", _) => "kind",
            (kind, "") if !kind.ends_with("List") => "metadata.name",
            _ => continue,
        };
        return Err(Error::invalid(format!("the resource lacks `{missing}` at the end of the build"))
            .at(resource.span()));
    }
    let is_local =
        |resource: &Resource| resource.annotation(LOCAL_CONFIG).is_some_and(|value| value != "false");
    if map.iter().any(is_local) {
        map.retain(|resource| !is_local(resource));
    }
    // Two levels that change names each in its own way can end in the same id.
    let mut ids = HashSet::with_capacity(map.len());
    if map.iter().all(|resource| ids.insert(resource.id())) { Ok(()) } else { map.refuse_duplicates() }
}

/// Orders the resources as the kustomization that the build started with says, or else the command line.
pub(crate) fn sort(map: &mut ResMap, kustomization: &Kustomization, cx: &Context<'_>) -> Result<()> {
    let order = match (kustomization.field("sortOptions"), cx.options.reorder) {
        (Some(options), _) => SortOrder::from_options(options)?,
        (None, Reorder::Legacy) => SortOrder::legacy(),
        (None, Reorder::None) => SortOrder::Fifo,
    };
    order.apply(map);
    Ok(())
}

/// Labels every resource as managed by kustomize where that is asked for.
pub(crate) fn label_as_managed(
    map: &mut ResMap,
    kustomization: &Kustomization,
    cx: &Context<'_>,
) -> Result<()> {
    if !cx.options.enable_managed_by_label && !kustomization.build_metadata("managedByLabel") {
        return Ok(());
    }
    map.modify_each(|resource| {
        if resource.metadata("labels").is_none_or(|labels| !labels.is_mapping()) {
            resource.set_metadata("labels", Node::mapping(Vec::new()));
        }
        if let Some(labels) =
            resource.node.get_mut("metadata").and_then(|metadata| metadata.get_mut("labels"))
        {
            set_entry(labels, MANAGED_BY.0, MANAGED_BY.1, None)?;
        }
        resource.sync_aliases();
        Ok(())
    })
}

/// Brings the annotations into their final form: none of the build's, all of them strings, and what `buildMetadata`
/// asks for. An empty set goes.
pub(crate) fn write_annotations(map: &mut ResMap, kustomization: &Kustomization) -> Result<()> {
    let with_origin = kustomization.build_metadata("originAnnotations");
    let with_transformations = kustomization.build_metadata("transformerAnnotations");
    map.modify_each(|resource| {
        let origin = resource.origin.take().filter(|_| with_origin);
        let transformations = std::mem::take(&mut resource.transformations);
        let dropped = |key: &str| BUILD_ANNOTATIONS.contains(&key) || key == ORIGIN || key == TRANSFORMATIONS;
        let mut entries = take_annotations(resource);
        entries.retain(|entry| !entry.key.text().is_some_and(dropped));
        entries.iter_mut().for_each(make_string);
        if let Some(origin) = origin {
            entries.push(Entry::new(ORIGIN, Node::string(&Origin::text(&origin))));
        }
        if with_transformations && !transformations.is_empty() {
            entries.push(Entry::new(TRANSFORMATIONS, Node::string(&origin::list_text(&transformations))));
        }
        if !entries.is_empty() {
            resource.set_metadata("annotations", Node::mapping(entries));
        }
        Ok(())
    })
}

/// Takes the annotations out of a resource; `metadata` itself stays, and is made where it is missing.
fn take_annotations(resource: &mut Resource) -> Vec<Entry> {
    if resource.node.get("metadata").is_none_or(|metadata| !metadata.is_mapping()) {
        resource.node.set("metadata", Node::mapping(Vec::new()));
    }
    let annotations = resource.node.get_mut("metadata").and_then(|metadata| metadata.remove("annotations"));
    match annotations.map(|annotations| annotations.kind) {
        Some(yamltree::Kind::Mapping(entries)) => entries,
        _ => Vec::new(),
    }
}

/// An annotation's value is the text that was written, whatever type it would be read as. Its key loses its quotes, so
/// that `"1"` becomes a number, which is refused.
fn make_string(entry: &mut Entry) {
    for (node, tag) in [(&mut entry.key, Tag::Implicit), (&mut entry.value, Tag::Str)] {
        if !node.is_scalar() {
            *node = Node::string("").at(node.span);
        }
        node.tag = tag;
        node.style = Style::Plain;
    }
}
