//! CustomResourceDefinitions that take less than before: objects that are there may break, or be refused.

use std::collections::{BTreeMap, BTreeSet};

use yamltree::Node;

use super::Difference;
use crate::model::{Level, Rule, Summary};

/// The maximum number of narrowings of one schema that are listed.
const MAX_NARROWINGS: usize = 20;

/// Limits that narrow a value when they grow, and when they shrink.
const LOWER: &[&str] = &["minimum", "minLength", "minItems", "minProperties"];
const UPPER: &[&str] = &["maximum", "maxLength", "maxItems", "maxProperties"];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    let id = difference.id;
    let is_crd = id.kind == "CustomResourceDefinition" && id.group() == "apiextensions.k8s.io";
    let (Some(base), Some(head)) = (difference.base, difference.head) else { return };
    if !is_crd {
        return;
    }
    let mut tell = |level, message: String| {
        summary.findings.push(difference.finding(Rule::CrdNarrowed, level, message));
    };
    let (before, after) = (versions(base), versions(head));
    for (name, old) in &before {
        let Some(new) = after.get(name) else {
            tell(
                Level::Error,
                format!("the version `{name}` is gone: objects stored in it make the change fail"),
            );
            continue;
        };
        if is(old, "served") && !is(new, "served") {
            tell(Level::Error, format!("the version `{name}` is no longer served"));
        }
        let schema = |version: &'_ Node| version.lookup(&["schema", "openAPIV3Schema"]).cloned();
        let (Some(old), Some(new)) = (schema(old), schema(new)) else { continue };
        let mut narrowed = Narrowed { path: String::new(), told: Vec::new() };
        narrowed.schema(&old, &new);
        let more = narrowed.told.len().saturating_sub(MAX_NARROWINGS);
        for (path, what) in narrowed.told.into_iter().take(MAX_NARROWINGS) {
            let field = if path.is_empty() { "the object".to_owned() } else { format!("`{path}`") };
            tell(Level::Warning, format!("`{name}`: {field} {what}"));
        }
        if more > 0 {
            tell(Level::Warning, format!("`{name}` is narrower in {more} more places"));
        }
    }
    let stored = |versions: &BTreeMap<&str, &Node>| {
        versions.iter().find(|(_, version)| is(version, "storage")).map(|(name, _)| (*name).to_owned())
    };
    if let (Some(old), Some(new)) = (stored(&before), stored(&after))
        && old != new
    {
        tell(Level::Note, format!("objects are stored as `{new}`, no longer as `{old}`"));
    }
}

fn versions(crd: &Node) -> BTreeMap<&str, &Node> {
    let versions = crd.lookup(&["spec", "versions"]).and_then(Node::items);
    versions
        .into_iter()
        .flatten()
        .filter_map(|version| Some((version.get("name")?.text()?, version)))
        .collect()
}

fn is(node: &Node, field: &str) -> bool {
    node.get(field).and_then(Node::text) == Some("true")
}

/// Values that a schema no longer accepts, by path.
struct Narrowed {
    path: String,
    told: Vec<(String, String)>,
}

impl Narrowed {
    fn tell(&mut self, what: impl Into<String>) {
        self.told.push((self.path.clone(), what.into()));
    }

    fn at(&mut self, step: &str, old: &Node, new: &Node) {
        let len = self.path.len();
        self.path.push_str(step);
        self.schema(old, new);
        self.path.truncate(len);
    }

    fn schema(&mut self, old: &Node, new: &Node) {
        let text = |node: &'_ Node, field: &str| node.get(field).and_then(Node::text).map(str::to_owned);
        match (text(old, "type"), text(new, "type")) {
            (Some(old), Some(new)) if old != new && !(old == "integer" && new == "number") => {
                self.tell(format!("is of type {new}, no longer {old}"));
                return;
            }
            _ => {}
        }
        let open = "x-kubernetes-preserve-unknown-fields";
        if is(old, open) && !is(new, open) {
            self.tell("no longer keeps fields that it does not know");
        }
        if is(old, "nullable") && !is(new, "nullable") {
            self.tell("can no longer be null");
        }
        self.limits(old, new);
        self.lists(old, new);
        self.properties(old, new, is(new, open));
        for inner in ["items", "additionalProperties"] {
            if let (Some(old), Some(new)) = (old.get(inner), new.get(inner)) {
                self.at("[]", old, new);
            }
        }
    }

    fn limits(&mut self, old: &Node, new: &Node) {
        let number = |node: &Node, field: &str| node.get(field)?.text()?.parse::<f64>().ok();
        for (fields, is_upper) in [(LOWER, false), (UPPER, true)] {
            for field in fields {
                let Some(limit) = number(new, field) else { continue };
                let is_narrower =
                    number(old, field).is_none_or(|old| if is_upper { limit < old } else { limit > old });
                if is_narrower {
                    self.tell(format!("has the {field} {limit}"));
                }
            }
        }
        let pattern = new.get("pattern").and_then(Node::text);
        if pattern.is_some() && pattern != old.get("pattern").and_then(Node::text) {
            self.tell("must match another pattern");
        }
    }

    fn lists(&mut self, old: &Node, new: &Node) {
        let texts = |node: &Node, field: &str| {
            let items = node.get(field).and_then(Node::items);
            items.map(|items| items.iter().map(crate::json_text::text_of).collect::<BTreeSet<_>>())
        };
        if let Some(allowed) = texts(new, "enum") {
            match texts(old, "enum") {
                None => self.tell("takes only some values"),
                Some(before) => {
                    let gone: Vec<_> = before.difference(&allowed).cloned().collect();
                    if !gone.is_empty() {
                        self.tell(format!("no longer takes {}", gone.join(", ")));
                    }
                }
            }
        }
        let required = texts(old, "required").unwrap_or_default();
        for field in texts(new, "required").unwrap_or_default().difference(&required) {
            self.tell(format!("must have {field}"));
        }
        let rules =
            |node: &Node| node.get("x-kubernetes-validations").and_then(Node::items).map_or(0, Vec::len);
        if rules(new) > rules(old) {
            self.tell("has more rules to fulfil");
        }
    }

    fn properties(&mut self, old: &Node, new: &Node, is_open: bool) {
        let empty = Node::mapping(Vec::new());
        let of = |node: &'_ Node| node.get("properties").cloned().unwrap_or(empty.clone());
        let (before, after) = (of(old), of(new));
        let after: BTreeMap<&str, &Node> = after
            .entries()
            .into_iter()
            .flatten()
            .filter_map(|entry| Some((entry.key.text()?, &entry.value)))
            .collect();
        for entry in before.entries().into_iter().flatten() {
            let Some(name) = entry.key.text() else { continue };
            let dot = if self.path.is_empty() { "" } else { "." };
            match after.get(name) {
                Some(new) => self.at(&format!("{dot}{name}"), &entry.value, new),
                None if is_open => {}
                None => self.tell(format!("loses the field `{name}`")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::summary::testing::findings;

    fn crd(versions: &str) -> String {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: ws.e.x}}\nspec: {{group: e.x, names: {{kind: W}}, versions: [{versions}]}}\n"
        )
    }

    fn version(schema: &str) -> String {
        format!("{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}")
    }

    #[test]
    fn versions_that_go_are_errors() {
        let old = crd(
            "{name: v1, served: true, storage: true}, {name: v1beta1, served: true}, {name: v1alpha1, served: true}",
        );
        let new = crd("{name: v1, served: true}, {name: v1beta1, served: false}, {name: v2, storage: true}");
        assert_eq!(
            findings(&old, &new),
            [
                "Error the version `v1alpha1` is gone: objects stored in it make the change fail",
                "Error the version `v1beta1` is no longer served",
                "Note objects are stored as `v2`, no longer as `v1`",
            ]
        );
    }

    #[test]
    fn schemas_become_narrower_in_many_ways() {
        let old = "{properties: {spec: {properties: {a: {type: string}, b: {type: integer}, c: {enum: [x, w]}, d: {x-kubernetes-preserve-unknown-fields: true}, l: {items: {maxLength: 9}}}}}}";
        let new = "{properties: {spec: {required: [a], properties: {b: {type: number, minimum: 1}, c: {enum: [x]}, d: {}, l: {items: {maxLength: 8}}, e: {type: string}}}}}";
        assert_eq!(
            findings(&crd(&version(old)), &crd(&version(new))),
            [
                "Warning `v1`: `spec` must have \"a\"",
                "Warning `v1`: `spec` loses the field `a`",
                "Warning `v1`: `spec.b` has the minimum 1",
                "Warning `v1`: `spec.c` no longer takes \"w\"",
                "Warning `v1`: `spec.d` no longer keeps fields that it does not know",
                "Warning `v1`: `spec.l[]` has the maxLength 8",
            ]
        );
        assert!(
            findings(&crd(&version(new)), &crd(&version("{x-kubernetes-preserve-unknown-fields: true}")))
                .is_empty()
        );
    }
}
