//! Schemas, ready to validate.
//!
//! In: the registry with a text in it. Out: every schema that validation can come to, as rules that refer to one
//! another by number. Refuses references that lead nowhere and patterns that are none.

use std::cell::OnceCell;
use std::collections::HashMap;

use goregex::Regex;
use gostd::quoted;

use super::draft::Draft;
use super::format::{self, Format};
use super::registry::{Fault, Registry};
use super::url::escape_pointer;
use crate::json::{Json, NodeId, Value, escape_token};

/// The number of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SchemaId(u32);

/// A schema's rules. What few schemas have is boxed.
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) node: NodeId,
    pub(super) draft: Draft,
    /// The schema of the resource that it is in.
    pub(super) resource: SchemaId,
    /// The verdict of a schema that is a boolean, or that says nothing.
    pub(super) always: Option<bool>,
    pub(super) types: Types,
    pub(super) constant: Option<NodeId>,
    pub(super) enumeration: Option<NodeId>,
    pub(super) format: Option<&'static Format>,
    pub(super) reference: Option<SchemaId>,
    pub(super) object: Option<Box<ObjectRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) string: Option<Box<StringRules>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) logic: Option<Box<Logic>>,
    pub(super) dynamic: Option<Box<Dynamic>>,
    pub(super) unevaluated_properties: Option<SchemaId>,
    pub(super) unevaluated_items: Option<SchemaId>,
}

/// A set of JSON's types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types(u8);

#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    pub(super) min: Option<usize>,
    pub(super) max: Option<usize>,
    pub(super) required: Vec<String>,
    /// Sorted by name.
    pub(super) properties: Vec<(String, SchemaId)>,
    pub(super) patterns: Vec<(Pattern, SchemaId)>,
    pub(super) additional: Option<Additional>,
    pub(super) dependencies: Vec<(String, Dependency)>,
    pub(super) names: Option<SchemaId>,
    pub(super) dependent_schemas: Vec<(String, SchemaId)>,
    pub(super) dependent_required: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Default)]
pub(super) struct ArrayRules {
    pub(super) min: Option<usize>,
    pub(super) max: Option<usize>,
    pub(super) unique: bool,
    /// The schemas of the first items.
    pub(super) prefix: Vec<SchemaId>,
    /// The schema of all other items.
    pub(super) rest: Option<Additional>,
    pub(super) contains: Option<SchemaId>,
    pub(super) min_contains: Option<usize>,
    pub(super) max_contains: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct StringRules {
    pub(super) min: Option<usize>,
    pub(super) max: Option<usize>,
    pub(super) pattern: Option<Pattern>,
}

#[derive(Debug, Default)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_minimum: Option<f64>,
    pub(super) exclusive_maximum: Option<f64>,
    pub(super) multiple_of: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Logic {
    pub(super) not: Option<SchemaId>,
    pub(super) all_of: Vec<SchemaId>,
    pub(super) any_of: Vec<SchemaId>,
    pub(super) one_of: Vec<SchemaId>,
    pub(super) condition: Option<SchemaId>,
    pub(super) then: Option<SchemaId>,
    pub(super) otherwise: Option<SchemaId>,
}

/// References whose target depends on what led to the schema.
#[derive(Debug, Default)]
pub(super) struct Dynamic {
    pub(super) recursive_reference: Option<SchemaId>,
    pub(super) recursive_anchor: bool,
    /// A `$dynamicRef` with the anchor that it names.
    pub(super) reference: Option<(SchemaId, Option<String>)>,
    pub(super) anchor: Option<String>,
    /// The dynamic anchors of a resource that begins here.
    pub(super) anchors: Vec<(String, SchemaId)>,
}

#[derive(Debug)]
pub(super) enum Additional {
    Forbidden,
    Allowed,
    Schema(SchemaId),
}

#[derive(Debug)]
pub(super) enum Dependency {
    Names(Vec<String>),
    Schema(SchemaId),
}

/// A regular expression, made ready when it is first needed.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    regex: OnceCell<Option<Regex>>,
}

impl Pattern {
    pub(super) fn is_match(&self, text: &str) -> bool {
        let regex = self.regex.get_or_init(|| Regex::new(&self.text).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const NUMBER: Self = Self(1 << 2);
    pub(super) const INTEGER: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);

    const NAMES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// `null or string`
    pub(super) fn names(self) -> String {
        let names = Self::NAMES.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(" or ")
    }

    fn read(json: &Json<'_>, node: NodeId) -> Self {
        let names = std::iter::once(&node).chain(json.items(node)).filter_map(|item| json.text(*item));
        let bits = names.filter_map(|name| Self::NAMES.iter().position(|known| *known == name));
        Self(bits.fold(0, |types, bit| types | 1 << bit))
    }
}

/// The schemas that were compiled, the root first.
pub(super) struct Schemas(Vec<Schema>);

impl Schemas {
    pub(super) const ROOT: SchemaId = SchemaId(0);

    pub(super) fn get(&self, id: SchemaId) -> &Schema {
        &self.0[id.0 as usize]
    }
}

/// Compiles a schema and all that it refers to. Formats are asserted up to draft 7, and by metaschemas in all.
pub(super) fn compile(registry: &mut Registry<'_>, root: NodeId, is_meta: bool) -> Result<Schemas, Fault> {
    let mut compiler =
        Compiler { registry, nodes: Vec::new(), numbers: HashMap::new(), asserts_formats: is_meta };
    compiler.number(root);
    let mut schemas = Vec::new();
    while let Some(node) = compiler.nodes.get(schemas.len()) {
        let schema = compiler.schema(*node)?;
        schemas.push(schema);
    }
    Ok(Schemas(schemas))
}

struct Compiler<'r, 't> {
    registry: &'r mut Registry<'t>,
    /// The schemas that have a number, in their order.
    nodes: Vec<NodeId>,
    numbers: HashMap<NodeId, SchemaId>,
    asserts_formats: bool,
}

impl Compiler<'_, '_> {
    /// The number of a schema, which is compiled in its turn.
    fn number(&mut self, node: NodeId) -> SchemaId {
        let next = SchemaId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    fn schema(&mut self, node: NodeId) -> Result<Schema, Fault> {
        self.registry.ensure(node)?;
        let (draft, begins_at) = {
            let resource = self.registry.resource(node);
            (resource.draft, resource.node)
        };
        let mut schema = Schema {
            node,
            draft,
            resource: self.number(begins_at),
            always: None,
            types: Types::default(),
            constant: None,
            enumeration: None,
            format: None,
            reference: None,
            object: None,
            array: None,
            string: None,
            number: None,
            logic: None,
            dynamic: None,
            unevaluated_properties: None,
            unevaluated_items: None,
        };
        match self.registry.json.value(node) {
            Value::Bool(verdict) => schema.always = Some(*verdict),
            Value::Object(members) if members.is_empty() => schema.always = Some(true),
            _ => self.fill(&mut schema)?,
        }
        Ok(schema)
    }

    fn fill(&mut self, schema: &mut Schema) -> Result<(), Fault> {
        let node = schema.node;
        if schema.draft < Draft::V2019
            && let Some(reference) = self.reference(node, "$ref")?
        {
            // Beside a reference older drafts see no other keyword; the Go library sees this one.
            schema.reference = Some(reference.0);
            schema.constant = self.member(node, "const").filter(|_| schema.draft >= Draft::V6);
            return Ok(());
        }
        for (keyword, value) in self.registry.json.members(node).to_vec() {
            let is_logic = self.general(schema, &keyword, value)? || self.logic(schema, &keyword, value);
            let is_known =
                is_logic || self.object(schema, &keyword, value)? || self.array(schema, &keyword, value);
            if !is_known {
                self.scalar(schema, &keyword, value)?;
            }
        }
        self.exclusive_limits(schema);
        if schema.draft >= Draft::V2020 && self.registry.resource(node).node == node {
            let anchors = self.registry.dynamic_anchors(node);
            if !anchors.is_empty() {
                let anchors = anchors.into_iter().map(|(name, node)| (name, self.number(node)));
                schema.dynamic.get_or_insert_default().anchors = anchors.collect();
            }
        }
        Ok(())
    }

    /// Keywords for values of any type, and references. Returns whether it is one of them.
    fn general(&mut self, schema: &mut Schema, keyword: &str, value: NodeId) -> Result<bool, Fault> {
        let (node, draft) = (schema.node, schema.draft);
        match keyword {
            "$ref" => schema.reference = self.reference(node, keyword)?.map(|(target, _)| target),
            "$recursiveRef" if draft >= Draft::V2019 => {
                let target = self.reference(node, keyword)?.map(|(target, _)| target);
                schema.dynamic.get_or_insert_default().recursive_reference = target;
            }
            "$recursiveAnchor" if draft >= Draft::V2019 => {
                schema.dynamic.get_or_insert_default().recursive_anchor = self.is_true(value);
            }
            "$dynamicRef" if draft >= Draft::V2020 => {
                schema.dynamic.get_or_insert_default().reference = self.reference(node, keyword)?;
            }
            "$dynamicAnchor" if draft >= Draft::V2020 => {
                let anchor = self.registry.json.text(value).map(str::to_owned);
                schema.dynamic.get_or_insert_default().anchor = anchor;
            }
            "type" => schema.types = Types::read(&self.registry.json, value),
            "enum" => schema.enumeration = self.is_array(value).then_some(value),
            "const" if draft >= Draft::V6 => schema.constant = Some(value),
            "format" if draft < Draft::V2019 || self.asserts_formats => {
                schema.format = self.registry.json.text(value).and_then(format::find);
            }
            "unevaluatedProperties" if draft >= Draft::V2019 => {
                schema.unevaluated_properties = Some(self.number(value));
            }
            "unevaluatedItems" if draft >= Draft::V2019 => {
                schema.unevaluated_items = Some(self.number(value));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Keywords that combine schemas.
    fn logic(&mut self, schema: &mut Schema, keyword: &str, value: NodeId) -> bool {
        let is_conditional = schema.draft >= Draft::V7 && matches!(keyword, "if" | "then" | "else");
        if !is_conditional && !matches!(keyword, "not" | "allOf" | "anyOf" | "oneOf") {
            return false;
        }
        let list: Vec<NodeId> = self.registry.json.items(value).to_vec();
        let list: Vec<SchemaId> = list.into_iter().map(|item| self.number(item)).collect();
        // Without an `if` the others say nothing, and are not even compiled.
        let branch = match keyword {
            "then" | "else" if self.member(schema.node, "if").is_none() => None,
            "allOf" | "anyOf" | "oneOf" => None,
            _ => Some(self.number(value)),
        };
        let logic = schema.logic.get_or_insert_default();
        match keyword {
            "not" => logic.not = branch,
            "allOf" => logic.all_of = list,
            "anyOf" => logic.any_of = list,
            "oneOf" => logic.one_of = list,
            "if" => logic.condition = branch,
            "then" => logic.then = branch,
            _ => logic.otherwise = branch,
        }
        true
    }

    /// Keywords for objects.
    fn object(&mut self, schema: &mut Schema, keyword: &str, value: NodeId) -> Result<bool, Fault> {
        let (node, draft) = (schema.node, schema.draft);
        let since = |first| draft >= first;
        match keyword {
            "minProperties" => schema.object.get_or_insert_default().min = self.count(value),
            "maxProperties" => schema.object.get_or_insert_default().max = self.count(value),
            "required" => schema.object.get_or_insert_default().required = self.names(value),
            "properties" => schema.object.get_or_insert_default().properties = self.fields(value),
            "patternProperties" => {
                let fields = self.fields(value);
                let patterns =
                    fields.into_iter().map(|(text, id)| Ok((self.pattern(text, node, keyword)?, id)));
                schema.object.get_or_insert_default().patterns = patterns.collect::<Result<_, Fault>>()?;
            }
            "additionalProperties" => {
                schema.object.get_or_insert_default().additional = Some(self.additional(value));
            }
            "dependencies" => {
                let fields = self.registry.json.members(value).to_vec();
                let dependencies = fields.into_iter().map(|(name, field)| {
                    let dependency = if self.is_array(field) {
                        Dependency::Names(self.names(field))
                    } else {
                        Dependency::Schema(self.number(field))
                    };
                    (name.into_owned(), dependency)
                });
                schema.object.get_or_insert_default().dependencies = dependencies.collect();
            }
            "propertyNames" if since(Draft::V6) => {
                schema.object.get_or_insert_default().names = Some(self.number(value));
            }
            "dependentSchemas" if since(Draft::V2019) => {
                schema.object.get_or_insert_default().dependent_schemas = self.fields(value);
            }
            "dependentRequired" if since(Draft::V2019) => {
                let fields = self.registry.json.members(value).to_vec();
                let required = fields.into_iter().map(|(name, names)| (name.into_owned(), self.names(names)));
                schema.object.get_or_insert_default().dependent_required = required.collect();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Keywords for arrays.
    fn array(&mut self, schema: &mut Schema, keyword: &str, value: NodeId) -> bool {
        let (node, draft) = (schema.node, schema.draft);
        let since = |first| draft >= first;
        match keyword {
            "minItems" => schema.array.get_or_insert_default().min = self.count(value),
            "maxItems" => schema.array.get_or_insert_default().max = self.count(value),
            "uniqueItems" => schema.array.get_or_insert_default().unique = self.is_true(value),
            "prefixItems" if since(Draft::V2020) => {
                schema.array.get_or_insert_default().prefix = self.list(value);
            }
            "items" if self.is_array(value) && !since(Draft::V2020) => {
                let rest = self.member(node, "additionalItems").map(|rest| self.additional(rest));
                let rules = schema.array.get_or_insert_default();
                rules.rest = rest;
                rules.prefix = self.list(value);
            }
            "items" => {
                schema.array.get_or_insert_default().rest = Some(Additional::Schema(self.number(value)));
            }
            "contains" if since(Draft::V6) => {
                schema.array.get_or_insert_default().contains = Some(self.number(value));
            }
            "minContains" if since(Draft::V2019) => {
                schema.array.get_or_insert_default().min_contains = self.count(value);
            }
            "maxContains" if since(Draft::V2019) => {
                schema.array.get_or_insert_default().max_contains = self.count(value);
            }
            _ => return false,
        }
        true
    }

    /// Keywords for strings and numbers. Any other is an annotation.
    fn scalar(&mut self, schema: &mut Schema, keyword: &str, value: NodeId) -> Result<(), Fault> {
        match keyword {
            "minLength" => schema.string.get_or_insert_default().min = self.count(value),
            "maxLength" => schema.string.get_or_insert_default().max = self.count(value),
            "pattern" => {
                if let Some(text) = self.registry.json.text(value).map(str::to_owned) {
                    let pattern = self.pattern(text, schema.node, keyword)?;
                    schema.string.get_or_insert_default().pattern = Some(pattern);
                }
            }
            "minimum" => schema.number.get_or_insert_default().minimum = self.float(value),
            "maximum" => schema.number.get_or_insert_default().maximum = self.float(value),
            "exclusiveMinimum" => schema.number.get_or_insert_default().exclusive_minimum = self.float(value),
            "exclusiveMaximum" => schema.number.get_or_insert_default().exclusive_maximum = self.float(value),
            "multipleOf" => schema.number.get_or_insert_default().multiple_of = self.float(value),
            _ => {}
        }
        Ok(())
    }

    /// Handles boolean `exclusiveMinimum` and `exclusiveMaximum`, which modify the limit.
    fn exclusive_limits(&self, schema: &mut Schema) {
        let is_true = |keyword| self.member(schema.node, keyword).is_some_and(|value| self.is_true(value));
        if let Some(rules) = &mut schema.number {
            if is_true("exclusiveMinimum") {
                rules.exclusive_minimum = rules.minimum.take();
            }
            if is_true("exclusiveMaximum") {
                rules.exclusive_maximum = rules.maximum.take();
            }
        }
    }

    // Values of keywords.

    /// The schema that a reference names, and the anchor by which it does.
    fn reference(
        &mut self,
        node: NodeId,
        keyword: &str,
    ) -> Result<Option<(SchemaId, Option<String>)>, Fault> {
        let reference = self.member(node, keyword).and_then(|value| self.registry.json.text(value));
        let Some(reference) = reference.map(str::to_owned) else { return Ok(None) };
        let (target, anchor) = self.registry.resolve(node, &reference)?;
        Ok(Some((self.number(target), anchor)))
    }

    fn pattern(&self, text: String, node: NodeId, keyword: &str) -> Result<Pattern, Fault> {
        goregex::check(&text).map_err(|error| {
            let place =
                format!("{}/{}", self.registry.location(node), escape_pointer(&escape_token(keyword)));
            let (text, place) = (quoted(text.as_bytes()), quoted(place.as_bytes()));
            Fault { message: format!("invalid regex {text} at {place}: {error}"), node: Some(node) }
        })?;
        Ok(Pattern { text, regex: OnceCell::new() })
    }

    fn additional(&mut self, value: NodeId) -> Additional {
        match self.registry.json.value(value) {
            Value::Bool(true) => Additional::Allowed,
            Value::Bool(false) => Additional::Forbidden,
            _ => Additional::Schema(self.number(value)),
        }
    }

    fn fields(&mut self, value: NodeId) -> Vec<(String, SchemaId)> {
        let fields = self.registry.json.members(value).to_vec();
        fields.into_iter().map(|(name, field)| (name.into_owned(), self.number(field))).collect()
    }

    fn list(&mut self, value: NodeId) -> Vec<SchemaId> {
        let items = self.registry.json.items(value).to_vec();
        items.into_iter().map(|item| self.number(item)).collect()
    }

    fn names(&self, value: NodeId) -> Vec<String> {
        let json = &self.registry.json;
        json.items(value).iter().filter_map(|item| json.text(*item)).map(str::to_owned).collect()
    }

    fn member(&self, node: NodeId, keyword: &str) -> Option<NodeId> {
        self.registry.json.member(node, keyword)
    }

    fn is_array(&self, value: NodeId) -> bool {
        matches!(self.registry.json.value(value), Value::Array(_))
    }

    fn is_true(&self, value: NodeId) -> bool {
        matches!(self.registry.json.value(value), Value::Bool(true))
    }

    fn float(&self, value: NodeId) -> Option<f64> {
        match self.registry.json.value(value) {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn count(&self, value: NodeId) -> Option<usize> {
        let number = self.float(value).filter(|number| *number >= 0.0 && number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as wanted")]
        Some(number as usize)
    }
}
