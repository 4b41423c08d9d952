//! CustomResourceDefinitions: what the server fills in and refuses, and the resources that they become.

use serde_json::{Value, json};

use super::failure::{Cause, Failure};
use super::metadata;
use super::resource::Resource;
use super::schema;

/// The store's table of CRDs.
pub(super) const TABLE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Fills in what a definition may leave out, and says what of its schemas no schema has.
pub(super) fn complete(definition: &mut Value) -> Vec<String> {
    let names = definition["spec"]["names"].clone();
    let kind = names["kind"].as_str().unwrap_or_default();
    if names["singular"].as_str().is_none_or(str::is_empty) {
        definition["spec"]["names"]["singular"] = kind.to_lowercase().into();
    }
    if names["listKind"].as_str().is_none_or(str::is_empty) {
        definition["spec"]["names"]["listKind"] = format!("{kind}List").into();
    }
    if definition["spec"]["conversion"].is_null() {
        definition["spec"]["conversion"] = json!({"strategy": "None"});
    }
    let mut dropped = Vec::new();
    let versions = definition["spec"]["versions"].as_array_mut().into_iter().flatten();
    for (index, version) in versions.enumerate() {
        let place = format!("spec.versions[{index}].schema.openAPIV3Schema");
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            dropped.extend(schema::drop_unknown_keywords(schema, &place));
        }
    }
    dropped
}

/// Returns what is wrong with a definition.
pub(super) fn check(old: Option<&Value>, definition: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &definition["spec"];
    check_names(definition, &mut causes);
    if spec["scope"] != "Cluster" && spec["scope"] != "Namespaced" {
        let supported = [json!("Cluster"), json!("Namespaced")];
        causes.push(Cause::unsupported("spec.scope", &spec["scope"], &supported));
    }
    if spec["preserveUnknownFields"] == true {
        let why = "must be false in order to use defaults in the schema";
        causes.push(Cause::invalid("spec.preserveUnknownFields", &json!(true), why));
    }
    check_versions(spec, &mut causes);
    let changes = |pointer: &str| old.is_some_and(|old| old.pointer(pointer) != definition.pointer(pointer));
    for (pointer, field) in [("/spec/scope", "spec.scope"), ("/spec/names/kind", "spec.names.kind")] {
        if changes(pointer) {
            causes.push(Cause::immutable(field, definition.pointer(pointer).unwrap_or(&Value::Null)));
        }
    }
    causes
}

fn check_names(definition: &Value, causes: &mut Vec<Cause>) {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = text(&spec["group"]);
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !metadata::is_subdomain(&group) || !group.contains('.') {
        causes.push(Cause::invalid("spec.group", &spec["group"], "should be a domain with at least one dot"));
    }
    let plural = text(&spec["names"]["plural"]);
    for field in ["plural", "singular", "kind", "listKind"] {
        let name = text(&spec["names"][field]);
        let place = format!("spec.names.{field}");
        if name.is_empty() {
            causes.push(Cause::required(place, ""));
        } else if !metadata::is_dns_label(&name.to_lowercase()) {
            causes.push(Cause::invalid(
                place,
                &spec["names"][field],
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-'",
            ));
        }
    }
    let name = metadata::text(definition, "name");
    let wanted = format!("{plural}.{group}");
    if name != wanted {
        let why = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", &json!(name), why));
    }
    if group.ends_with(".k8s.io")
        && definition["metadata"]["annotations"]["api-approved.kubernetes.io"].is_null()
    {
        let why = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
        causes.push(Cause::required("metadata.annotations[api-approved.kubernetes.io]", why));
    }
}

fn check_versions(spec: &Value, causes: &mut Vec<Cause>) {
    let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
    let stored = versions.iter().filter(|version| version["storage"] == true).count();
    if stored != 1 {
        let why = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &spec["versions"], why));
    }
    for (index, version) in versions.iter().enumerate() {
        let place = format!("spec.versions[{index}]");
        let name = version["name"].as_str().unwrap_or_default();
        if !metadata::is_dns_label(name) {
            causes.push(Cause::invalid(
                format!("{place}.name"),
                &version["name"],
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-'",
            ));
        }
        if versions[..index].iter().any(|other| other["name"] == version["name"]) {
            causes.push(Cause::duplicate(format!("{place}.name"), &version["name"]));
        }
        let schema = &version["schema"]["openAPIV3Schema"];
        if schema.is_null() {
            causes.push(Cause::required(format!("{place}.schema.openAPIV3Schema"), "schemas are required"));
            continue;
        }
        causes.extend(schema::faults(schema, &format!("{place}.schema.openAPIV3Schema")));
        for (column, one) in version["additionalPrinterColumns"].as_array().into_iter().flatten().enumerate()
        {
            check_column(one, &format!("{place}.additionalPrinterColumns[{column}]"), causes);
        }
    }
}

fn check_column(column: &Value, place: &str, causes: &mut Vec<Cause>) {
    let text = |field: &str| column[field].as_str().unwrap_or_default();
    if text("name").is_empty() {
        causes.push(Cause::required(format!("{place}.name"), ""));
    }
    let types = ["boolean", "date", "integer", "number", "string"];
    if !types.contains(&text("type")) {
        let supported = types.map(|one| json!(one));
        causes.push(Cause::unsupported(format!("{place}.type"), &column["type"], &supported));
    }
    if !text("jsonPath").starts_with('.') {
        let why = "must be a simple json path starting with .";
        causes.push(Cause::invalid(format!("{place}.jsonPath"), &column["jsonPath"], why));
    }
}

/// Says that a definition is in force, as the real server does a moment after it was written.
pub(super) fn establish(definition: &mut Value) {
    let condition = |kind: &str, reason: &str, message: &str| {
        let time = metadata::now();
        json!({"type": kind, "status": "True", "lastTransitionTime": time, "reason": reason, "message": message})
    };
    if definition["status"]["conditions"].is_null() {
        definition["status"]["conditions"] = json!([
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ]);
    }
    definition["status"]["acceptedNames"] = definition["spec"]["names"].clone();
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let stored: Vec<Value> = versions
        .filter(|version| version["storage"] == true)
        .map(|version| version["name"].clone())
        .collect();
    definition["status"]["storedVersions"] = stored.into();
}

/// The resource of a definition; two definitions cannot have one kind of a group.
pub(super) fn resource(definition: &Value, known: &[std::sync::Arc<Resource>]) -> Result<Resource, Failure> {
    let resource = Resource::of_definition(definition);
    let rival = known.iter().find(|other| {
        other.group == resource.group && other.kind == resource.kind && other.plural != resource.plural
    });
    match rival {
        Some(rival) => {
            Err(Failure::bad_request(format!("{} is already in use by {}", rival.kind, rival.plural)))
        }
        None => Ok(resource),
    }
}
