//! Holds manifests against the schemas of their kinds.
//!
//! In: objects, a version of Kubernetes, CRDs and folders of schemas. Out: findings. A kind is looked for among those of
//! Kubernetes, then among CRDs, then in the folders; one that is nowhere is said so, and an error where that is wanted.

mod catalog;

use std::collections::{BTreeSet, HashMap};

use argocd::objects::Object;
use findings::{Finding, Rule, Severity};
use kubeschema::{Availability, BuiltinSchemas, Gvk, Schema, check, crd};
use yamltree::{Location, Node};

pub(crate) use catalog::Catalog;
use diagnostic::{Error, ErrorKind, Result};

static SCHEMA: Rule = Rule {
    code: "VAL001",
    name: "schema",
    meaning: "The API server rejects the object or drops a part of it: it does not match the schema of its kind.",
};
static DUPLICATE: Rule = Rule {
    code: "VAL006",
    name: "duplicate-item",
    meaning: "A list has two items with the same key: server-side apply rejects it, other clients use the last one.",
};
static REMOVED: Rule = Rule {
    code: "VAL002",
    name: "removed-api",
    meaning: "The version of Kubernetes serves the kind no more.",
};
static TOO_NEW: Rule = Rule {
    code: "VAL003",
    name: "api-not-yet-served",
    meaning: "The version of Kubernetes does not serve the kind yet.",
};
static NO_SCHEMA: Rule = Rule {
    code: "VAL004",
    name: "no-schema",
    meaning: "No schema is known for the kind, so its fields are not checked.",
};
static EXPRESSIONS: Rule = Rule {
    code: "VAL005",
    name: "expressions-not-evaluated",
    meaning: "The kind has rules in CEL, which only the API server evaluates.",
};

/// Validates objects against schemas.
#[derive(Debug)]
pub(crate) struct Validator {
    builtin: BuiltinSchemas,
    custom: HashMap<Gvk, Schema>,
    catalogs: Vec<Catalog>,
    /// True if a kind without a schema is an error.
    requires_schemas: bool,
}

impl Validator {
    /// A validator for a version of Kubernetes; for the newest known one where none is said.
    ///
    /// # Errors
    /// If there are no schemas for the version.
    pub(crate) fn new(version: Option<&str>, catalogs: Vec<Catalog>, requires_schemas: bool) -> Result<Self> {
        let builtin = BuiltinSchemas::for_version(version).map_err(|version| {
            let known = BuiltinSchemas::minors();
            let (first, last) =
                (known.first().map_or("", String::as_str), known.last().map_or("", String::as_str));
            let sentence = format!("no schemas for Kubernetes `{version}`");
            Error::new(ErrorKind::Usage, sentence).hint(format!("those of {first} to {last} are built in"))
        })?;
        Ok(Self { builtin, custom: HashMap::new(), catalogs, requires_schemas })
    }

    /// Learns the kinds that a CustomResourceDefinition defines; those that are known already stay.
    pub(crate) fn learn(&mut self, object: &Node) {
        for (gvk, schema) in crd::kinds(object) {
            self.custom.entry(gvk).or_insert(schema);
        }
    }

    /// Returns what is wrong with the objects of a target.
    ///
    /// # Errors
    /// A schema in a folder that cannot be read.
    pub(crate) fn check(&self, target: &str, objects: &[Object]) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        let mut unevaluated = BTreeSet::new();
        for object in objects {
            let gvk = Gvk::new(object.api_version(), object.kind());
            let finding = |rule: &'static Rule, severity, message: String, place: Option<Location>| Finding {
                rule,
                severity,
                message,
                hint: None,
                location: place,
                object: Some(titled(object)),
                field: None,
                target: target.to_owned(),
            };
            let of_folder;
            let schema = match self.builtin.kind(&gvk).or_else(|| self.custom.get(&gvk)) {
                Some(schema) => schema,
                None => match self.in_catalogs(&gvk)? {
                    Some(schema) => {
                        of_folder = schema;
                        &of_folder
                    }
                    None => {
                        found.push(self.without_schema(&gvk, |rule, severity, message| {
                            finding(rule, severity, message, object.place())
                        }));
                        continue;
                    }
                },
            };
            let report = check(object.node(), schema, &self.builtin);
            if report.has_expressions {
                unevaluated.insert(gvk.to_string());
            }
            found.extend(report.violations.into_iter().map(|violation| {
                let (rule, severity) = if violation.is_tolerated {
                    (&DUPLICATE, Severity::Warning)
                } else {
                    (&SCHEMA, Severity::Error)
                };
                let place = object.place_of(&Node::null().at(violation.span));
                Finding {
                    hint: violation.hint,
                    field: (!violation.path.is_empty()).then_some(violation.path),
                    ..finding(rule, severity, violation.message, place)
                }
            }));
        }
        found.extend(unevaluated.into_iter().map(|kind| Finding {
            rule: &EXPRESSIONS,
            severity: Severity::Note,
            message: format!("the rules in CEL of {kind}, were not evaluated"),
            hint: None,
            location: None,
            object: None,
            field: None,
            target: target.to_owned(),
        }));
        Ok(found)
    }

    fn in_catalogs(&self, gvk: &Gvk) -> Result<Option<Schema>> {
        for catalog in &self.catalogs {
            if let Some(schema) = catalog.schema(gvk, self.builtin.minor())? {
                return Ok(Some(schema));
            }
        }
        Ok(None)
    }

    fn without_schema(
        &self,
        gvk: &Gvk,
        finding: impl FnOnce(&'static Rule, Severity, String) -> Finding,
    ) -> Finding {
        let minor = self.builtin.minor();
        match self.builtin.availability(gvk) {
            Availability::RemovedAfter(last) => {
                let message =
                    format!("Kubernetes {minor} does not serve {gvk}: {last} was the last that did");
                finding(&REMOVED, Severity::Error, message)
            }
            Availability::NotBefore(first) => {
                let message =
                    format!("Kubernetes {minor} does not serve {gvk}: {first} is the first that does");
                finding(&TOO_NEW, Severity::Error, message)
            }
            Availability::Served | Availability::Unknown => {
                let severity = if self.requires_schemas { Severity::Error } else { Severity::Warning };
                let finding = finding(&NO_SCHEMA, severity, format!("no schema for {gvk}"));
                let hint = "name its CRD with `--crds`, or a folder of schemas with `--schemas`".to_owned();
                Finding { hint: Some(hint), ..finding }
            }
        }
    }
}

/// An object as a person is told of it: `Deployment shop/web`.
pub(crate) fn titled(object: &Object) -> String {
    let name = match object.name() {
        "" => format!("{}*", object.generate_name()),
        name => name.to_owned(),
    };
    match object.namespace() {
        "" => format!("{} {name}", object.kind()),
        namespace => format!("{} {namespace}/{name}", object.kind()),
    }
}
