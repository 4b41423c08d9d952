//! Validates an object against a schema.
//!
//! Input: a node whose plain scalars are JSON values, and a schema. Output: violations, with path and place, in the order of the
//! text; at most [`MAX_VIOLATIONS`]. Fields are checked as strictly as `kubectl apply --validate=strict` has the API server
//! do it: a field that the schema does not have is a violation, for it would be dropped.

use std::collections::HashSet;
use std::fmt::Write as _;

use yamltree::{Dialect, Entry, JsonOptions, Kind, Node, Resolved, Span};

use crate::builtin::BuiltinSchemas;
use crate::quantity::is_quantity;
use crate::schema::{Additional, Bound, Format, ListType, Range, Rules, Schema, Type};

/// The maximum number of violations reported per object.
const MAX_VIOLATIONS: usize = 100;

/// The maximum nesting; schemas can be recursive.
const MAX_DEPTH: usize = 256;

/// The similarity above which a name counts as a typo of another.
const SIMILARITY_THRESHOLD: f64 = 0.8;

/// A violation of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field: `spec.template.spec.containers[0].image`.
    pub path: String,
    /// A sentence without values.
    pub message: String,
    /// The suggested correction.
    pub hint: Option<String>,
    /// True if the object can be applied all the same, though not by a server-side apply.
    pub is_tolerated: bool,
    /// The bytes concerned.
    pub span: Span,
}

/// The result of checking an object against a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The violations, in the order of the text.
    pub violations: Vec<Violation>,
    /// True if the schema has CEL rules, which are not evaluated.
    pub has_expressions: bool,
}

/// Holds an object against the schema of its kind. Schemas by name, and that of `metadata`, are Kubernetes' own.
#[must_use]
pub fn check(object: &Node, schema: &Schema, builtin: &BuiltinSchemas) -> Report {
    let mut checker = Checker { builtin, path: String::new(), report: Report::default(), depth: 0 };
    checker.value(object, schema);
    let mut report = checker.report;
    report.violations.sort_by_key(|violation| (violation.span.source, violation.span.start));
    report
}

struct Checker<'s> {
    builtin: &'s BuiltinSchemas,
    path: String,
    report: Report,
    depth: usize,
}

impl<'s> Checker<'s> {
    fn value(&mut self, node: &Node, schema: &'s Schema) {
        if self.depth == MAX_DEPTH || self.report.violations.len() == MAX_VIOLATIONS {
            return;
        }
        self.depth += 1;
        match &schema.reference {
            Some(name) => {
                if let Some(schema) = self.builtin.named(name) {
                    self.value(node, schema);
                }
            }
            None => self.own_value(node, schema),
        }
        self.depth -= 1;
    }

    fn own_value(&mut self, node: &Node, schema: &'s Schema) {
        let given = given(node);
        if given == Given::Null && (schema.is_nullable || schema.kind.is_none()) {
            return;
        }
        if let Some(wanted) = schema.kind
            && !given.is(wanted)
        {
            let message = format!("expected {}, found {}", wanted.words(), given.words());
            let hint = hint_of_type(wanted, given);
            return self.violation(node.span, message, hint);
        }
        match &node.kind {
            Kind::Mapping(entries) => self.object(node, entries, schema),
            Kind::Sequence(items) => self.list(items, schema),
            Kind::Scalar(text) => self.scalar(node, text, schema),
            Kind::Alias(_) => {}
        }
        if let Some(rules) = &schema.rules {
            self.rules(node, rules);
        }
    }

    fn object(&mut self, node: &Node, entries: &[Entry], schema: &'s Schema) {
        for entry in entries {
            let Some(name) = entry.key.text() else { continue };
            let length = self.path.len();
            if length > 0 {
                self.path.push('.');
            }
            push_name(&mut self.path, name);
            self.field(entry, name, schema);
            self.path.truncate(length);
        }
        for name in &schema.required {
            let is_there = node.get(name).is_some_and(|value| given(value) != Given::Null);
            if !is_there {
                self.violation(node.span, format!("the field `{name}` is missing"), None);
            }
        }
    }

    fn field(&mut self, entry: &Entry, name: &str, schema: &'s Schema) {
        // The API server takes null for a field that is not there.
        if given(&entry.value) == Given::Null {
            return;
        }
        if schema.is_resource {
            match name {
                "apiVersion" | "kind" => return,
                "metadata" => {
                    if let Some(metadata) = self.builtin.metadata() {
                        self.value(&entry.value, metadata);
                    }
                    return;
                }
                _ => {}
            }
        }
        match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => self.value(&entry.value, property),
            (None, Additional::Any) => {}
            (None, Additional::Schema(inner)) => self.value(&entry.value, inner),
            (None, Additional::Refused) => {
                let message = format!("unknown field `{name}`");
                self.violation(entry.key.span, message, closest(name, schema));
            }
        }
    }

    fn list(&mut self, items: &[Node], schema: &'s Schema) {
        for (number, item) in items.iter().enumerate() {
            let length = self.path.len();
            let _ = write!(self.path, "[{number}]");
            if let Some(inner) = &schema.items {
                self.value(item, inner);
            }
            self.path.truncate(length);
        }
        let mut seen = HashSet::new();
        for (number, item) in items.iter().enumerate() {
            if identity(item, &schema.list).is_some_and(|identity| !seen.insert(identity)) {
                let what = match &schema.list {
                    ListType::Map(keys) => format!("an item with the same {}", in_words(keys)),
                    _ => "the same item".to_owned(),
                };
                let length = self.path.len();
                let _ = write!(self.path, "[{number}]");
                self.violation(item.span, format!("{what} is already in the list"), None);
                if let Some(violation) = self.report.violations.last_mut() {
                    violation.is_tolerated = true;
                }
                self.path.truncate(length);
            }
        }
    }

    fn scalar(&mut self, node: &Node, text: &str, schema: &Schema) {
        let is_text = given(node) == Given::Text;
        let violation = match (schema.kind, schema.format) {
            (Some(Type::Quantity), _) if !is_quantity(text) => {
                Some(format!("expected {}", Type::Quantity.words()))
            }
            (Some(Type::Integer), Some(Format::Int32)) if text.parse::<i32>().is_err() => {
                // 1e3 and 1.0 are whole numbers too, and no larger than they look.
                let is_whole = text.parse::<f64>().is_ok_and(|value| value.abs() <= f64::from(i32::MAX));
                (!is_whole).then(|| "the number is too large for 32 bits".to_owned())
            }
            (_, Some(Format::Base64)) if is_text && gostd::base64::decode(text.as_bytes()).is_err() => {
                Some("the string is not valid base64".to_owned())
            }
            (_, Some(Format::DateTime)) if is_text && !is_date_time(text) => {
                Some("expected a time such as `2006-01-02T15:04:05Z`".to_owned())
            }
            _ => None,
        };
        if let Some(message) = violation {
            self.violation(node.span, message, None);
        }
    }

    fn rules(&mut self, node: &Node, rules: &'s Rules) {
        self.report.has_expressions |= rules.has_expressions;
        if let Some(values) = &rules.values
            && !values.contains(&json_of(node))
        {
            self.violation(node.span, format!("expected one of {}", values.join(", ")), None);
        }
        let given = given(node);
        if let (Some(pattern), Given::Text, Some(text)) = (&rules.pattern, given, node.text())
            && !pattern.expression.is_match(text)
        {
            self.violation(node.span, format!("the string does not match `{}`", pattern.text), None);
        }
        if let (Given::Integer | Given::Number, Some(value)) =
            (given, node.text().and_then(|text| text.parse::<f64>().ok()))
        {
            self.number(node, value, rules);
        }
        let (count, range, what) = match (&node.kind, given) {
            (Kind::Mapping(entries), _) => (entries.len(), rules.fields, "fields"),
            (Kind::Sequence(items), _) => (items.len(), rules.items, "items"),
            (Kind::Scalar(text), Given::Text) => (text.chars().count(), rules.length, "characters"),
            _ => (0, Range::default(), ""),
        };
        self.count(node, count as u64, range, what);
        self.combined(node, rules);
    }

    fn number(&mut self, node: &Node, value: f64, rules: &Rules) {
        let beyond = |bound: Bound, less: bool| {
            let is_equal = (value - bound.value).abs() < f64::EPSILON;
            if is_equal { bound.is_exclusive } else { (value < bound.value) == less }
        };
        if let Some(bound) = rules.minimum.filter(|bound| beyond(*bound, true)) {
            let than = if bound.is_exclusive { "more than" } else { "at least" };
            self.violation(node.span, format!("expected {than} {}", bound.value), None);
        }
        if let Some(bound) = rules.maximum.filter(|bound| beyond(*bound, false)) {
            let than = if bound.is_exclusive { "less than" } else { "at most" };
            self.violation(node.span, format!("expected {than} {}", bound.value), None);
        }
        if let Some(step) = rules.multiple_of.filter(|step| *step > 0.0) {
            let times = value / step;
            if (times - times.round()).abs() > 1e-9 {
                self.violation(node.span, format!("expected a multiple of {step}"), None);
            }
        }
    }

    fn count(&mut self, node: &Node, count: u64, range: Range, what: &str) {
        if let Some(least) = range.least.filter(|least| count < *least) {
            self.violation(node.span, format!("expected at least {least} {what}, found {count}"), None);
        }
        if let Some(most) = range.most.filter(|most| count > *most) {
            self.violation(node.span, format!("expected at most {most} {what}, found {count}"), None);
        }
    }

    fn combined(&mut self, node: &Node, rules: &'s Rules) {
        for part in &rules.all_of {
            self.value(node, part);
        }
        let fitting = |parts: &'s [Schema]| parts.iter().filter(|part| self.fits(node, part)).count();
        let (any, one) = (fitting(&rules.any_of), fitting(&rules.one_of));
        let is_refused = rules.not.as_deref().is_some_and(|part| self.fits(node, part));
        if !rules.any_of.is_empty() && any == 0 {
            self.violation(node.span, "it matches none of the schemas in `anyOf`".to_owned(), None);
        }
        if !rules.one_of.is_empty() && one != 1 {
            let message = format!("exactly one of the schemas in `oneOf` may fit, and {one} do");
            self.violation(node.span, message, None);
        }
        if is_refused {
            self.violation(node.span, "it is as the schema in `not` has it".to_owned(), None);
        }
    }

    fn fits(&self, node: &Node, schema: &'s Schema) -> bool {
        let mut inner = Checker {
            builtin: self.builtin,
            path: String::new(),
            report: Report::default(),
            depth: self.depth,
        };
        inner.value(node, schema);
        inner.report.violations.is_empty()
    }

    fn violation(&mut self, span: Span, message: String, hint: Option<String>) {
        if self.report.violations.len() < MAX_VIOLATIONS {
            let path = self.path.clone();
            self.report.violations.push(Violation { path, message, hint, is_tolerated: false, span });
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Mapping,
}

fn given(node: &Node) -> Given {
    match &node.kind {
        Kind::Mapping(_) => Given::Mapping,
        Kind::Sequence(_) => Given::List,
        Kind::Alias(_) => Given::Null,
        Kind::Scalar(_) => match node.resolved(Dialect::V3) {
            Ok(Resolved::Null) => Given::Null,
            Ok(Resolved::Bool(_)) => Given::Boolean,
            Ok(Resolved::Int(_) | Resolved::Uint(_)) => Given::Integer,
            // 1.0 is as whole as 1.
            Ok(Resolved::Float(value)) if value.fract() == 0.0 => Given::Integer,
            Ok(Resolved::Float(_)) => Given::Number,
            Ok(Resolved::Timestamp(_) | Resolved::Binary | Resolved::Str) | Err(_) => Given::Text,
        },
    }
}

impl Given {
    fn is(self, wanted: Type) -> bool {
        match wanted {
            Type::Object => self == Self::Mapping,
            Type::Array => self == Self::List,
            Type::String => self == Self::Text,
            Type::Integer => self == Self::Integer,
            Type::Number => matches!(self, Self::Integer | Self::Number),
            Type::Boolean => self == Self::Boolean,
            Type::Quantity => matches!(self, Self::Text | Self::Integer | Self::Number),
            Type::IntOrString => matches!(self, Self::Text | Self::Integer),
            Type::Null => self == Self::Null,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Mapping => "a mapping",
        }
    }
}

fn hint_of_type(wanted: Type, given: Given) -> Option<String> {
    match (wanted, given) {
        (Type::String, Given::Integer | Given::Number | Given::Boolean) => Some("quote it".to_owned()),
        (Type::Integer | Type::Number | Type::Boolean, Given::Text) => Some("remove the quotes".to_owned()),
        _ => None,
    }
}

/// The field that may have been meant.
fn closest(name: &str, schema: &Schema) -> Option<String> {
    let score = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let scored = schema.properties.keys().map(|other| (score(other), other));
    let (best, other) = scored.max_by(|left, right| left.0.total_cmp(&right.0))?;
    (best >= SIMILARITY_THRESHOLD).then(|| format!("did you mean `{other}`?"))
}

/// A value as JSON, to compare by.
pub(crate) fn json_of(node: &Node) -> String {
    let mut text = String::new();
    // A value without JSON equals no other.
    let _ = yamltree::to_json(node, JsonOptions { escape_html: false, ..JsonOptions::SIGS }, &mut text);
    text
}

/// Returns the identity of an item, which must be unique in the list.
fn identity(item: &Node, list: &ListType) -> Option<String> {
    match list {
        ListType::Plain => None,
        ListType::Set => Some(json_of(item)),
        ListType::Map(keys) => {
            // What a key is by default is not known here.
            let values: Option<Vec<String>> = keys.iter().map(|key| item.get(key).map(json_of)).collect();
            values.map(|values| values.join("\0"))
        }
    }
}

fn in_words(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")
}

/// `name`, or `["a.b/c"]` where dots would mislead.
fn push_name(path: &mut String, name: &str) {
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'$')) {
        path.push_str(name);
        return;
    }
    if path.ends_with('.') {
        path.pop();
    }
    let _ = write!(path, "[{name:?}]");
}

/// RFC 3339, roughly: the days of months are not counted.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let numbers = |text: &str, lengths: &[usize], by: char| {
        let parts: Vec<&str> = text.split(by).collect();
        let fits = |(part, length): (&&str, &usize)| {
            part.len() == *length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == lengths.len() && parts.iter().zip(lengths).all(fits)
    };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_zone = matches!(zone, "Z" | "z") || numbers(zone.get(1..).unwrap_or_default(), &[2, 2], ':');
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    numbers(date, &[4, 2, 2], '-') && numbers(clock, &[2, 2, 2], ':') && is_fraction && is_zone
}

#[cfg(test)]
mod tests {
    use yamltree::ParseOptions;

    use super::*;
    use crate::{Gvk, crd};

    fn parse(text: &str) -> Node {
        yamltree::parse_first(text, 0, &ParseOptions::default()).unwrap().unwrap().root
    }

    /// Paths and sentences of what is wrong with an object of Kubernetes' own.
    fn violations(text: &str) -> Vec<String> {
        let node = parse(text);
        let field = |name: &str| node.get(name).unwrap().text().unwrap().to_owned();
        let builtin = BuiltinSchemas::for_version(Some("1.34")).unwrap();
        let schema = builtin.kind(&Gvk::new(&field("apiVersion"), &field("kind"))).unwrap();
        shown(check(&node, schema, &builtin))
    }

    fn shown(report: Report) -> Vec<String> {
        let line = |violation: Violation| match violation.hint {
            Some(hint) => format!("{}: {}; {hint}", violation.path, violation.message),
            None => format!("{}: {}", violation.path, violation.message),
        };
        report.violations.into_iter().map(line).collect()
    }

    const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, creationTimestamp: null, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
        ports: [{containerPort: 80, protocol: TCP}]
        resources: {limits: {cpu: 1, memory: 1Gi}}
        livenessProbe: {httpGet: {port: http, path: /}}
";

    #[test]
    fn what_kubernetes_takes_is_right() {
        assert!(violations(DEPLOYMENT).is_empty(), "{:?}", violations(DEPLOYMENT));
        let secret =
            "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: YQ==}, stringData: {b: c}}";
        assert!(violations(secret).is_empty());
    }

    #[test]
    fn what_it_refuses_or_drops_is_said() {
        for (from, to, want) in [
            ("replicas: 2", "replicas: \"2\"", "spec.replicas: expected an integer, found a string; remove"),
            ("replicas: 2", "replica: 2", "spec.replica: unknown field `replica`; did you mean `replicas`?"),
            ("replicas: 2", "replicas: 99999999999", "spec.replicas: the number is too large"),
            (
                "image: web:1",
                "env: [{name: A, value: 1}]",
                "spec.template.spec.containers[0].env[0].value: expected a string, found an integer; quote",
            ),
            (
                "memory: 1Gi",
                "memory: 1GB",
                "spec.template.spec.containers[0].resources.limits.memory: expected a quantity",
            ),
            (
                "{containerPort: 80, protocol: TCP}",
                "{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: TCP}",
                "spec.template.spec.containers[0].ports[1]: an item with the same `containerPort` and `protocol`",
            ),
            ("containers:", "initContainers:", "spec.template.spec: the field `containers` is missing"),
            (
                "labels: {app: web}}\nspec",
                "labels: {a.b/c: 1}}\nspec",
                "metadata.labels[\"a.b/c\"]: expected a string",
            ),
        ] {
            let found = violations(&DEPLOYMENT.replacen(from, to, 1));
            assert_eq!(found.len(), 1, "{to}: {found:?}");
            assert!(found[0].starts_with(want), "{to}: {found:?}");
        }
        let secret = "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: plain-text}}";
        assert_eq!(violations(secret), ["data.a: the string is not valid base64"]);
    }

    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Widget}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations: [{rule: self.size > 0}]
            properties:
              size: {type: integer, minimum: 1, maximum: 10}
              mode: {type: string, enum: [fast, slow]}
              name: {type: string, pattern: '^[a-z]+$', maxLength: 5}
              port: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              extra: {type: object, additionalProperties: {type: string}}
              items: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              note: {type: string, nullable: true}
              either: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}
  - {name: v0, served: false, schema: {openAPIV3Schema: {type: object}}}
";

    fn custom(spec: &str) -> Report {
        let kinds = crd::kinds(&parse(DEFINITION));
        assert_eq!(kinds.len(), 1);
        let builtin = BuiltinSchemas::for_version(None).unwrap();
        let object =
            format!("{{apiVersion: example.com/v1, kind: Widget, metadata: {{name: a}}, spec: {spec}}}");
        check(&parse(&object), &kinds[0].1, &builtin)
    }

    #[test]
    fn custom_resources_are_held_against_their_definition() {
        let fine = "{size: 3, mode: fast, name: abc, port: http, free: {any: [1]}, extra: {a: b}, items: [a, b], \
                    note: null, either: {a: x}, mode: null}";
        let report = custom(fine);
        assert_eq!(report.violations, []);
        assert!(report.has_expressions);
        for (spec, want) in [
            ("{size: 0}", "spec.size: expected at least 1"),
            ("{size: 11}", "spec.size: expected at most 10"),
            ("{size: 1, mode: middle}", "spec.mode: expected one of \"fast\", \"slow\""),
            ("{size: 1, name: ABC}", "spec.name: the string does not match `^[a-z]+$`"),
            ("{size: 1, name: abcdef}", "spec.name: expected at most 5 characters, found 6"),
            ("{size: 1, weight: 1}", "spec.weight: unknown field `weight`"),
            ("{size: 1, extra: {a: 1}}", "spec.extra.a: expected a string, found an integer; quote it"),
            ("{size: 1, items: [a, a]}", "spec.items[1]: the same item is already in the list"),
            (
                "{size: 1, either: {a: x, b: y}}",
                "spec.either: exactly one of the schemas in `oneOf` may fit, and 2 do",
            ),
            ("{mode: fast}", "spec: the field `size` is missing"),
            ("{size: null}", "spec: the field `size` is missing"),
            ("{size: 1, items: [null]}", "spec.items[0]: expected a string, found null"),
        ] {
            assert_eq!(shown(custom(spec)), [want], "{spec}");
        }
    }

    #[test]
    fn the_metadata_of_custom_resources_is_kubernetes_own() {
        let kinds = crd::kinds(&parse(DEFINITION));
        let builtin = BuiltinSchemas::for_version(None).unwrap();
        let object = "{apiVersion: example.com/v1, kind: Widget, metadata: {nme: a}, spec: {size: 1}}";
        let found = shown(check(&parse(object), &kinds[0].1, &builtin));
        assert_eq!(found, ["metadata.nme: unknown field `nme`; did you mean `name`?"]);
    }

    #[test]
    fn times_are_told_from_other_texts() {
        for text in ["2006-01-02T15:04:05Z", "2006-01-02T15:04:05.123+01:00"] {
            assert!(is_date_time(text), "{text}");
        }
        for text in ["2006-01-02", "2006-01-02 15:04:05Z", "2006-1-2T15:04:05Z", "now", ""] {
            assert!(!is_date_time(text), "{text}");
        }
    }
}
