//! The kinds of object that are looked for in a cluster, as CustomResourceDefinitions for its API server.
//!
//! In: what a dialect says of a kind, and the types that it reads and writes. Out: a manifest that keeps to the original's
//! names, columns and schema, so that it can take the original's place with all objects that are there. Needs no
//! cluster, nor the crate that talks to one: the schema of a CRD is that of our own types, and what `kube` would add,
//! which is to take apart enums of structures, they have no need of.

mod structural;
#[cfg(test)]
mod tests;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::dialect;

/// The definition of a kind, for its CRD.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    /// Of the definition itself.
    pub(crate) annotations: &'static [(&'static str, &'static str)],
    /// The description of the kind.
    pub(crate) description: &'static str,
    /// The printer columns of `kubectl get`.
    pub(crate) columns: &'static [Column],
    pub(crate) spec: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) status: fn(&mut SchemaGenerator) -> Schema,
    /// The `status.observedGeneration` of an object that nobody has looked at.
    pub(crate) unseen: Option<i64>,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) path: &'static str,
    /// True if it is there with `-o wide` only.
    pub(crate) is_wide: bool,
}

/// All kinds, in the order of their names.
pub(crate) fn all() -> Vec<&'static Definition> {
    let mut definitions: Vec<_> = dialect::definitions().collect();
    definitions.sort_by_key(|definition| definition.kind);
    definitions
}

impl Definition {
    /// The name of the CRD.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The name that the original's file has, without its end.
    pub(crate) fn file_stem(&self) -> String {
        format!("{}_{}", self.group, self.plural)
    }

    /// Returns true if a word means this kind, as it would to `kubectl get`.
    pub(crate) fn is_called(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let names = [self.plural, self.singular].into_iter().chain(self.short_names.iter().copied());
        names.into_iter().any(|name| word == name) || word == self.name()
    }

    /// The CRD.
    pub(crate) fn manifest(&self) -> Value {
        let mut metadata = json!({ "name": self.name() });
        if !self.annotations.is_empty() {
            let pairs = self.annotations.iter().map(|(key, value)| ((*key).to_owned(), json!(value)));
            metadata["annotations"] = Value::Object(pairs.collect());
        }
        let mut version = json!({
            "name": self.version,
            "served": true,
            "storage": true,
            "schema": { "openAPIV3Schema": self.schema() },
            "subresources": { "status": {} },
        });
        version["additionalPrinterColumns"] = self.columns.iter().map(Column::manifest).collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": {
                "group": self.group,
                "names": self.names(),
                "scope": "Namespaced",
                "versions": [version],
            },
        })
    }

    fn names(&self) -> Value {
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": self.singular,
        });
        for (key, list) in [("shortNames", self.short_names), ("categories", self.categories)] {
            if !list.is_empty() {
                names[key] = json!(list);
            }
        }
        names
    }

    /// The schema of whole objects.
    fn schema(&self) -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let mut generator = settings.into_generator();
        let spec = structural::schema((self.spec)(&mut generator));
        let mut status = structural::schema((self.status)(&mut generator));
        if let Some(generation) = self.unseen {
            status["default"] = json!({ "observedGeneration": generation });
        }
        json!({
            "description": self.description,
            "type": "object",
            "properties": {
                "apiVersion": { "type": "string", "description": "The group and the version of the API." },
                "kind": { "type": "string", "description": "The kind of object." },
                "metadata": { "type": "object" },
                "spec": spec,
                "status": status,
            },
        })
    }
}

impl Column {
    fn manifest(&self) -> Value {
        let mut column = Map::new();
        column.insert("name".to_owned(), json!(self.name));
        column.insert("type".to_owned(), json!(self.kind));
        column.insert("jsonPath".to_owned(), json!(self.path));
        if self.is_wide {
            column.insert("priority".to_owned(), json!(1));
        }
        Value::Object(column)
    }
}
