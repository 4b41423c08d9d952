//! Reads the types in an OpenAPI document of the user's, as far as they matter for merging and scopes.

use std::borrow::Cow;
use std::collections::HashMap;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Node, Resolved};

use super::tables::{Field, KUBERNETES, NONE, Range, Resource, Scope, Shape, Tables};
use crate::decode::{self, wrong_type};
use crate::json;
use crate::loader::File;
use crate::read;
use crate::resid::Gvk;

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";
pub(super) const PATCH_STRATEGY: &str = "x-kubernetes-patch-strategy";
const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
const LIST_MAP_KEYS: &str = "x-kubernetes-list-map-keys";

/// Maximum number of times one reference may lead to the next; none does so twice but a loop.
const MAX_REFERENCES: usize = 32;

/// The relation of Kubernetes' own types to the document's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Below {
    /// Not there.
    Nothing,
    /// There, but the document's count where both have a name.
    Overridden,
    /// There, and they count.
    Overriding,
}

/// The document in a file: JSON where it begins with a brace, else YAML.
pub(super) fn read(file: &File) -> Result<Node> {
    let document = if file.text.starts_with('{') {
        json::parse(&file.text, file.source)?
    } else {
        let first = read::documents(&file.text, file.source)?.into_iter().next();
        first.map_or_else(Node::null, |document| document.root)
    };
    if document.entries().is_none() {
        let sentence = format!("an OpenAPI document must be a mapping, not {}", decode::described(&document));
        return Err(Error::invalid(sentence).at(document.span));
    }
    Ok(document)
}

/// The types that a document defines.
pub(super) fn tables(document: &Node, below: Below) -> Result<Tables> {
    let mut builder =
        Builder::new(if below == Below::Nothing { Tables::default() } else { KUBERNETES }, below);
    let definitions = match field(document, "definitions") {
        Some(definitions) => mapping(definitions, "definitions")?,
        None => &[],
    };
    for Entry { key, .. } in definitions {
        builder.declare(key.text().unwrap_or_default());
    }
    for Entry { key, value } in definitions {
        builder.define(key.text().unwrap_or_default(), value)?;
    }
    builder.resolve();
    Ok(builder.finish())
}

/// Adds the types of single lists to tables. Returns the shape of each; one that is no type has none.
pub(super) fn with_types(tables: Tables, types: &[(&str, Node)]) -> (Tables, HashMap<String, u32>) {
    let mut builder = Builder::new(tables, Below::Overridden);
    let mut shapes = HashMap::new();
    for (text, schema) in types {
        let shape = builder.push(Shape::EMPTY);
        if builder.fill(shape, schema).is_ok() {
            shapes.insert((*text).to_owned(), shape);
        }
    }
    builder.resolve();
    (builder.finish(), shapes)
}

/// Returns whether types are namespaced, as the paths say under which they are served.
pub(super) fn scopes(document: &Node) -> Result<HashMap<Gvk, bool>> {
    let mut scopes = HashMap::new();
    let Some(paths) = field(document, "paths") else { return Ok(scopes) };
    for Entry { key, value } in mapping(paths, "paths")? {
        let Some(get) = value.get("get") else { continue };
        let Some(identity) = extension(get, GROUP_VERSION_KIND) else { continue };
        let Some(gvk) = gvk(identity)? else { continue };
        let namespaced = key.text().is_some_and(|path| path.contains("namespaces/{namespace}"));
        let known = scopes.entry(gvk).or_insert(namespaced);
        *known = *known || namespaced;
    }
    Ok(scopes)
}

#[derive(Debug)]
struct Builder {
    tables: Tables,
    below: Below,
    /// The shapes of the document's definitions.
    declared: HashMap<String, u32>,
    /// The targets of definitions that are only a reference.
    aliases: HashMap<u32, String>,
    /// The slots in the tables that refer to a definition.
    references: Vec<(Slot, String)>,
    /// Places among the resources, by apiVersion and kind.
    resources: HashMap<(String, String), usize>,
}

/// A number in the tables that is a shape.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Field(usize),
    Each(u32),
    Items(u32),
}

impl Builder {
    fn new(tables: Tables, below: Below) -> Self {
        let name = |resource: &Resource| {
            (tables.text(resource.api_version).to_owned(), tables.text(resource.kind).to_owned())
        };
        let resources =
            tables.resources.iter().enumerate().map(|(at, resource)| (name(resource), at)).collect();
        Self {
            tables,
            below,
            declared: HashMap::new(),
            aliases: HashMap::new(),
            references: Vec::new(),
            resources,
        }
    }

    /// Gives a definition its shape, so that others can refer to it.
    fn declare(&mut self, name: &str) {
        let shape = match self.tables.named(name) {
            Some(own) => own,
            None => self.push(Shape::EMPTY),
        };
        self.declared.insert(name.to_owned(), shape);
    }

    fn define(&mut self, name: &str, schema: &Node) -> Result<()> {
        let shape = self.declared.get(name).copied().unwrap_or(NONE);
        let counts = self.below != Below::Overriding || self.tables.named(name).is_none();
        if counts {
            if let Some(target) = reference(schema)? {
                self.aliases.insert(shape, target);
            }
            self.fill(shape, schema)?;
        }
        let Some(identities) = extension(schema, GROUP_VERSION_KIND).and_then(Node::items) else {
            return Ok(());
        };
        for identity in identities {
            if let Some(gvk) = gvk(identity)? {
                self.register(&gvk, shape);
            }
        }
        Ok(())
    }

    fn register(&mut self, gvk: &Gvk, shape: u32) {
        let (api_version, kind) = (gvk.api_version(), gvk.kind.as_str());
        let key = (api_version.as_str().to_owned(), kind.to_owned());
        if let Some(known) = self.resources.get(&key) {
            if self.below != Below::Overriding {
                self.tables.resources.to_mut()[*known].shape = shape;
            }
            return;
        }
        let resource = Resource {
            kind: self.text(kind),
            api_version: self.text(&api_version),
            shape,
            scope: Scope::Unknown,
        };
        self.resources.insert(key, self.tables.resources.len());
        self.tables.resources.to_mut().push(resource);
    }

    /// Writes down what a schema says.
    fn fill(&mut self, shape: u32, schema: &Node) -> Result<()> {
        let mut filled = Shape::EMPTY;
        if let Some(properties) = field(schema, "properties") {
            filled.fields = self.fields(mapping(properties, "properties")?)?;
        }
        if let Some(each) = field(schema, "additionalProperties")
            && !matches!(each.resolved(Dialect::V2), Ok(Resolved::Bool(_)))
        {
            filled.each = self.inner(Slot::Each(shape), each)?;
        }
        if let Some(items) = field(schema, "items")
            && items.is_mapping()
            && is_array(schema)?
        {
            filled.items = self.inner(Slot::Items(shape), items)?;
        }
        filled.merge = self.merge(schema)?;
        self.tables.shapes.to_mut()[shape as usize] = filled;
        Ok(())
    }

    fn fields(&mut self, properties: &[Entry]) -> Result<Range> {
        let mut sorted: Vec<(&str, &Node)> =
            properties.iter().map(|entry| (entry.key.text().unwrap_or_default(), &entry.value)).collect();
        sorted.sort_by_key(|(name, _)| *name);
        let start = self.tables.fields.len();
        for (name, _) in &sorted {
            let name = self.text(name);
            self.tables.fields.to_mut().push(Field { name, shape: NONE });
        }
        for (at, (_, schema)) in sorted.iter().enumerate() {
            let shape = self.inner(Slot::Field(start + at), schema)?;
            self.tables.fields.to_mut()[start + at].shape = shape;
        }
        Ok(Range { start: number(start), len: number(sorted.len()) })
    }

    /// The shape of a schema inside another; one that refers elsewhere is found when all definitions are read.
    fn inner(&mut self, slot: Slot, schema: &Node) -> Result<u32> {
        mapping(schema, "a schema")?;
        if let Some(target) = reference(schema)? {
            self.references.push((slot, target));
            return Ok(NONE);
        }
        let shape = self.push(Shape::EMPTY);
        self.fill(shape, schema)?;
        Ok(shape)
    }

    fn merge(&mut self, schema: &Node) -> Result<Option<Range>> {
        let Some(strategy) = extension(schema, PATCH_STRATEGY) else { return Ok(None) };
        if !decode::string(strategy, PATCH_STRATEGY)?.split(',').any(|strategy| strategy == "merge") {
            return Ok(None);
        }
        let mut keys = Vec::new();
        if let Some(list) = extension(schema, LIST_MAP_KEYS) {
            for key in decode::items(list, LIST_MAP_KEYS)? {
                keys.push(decode::string(key, LIST_MAP_KEYS)?);
            }
        } else if let Some(key) = extension(schema, MERGE_KEY) {
            keys.push(decode::string(key, MERGE_KEY)?);
        }
        let start = self.tables.keys.len();
        for key in &keys {
            let key = self.text(key);
            self.tables.keys.to_mut().push(key);
        }
        Ok(Some(Range { start: number(start), len: number(keys.len()) }))
    }

    /// Fills in what refers to a definition. A reference that leads nowhere leaves its field unknown.
    fn resolve(&mut self) {
        for (slot, target) in std::mem::take(&mut self.references) {
            let shape = self.target(&target);
            match slot {
                Slot::Field(at) => self.tables.fields.to_mut()[at].shape = shape,
                Slot::Each(of) => self.tables.shapes.to_mut()[of as usize].each = shape,
                Slot::Items(of) => self.tables.shapes.to_mut()[of as usize].items = shape,
            }
        }
    }

    /// The shape that a reference leads to.
    fn target(&self, target: &str) -> u32 {
        let mut target = target;
        for _ in 0..MAX_REFERENCES {
            let Some(name) = target.strip_prefix("#/definitions/") else { return NONE };
            let mut segments = name.split('/').map(json::unescape);
            let name = segments.next().unwrap_or_default();
            let known = self.declared.get(&name).copied().or_else(|| self.tables.named(&name));
            let Some(shape) = self.descend(known, segments) else { return NONE };
            match self.aliases.get(&shape) {
                Some(next) => target = next,
                None => return shape,
            }
        }
        NONE
    }

    /// Follows the rest of a reference into a definition: `/properties/spec/items`.
    fn descend(&self, shape: Option<u32>, mut segments: impl Iterator<Item = String>) -> Option<u32> {
        let mut shape = shape?;
        while let Some(segment) = segments.next() {
            shape = match segment.as_str() {
                "properties" => self.tables.field(shape, &segments.next()?)?,
                "additionalProperties" => self.tables.shape(shape).each,
                "items" => self.tables.shape(shape).items,
                _ => return None,
            };
        }
        (shape != NONE).then_some(shape)
    }

    fn push(&mut self, shape: Shape) -> u32 {
        self.tables.shapes.to_mut().push(shape);
        number(self.tables.shapes.len() - 1)
    }

    fn text(&mut self, text: &str) -> Range {
        let start = number(self.tables.text.len());
        self.tables.text.to_mut().push_str(text);
        Range { start, len: number(text.len()) }
    }

    fn finish(mut self) -> Tables {
        let text = std::mem::take(&mut self.tables.text);
        let part = |range: Range| &text[range.start as usize..(range.start + range.len) as usize];
        let mut resources = self.tables.resources.into_owned();
        resources.sort_by_key(|resource| (part(resource.kind), part(resource.api_version)));
        Tables { text, resources: Cow::Owned(resources), ..self.tables }
    }
}

/// A member of an object; `None` where it is absent or null.
fn field<'n>(object: &'n Node, name: &str) -> Option<&'n Node> {
    object.get(name).filter(|value| !decode::is_null(value))
}

/// A member that is no part of OpenAPI; its name is read without regard to case.
fn extension<'n>(object: &'n Node, name: &str) -> Option<&'n Node> {
    let is_it = |entry: &&Entry| entry.key.text().is_some_and(|key| key.eq_ignore_ascii_case(name));
    object.entries()?.iter().rfind(is_it).map(|entry| &entry.value)
}

fn mapping<'n>(node: &'n Node, name: &str) -> Result<&'n [Entry]> {
    node.entries().map(Vec::as_slice).ok_or_else(|| wrong_type(name, "a mapping", node))
}

fn reference(schema: &Node) -> Result<Option<String>> {
    field(schema, "$ref").map(|target| decode::string(target, "$ref")).transpose()
}

/// Returns whether a schema's type is `array` and nothing beside.
fn is_array(schema: &Node) -> Result<bool> {
    let Some(kind) = field(schema, "type") else { return Ok(false) };
    match kind.items().map(Vec::as_slice) {
        Some([only]) => Ok(decode::string(only, "type")? == "array"),
        Some(_) => Ok(false),
        None => Ok(decode::string(kind, "type")? == "array"),
    }
}

/// The group, version and kind that an extension names; `None` where it is no object.
fn gvk(identity: &Node) -> Result<Option<Gvk>> {
    if !identity.is_mapping() {
        return Ok(None);
    }
    let text = |name: &str| match field(identity, name) {
        Some(value) => decode::string(value, name),
        None => Err(Error::invalid(format!("`{GROUP_VERSION_KIND}` lacks `{name}`")).at(identity.span)),
    };
    let group = identity.get("group").and_then(Node::text).unwrap_or_default();
    Ok(Some(Gvk { group: group.into(), version: text("version")?.into(), kind: text("kind")?.into() }))
}

/// Files are bounded far below 4 GiB when they are read.
fn number(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::super::{Schema, Type};
    use super::*;

    const THING: &str = r##"{"definitions": {
        "Thing": {
            "properties": {
                "spec": {"$ref": "#/definitions/Spec"},
                "template": {"$ref": "#/definitions/io.k8s.api.core.v1.PodTemplateSpec"},
                "labels": {"additionalProperties": {"$ref": "#/definitions/Spec"}}
            },
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}]
        },
        "Spec": {"$ref": "#/definitions/RealSpec"},
        "RealSpec": {"properties": {
            "parts": {
                "type": "array", "items": {"$ref": "#/definitions/RealSpec"},
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"
            },
            "ports": {
                "type": ["array"], "items": {"type": "object"}, "X-Kubernetes-Patch-Strategy": "merge,retainKeys",
                "x-kubernetes-patch-merge-key": "port", "x-kubernetes-list-map-keys": ["port", "protocol"]
            }
        }},
        "Loop": {"$ref": "#/definitions/Loop"}
    },
    "paths": {
        "/apis/example.com/v1/things/{name}": {"get": {
            "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Thing"}
        }},
        "/apis/example.com/v1/namespaces/{namespace}/parts": {"get": {
            "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Part"}
        }},
        "/apis/example.com/v1/parts": {"get": {
            "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Part"}
        }}
    }}"##;

    fn document(text: &str) -> Node {
        read(&File { source: 0, text: text.into() }).expect("a document")
    }

    fn schema(below: Below) -> Schema {
        let document = document(THING);
        let mut schema = Schema::of(tables(&document, below).expect("types"), true);
        schema.scopes = scopes(&document).expect("scopes");
        schema
    }

    fn keys(list: Option<Type<'_>>) -> Vec<String> {
        let keys = list.and_then(Type::merge_keys).expect("a list that is merged");
        keys.iter().map(str::to_owned).collect()
    }

    #[test]
    fn references_lead_to_definitions() {
        let schema = schema(Below::Nothing);
        let thing = schema.resource("example.com/v1", "Thing").expect("defined");
        let spec = thing.field("spec").expect("a field");
        assert_eq!(keys(spec.field("parts")), ["name"]);
        assert_eq!(
            keys(spec.field("parts").and_then(Type::items).and_then(|part| part.field("ports"))),
            ["port", "protocol"]
        );
        assert_eq!(keys(thing.field("labels").and_then(|map| map.field("any")?.field("parts"))), ["name"]);
        assert!(thing.field("template").is_none());
        assert!(schema.resource("apps/v1", "Deployment").is_none());
    }

    #[test]
    fn a_document_comes_on_top_of_types_in_use() {
        for below in [Below::Overridden, Below::Overriding] {
            let schema = schema(below);
            let template =
                schema.resource("example.com/v1", "Thing").and_then(|thing| thing.field("template"));
            assert_eq!(
                keys(template.and_then(|template| template.field("spec")?.field("containers"))),
                ["name"]
            );
            assert!(schema.resource("apps/v1", "Deployment").is_some());
        }
    }

    #[test]
    fn who_defines_a_type_last_defines_it() {
        let text = r#"{"definitions": {"io.k8s.api.core.v1.PodSpec": {"properties": {}}}}"#;
        for (below, known) in [(Below::Overridden, false), (Below::Overriding, true)] {
            let schema = Schema::of(tables(&document(text), below).expect("types"), true);
            let pod = schema.resource("v1", "Pod").and_then(|pod| pod.field("spec")).expect("a field");
            assert_eq!(pod.field("containers").is_some(), known);
        }
    }

    #[test]
    fn paths_tell_the_scope() {
        let schema = schema(Below::Nothing);
        assert!(schema.is_cluster_scoped(&Gvk::new("example.com/v1", "Thing")));
        assert!(!schema.is_cluster_scoped(&Gvk::new("example.com/v1", "Part")));
        // Kubernetes' own scopes stay known when its types are replaced.
        assert!(schema.is_cluster_scoped(&Gvk::new("v1", "Namespace")));
    }

    #[test]
    fn what_is_no_document_is_refused_at_its_place() {
        for (text, wrong) in [
            ("not json", "not json"),
            ("{\"definitions\": 1}", "1"),
            ("{\"definitions\": {\"a\": {\"properties\": {\"b\": 7}}}}", "7"),
            ("definitions:\n  a:\n    x-kubernetes-patch-strategy: 7\n", "7"),
        ] {
            let file = File { source: 0, text: text.into() };
            let error =
                read(&file).and_then(|document| tables(&document, Below::Nothing)).expect_err("refused");
            let span = error.span();
            assert_eq!(&text[span.start as usize..span.end as usize], wrong);
        }
    }
}
