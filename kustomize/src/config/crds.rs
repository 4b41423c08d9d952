//! Field specifications from `crds`: OpenAPI definitions in which extensions mark the fields that hold a resource's
//! name, a label selector, annotations or a name of its own.
//!
//! In come files of definitions by type name. A type with `apiVersion`, `kind` and `metadata` is a kind of resource,
//! named by what follows the last dot; from it references (`$ref`) lead to the types of its fields, and only they do.

use std::collections::{BTreeMap, HashMap};

use compact_str::CompactString;
use yamltree::{Node, Span};

use super::{FieldSpecs, Lists, NameReference, TransformerConfig};
use crate::context::Context;
use crate::decode::{self, Located, Object, described};
use crate::error::{Error, ErrorKind, Result};
use crate::fieldspec::{FieldPath, FieldSpec};
use crate::kustomization::Kustomization;
use crate::loader::Loader;
use crate::resid::Gvk;

/// A hundred times the fields of the largest known resource; types that refer to each other multiply.
const MAX_FIELDS: usize = 100_000;

/// Reads the files that `crds` names.
pub(super) fn load(
    kustomization: &Kustomization,
    loader: &Loader,
    cx: &Context<'_>,
) -> Result<TransformerConfig> {
    let mut config = TransformerConfig::default();
    for entry in kustomization.strings("crds")? {
        let lists = read(&entry, loader, cx).map_err(|error| error.via("named here", entry.span))?;
        config.merge(&TransformerConfig(lists.into()))?;
    }
    Ok(config)
}

fn read(entry: &Located, loader: &Loader, cx: &Context<'_>) -> Result<Lists> {
    let documents = loader.documents(entry, cx)?;
    let Some(document) = documents.first() else {
        return Err(Error::invalid(format!("`{}` is empty", entry.text)).at(entry.span));
    };
    let types = types(&document.root)?;
    let mut found = Found::default();
    for (name, fields) in &types {
        if ["apiVersion", "kind", "metadata"]
            .iter()
            .all(|wanted| fields.iter().any(|field| field.name == *wanted))
        {
            let kind = name.rsplit('.').next().unwrap_or_default();
            let mut walk = Walk { types: &types, kind: kind.into(), way: Vec::new(), found: &mut found };
            walk.visit(name, "")?;
        }
    }
    found.into_lists()
}

/// The types of a file by name, with their fields.
type Types<'n> = BTreeMap<&'n str, Vec<Field<'n>>>;

/// A field of a type.
struct Field<'n> {
    name: &'n str,
    definition: &'n Node,
}

fn types(root: &Node) -> Result<Types<'_>> {
    let mut types = BTreeMap::new();
    for (name, definition) in members(root, "a file of definitions")? {
        let definition = Object::new(definition, "an OpenAPI definition").map_err(explain)?;
        let schema = definition.field("Schema").map(|schema| Object::new(schema, "a schema")).transpose()?;
        let properties = schema.and_then(|schema| schema.field("properties"));
        let fields = properties.map_or(Ok(Vec::new()), |properties| members(properties, "`properties`"))?;
        let fields = fields.into_iter().map(|(name, definition)| Field { name, definition });
        types.insert(name, fields.collect());
    }
    Ok(types)
}

/// The keys and values of a mapping.
fn members<'n>(node: &'n Node, what: &str) -> Result<Vec<(&'n str, &'n Node)>> {
    match node.entries() {
        Some(entries) => {
            Ok(entries.iter().map(|entry| (entry.key.text().unwrap_or_default(), &entry.value)).collect())
        }
        None if decode::is_null(node) => Ok(Vec::new()),
        None => {
            Err(Error::invalid(format!("{what} must be a mapping, not {}", described(node))).at(node.span))
        }
    }
}

fn explain(error: Error) -> Error {
    error.hint(
        "`crds` takes OpenAPI definitions by type name; a CustomResourceDefinition belongs into `resources`",
    )
}

/// What the extensions say, so far.
#[derive(Default)]
struct Found {
    annotations: Vec<FieldSpec>,
    labels: Vec<FieldSpec>,
    names: Vec<FieldSpec>,
    /// By version and kind of what is referred to.
    references: BTreeMap<(String, String), Vec<FieldSpec>>,
    visited: usize,
}

impl Found {
    fn into_lists(self) -> Result<Lists> {
        let mut lists = Lists::default();
        lists.common_annotations.merge(&FieldSpecs::new(self.annotations))?;
        lists.common_labels.merge(&FieldSpecs::new(self.labels))?;
        lists.name_prefix.merge(&FieldSpecs::new(self.names))?;
        for ((version, kind), fields) in self.references {
            let gvk = Gvk { version: version.into(), kind: kind.into(), ..Gvk::default() };
            let mut referrers = FieldSpecs::default();
            referrers.merge(&FieldSpecs::new(fields))?;
            lists.name_reference.push(NameReference { gvk, referrers });
        }
        lists.sort();
        Ok(lists)
    }
}

/// The walk through the fields of a kind of resource.
struct Walk<'w, 'n> {
    types: &'w Types<'n>,
    kind: CompactString,
    /// The types on the way, so that one which contains itself is entered once.
    way: Vec<&'n str>,
    found: &'w mut Found,
}

impl<'n> Walk<'_, 'n> {
    fn visit(&mut self, type_name: &str, path: &str) -> Result<()> {
        let types = self.types;
        let Some((name, fields)) = types.get_key_value(type_name) else { return Ok(()) };
        if self.way.contains(name) {
            return Ok(());
        }
        self.way.push(name);
        for field in fields {
            let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}/{}", field.name) };
            self.field(field.definition, &path)?;
        }
        self.way.pop();
        Ok(())
    }

    fn field(&mut self, definition: &'n Node, path: &str) -> Result<()> {
        self.found.visited += 1;
        if self.found.visited > MAX_FIELDS {
            let sentence = format!("the types of these definitions have more than {MAX_FIELDS} fields");
            return Err(Error::new(ErrorKind::Limit, sentence).at(definition.span));
        }
        let extensions = extensions(definition)?;
        let said = |name: &str| extensions.get(&format!("x-kubernetes-{name}")).copied();
        if said("annotation").is_some() {
            self.found.annotations.push(self.spec(path, definition.span));
        }
        if said("label-selector").is_some() {
            self.found.labels.push(self.spec(path, definition.span));
        }
        if said("identity").is_some() {
            self.found.names.push(self.spec(path, definition.span));
        }
        if let (Some(version), Some(kind)) = (said("object-ref-api-version"), said("object-ref-kind")) {
            let key = said("object-ref-name-key").unwrap_or("name");
            let spec = self.spec(&format!("{path}/{key}"), definition.span);
            self.found.references.entry((version.to_owned(), kind.to_owned())).or_default().push(spec);
        }
        match definition.get("$ref").and_then(Node::text) {
            Some(reference) => self.visit(reference, path),
            None => Ok(()),
        }
    }

    fn spec(&self, path: &str, span: Span) -> FieldSpec {
        let gvk = Gvk { kind: self.kind.clone(), ..Gvk::default() };
        FieldSpec { gvk, path: FieldPath::new(path.into()), create: false, span }
    }
}

/// The extensions of a field that are strings, by their names in lower case.
fn extensions(definition: &Node) -> Result<HashMap<String, &str>> {
    let mut extensions = HashMap::new();
    for (name, value) in members(definition, "the definition of a field")? {
        let name = name.to_ascii_lowercase();
        if let Some(text) = value.text().filter(|_| decode::string(value, &name).is_ok()) {
            extensions.insert(name, text);
        }
    }
    Ok(extensions)
}
