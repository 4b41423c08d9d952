//! The kinds that CustomResourceDefinitions define.

use yamltree::{Dialect, Node, Resolved};

use crate::Gvk;
use crate::schema::Schema;

/// Returns the kinds that a CustomResourceDefinition serves, with their schemas; none for any other object.
#[must_use]
pub fn kinds(object: &Node) -> Vec<(Gvk, Schema)> {
    let text = |path: &[&str]| object.lookup(path).and_then(Node::text).unwrap_or_default();
    let is_definition = text(&["apiVersion"]).starts_with("apiextensions.k8s.io/")
        && text(&["kind"]) == "CustomResourceDefinition";
    if !is_definition {
        return Vec::new();
    }
    let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
    // In v1beta1 all versions may have the same schema, above them.
    let common = object.lookup(&["spec", "validation", "openAPIV3Schema"]);
    let versions = object.lookup(&["spec", "versions"]).and_then(Node::items);
    let is_served = |version: &&Node| {
        !version
            .get("served")
            .is_some_and(|served| matches!(served.resolved(Dialect::V3), Ok(Resolved::Bool(false))))
    };
    let defined = |version: &Node| {
        let name = version.get("name")?.text()?;
        let schema = version.lookup(&["schema", "openAPIV3Schema"]).or(common)?;
        let gvk = Gvk { group: group.to_owned(), version: name.to_owned(), kind: kind.to_owned() };
        Some((gvk, Schema::read_structural(schema)))
    };
    versions.into_iter().flatten().filter(is_served).filter_map(defined).collect()
}
