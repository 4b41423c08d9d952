//! The resources that there are: those of every cluster as data (`builtin.json`), and those that a CRD defines.

use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::Failure;
use super::metadata::Naming;

/// A registered resource.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) group: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    pub(super) namespaced: bool,
    pub(super) versions: Vec<Version>,
    /// Which table of the store has its objects; the two APIs of events share one.
    pub(super) table: String,
    pub(super) habits: Habits,
}

/// A version of a resource.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) name: String,
    pub(super) served: bool,
    pub(super) schema: Value,
    /// True if it has the subresource.
    pub(super) status: bool,
    /// Fields that can be selected by, besides name and namespace.
    pub(super) selectable: Vec<String>,
}

/// In what resources differ beside their schemas.
#[derive(Clone, Debug)]
pub(super) struct Habits {
    /// It comes by a CRD.
    pub(super) custom: bool,
    /// A `PUT` of what is not there makes it.
    pub(super) create_on_update: bool,
    /// A `PUT` without a `resourceVersion` is taken.
    pub(super) unconditional_update: bool,
    /// Its `metadata.generation` counts the changes of its `spec`.
    pub(super) generation: bool,
    pub(super) naming: Naming,
}

#[derive(Deserialize)]
struct BuiltIns {
    metadata: Value,
    resources: Vec<BuiltIn>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuiltIn {
    group: String,
    version: String,
    plural: String,
    kind: String,
    short_names: Vec<String>,
    namespaced: bool,
    status: bool,
    create_on_update: bool,
    unconditional_update: bool,
    generation: bool,
    selectable: Vec<String>,
    naming: String,
    table: String,
    schema: Value,
}

fn built_ins() -> BuiltIns {
    serde_json::from_str(include_str!("builtin.json")).expect("it is written for this")
}

/// The resources that every cluster has.
pub(super) fn built_in() -> Vec<Resource> {
    built_ins().resources.into_iter().map(BuiltIn::into_resource).collect()
}

/// The schema of `metadata`.
pub(super) fn metadata_schema() -> Value {
    built_ins().metadata
}

impl BuiltIn {
    fn into_resource(self) -> Resource {
        Resource {
            singular: self.kind.to_lowercase(),
            list_kind: format!("{}List", self.kind),
            categories: Vec::new(),
            versions: vec![Version {
                name: self.version,
                served: true,
                schema: self.schema,
                status: self.status,
                selectable: self.selectable,
            }],
            habits: Habits {
                custom: false,
                create_on_update: self.create_on_update,
                unconditional_update: self.unconditional_update,
                generation: self.generation,
                naming: if self.naming == "label" { Naming::Label } else { Naming::Subdomain },
            },
            group: self.group,
            plural: self.plural,
            kind: self.kind,
            short_names: self.short_names,
            namespaced: self.namespaced,
            table: self.table,
        }
    }
}

impl Resource {
    /// The resource that a checked CRD defines.
    pub(super) fn of_definition(definition: &Value) -> Self {
        let spec = &definition["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect();
        let names = &spec["names"];
        let versions = spec["versions"].as_array().into_iter().flatten().map(Version::of_definition);
        Self {
            group: text(&spec["group"]),
            plural: text(&names["plural"]),
            singular: text(&names["singular"]),
            kind: text(&names["kind"]),
            list_kind: text(&names["listKind"]),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            namespaced: spec["scope"] == "Namespaced",
            versions: versions.collect(),
            table: text(&definition["metadata"]["name"]),
            habits: Habits {
                custom: true,
                create_on_update: false,
                unconditional_update: false,
                generation: true,
                naming: Naming::Subdomain,
            },
        }
    }

    /// A version that is served.
    pub(super) fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.served && version.name == name)
    }

    /// `v1`, `argoproj.io/v1alpha1`.
    pub(super) fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }

    pub(super) fn not_found(&self, name: &str) -> Failure {
        Failure::not_found(&self.group, &self.plural, name)
    }

    pub(super) fn modified(&self, name: &str) -> Failure {
        Failure::modified(&self.group, &self.plural, name)
    }

    pub(super) fn conflict(&self, name: &str, why: &str) -> Failure {
        Failure::conflict(&self.group, &self.plural, name, why)
    }

    /// Returns how an object is kept, from how a version shows it. Of a CRD's versions only the name differs, as without a
    /// webhook that converts.
    pub(super) fn stored(&self, mut object: Value) -> Value {
        if self.table == "events" && !self.group.is_empty() {
            rename(&mut object, |(old, new)| (new, old));
            object["apiVersion"] = "v1".into();
        }
        object
    }

    /// Returns how a version shows an object that is kept.
    pub(super) fn shown(&self, version: &str, object: &Value) -> Value {
        let mut object = object.clone();
        if self.table == "events" && !self.group.is_empty() {
            rename(&mut object, |names| names);
        }
        object["apiVersion"] = self.api_version(version).into();
        object["kind"] = self.kind.as_str().into();
        object
    }
}

impl Version {
    fn of_definition(version: &Value) -> Self {
        let paths = version["selectableFields"].as_array().into_iter().flatten();
        Self {
            name: version["name"].as_str().unwrap_or_default().to_owned(),
            served: version["served"] == true,
            schema: version["schema"]["openAPIV3Schema"].clone(),
            status: version["subresources"]["status"].is_object(),
            selectable: paths
                .filter_map(|one| one["jsonPath"].as_str()?.strip_prefix('.').map(str::to_owned))
                .collect(),
        }
    }

    /// Returns what a `fieldSelector` may name.
    pub(super) fn selectable(&self, namespaced: bool) -> Vec<String> {
        let mut paths = vec!["metadata.name".to_owned()];
        if namespaced {
            paths.push("metadata.namespace".to_owned());
        }
        paths.extend(self.selectable.iter().cloned());
        paths
    }
}

/// Names of the fields of events in `v1`, and in `events.k8s.io/v1`.
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

fn rename(event: &mut Value, direction: fn((&'static str, &'static str)) -> (&'static str, &'static str)) {
    let Some(fields) = event.as_object_mut() else { return };
    for (from, to) in EVENT_FIELDS.iter().copied().map(direction) {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}

/// A custom resource that a test needs and has no CRD of: it has no schema, so that everything is kept.
#[derive(Clone, Debug)]
pub struct CustomResource {
    group: String,
    version: String,
    kind: String,
    plural: String,
    namespaced: bool,
    status: bool,
    schema: Value,
}

impl CustomResource {
    /// One in namespaces, without a status subresource.
    #[must_use]
    pub fn new(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
            status: false,
            schema: json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        }
    }

    /// With the subresource `status`.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        self.status = true;
        self
    }

    /// In no namespace.
    #[must_use]
    pub fn of_cluster(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// With the schema, in OpenAPI, of the whole object.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// The CRD that defines it.
    #[must_use]
    pub fn definition(&self) -> Value {
        let mut version = json!({
            "name": self.version, "served": true, "storage": true, "schema": {"openAPIV3Schema": self.schema},
        });
        if self.status {
            version["subresources"] = json!({"status": {}});
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.{}", self.plural, self.group)},
            "spec": {
                "group": self.group,
                "names": {"plural": self.plural, "singular": self.kind.to_lowercase(), "kind": self.kind},
                "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "versions": [version],
            },
        })
    }
}

/// Argo CD's Applications. The real CRD has no status subresource: who writes the object writes its status with it.
#[must_use]
pub fn applications() -> CustomResource {
    let object = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut spec = object.clone();
    spec["required"] = json!(["destination", "project"]);
    spec["properties"] = json!({"destination": object, "project": {"type": "string"}});
    CustomResource::new("argoproj.io", "v1alpha1", "Application", "applications").with_schema(json!({
        "type": "object",
        "required": ["metadata", "spec"],
        "properties": {
            "metadata": {"type": "object"}, "spec": spec, "operation": object, "status": object,
        },
    }))
}

/// Flux' GitRepositories.
#[must_use]
pub fn git_repositories() -> CustomResource {
    CustomResource::new("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories").with_status()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_apis_of_events_show_the_same_event() {
        let resources = built_in();
        let of = |group: &str| {
            resources.iter().find(|one| one.group == group && one.plural == "events").expect("there is one")
        };
        let new = json!({"regarding": {"name": "web"}, "note": "n", "reportingController": "c"});
        let kept = of("events.k8s.io").stored(new.clone());
        let old = of("").shown("v1", &kept);
        assert_eq!(old["involvedObject"]["name"], "web");
        assert_eq!(old["message"], "n");
        assert_eq!(old["reportingComponent"], "c");
        assert_eq!(old["apiVersion"], "v1");
        let shown = of("events.k8s.io").shown("v1", &kept);
        assert_eq!(shown["note"], "n");
        assert_eq!(shown["apiVersion"], "events.k8s.io/v1");
    }
}
