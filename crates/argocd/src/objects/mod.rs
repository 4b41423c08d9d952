//! Kubernetes objects as Argo CD's repo-server and controller treat them, whatever rendered them.
//!
//! In: the text of a stream of documents ([`read`]), or nodes that are rendered already ([`Object::new`]). Out: objects
//! that know what they are and where they are written, as they would be compared and applied ([`Pipeline`]): lists
//! taken apart, tracked, in their namespaces, each once, without what the settings exclude. Refused: documents that are
//! no objects, and labels or annotations that are no text where tracking must write beside them.

mod filter;
mod json;
mod pipeline;
mod scope;
mod stream;
mod tracking;
mod values;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use yamltree::{Entry, Kind, Location, Node, Source, Span};

use diagnostic::{Error, Result};
pub use filter::ResourceFilter;
pub use pipeline::{Destination, Pipeline, Processed};
pub use scope::Scopes;
pub use stream::{documents, documents_until_fault, flatten, read};
pub use tracking::{ARGOCD_NAMESPACE, Method, Tracking, instance_name};
pub use write::{to_json, to_yaml};

/// The texts that an object's nodes may come from: the number in a span is the place in this list.
pub type Sources = Arc<[Arc<Source>]>;

/// One object: a mapping that has a `kind`.
///
/// Its scalars are what JSON holds: a plain one is null, a boolean or a number, all others are strings by their tag.
#[derive(Clone, Debug)]
pub struct Object {
    node: Node,
    sources: Sources,
}

/// The identity of an object for Argo CD, without its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The API group; empty for the core.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for objects of the cluster.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Object {
    /// Takes a document for an object. Its values are read as Go reads YAML into JSON.
    ///
    /// # Errors
    /// If it is no mapping, has no `kind` or an `apiVersion` that is none, or has no JSON.
    pub fn new(node: &Node, sources: &Sources) -> Result<Self> {
        let object = values::json_values(node)
            .map(|node| Self { node, sources: Arc::clone(sources) })
            .map_err(|error| Error::invalid(error.message()).at(place_of(sources, error.span())))?;
        object.checked()
    }

    /// Takes a node whose scalars are what JSON holds.
    fn of_json(node: Node, sources: Sources) -> Result<Self> {
        Self { node, sources }.checked()
    }

    fn checked(self) -> Result<Self> {
        let refuse = |message: &str| Err(Error::invalid(message).at(self.place()));
        if !self.node.is_mapping() {
            return refuse("expected a Kubernetes object (a mapping)");
        }
        if self.kind().is_empty() {
            let error = Error::invalid("the object lacks `kind`").at(self.place());
            return Err(error.hint("every manifest requires `apiVersion` and `kind`"));
        }
        match self.node.get("apiVersion") {
            Some(given) if self.api_version().matches('/').count() > 1 => {
                let message = format!("invalid apiVersion `{}`", self.api_version());
                Err(Error::invalid(message).at(self.place_of(given)))
            }
            _ => Ok(self),
        }
    }

    /// The whole object.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The whole object, to change: scalars that are put in are such as [`Object`] promises.
    pub fn node_mut(&mut self) -> &mut Node {
        &mut self.node
    }

    /// The texts that it comes from.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The same object, with other places: where each span leads in other texts.
    #[must_use]
    pub fn with_places(mut self, sources: &Sources, place: &dyn Fn(Span) -> Span) -> Self {
        settle(&mut self.node, place);
        self.sources = Arc::clone(sources);
        self
    }

    /// `group/version`, or the version alone.
    #[must_use]
    pub fn api_version(&self) -> &str {
        self.text_at(&["apiVersion"])
    }

    /// The API group; empty for the core.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// The version in its group.
    #[must_use]
    pub fn version(&self) -> &str {
        self.api_version().rsplit('/').next().unwrap_or_default()
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text_at(&["kind"])
    }

    /// The name; empty where the cluster is to make one.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text_at(&["metadata", "name"])
    }

    /// Returns what the name begins with that the cluster is to make.
    #[must_use]
    pub fn generate_name(&self) -> &str {
        self.text_at(&["metadata", "generateName"])
    }

    /// The namespace; empty where none is given.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text_at(&["metadata", "namespace"])
    }

    /// Returns what tells it from other objects.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            group: self.group().to_owned(),
            kind: self.kind().to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }

    /// Returns true if it defines a kind.
    #[must_use]
    pub fn is_crd(&self) -> bool {
        self.kind() == "CustomResourceDefinition" && self.group() == "apiextensions.k8s.io"
    }

    /// The string at a path of keys; empty where there is none.
    #[must_use]
    pub fn text_at(&self, path: &[&str]) -> &str {
        self.node.lookup(path).and_then(values::string).unwrap_or_default()
    }

    /// The value of an annotation. As in Argo CD there are none where one of them is no string.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.string_map("annotations")?.iter().find(|entry| entry.key.text() == Some(key))?.value.text()
    }

    /// The value of a label, under the same rule.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.string_map("labels")?.iter().find(|entry| entry.key.text() == Some(key))?.value.text()
    }

    /// The parts of an annotation between commas, each once, without blanks around.
    #[must_use]
    pub fn annotation_list(&self, key: &str) -> Vec<&str> {
        let mut items: Vec<&str> = Vec::new();
        for item in self.annotation(key).unwrap_or_default().split(',').map(str::trim) {
            if !item.is_empty() && !items.contains(&item) {
                items.push(item);
            }
        }
        items
    }

    fn string_map(&self, field: &str) -> Option<&Vec<Entry>> {
        let entries = self.node.lookup(&["metadata", field])?.entries()?;
        entries.iter().all(|entry| values::string(&entry.value).is_some()).then_some(entries)
    }

    /// Gives it another namespace, or none.
    pub fn set_namespace(&mut self, namespace: &str) {
        if self.node.get("metadata").is_none() {
            if namespace.is_empty() {
                return;
            }
            self.node.set("metadata", Node::mapping(Vec::new()));
        }
        let Some(metadata) = self.node.get_mut("metadata") else { return };
        if namespace.is_empty() {
            metadata.remove("namespace");
        } else {
            metadata.set("namespace", Node::string(namespace));
        }
    }

    /// Returns where it begins, when that is in a file.
    #[must_use]
    pub fn place(&self) -> Option<Location> {
        let first = self.node.entries().and_then(|entries| entries.first());
        let first = first.map(|entry| entry.key.span).filter(Span::is_some);
        place_of(&self.sources, first.unwrap_or(self.node.span))
    }

    /// Returns where one of its nodes is written; where the object is, if no file has the node.
    #[must_use]
    pub fn place_of(&self, node: &Node) -> Option<Location> {
        place_of(&self.sources, node.span).or_else(|| self.place())
    }

    /// Returns where an annotation's value is written.
    #[must_use]
    pub fn annotation_place(&self, key: &str) -> Option<Location> {
        let node = self.node.lookup(&["metadata", "annotations"]).and_then(|all| all.get(key));
        node.map_or_else(|| self.place(), |node| self.place_of(node))
    }

    /// The name as a person is told of it.
    pub(crate) fn shown_name(&self) -> Cow<'_, str> {
        match (self.name(), self.generate_name()) {
            ("", "") => Cow::Borrowed("without a name"),
            ("", beginning) => Cow::Owned(format!("{beginning}*")),
            (name, _) => Cow::Borrowed(name),
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind(), self.shown_name())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, kind, namespace, name } = self;
        for part in [group, kind, namespace].into_iter().filter(|part| !part.is_empty()) {
            write!(f, "{part}/")?;
        }
        f.write_str(name)
    }
}

fn settle(node: &mut Node, place: &dyn Fn(Span) -> Span) {
    node.span = place(node.span);
    match &mut node.kind {
        Kind::Mapping(entries) => {
            for entry in entries {
                settle(&mut entry.key, place);
                settle(&mut entry.value, place);
            }
        }
        Kind::Sequence(items) => items.iter_mut().for_each(|item| settle(item, place)),
        Kind::Scalar(_) | Kind::Alias(_) => {}
    }
}

/// Returns where a span in some texts is.
#[must_use]
pub fn place_of(sources: &Sources, span: Span) -> Option<Location> {
    let source = sources.get(span.source as usize)?;
    Some(Location { source: Arc::clone(source), span })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Object {
        let source = Arc::new(Source { name: "a.yaml".to_owned(), text: text.into() });
        documents(&source).unwrap().remove(0)
    }

    #[test]
    fn an_object_knows_what_it_is() {
        let object =
            one("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n");
        assert_eq!((object.group(), object.version(), object.kind()), ("apps", "v1", "Deployment"));
        assert_eq!(object.key().to_string(), "apps/Deployment/shop/web");
        assert_eq!(object.to_string(), "Deployment/web");
        let core = one("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n");
        assert_eq!((core.group(), core.version(), core.name()), ("", "v1", ""));
        assert_eq!(core.to_string(), "Pod/a-*");
        // A name that is no string is none to Go's unstructured objects.
        assert_eq!(one("kind: Pod\nmetadata: {name: 7}\n").name(), "");
    }

    #[test]
    fn one_annotation_that_is_no_text_hides_all() {
        let object = one("kind: Pod\nmetadata:\n  annotations: {a: x, b: \"1\"}\n  labels: {a: x, b: 1}\n");
        assert_eq!((object.annotation("b"), object.label("a")), (Some("1"), None));
        assert_eq!(object.annotation_place("b").unwrap().to_string(), "a.yaml:3:26");
    }

    #[test]
    fn lists_in_annotations_have_each_item_once() {
        let object = one("kind: Pod\nmetadata: {annotations: {a: ' x,, y ,x'}}\n");
        assert_eq!(object.annotation_list("a"), ["x", "y"]);
        assert!(object.annotation_list("b").is_empty());
    }

    #[test]
    fn namespaces_come_and_go() {
        let mut object = one("kind: Pod\n");
        object.set_namespace("");
        assert!(object.node().get("metadata").is_none());
        object.set_namespace("shop");
        assert_eq!(object.namespace(), "shop");
        object.set_namespace("");
        assert_eq!(object.namespace(), "");
    }
}
