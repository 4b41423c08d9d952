//! The texts that schemas are in, and the names by which schemas refer to one another.
//!
//! In: texts of schemas, from the chart or of json-schema.org. Out: their values, each known to belong to a resource,
//! which is what an `$id` names, and the value that a reference stands for. Refuses names that are taken twice and
//! texts that would have to be fetched.

use std::collections::{HashMap, HashSet};

use gostd::quoted;

use super::check;
use super::draft::{Draft, Holds, metaschema};
use super::url::{escape_pointer, join, split_fragment};
use crate::json::{Json, NodeId, Value};

/// An error in a schema, with the message of the Go library.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    /// The node in the chart's schema, if it is there.
    pub(super) node: Option<NodeId>,
}

/// A part of a text that has its own address: the whole, or what has an `$id`.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) node: NodeId,
    pub(super) url: String,
    pub(super) draft: Draft,
    anchors: HashMap<String, NodeId>,
    /// The names of those anchors that are dynamic.
    dynamic: Vec<String>,
}

#[derive(Debug)]
struct Document {
    url: String,
    root: NodeId,
    /// The numbers of its resources.
    resources: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Registry<'t> {
    pub(super) json: Json<'t>,
    documents: Vec<Document>,
    resources: Vec<Resource>,
    /// The resource that begins at a value.
    begins: HashMap<NodeId, usize>,
    /// The schemas that were looked at.
    seen: HashSet<NodeId>,
    /// The schemas that may not be what their metaschema asks for.
    pub(super) doubtful: Vec<NodeId>,
    /// The URNs that nothing is known of; what they name allows everything.
    pub(super) unresolved: Vec<String>,
}

impl<'t> Registry<'t> {
    /// Takes in a text that was read.
    pub(super) fn add(&mut self, url: &str, root: NodeId) -> Result<(), Fault> {
        self.documents.push(Document { url: url.to_owned(), root, resources: Vec::new() });
        let document = self.documents.len() - 1;
        self.collect(document, root, url, Draft::LATEST)
    }

    /// The root of the text at an address.
    pub(super) fn load(&mut self, url: &str) -> Result<NodeId, Fault> {
        if let Some(document) = self.documents.iter().find(|document| document.url == url) {
            return Ok(document.root);
        }
        let unavailable = |reason: &str| Fault {
            message: format!("failing loading {}: {reason}", quoted(url.as_bytes())),
            node: None,
        };
        let text = match metaschema(url) {
            Some(text) => text,
            None if url.starts_with("urn:") => {
                self.unresolved.push(url.to_owned());
                "true"
            }
            None => {
                return Err(match url.strip_prefix("file://") {
                    Some(path) => unavailable(&format!("open {path}: no such file or directory")),
                    None => unavailable("schemas are not fetched"),
                });
            }
        };
        let root = self.json.read_all(text).ok_or_else(|| unavailable("it is not valid JSON"))?;
        self.add(url, root)?;
        Ok(root)
    }

    /// The value that a reference in a schema stands for, and for a `$dynamicRef` the anchor that it names.
    pub(super) fn resolve(
        &mut self,
        schema: NodeId,
        reference: &str,
    ) -> Result<(NodeId, Option<String>), Fault> {
        let fault = |message| Fault { message, node: Some(schema) };
        let (url, fragment) = join(&self.resource(schema).url, reference).map_err(fault)?;
        let document = self.document(schema);
        let local = self.documents[document].resources.iter().find(|at| self.resources[**at].url == url);
        let resource = match local {
            _ if self.documents[document].url == url => self.begins[&self.documents[document].root],
            Some(resource) => *resource,
            None => {
                let root = self.load(&url).map_err(|fault| Fault { node: Some(schema), ..fault })?;
                self.begins[&root]
            }
        };
        let Resource { node, anchors, url: resource_url, .. } = &self.resources[resource];
        if fragment.is_empty() || fragment.starts_with('/') {
            let found = self.json.lookup(*node, &fragment).ok_or_else(|| {
                let url = &self.documents[self.document(*node)].url;
                let pointer = format!("{}{fragment}", self.json.pointer(*node));
                let place = format!("{url}#{}", escape_pointer(&pointer));
                fault(format!("json-pointer in {} not found", quoted(place.as_bytes())))
            })?;
            return Ok((found, None));
        }
        let found = anchors.get(&fragment).copied().ok_or_else(|| {
            let place = format!("{resource_url}#{}", escape_pointer(&fragment));
            let url = &self.documents[self.document(*node)].url;
            fault(format!(
                "anchor in {} not found in schema {}",
                quoted(place.as_bytes()),
                quoted(url.as_bytes())
            ))
        })?;
        Ok((found, Some(fragment)))
    }

    /// Makes sure that a schema was looked at: a reference may lead where no keyword holds one.
    pub(super) fn ensure(&mut self, node: NodeId) -> Result<(), Fault> {
        if self.seen.contains(&node) {
            return Ok(());
        }
        let (document, resource) = (self.document(node), self.resource(node));
        let (url, draft) = (resource.url.clone(), resource.draft);
        self.collect(document, node, &url, draft)
    }

    /// The innermost resource that a value belongs to.
    pub(super) fn resource(&self, node: NodeId) -> &Resource {
        let mut at = node;
        loop {
            match (self.begins.get(&at), self.json.parent(at)) {
                (Some(resource), _) => return &self.resources[*resource],
                (None, Some(parent)) => at = parent,
                (None, None) => return &self.resources[0],
            }
        }
    }

    /// The dynamic anchors of a resource with the schemas that they name.
    pub(super) fn dynamic_anchors(&self, node: NodeId) -> Vec<(String, NodeId)> {
        let resource = self.resource(node);
        let named = |name: &String| Some((name.clone(), *resource.anchors.get(name)?));
        resource.dynamic.iter().filter_map(named).collect()
    }

    /// Returns where a schema is, as errors name it.
    pub(super) fn location(&self, node: NodeId) -> String {
        let url = &self.documents[self.document(node)].url;
        format!("{url}#{}", escape_pointer(&self.json.pointer(node)))
    }

    fn document(&self, node: NodeId) -> usize {
        let mut root = node;
        while let Some(parent) = self.json.parent(root) {
            root = parent;
        }
        self.documents.iter().position(|document| document.root == root).unwrap_or_default()
    }

    /// Looks at a schema and at those in it for the names that they have.
    fn collect(&mut self, document: usize, node: NodeId, base: &str, inherited: Draft) -> Result<(), Fault> {
        if !self.seen.insert(node) {
            return Ok(());
        }
        let is_root = self.json.parent(node).is_none();
        if !matches!(self.json.value(node), Value::Object(_)) {
            if is_root {
                self.begin(document, node, base, inherited)?;
            }
            if !check::is_sound(&self.json, node, inherited) {
                self.doubtful.push(node);
            }
            return Ok(());
        }
        let (draft, id) = self.draft_and_id(node, inherited, is_root)?;
        let base = match id {
            Some(id) => join(base, &id).map(|(url, _)| url).map_err(|_| {
                let place = quoted(self.location(node).as_bytes());
                Fault { message: format!("error in parsing id at {place}"), node: Some(node) }
            })?,
            None => base.to_owned(),
        };
        if is_root || draft.id(&self.json, node).is_some() {
            self.begin(document, node, &base, draft)?;
        }
        let (resource, draft_of_resource) = {
            let is_base = |at: &&usize| self.resources[**at].url == base;
            let at = self.documents[document].resources.iter().find(is_base).copied().unwrap_or_default();
            (at, self.resources[at].draft)
        };
        self.collect_anchors(node, resource)?;
        if !check::is_sound(&self.json, node, draft_of_resource) {
            self.doubtful.push(node);
        }
        for (keyword, value) in self.json.members(node).to_vec() {
            let Some(holds) = draft.holds(&keyword) else { continue };
            if matches!(holds, Holds::Schema | Holds::SchemaOrSchemas) {
                self.collect(document, value, &base, draft_of_resource)?;
            }
            for item in self.json.items(value).to_vec() {
                if matches!(holds, Holds::Schemas | Holds::SchemaOrSchemas) {
                    self.collect(document, item, &base, draft_of_resource)?;
                }
            }
            for (_, field) in self.json.members(value).to_vec() {
                if matches!(holds, Holds::Fields | Holds::FieldsOrNames) {
                    self.collect(document, field, &base, draft_of_resource)?;
                }
            }
        }
        Ok(())
    }

    /// The draft that a schema is of and the address that it gives itself. Only the root and what has an address may
    /// choose another draft.
    fn draft_and_id(
        &mut self,
        node: NodeId,
        inherited: Draft,
        is_root: bool,
    ) -> Result<(Draft, Option<String>), Fault> {
        let named = self.json.member(node, "$schema").and_then(|schema| self.json.text(schema));
        let draft = match named.map(|url| (url.to_owned(), Draft::named(url))) {
            None => inherited,
            Some((_, Some(draft))) => draft,
            Some((url, None)) => {
                // A metaschema of one's own would have to be fetched.
                let (address, _) =
                    split_fragment(&url).map_err(|message| Fault { message, node: Some(node) })?;
                self.load(address).map_err(|fault| Fault { node: Some(node), ..fault })?;
                inherited
            }
        };
        let id = draft.id(&self.json, node).map(str::to_owned);
        if id.is_none() && !is_root {
            return Ok((inherited, inherited.id(&self.json, node).map(str::to_owned)));
        }
        Ok((draft, id))
    }

    fn begin(&mut self, document: usize, node: NodeId, url: &str, draft: Draft) -> Result<(), Fault> {
        let same = self.documents[document].resources.iter().find(|at| self.resources[**at].url == url);
        if let Some(same) = same {
            let places = [node, self.resources[*same].node].map(|node| self.json.pointer(node));
            let [url, document_url, first, second] =
                [url, &self.documents[document].url, &places[0], &places[1]]
                    .map(|text| quoted(text.as_bytes()));
            let message = format!("duplicate id {url} in {document_url} at {first} and {second}");
            return Err(Fault { message, node: Some(node) });
        }
        self.begins.insert(node, self.resources.len());
        self.documents[document].resources.push(self.resources.len());
        self.resources.push(Resource {
            node,
            url: url.to_owned(),
            draft,
            anchors: HashMap::new(),
            dynamic: Vec::new(),
        });
        Ok(())
    }

    fn collect_anchors(&mut self, node: NodeId, resource: usize) -> Result<(), Fault> {
        let draft = self.resources[resource].draft;
        let text = |key| self.json.member(node, key).and_then(|value| self.json.text(value));
        let mut found = Vec::new();
        if draft < Draft::V2019 {
            if self.json.member(node, "$ref").is_some() {
                return Ok(());
            }
            if let Some(id) = text(draft.id_key()) {
                let (_, fragment) = split_fragment(id).map_err(|_| {
                    let place = quoted(self.location(node).as_bytes());
                    Fault { message: format!("error in parsing anchor at {place}"), node: Some(node) }
                })?;
                if !fragment.is_empty() && !fragment.starts_with('/') {
                    found.push((fragment, false));
                }
            }
        } else {
            found.extend(text("$anchor").map(|anchor| (anchor.to_owned(), false)));
        }
        if draft >= Draft::V2020 {
            found.extend(text("$dynamicAnchor").map(|anchor| (anchor.to_owned(), true)));
        }
        for (anchor, is_dynamic) in found {
            self.add_anchor(node, resource, anchor, is_dynamic)?;
        }
        Ok(())
    }

    fn add_anchor(
        &mut self,
        node: NodeId,
        resource: usize,
        anchor: String,
        is_dynamic: bool,
    ) -> Result<(), Fault> {
        if let Some(first) = self.resources[resource].anchors.get(&anchor).filter(|first| **first != node) {
            let url = &self.documents[self.document(node)].url;
            let places = [self.json.pointer(*first), self.json.pointer(node)];
            let [anchor, url, first, second] =
                [&anchor, url, &places[0], &places[1]].map(|text| quoted(text.as_bytes()));
            let message = format!("duplicate anchor {anchor} in {url} at {first} and {second}");
            return Err(Fault { message, node: Some(node) });
        }
        let resource = &mut self.resources[resource];
        if is_dynamic {
            resource.dynamic.push(anchor.clone());
        }
        resource.anchors.insert(anchor, node);
        Ok(())
    }
}
