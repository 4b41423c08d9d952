//! Field specifications from `crds`: OpenAPI definitions in which extensions mark the fields that hold a resource's
//! name, a label selector, annotations or a name of its own.
//!
//! In come files of definitions by type name. A type with `apiVersion`, `kind` and `metadata` is a kind of resource,
//! named by what follows the last dot; from it references (`$ref`) lead to the types of its fields, and only they do.

use std::collections::{BTreeMap, HashMap};

use compact_str::CompactString;
use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Node, Span};

use super::{FieldSpecs, Lists, NameReference, TransformerConfig};
use crate::context::Context;
use crate::decode::{self, Located, Object, described};
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
    if loader.text(entry, cx)?.text.is_empty() {
        return Err(Error::invalid(format!("`{}` is empty", entry.text)).at(entry.span));
    }
    let documents = loader.documents(entry, cx)?;
    let Some(document) = documents.first() else { return Ok(Lists::default()) };
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
        definition.strings("Dependencies")?;
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

/// The extensions found so far.
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
        let said = |name: &str| extensions.get(name).copied();
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

/// The extensions of a field that are strings.
fn extensions(definition: &Node) -> Result<HashMap<&str, &str>> {
    let members = members(definition, "the definition of a field")?;
    let strings = members.into_iter().filter(|(name, value)| decode::string(value, name).is_ok());
    Ok(strings
        .filter_map(|(name, value)| Some((name.strip_prefix("x-kubernetes-")?, value.text()?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{built, refused};

    const THING: &str =
        "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {conf: {name: c}, own: {cm: c}}}";
    const CONFIG: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}";
    const KUSTOMIZATION: &str = "resources: [t.yaml, c.yaml]\ncrds: [crds.yaml]\nnamePrefix: p-\n\
        commonAnnotations: {a: b}\ncommonLabels: {l: m}\n";

    fn files(crds: &str) -> [(&str, &str); 4] {
        [("kustomization.yaml", KUSTOMIZATION), ("t.yaml", THING), ("c.yaml", CONFIG), ("crds.yaml", crds)]
    }

    const TYPES: &str = "
x.io/api.Thing:
  schema: {properties: {kind: {}, apiVersion: {}, metadata: {}, spec: {$ref: x.io/api.Spec}}}
x.io/api.Spec:
  Schema:
    properties:
      conf: {$ref: x.io/api.Ref, x-kubernetes-object-ref-api-version: v1, x-kubernetes-object-ref-kind: ConfigMap}
      own:
        $ref: x.io/api.Spec
        x-kubernetes-object-ref-api-version: v1
        x-kubernetes-object-ref-kind: ConfigMap
        x-kubernetes-object-ref-name-key: cm
        x-kubernetes-annotation: ''
        x-kubernetes-label-selector: true
";

    /// As Kustomize prints it, but that it does not survive a type which contains itself.
    #[test]
    fn extensions_of_custom_types_add_field_specifications() {
        let want = "spec:
  conf:
    name: p-c
  own:
    a: b
    cm: p-c
";
        let yaml = built(&files(TYPES));
        assert!(yaml.ends_with(want), "{yaml}");
    }

    #[test]
    fn what_is_no_definition_is_refused() {
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";
        assert_eq!(
            refused(&files(crd)),
            "crds.yaml:1:13: `an OpenAPI definition` must be a mapping, not the string \
            `apiextensions.k8s.io/v1`"
        );
        assert_eq!(refused(&files("")), "kustomization.yaml:2:8: `crds.yaml` is empty");
        let list = "T: {Schema: {properties: [kind]}}";
        assert_eq!(refused(&files(list)), "crds.yaml:1:26: `properties` must be a mapping, not a list");
    }

    /// Types that name each other twice double the fields with each step.
    #[test]
    fn types_that_multiply_are_bounded() {
        let mut types = "T0: {Schema: {properties: {kind: {}, apiVersion: {}, metadata: {}, a: {$ref: T1}, b: {$ref: T1}}}}\n".to_owned();
        for number in 1..40 {
            let next = number + 1;
            types += &format!(
                "T{number}: {{Schema: {{properties: {{a: {{$ref: T{next}}}, b: {{$ref: T{next}}}}}}}}}\n"
            );
        }
        assert!(refused(&files(&types)).contains("more than 100000 fields"));
    }
}
