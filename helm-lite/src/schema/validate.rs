//! Validation: which rules of a schema a value breaks.
//!
//! In: a compiled schema and a value. Out: nothing, or the violations in the tree that Helm prints. Mappings are walked
//! in the order of their keys, where the Go library's order is that of chance. Refuses to go on where schemas lead one
//! into another too deeply or too often.

use std::collections::BTreeSet;

use super::compile::{
    Additional, Dependency, Logic, NumberRules, Schema, SchemaId, Schemas, StringRules, Types,
};
use super::draft::Draft;
use super::equal::{display, duplicates, equals, is_multiple};
use super::registry::Registry;
use super::violation::{Part, Violation, count, number, quote, quote_all};
use crate::json::{NodeId, Value, escape_token};
use crate::values::Data;

/// Maximum number of schemas that may lead one into another. Their stack stays below a megabyte even without optimisation; values
/// and schemas that people write stay below a hundred.
const MAX_NESTING: usize = 300;

/// Maximum number of times a value that may be held against a schema. A large chart's values take some ten thousand.
const MAX_STEPS: usize = 1_000_000;

/// Holds a value against a schema. An error is the list of its violations; it is empty where that would take too long.
pub(super) fn validate(
    registry: &Registry<'_>,
    schemas: &Schemas,
    value: &Data,
) -> Result<(), Vec<Violation>> {
    let mut validator = Validator { registry, schemas, path: Vec::new(), depth: 0, steps: 0 };
    let verdict = validator.root(value, Schemas::ROOT);
    if validator.steps > MAX_STEPS { Err(Vec::new()) } else { verdict }
}

struct Validator<'a, 't> {
    registry: &'a Registry<'t>,
    schemas: &'a Schemas,
    /// The path of the value.
    path: Vec<Token<'a>>,
    depth: usize,
    steps: usize,
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Key(&'a str),
    Index(usize),
}

/// The path by which validation reached a schema.
struct Scope<'s> {
    schema: SchemaId,
    /// The keyword of the reference that led here.
    reference: &'static str,
    /// True if the value is that of the outer schema.
    is_same_value: bool,
    outer: Option<&'s Scope<'s>>,
}

/// The parts of a value that no keyword has evaluated yet.
#[derive(Default)]
struct Unevaluated<'a> {
    properties: BTreeSet<&'a str>,
    items: BTreeSet<usize>,
}

impl Unevaluated<'_> {
    fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    fn merge(&mut self, other: &Self) {
        self.properties.retain(|name| other.properties.contains(name));
        self.items.retain(|index| other.items.contains(index));
    }
}

/// A value on its way through a schema.
struct Pass<'s, 'a> {
    value: &'a Data,
    schema: &'a Schema,
    scope: &'s Scope<'s>,
    left: Unevaluated<'a>,
    violations: Vec<Violation>,
    /// True if only the verdict counts.
    is_quiet: bool,
}

type Verdict<T = ()> = Result<T, Violation>;

impl<'a> Validator<'a, '_> {
    fn root(&mut self, value: &'a Data, schema: SchemaId) -> Result<(), Vec<Violation>> {
        let scope = Scope { schema, reference: "", is_same_value: false, outer: None };
        self.schema(value, &scope, false, false).map(|_| ()).map_err(|violation| match violation.part {
            Part::Group => violation.causes,
            _ => vec![violation],
        })
    }

    /// Holds a value against the schema of a scope; returns what of it was not looked at.
    fn schema(
        &mut self,
        value: &'a Data,
        scope: &Scope<'_>,
        is_quiet: bool,
        tracks: bool,
    ) -> Verdict<Unevaluated<'a>> {
        let schema = self.schemas.get(scope.schema);
        let left = unevaluated(value, schema, tracks);
        let mut pass = Pass { value, schema, scope, left, violations: Vec::new(), is_quiet };
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth == MAX_NESTING {
            self.steps = MAX_STEPS + 1;
            return Err(Violation::default());
        }
        self.depth += 1;
        let verdict = self.run(&mut pass);
        self.depth -= 1;
        verdict?;
        match pass.violations.len() {
            0 => Ok(pass.left),
            1 => Err(pass.violations.remove(0)),
            _ => {
                let mut group = self.violation(is_quiet, || "validation failed".to_owned());
                group.part = Part::Group;
                group.causes = pass.violations;
                Err(group)
            }
        }
    }

    fn run(&mut self, pass: &mut Pass<'_, 'a>) -> Verdict {
        let schema = pass.schema;
        match schema.always {
            Some(true) => return Ok(()),
            Some(false) => return Err(self.violation(pass.is_quiet, || "false schema".to_owned())),
            None => {}
        }
        if let Some(first) = cycle(pass.scope) {
            return Err(self.violation(pass.is_quiet, || self.cycle_text(pass.scope, first)));
        }
        self.general(pass)?;
        if let Some(target) = schema.reference {
            let verdict = self.referenced(pass, target, "$ref");
            if schema.draft < Draft::V2019 {
                return verdict;
            }
            pass.violations.extend(verdict.err());
        }
        match pass.value {
            Data::Table(_) => self.object(pass),
            Data::List(_) => self.array(pass),
            Data::Str(text) => self.string(pass, text),
            Data::Bytes(bytes) => self.string(pass, &String::from_utf8_lossy(bytes)),
            #[expect(clippy::cast_precision_loss, reason = "as in messages")]
            Data::Int(int) => self.number(pass, *int as f64),
            Data::Float(float) => self.number(pass, *float),
            Data::Null | Data::Bool(_) => {}
        }
        if pass.is_quiet && !pass.violations.is_empty() {
            return Ok(());
        }
        self.dynamic_references(pass);
        if let Some(logic) = &schema.logic {
            self.logic(pass, logic);
        }
        self.unevaluated(pass);
        Ok(())
    }

    /// The rules for values of any type. The first one broken ends it.
    fn general(&self, pass: &Pass<'_, 'a>) -> Verdict {
        let Pass { value, schema, is_quiet, .. } = *pass;
        let json = &self.registry.json;
        let found = type_of(value);
        let is_integer = || schema.types.has(Types::INTEGER) && is_whole(value);
        if !schema.types.is_empty() && !schema.types.has(found) && !is_integer() {
            return Err(
                self.violation(is_quiet, || format!("got {}, want {}", found.names(), schema.types.names()))
            );
        }
        if let Some(constant) = schema.constant
            && !equals(json, constant, value)
        {
            return Err(self.violation(is_quiet, || match json.value(constant) {
                Value::Array(_) | Value::Object(_) => "'const' failed".to_owned(),
                _ => format!("value must be {}", display(json, constant)),
            }));
        }
        if let Some(enumeration) = schema.enumeration
            && !json.items(enumeration).iter().any(|item| equals(json, *item, value))
        {
            return Err(self.violation(is_quiet, || self.enumeration_text(json.items(enumeration))));
        }
        if let (Some(format), Data::Str(text)) = (schema.format, value)
            && let Err(reason) = (format.check)(text)
        {
            let text = || format!("{} is not valid {}: {reason}", quote(text), format.name);
            return Err(self.violation(is_quiet, text));
        }
        Ok(())
    }

    fn enumeration_text(&self, items: &[NodeId]) -> String {
        let json = &self.registry.json;
        if items.iter().any(|item| matches!(json.value(*item), Value::Array(_) | Value::Object(_))) {
            return "'enum' failed".to_owned();
        }
        let shown: Vec<String> = items.iter().map(|item| display(json, *item)).collect();
        match shown.as_slice() {
            [one] => format!("value must be {one}"),
            _ => format!("value must be one of {}", shown.join(", ")),
        }
    }

    // Objects.

    fn object(&mut self, pass: &mut Pass<'_, 'a>) {
        let (Data::Table(table), Some(rules)) = (pass.value, &pass.schema.object) else { return };
        let size = table.len();
        if let Some(min) = rules.min.filter(|min| size < *min) {
            self.add(pass, || format!("minProperties: got {}, want {}", count(size), count(min)));
        }
        if let Some(max) = rules.max.filter(|max| size > *max) {
            self.add(pass, || format!("maxProperties: got {}, want {}", count(size), count(max)));
        }
        let missing = missing(pass.value, &rules.required);
        if !missing.is_empty() {
            self.add(pass, || match missing.as_slice() {
                [one] => format!("missing property {}", quote(one)),
                several => format!("missing properties {}", quote_all(several)),
            });
        }
        if pass.is_quiet && !pass.violations.is_empty() {
            return;
        }
        for (name, dependency) in &rules.dependencies {
            if table.get(name).is_some() {
                match dependency {
                    Dependency::Names(names) => self.required_by(pass, name, names),
                    Dependency::Schema(schema) => self.also(pass, *schema),
                }
            }
        }
        self.properties(pass);
        if let Some(names) = rules.names {
            table.iter().for_each(|(name, _)| self.property_name(pass, names, name));
        }
        for (name, schema) in &rules.dependent_schemas {
            if table.get(name).is_some() {
                self.also(pass, *schema);
            }
        }
        for (name, names) in &rules.dependent_required {
            if table.get(name).is_some() {
                self.required_by(pass, name, names);
            }
        }
    }

    fn properties(&mut self, pass: &mut Pass<'_, 'a>) {
        let (Data::Table(table), Some(rules)) = (pass.value, &pass.schema.object) else { return };
        let mut forbidden = Vec::new();
        for (name, item) in table.iter() {
            if pass.is_quiet && !pass.violations.is_empty() {
                return;
            }
            let mut is_evaluated = false;
            if let Ok(at) = rules.properties.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
                is_evaluated = true;
                self.inner(pass, &item.data, rules.properties[at].1, Token::Key(name));
            }
            for (_, schema) in rules.patterns.iter().filter(|(pattern, _)| pattern.is_match(name)) {
                is_evaluated = true;
                self.inner(pass, &item.data, *schema, Token::Key(name));
            }
            if !is_evaluated {
                match rules.additional {
                    None => continue,
                    Some(Additional::Allowed) => {}
                    Some(Additional::Forbidden) => forbidden.push(name),
                    Some(Additional::Schema(schema)) => {
                        self.inner(pass, &item.data, schema, Token::Key(name));
                    }
                }
            }
            pass.left.properties.remove(name);
        }
        if !forbidden.is_empty() {
            self.add(pass, || format!("additional properties {} not allowed", quote_all(&forbidden)));
        }
    }

    fn required_by(&self, pass: &mut Pass<'_, 'a>, name: &str, names: &[String]) {
        let missing = missing(pass.value, names);
        if !missing.is_empty() {
            self.add(pass, || {
                format!("properties {} required, if {} exists", quote_all(&missing), quote(name))
            });
        }
    }

    /// The name of a property is a value of its own, which begins a new path.
    fn property_name(&mut self, pass: &mut Pass<'_, 'a>, schema: SchemaId, name: &'a str) {
        let value = Data::Str(name.into());
        let mut validator = Validator { path: Vec::new(), ..*self };
        let verdict = validator.root(&value, schema);
        self.steps = validator.steps;
        if let Err(causes) = verdict {
            let mut violation =
                self.violation(pass.is_quiet, || format!("invalid propertyName {}", quote(name)));
            violation.causes = causes;
            pass.violations.push(violation);
        }
    }

    // Arrays.

    fn array(&mut self, pass: &mut Pass<'_, 'a>) {
        let (Data::List(items), Some(rules)) = (pass.value, &pass.schema.array) else { return };
        let size = items.len();
        if let Some(min) = rules.min.filter(|min| size < *min) {
            self.add(pass, || format!("minItems: got {}, want {}", count(size), count(min)));
        }
        if let Some(max) = rules.max.filter(|max| size > *max) {
            self.add(pass, || format!("maxItems: got {}, want {}", count(size), count(max)));
        }
        if rules.unique
            && let Some((first, second)) = duplicates(items)
        {
            self.add(pass, || format!("items at {} and {} are equal", count(first), count(second)));
        }
        for (index, (item, schema)) in items.iter().zip(&rules.prefix).enumerate() {
            self.inner(pass, &item.data, *schema, Token::Index(index));
        }
        let evaluated = size.min(rules.prefix.len());
        match rules.rest {
            None | Some(Additional::Allowed) => {}
            Some(Additional::Forbidden) if size == evaluated => {}
            Some(Additional::Forbidden) => {
                self.add(pass, || format!("last {} additionalItem(s) not allowed", count(size - evaluated)));
            }
            Some(Additional::Schema(schema)) => {
                for (index, item) in items.iter().enumerate().skip(evaluated) {
                    self.inner(pass, &item.data, schema, Token::Index(index));
                }
            }
        }
        self.contains(pass);
    }

    fn contains(&mut self, pass: &mut Pass<'_, 'a>) {
        let (Data::List(items), Some(rules)) = (pass.value, &pass.schema.array) else { return };
        let Some(schema) = rules.contains else { return };
        let (mut matched, mut misses) = (Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            match self.value(pass, &item.data, schema, Token::Index(index)) {
                Err(violation) => misses.push(violation),
                Ok(()) => {
                    matched.push(index);
                    if pass.schema.draft >= Draft::V2020 {
                        pass.left.items.remove(&index);
                    }
                }
            }
        }
        let shown = || matched.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let got = matched.len();
        let too_few = match rules.min_contains {
            Some(min) if got < min && got == 0 => {
                Some(format!("min {} items required to match contains schema, but none matched", count(min)))
            }
            Some(min) if got < min => Some(format!(
                "min {} items required to match contains schema, but matched {} items at {}",
                count(min),
                count(got),
                shown()
            )),
            None if got == 0 => Some("no items match contains schema".to_owned()),
            _ => None,
        };
        if let Some(text) = too_few {
            self.add_with(pass, misses, || text);
        }
        if let Some(max) = rules.max_contains.filter(|max| got > *max) {
            self.add(pass, || {
                format!(
                    "max {} items required to match contains schema, but matched {} items at {}",
                    count(max),
                    count(got),
                    shown()
                )
            });
        }
    }

    // Strings and numbers.

    fn string(&self, pass: &mut Pass<'_, 'a>, text: &str) {
        let Some(StringRules { min, max, pattern }) = pass.schema.string.as_deref() else { return };
        let length = text.chars().count();
        if let Some(min) = min.filter(|min| length < *min) {
            self.add(pass, || format!("minLength: got {}, want {}", count(length), count(min)));
        }
        if let Some(max) = max.filter(|max| length > *max) {
            self.add(pass, || format!("maxLength: got {}, want {}", count(length), count(max)));
        }
        if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            self.add(pass, || format!("{} does not match pattern {}", quote(text), quote(&pattern.text)));
        }
    }

    fn number(&self, pass: &mut Pass<'_, 'a>, got: f64) {
        let Some(rules) = pass.schema.number.as_deref() else { return };
        let NumberRules { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of } = rules;
        let broken = [
            ("minimum", minimum.filter(|limit| got < *limit)),
            ("maximum", maximum.filter(|limit| got > *limit)),
            ("exclusiveMinimum", exclusive_minimum.filter(|limit| got <= *limit)),
            ("exclusiveMaximum", exclusive_maximum.filter(|limit| got >= *limit)),
            ("multipleOf", multiple_of.filter(|divisor| !is_multiple(got, *divisor))),
        ];
        for (keyword, limit) in broken {
            if let Some(limit) = limit {
                self.add(pass, || format!("{keyword}: got {}, want {}", number(got), number(limit)));
            }
        }
    }

    // Combined schemas.

    fn logic(&mut self, pass: &mut Pass<'_, 'a>, logic: &'a Logic) {
        if let Some(not) = logic.not
            && self.same(pass, not, "", true).is_ok()
        {
            self.add(pass, || "'not' failed".to_owned());
        }
        let mut failed = Vec::new();
        for schema in &logic.all_of {
            failed.extend(self.same(pass, *schema, "", false).err());
            if pass.is_quiet && !failed.is_empty() {
                break;
            }
        }
        if !failed.is_empty() {
            self.add_with(pass, failed, || "'allOf' failed".to_owned());
        }
        self.any_of(pass, &logic.any_of);
        self.one_of(pass, &logic.one_of);
        if let Some(condition) = logic.condition {
            let holds = self.same(pass, condition, "", true).is_ok();
            if let Some(schema) = if holds { logic.then } else { logic.otherwise } {
                self.also(pass, schema);
            }
        }
    }

    fn any_of(&mut self, pass: &mut Pass<'_, 'a>, schemas: &[SchemaId]) {
        let (mut has_match, mut failed) = (schemas.is_empty(), Vec::new());
        for schema in schemas {
            match self.same(pass, *schema, "", false) {
                Err(violation) => failed.push(violation),
                Ok(()) => {
                    has_match = true;
                    // Each of them may look at something that none has looked at yet.
                    if pass.left.is_empty() {
                        break;
                    }
                }
            }
        }
        if !has_match {
            self.add_with(pass, failed, || "'anyOf' failed".to_owned());
        }
    }

    fn one_of(&mut self, pass: &mut Pass<'_, 'a>, schemas: &[SchemaId]) {
        let (mut matched, mut failed) = (None, Vec::new());
        for (index, schema) in schemas.iter().enumerate() {
            match (self.same(pass, *schema, "", matched.is_some()), matched) {
                (Err(violation), None) => failed.push(violation),
                (Err(_), Some(_)) => {}
                (Ok(()), None) => matched = Some(index),
                (Ok(()), Some(first)) => {
                    self.add(pass, || format!("'oneOf' failed, subschemas {first}, {index} matched"));
                    break;
                }
            }
        }
        if matched.is_none() && !schemas.is_empty() {
            self.add_with(pass, failed, || "'oneOf' failed, none matched".to_owned());
        }
    }

    fn unevaluated(&mut self, pass: &mut Pass<'_, 'a>) {
        if let (Data::Table(table), Some(schema)) = (pass.value, pass.schema.unevaluated_properties) {
            for name in std::mem::take(&mut pass.left.properties) {
                if let Some(item) = table.get(name) {
                    self.inner(pass, &item.data, schema, Token::Key(name));
                }
            }
        }
        if let (Data::List(items), Some(schema)) = (pass.value, pass.schema.unevaluated_items) {
            for index in std::mem::take(&mut pass.left.items) {
                self.inner(pass, &items[index].data, schema, Token::Index(index));
            }
        }
    }

    // References.

    fn referenced(&mut self, pass: &mut Pass<'_, 'a>, target: SchemaId, keyword: &'static str) -> Verdict {
        self.same(pass, target, keyword, false).map_err(|violation| {
            let mut reference = self.violation(pass.is_quiet, || "validation failed".to_owned());
            reference.part = Part::Reference;
            reference.causes = if violation.part == Part::Group { violation.causes } else { vec![violation] };
            reference
        })
    }

    fn dynamic_references(&mut self, pass: &mut Pass<'_, 'a>) {
        let Some(dynamic) = &pass.schema.dynamic else { return };
        if let Some(target) = dynamic.recursive_reference {
            let is_anchor = |id: SchemaId| {
                self.schemas.get(id).dynamic.as_ref().is_some_and(|dynamic| dynamic.recursive_anchor)
            };
            let begins_in = |scope: &Scope<'_>| is_anchor(self.schemas.get(scope.schema).resource);
            let outermost = || scopes(pass.scope).filter(|scope| begins_in(scope)).last();
            let target =
                if is_anchor(target) { outermost().map_or(target, |scope| scope.schema) } else { target };
            let verdict = self.referenced(pass, target, "$recursiveRef");
            pass.violations.extend(verdict.err());
        }
        if let Some((target, anchor)) = &dynamic.reference {
            let target = self.dynamic_target(pass, *target, anchor.as_deref());
            let verdict = self.referenced(pass, target, "$dynamicRef");
            pass.violations.extend(verdict.err());
        }
    }

    /// The schema that a dynamic anchor names in the outermost resource that has one of its name.
    fn dynamic_target(&self, pass: &Pass<'_, 'a>, target: SchemaId, anchor: Option<&str>) -> SchemaId {
        let own = self.schemas.get(target).dynamic.as_ref().and_then(|dynamic| dynamic.anchor.as_deref());
        let Some(anchor) = anchor.filter(|anchor| own == Some(*anchor)) else { return target };
        let named = |scope: &Scope<'_>| {
            let resource = self.schemas.get(self.schemas.get(scope.schema).resource);
            let anchors = &resource.dynamic.as_ref()?.anchors;
            anchors.iter().find(|(name, _)| name == anchor).map(|(_, schema)| *schema)
        };
        scopes(pass.scope).filter_map(named).last().unwrap_or(target)
    }

    // Steps.

    /// Holds the same value against another schema.
    fn same(
        &mut self,
        pass: &mut Pass<'_, 'a>,
        schema: SchemaId,
        reference: &'static str,
        is_quiet: bool,
    ) -> Verdict {
        let scope = Scope { schema, reference, is_same_value: true, outer: Some(pass.scope) };
        let tracks = !pass.left.is_empty();
        let left = self.schema(pass.value, &scope, pass.is_quiet || is_quiet, tracks)?;
        pass.left.merge(&left);
        Ok(())
    }

    /// Holds the same value against another schema too.
    fn also(&mut self, pass: &mut Pass<'_, 'a>, schema: SchemaId) {
        let verdict = self.same(pass, schema, "", false);
        pass.violations.extend(verdict.err());
    }

    /// Holds a value in the value against a schema.
    fn value(&mut self, pass: &Pass<'_, 'a>, value: &'a Data, schema: SchemaId, token: Token<'a>) -> Verdict {
        let scope = Scope { schema, reference: "", is_same_value: false, outer: Some(pass.scope) };
        self.path.push(token);
        let verdict = self.schema(value, &scope, pass.is_quiet, false);
        self.path.pop();
        verdict.map(|_| ())
    }

    fn inner(&mut self, pass: &mut Pass<'_, 'a>, value: &'a Data, schema: SchemaId, token: Token<'a>) {
        let verdict = self.value(pass, value, schema, token);
        pass.violations.extend(verdict.err());
    }

    fn add(&self, pass: &mut Pass<'_, 'a>, text: impl FnOnce() -> String) {
        self.add_with(pass, Vec::new(), text);
    }

    fn add_with(&self, pass: &mut Pass<'_, 'a>, causes: Vec<Violation>, text: impl FnOnce() -> String) {
        let violation = self.violation(pass.is_quiet, text);
        pass.violations.push(Violation { causes, ..violation });
    }

    fn violation(&self, is_quiet: bool, text: impl FnOnce() -> String) -> Violation {
        if is_quiet {
            return Violation::default();
        }
        let token = |token: &Token<'_>| match token {
            Token::Key(key) => (*key).to_owned(),
            Token::Index(index) => index.to_string(),
        };
        Violation { path: self.path.iter().map(token).collect(), text: text(), ..Violation::default() }
    }

    fn cycle_text(&self, scope: &Scope<'_>, first: &Scope<'_>) -> String {
        let [second, first] = [scope, first].map(|scope| self.keyword_location(scope));
        let url = self.registry.location(self.schemas.get(scope.schema).node);
        let url = gostd::quoted(url.as_bytes());
        format!("both {second} and {first} resolve to {url} causing reference cycle")
    }

    /// The keywords that led to a scope.
    fn keyword_location(&self, scope: &Scope<'_>) -> String {
        let pointer = |schema| self.registry.json.pointer(self.schemas.get(schema).node);
        let steps: Vec<String> = scopes(scope)
            .filter_map(|scope| {
                let outer = scope.outer?;
                if !scope.reference.is_empty() {
                    return Some(format!("/{}", escape_token(scope.reference)));
                }
                Some(
                    pointer(scope.schema).strip_prefix(&pointer(outer.schema)).unwrap_or_default().to_owned(),
                )
            })
            .collect();
        steps.into_iter().rev().collect()
    }
}

/// The scopes from one outwards.
fn scopes<'s>(scope: &'s Scope<'s>) -> impl Iterator<Item = &'s Scope<'s>> {
    std::iter::successors(Some(scope), |scope| scope.outer)
}

/// The scope in which the same value was held against the same schema.
fn cycle<'s>(scope: &'s Scope<'s>) -> Option<&'s Scope<'s>> {
    let mut at = scope;
    while at.is_same_value {
        at = at.outer?;
        if at.schema == scope.schema {
            return Some(at);
        }
    }
    None
}

/// Returns what of a value has still to be looked at, if anybody asks.
fn unevaluated<'a>(value: &'a Data, schema: &Schema, is_asked: bool) -> Unevaluated<'a> {
    let mut left = Unevaluated::default();
    match value {
        Data::Table(table) => {
            let is_all = schema.object.as_ref().is_some_and(|rules| rules.additional.is_some());
            if !is_all && (is_asked || schema.unevaluated_properties.is_some()) {
                left.properties = table.iter().map(|(name, _)| name).collect();
            }
        }
        Data::List(items) => {
            let rules = schema.array.as_ref();
            let is_all = rules.is_some_and(|rules| rules.rest.is_some());
            if !is_all && (is_asked || schema.unevaluated_items.is_some()) {
                left.items = (rules.map_or(0, |rules| rules.prefix.len())..items.len()).collect();
            }
        }
        _ => {}
    }
    left
}

fn missing<'n>(value: &Data, names: &'n [String]) -> Vec<&'n str> {
    let has = |name: &str| value.as_table().is_some_and(|table| table.get(name).is_some());
    names.iter().map(String::as_str).filter(|name| !has(name)).collect()
}

fn type_of(value: &Data) -> Types {
    match value {
        Data::Null => Types::NULL,
        Data::Bool(_) => Types::BOOLEAN,
        Data::Int(_) | Data::Float(_) => Types::NUMBER,
        Data::Str(_) | Data::Bytes(_) => Types::STRING,
        Data::List(_) => Types::ARRAY,
        Data::Table(_) => Types::OBJECT,
    }
}

fn is_whole(value: &Data) -> bool {
    match value {
        Data::Int(_) => true,
        Data::Float(float) => float.fract() == 0.0,
        _ => false,
    }
}
