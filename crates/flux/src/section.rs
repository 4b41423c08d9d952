//! The fields of an object, as Kubernetes' API reads them: a number is no text, and what the type does not have is passed
//! over.
//!
//! In: an object and the path of a mapping in it. Out: values of types. Refused, at its place: a value of another type.

use std::collections::BTreeMap;

use argocd::objects::Object;
use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Location, Node, Resolved};

/// A mapping in an object, which may be absent.
#[derive(Clone, Debug)]
pub(crate) struct Section<'o> {
    object: &'o Object,
    node: Option<&'o Node>,
    path: String,
}

impl<'o> Section<'o> {
    /// A mapping at the top of an object.
    pub(crate) fn of(object: &'o Object, name: &str) -> Result<Self> {
        let top = Self { object, node: Some(object.node()), path: String::new() };
        top.section(name)
    }

    /// The mapping of a field.
    pub(crate) fn section(&self, name: &str) -> Result<Self> {
        self.inner(self.get(name), self.path_of(name))
    }

    /// The mappings of a list.
    pub(crate) fn sections(&self, name: &str) -> Result<Vec<Self>> {
        let items = self.items(name)?.iter();
        items.map(|item| self.inner(Some(item), self.path_of(name))).collect()
    }

    fn inner(&self, node: Option<&'o Node>, path: String) -> Result<Self> {
        let node = node.filter(|node| !is_null(node));
        match node {
            Some(other) if !other.is_mapping() => Err(self.refused(other, &path, "a mapping")),
            _ => Ok(Self { object: self.object, node, path }),
        }
    }

    /// Returns true if the mapping is there.
    pub(crate) fn exists(&self) -> bool {
        self.node.is_some()
    }

    /// A field's value, null or not.
    pub(crate) fn get(&self, name: &str) -> Option<&'o Node> {
        self.node.and_then(|node| node.get(name))
    }

    /// A text; empty where there is none.
    pub(crate) fn text(&self, name: &str) -> Result<String> {
        self.get(name).map_or(Ok(String::new()), |node| self.text_of(node, &self.path_of(name)))
    }

    /// A text that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<String> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Err(Error::invalid(format!("missing `{}`", self.path_of(name))).at(self.place(name)));
        }
        Ok(text)
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        self.items(name)?.iter().map(|item| self.text_of(item, &self.path_of(name))).collect()
    }

    /// The items of a list.
    pub(crate) fn items(&self, name: &str) -> Result<&'o [Node]> {
        match self.get(name) {
            None => Ok(&[]),
            Some(node) => match node.items() {
                Some(items) => Ok(items),
                None if is_null(node) => Ok(&[]),
                None => Err(self.refused(node, &self.path_of(name), "a list")),
            },
        }
    }

    /// A mapping from texts to texts.
    pub(crate) fn map(&self, name: &str) -> Result<BTreeMap<String, String>> {
        let section = self.section(name)?;
        let entry = |entry: &Entry| {
            let key = entry.key.text().unwrap_or_default();
            Ok((key.to_owned(), self.text_of(&entry.value, &format!("{}.{key}", section.path))?))
        };
        section.node.and_then(Node::entries).into_iter().flatten().map(entry).collect()
    }

    /// `true` or `false`; false where it is absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        let Some(node) = self.get(name) else { return Ok(false) };
        match node.resolved(Dialect::V2) {
            Ok(Resolved::Null) => Ok(false),
            Ok(Resolved::Bool(value)) => Ok(value),
            _ => Err(self.refused(node, &self.path_of(name), "`true` or `false`")),
        }
    }

    /// Returns where a field is written; the mapping where it is absent, and the object where that is.
    pub(crate) fn place(&self, name: &str) -> Option<Location> {
        match self.get(name).or(self.node) {
            Some(node) => self.object.place_of(node),
            None => self.object.place(),
        }
    }

    fn text_of(&self, node: &Node, path: &str) -> Result<String> {
        match node.resolved(Dialect::V2) {
            Ok(Resolved::Null) => Ok(String::new()),
            Ok(Resolved::Str | Resolved::Timestamp(_)) => Ok(node.text().unwrap_or_default().to_owned()),
            _ if node.is_scalar() => Err(self.refused(node, path, "a string").hint("quote it")),
            _ => Err(self.refused(node, path, "a string")),
        }
    }

    fn refused(&self, node: &Node, path: &str, wanted: &str) -> Error {
        Error::invalid(format!("`{path}` must be {wanted}")).at(self.object.place_of(node))
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// Returns true if a node is a null.
pub(crate) fn is_null(node: &Node) -> bool {
    matches!(node.resolved(Dialect::V2), Ok(Resolved::Null))
}
