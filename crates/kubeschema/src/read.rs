//! Reads schemas that are written in YAML or JSON: those of CRDs, and JSON schemas.

use std::sync::Arc;

use yamltree::{Dialect, Node, Resolved};

use crate::check::json_of;
use crate::schema::{Additional, Bound, Format, ListType, Pattern, Range, Rules, Schema, Type};

/// The maximum nesting of a schema: CRDs have a few dozen levels.
const MAX_DEPTH: usize = 128;

/// The flavour of the schema's keywords.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    /// The API server drops fields that a CRD does not name.
    Structural,
    /// Fields that are not named may be there, unless it says otherwise.
    JsonSchema,
}

impl Schema {
    /// Reads the `openAPIV3Schema` of a CRD.
    #[must_use]
    pub fn read_structural(node: &Node) -> Self {
        let mut schema = read(node, Flavour::Structural, 0);
        schema.is_resource = true;
        schema
    }

    /// Reads a self-contained JSON schema, such as those of the kubeconform catalogs.
    #[must_use]
    pub fn read_json_schema(node: &Node) -> Self {
        read(node, Flavour::JsonSchema, 0)
    }
}

fn read(node: &Node, flavour: Flavour, depth: usize) -> Schema {
    if depth > MAX_DEPTH || !node.is_mapping() {
        return Schema::default();
    }
    let inner = |node: &Node| read(node, flavour, depth + 1);
    let (kind, has_null) = kind_of(node);
    let mut schema = Schema {
        kind,
        is_nullable: has_null || is_true(node, "nullable"),
        required: texts(node.get("required")),
        items: node.get("items").map(|items| Box::new(inner(items))),
        format: node.get("format").and_then(Node::text).and_then(Format::named),
        is_resource: is_true(node, "x-kubernetes-embedded-resource"),
        ..Schema::default()
    };
    if let Some(entries) = node.get("properties").and_then(Node::entries) {
        let named = |entry: &yamltree::Entry| Some((entry.key.text()?.to_owned(), inner(&entry.value)));
        schema.properties = entries.iter().filter_map(named).collect();
    }
    if is_true(node, "x-kubernetes-int-or-string") {
        schema.kind = Some(Type::IntOrString);
    }
    schema.list = match node.get("x-kubernetes-list-type").and_then(Node::text) {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(texts(node.get("x-kubernetes-list-map-keys"))),
        _ => ListType::Plain,
    };
    schema.additional = additional(node, &schema, flavour, depth);
    let rules = rules(node, flavour, depth);
    schema.rules = (!rules.is_empty()).then(|| Box::new(rules));
    schema
}

/// The type, and whether null is one too.
fn kind_of(node: &Node) -> (Option<Type>, bool) {
    let Some(kind) = node.get("type") else { return (None, false) };
    let Some(names) = kind.items() else {
        return (kind.text().and_then(Type::named), false);
    };
    let kinds: Vec<Type> = names.iter().filter_map(|name| Type::named(name.text()?)).collect();
    let has_null = kinds.contains(&Type::Null);
    let mut others = kinds.into_iter().filter(|kind| *kind != Type::Null);
    match (others.next(), others.next()) {
        (Some(one), None) => (Some(one), has_null),
        (None, _) => (has_null.then_some(Type::Null), has_null),
        (Some(Type::String), Some(Type::Integer)) | (Some(Type::Integer), Some(Type::String)) => {
            (Some(Type::IntOrString), has_null)
        }
        // Several types at once: what they have in common is not worth a wrong complaint.
        _ => (None, has_null),
    }
}

fn additional(node: &Node, schema: &Schema, flavour: Flavour, depth: usize) -> Additional {
    match node.get("additionalProperties") {
        Some(given) if given.is_mapping() => {
            return Additional::Schema(Box::new(read(given, flavour, depth + 1)));
        }
        Some(given) if is_bool(given, false) => return Additional::Refused,
        Some(_) => return Additional::Any,
        None => {}
    }
    let is_pruned = flavour == Flavour::Structural
        && schema.kind == Some(Type::Object)
        && !is_true(node, "x-kubernetes-preserve-unknown-fields");
    if is_pruned { Additional::Refused } else { Additional::Any }
}

fn rules(node: &Node, flavour: Flavour, depth: usize) -> Rules {
    // These only restrict, and declare no fields.
    let part = |node: &Node| read(node, Flavour::JsonSchema, depth + 1);
    let parts = |name: &str| -> Vec<Schema> {
        node.get(name).and_then(Node::items).into_iter().flatten().map(part).collect()
    };
    let number = |name: &str| node.get(name).and_then(|value| value.text()?.parse::<f64>().ok());
    let count = |name: &str| node.get(name).and_then(|value| value.text()?.parse::<u64>().ok());
    let range = |least: &str, most: &str| Range { least: count(least), most: count(most) };
    let bound = |name: &str, exclusive: &str| match (number(name), node.get(exclusive)) {
        (Some(value), flag) => {
            Some(Bound { value, is_exclusive: flag.is_some_and(|flag| is_bool(flag, true)) })
        }
        (None, _) => number(exclusive).map(|value| Bound { value, is_exclusive: true }),
    };
    let values = node.get("enum").and_then(Node::items);
    Rules {
        values: values.map(|values| values.iter().map(json_of).collect()),
        pattern: node.get("pattern").and_then(Node::text).and_then(pattern),
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: number("multipleOf"),
        length: range("minLength", "maxLength"),
        items: range("minItems", "maxItems"),
        fields: range("minProperties", "maxProperties"),
        all_of: parts("allOf"),
        any_of: parts("anyOf"),
        one_of: parts("oneOf"),
        not: node.get("not").map(|node| Box::new(part(node))),
        has_expressions: flavour == Flavour::Structural && node.get("x-kubernetes-validations").is_some(),
    }
}

/// An expression that cannot be read narrows nothing: the API server has refused the CRD.
fn pattern(text: &str) -> Option<Pattern> {
    let expression = goregex::Regex::new(text).ok()?;
    Some(Pattern { text: text.to_owned(), expression: Arc::new(expression) })
}

fn texts(node: Option<&Node>) -> Vec<String> {
    let items = node.and_then(Node::items).into_iter().flatten();
    items.filter_map(|item| item.text().map(str::to_owned)).collect()
}

fn is_true(node: &Node, name: &str) -> bool {
    node.get(name).is_some_and(|value| is_bool(value, true))
}

fn is_bool(node: &Node, wanted: bool) -> bool {
    matches!(node.resolved(Dialect::V3), Ok(Resolved::Bool(value)) if value == wanted)
}
