//! The known types of fields, with the keys of their list items.
//!
//! In: Kubernetes' own types, as the kustomize crate has them, and the CRDs among the objects. Out: a shape that goes
//! along with a walk. A mapping of unknown type that has containers is taken for a pod's.

use std::collections::HashMap;

use argocd::objects::Object;
use kustomize::KubernetesType;
use yamltree::Node;

/// The known type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'d> {
    Builtin(KubernetesType),
    /// A schema of a CRD.
    Custom(&'d Node),
    Unknown,
}

/// The types that CRDs define, by group, kind and version.
#[derive(Default)]
pub(crate) struct Definitions<'o> {
    schemas: HashMap<(&'o str, &'o str), Vec<(&'o str, &'o Node)>>,
}

impl<'o> Definitions<'o> {
    /// Takes the types of CRDs; those that come later win.
    pub(crate) fn add(&mut self, objects: &'o [Object]) {
        for crd in objects.iter().filter(|object| object.is_crd()) {
            let kind = (crd.text_at(&["spec", "group"]), crd.text_at(&["spec", "names", "kind"]));
            let versions = crd.node().lookup(&["spec", "versions"]).and_then(Node::items);
            let schemas = versions.into_iter().flatten().filter_map(|version| {
                let schema = version.lookup(&["schema", "openAPIV3Schema"])?;
                Some((version.get("name")?.text()?, schema))
            });
            self.schemas.insert(kind, schemas.collect());
        }
    }

    /// The shape of an object.
    pub(crate) fn shape(&self, object: &Object) -> Shape<'o> {
        if let Some(known) = KubernetesType::of(object.api_version(), object.kind()) {
            return Shape::Builtin(known);
        }
        let versions = self.schemas.get(&(object.group(), object.kind()));
        let schema =
            versions.and_then(|versions| versions.iter().find(|(name, _)| *name == object.version()));
        schema.map_or(Shape::Unknown, |(_, schema)| Shape::Custom(schema))
    }
}

impl<'d> Shape<'d> {
    pub(super) fn field(self, name: &str) -> Self {
        match self {
            Shape::Builtin(known) => known.field(name).map_or(Shape::Unknown, Shape::Builtin),
            Shape::Custom(schema) => {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                let each = || schema.get("additionalProperties").filter(|each| each.is_mapping());
                property.or_else(each).map_or(Shape::Unknown, Shape::Custom)
            }
            Shape::Unknown => Shape::Unknown,
        }
    }

    pub(super) fn items(self) -> Self {
        match self {
            Shape::Builtin(known) => known.items().map_or(Shape::Unknown, Shape::Builtin),
            Shape::Custom(schema) => schema.get("items").map_or(Shape::Unknown, Shape::Custom),
            Shape::Unknown => Shape::Unknown,
        }
    }

    /// By which keys items are told apart; no keys for a set.
    pub(super) fn keys(self) -> Option<Vec<&'d str>> {
        match self {
            Shape::Builtin(known) => known.list_keys(),
            Shape::Custom(schema) => match schema.get("x-kubernetes-list-type").and_then(Node::text) {
                Some("map") => {
                    let keys = schema.get("x-kubernetes-list-map-keys")?.items()?;
                    keys.iter().map(Node::text).collect()
                }
                Some("set") => Some(Vec::new()),
                _ => None,
            },
            Shape::Unknown => None,
        }
    }

    /// The shape of a value of which more can be told by looking at it.
    pub(super) fn of_value(self, base: &Node, head: &Node) -> Self {
        let has_containers = |node: &Node| node.get("containers").is_some_and(Node::is_sequence);
        match self {
            Shape::Unknown if has_containers(base) || has_containers(head) => {
                let pod = KubernetesType::of("v1", "Pod").and_then(|pod| pod.field("spec"));
                pod.map_or(Shape::Unknown, Shape::Builtin)
            }
            known => known,
        }
    }
}
