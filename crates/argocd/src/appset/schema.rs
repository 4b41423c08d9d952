//! The types of Argo CD: the shape of each value, and when a field is written.
//!
//! In: a tree and its shape. Out: the tree as Go's decoder takes it, with its fields only; and what Go writes of
//! it. Refused, with the place: values of another type than the field's.

use yamltree::Span;

use super::generators::{Depth, GENERATORS};
use super::tree::{Entries, Kind, Tree};

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text,
    Bool,
    Int,
    /// `intstr.IntOrString`.
    IntOrText,
    /// Any JSON, whose texts and keys are templates all the same.
    Any,
    Object(&'static [Field]),
    List(&'static Shape),
    Map(&'static Shape),
    /// The `values` of a generator: texts by their names.
    Values,
    /// An entry of `generators`.
    Generator(Depth),
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) written: Written,
}

/// When Go writes a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Always,
    /// Unless it is the zero of its type: `omitempty`.
    NonEmpty,
    /// Written if it is set: a pointer with `omitempty`.
    IfSet,
}

/// A field that is always written.
pub(crate) const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, written: Written::Always }
}

/// A field that is left out where it is empty.
pub(crate) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, written: Written::NonEmpty }
}

/// A field behind a pointer.
pub(crate) const fn pointer(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, written: Written::IfSet }
}

impl Shape {
    pub(crate) const TEXTS: Self = Self::List(&Self::Text);
    pub(crate) const TEXT_MAP: Self = Self::Map(&Self::Text);

    /// The fields of a struct, in their order.
    pub(crate) fn fields(self) -> Vec<Field> {
        match self {
            Self::Object(fields) => fields.to_vec(),
            Self::Generator(depth) => {
                let selector = pointer("selector", super::selector::SHAPE);
                let kinds = GENERATORS
                    .iter()
                    .filter_map(|generator| Some(pointer(generator.name, (generator.shape)(depth)?)));
                kinds.chain([selector]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A field of a struct.
    pub(crate) fn field(self, name: &str) -> Option<Field> {
        match self {
            Self::Object(fields) => fields.iter().find(|field| field.name == name).copied(),
            _ => self.fields().into_iter().find(|field| field.name == name),
        }
    }

    /// Returns what a field is called in a sentence.
    fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::IntOrText => "an integer or a string",
            Self::Any => "anything",
            Self::Object(_) | Self::Generator(_) | Self::Map(_) | Self::Values => "a mapping",
            Self::List(_) => "a list",
        }
    }

    fn zero(self) -> Kind {
        match self {
            Self::Text => Kind::Text(String::new()),
            Self::Bool => Kind::Bool(false),
            Self::Int | Self::IntOrText => Kind::Int(0),
            Self::Any => Kind::Null,
            Self::Object(_) | Self::Generator(_) | Self::Map(_) | Self::Values => Kind::Map(Entries::new()),
            Self::List(_) => Kind::List(Vec::new()),
        }
    }

    /// Returns true if this is the zero of the type, or a collection without anything.
    pub(crate) fn is_empty(self, tree: &Tree) -> bool {
        match (&tree.kind, self) {
            (Kind::Null, _) => true,
            (_, Self::Any) => false,
            (Kind::Bool(truth), _) => !truth,
            (Kind::Int(number), _) => *number == 0,
            (Kind::Uint(number), _) => *number == 0,
            (Kind::Float(number), _) => *number == 0.0,
            (Kind::Text(text), _) => text.is_empty(),
            (Kind::List(items), _) => items.is_empty(),
            (Kind::Map(entries), Self::Object(_)) => self
                .fields()
                .into_iter()
                .all(|field| entries.get(field.name).is_none_or(|value| field.shape.is_empty(value))),
            (Kind::Map(entries), _) => entries.is_empty(),
        }
    }
}

/// A value that does not fit its type.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) message: String,
    pub(crate) span: Span,
}

/// Fields that decoding ignores, with their locations.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// Fields that the type does not have.
    pub(crate) unknown: Vec<(String, Span)>,
    /// Numbers and booleans where the type has a text.
    pub(crate) untyped: Vec<(String, Span)>,
}

/// The form in which a value reaches Go's decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// As YAML by `sigs.k8s.io/yaml`, which writes numbers and booleans as texts where the type wants one.
    Yaml,
    /// As JSON.
    Json,
}

/// The tree as the type of a shape has it: without unknown fields and nulls.
pub(crate) fn decode(
    tree: Tree,
    shape: Shape,
    input: Input,
    remarks: &mut Remarks,
) -> Result<Tree, Mismatch> {
    Decoder { remarks }.value(tree, shape, input, "the document")
}

struct Decoder<'r> {
    remarks: &'r mut Remarks,
}

impl Decoder<'_> {
    fn value(&mut self, tree: Tree, shape: Shape, input: Input, name: &str) -> Result<Tree, Mismatch> {
        let Tree { kind, span, key } = tree;
        let kind = match (kind, shape) {
            (kind, Shape::Any) => kind,
            (Kind::Null, _) => shape.zero(),
            (Kind::Text(text), Shape::Text | Shape::IntOrText) => Kind::Text(text),
            (Kind::Bool(truth), Shape::Bool) => Kind::Bool(truth),
            (Kind::Int(number), Shape::Int | Shape::IntOrText) => Kind::Int(number),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
            (Kind::Float(number), Shape::Int | Shape::IntOrText)
                if input == Input::Yaml && number.fract() == 0.0 && number.abs() < 1e15 =>
            {
                Kind::Int(number as i64)
            }
            (Kind::List(items), Shape::List(item)) => {
                let items = items.into_iter().map(|each| self.value(each, *item, input, name));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            (Kind::Map(entries), Shape::Map(item)) => self.map(entries, *item, input)?,
            (Kind::Map(entries), Shape::Values) => self.map(entries, Shape::Text, input)?,
            (Kind::Map(entries), Shape::Object(_) | Shape::Generator(_)) => {
                self.fields(entries, shape, input)?
            }
            (kind @ (Kind::Bool(_) | Kind::Int(_) | Kind::Uint(_) | Kind::Float(_)), Shape::Text)
                if input == Input::Yaml =>
            {
                self.remarks.untyped.push((name.to_owned(), span));
                Kind::Text(scalar_text(&kind))
            }
            (kind, _) => {
                let message = format!("`{name}` must be {}, found {}", shape.wanted(), kind.name());
                return Err(Mismatch { message, span });
            }
        };
        Ok(Tree { kind, span, key })
    }

    fn map(&mut self, entries: Entries, item: Shape, input: Input) -> Result<Kind, Mismatch> {
        let mut decoded = Entries::new();
        for (key, value) in entries {
            let value = self.value(value, item, input, &key)?;
            decoded.insert(key, value);
        }
        Ok(Kind::Map(decoded))
    }

    fn fields(&mut self, entries: Entries, shape: Shape, input: Input) -> Result<Kind, Mismatch> {
        let mut decoded = Entries::new();
        for (key, value) in entries {
            let Some(field) = shape.field(&key) else {
                self.remarks.unknown.push((key, value.key));
                continue;
            };
            if value.is_null() {
                continue;
            }
            // Nested generators are JSON to the type, decoded once they are asked.
            let inside = if matches!(shape, Shape::Generator(Depth::Terminal)) { Input::Json } else { input };
            let value = self.value(value, field.shape, inside, &key)?;
            decoded.insert(key, value);
        }
        Ok(Kind::Map(decoded))
    }
}

/// A number or boolean as `sigs.k8s.io/yaml` makes a text of it.
fn scalar_text(kind: &Kind) -> String {
    match kind {
        Kind::Bool(truth) => truth.to_string(),
        Kind::Int(number) => number.to_string(),
        Kind::Uint(number) => number.to_string(),
        Kind::Float(number) => gotemplate::fmt::format_float(*number, b'g', None),
        _ => String::new(),
    }
}

/// Returns what Go writes of a value: without fields that are left out, and with those that are always there.
pub(crate) fn encode(tree: &Tree, shape: Shape) -> Tree {
    let kind = match (&tree.kind, shape) {
        (Kind::Map(entries), Shape::Object(fields)) => {
            let written = fields.iter().filter_map(|field| {
                let value = match entries.get(field.name) {
                    Some(value) if field.written == Written::NonEmpty && field.shape.is_empty(value) => {
                        return None;
                    }
                    Some(value) => encode(value, field.shape),
                    None if field.written == Written::Always => {
                        encode(&tree.with(field.shape.zero()), field.shape)
                    }
                    None => return None,
                };
                Some((field.name.to_owned(), value))
            });
            Kind::Map(written.collect())
        }
        (Kind::Map(entries), Shape::Map(item)) => {
            Kind::Map(entries.iter().map(|(key, value)| (key.clone(), encode(value, *item))).collect())
        }
        (Kind::List(items), Shape::List(item)) => {
            Kind::List(items.iter().map(|each| encode(each, *item)).collect())
        }
        (kind, _) => kind.clone(),
    };
    tree.with(kind)
}

#[cfg(test)]
mod tests {
    use super::super::application;
    use super::*;

    fn tree(text: &str) -> Tree {
        let options = yamltree::ParseOptions { dialect: yamltree::Dialect::V2, ..Default::default() };
        Tree::of_node(&yamltree::parse_first(text, 0, &options).unwrap().unwrap().root).unwrap()
    }

    fn decoded(text: &str, input: Input) -> (Result<String, String>, Remarks) {
        let mut remarks = Remarks::default();
        let decoded = decode(tree(text), application::SPEC, input, &mut remarks);
        let written = decoded
            .map(|tree| encode(&tree, application::SPEC).json())
            .map_err(|mismatch| format!("{}: {}", mismatch.span.start, mismatch.message));
        (written, remarks)
    }

    #[test]
    fn empty_fields_are_not_written_but_pointers_are() {
        let text = "source: {repoURL: u, path: '', helm: {skipCrds: false, valueFiles: [], valuesObject: {}}}\n\
                    syncPolicy: {automated: {prune: false}}\ninfo: []\nrevisionHistoryLimit: 0\n";
        let (json, _) = decoded(text, Input::Yaml);
        assert_eq!(
            json.unwrap(),
            r#"{"destination":{},"project":"","revisionHistoryLimit":0,"source":{"helm":{"valuesObject":{}},"repoURL":"u"},"syncPolicy":{"automated":{"prune":false}}}"#
        );
    }

    /// `sigs.k8s.io/yaml` writes a number where the type has a text as a text (yaml.go `convertToJSONableObject`).
    #[test]
    fn numbers_become_texts_in_yaml_only() {
        let text = "project: 1.50\nsource: {repoURL: u, targetRevision: 12, helm: {releaseName: yes}}\n";
        let (json, remarks) = decoded(text, Input::Yaml);
        assert_eq!(
            json.unwrap(),
            r#"{"destination":{},"project":"1.5","source":{"helm":{"releaseName":"true"},"repoURL":"u","targetRevision":"12"}}"#
        );
        assert_eq!(remarks.untyped.len(), 3);
        let (json, _) = decoded("project: 1.50\n", Input::Json);
        assert_eq!(json.unwrap_err(), "9: `project` must be a string, found a number");
    }

    #[test]
    fn unknown_fields_are_passed_over_and_noted() {
        let (json, remarks) = decoded("project: p\nprojct: q\n", Input::Yaml);
        assert_eq!(json.unwrap(), r#"{"destination":{},"project":"p"}"#);
        assert_eq!(remarks.unknown[0].0, "projct");
        assert_eq!(remarks.unknown[0].1.start, 11);
    }
}
