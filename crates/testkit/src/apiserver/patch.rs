//! Patches of all four kinds. A patch goes in, is worked into the object as it is, and what comes out is written as an
//! update is, with all its checks.

use serde_json::Value;

use super::call::Call;
use super::cluster::{Cluster, Reply};
use super::failure::{Cause, Failure};
use super::{managed, metadata, strategic, write};

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Of a JSON patch.
const MOST_OPERATIONS: usize = 10_000;

/// `PATCH` of an object.
pub(super) fn patch(cluster: &mut Cluster, call: &Call) -> Result<Reply, Failure> {
    let media_type = call.content_type.split(';').next().unwrap_or_default().trim();
    if media_type == APPLY {
        return apply(cluster, call);
    }
    check_options(call)?;
    let before = cluster.store.get(&call.resource.table, &call.key(&call.name)).cloned();
    let Some(before) = before else { return Err(call.resource.not_found(&call.name)) };
    let shown = call.resource.shown(&call.version.name, &before);
    let patched = match media_type {
        JSON => patch_by_operations(&shown, &call.body)?,
        MERGE => {
            let mut object = shown;
            json_patch::merge(&mut object, &read(&call.body)?);
            object
        }
        STRATEGIC if !call.resource.habits.custom => {
            strategic::patch(&call.resource.kind, &shown, &read(&call.body)?)?
        }
        _ if call.resource.habits.custom => {
            return Err(Failure::unsupported_media_type(&[JSON, MERGE, APPLY]));
        }
        _ => return Err(Failure::unsupported_media_type(&[JSON, MERGE, STRATEGIC, APPLY])),
    };
    let mut object = checked_type(call, patched)?;
    let warnings = write::normalize(cluster, call, &mut object)?;
    write::check_addressed(call, &object)?;
    let value = write::replace(cluster, call, &before, object, Some(&write::author(call)))?;
    Ok(Reply { code: 200, value, warnings })
}

fn check_options(call: &Call) -> Result<(), Failure> {
    if call.query.text("force").is_empty() {
        return Ok(());
    }
    let cause = Cause::forbidden("force", "may not be specified for non-apply patch");
    Err(Failure::invalid("meta.k8s.io", "PatchOptions", "", &[cause]))
}

fn read(body: &[u8]) -> Result<Value, Failure> {
    let patch: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
    if patch.is_object() {
        return Ok(patch);
    }
    Err(Failure::bad_request(
        "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}",
    ))
}

fn patch_by_operations(object: &Value, body: &[u8]) -> Result<Value, Failure> {
    let patch: json_patch::Patch = serde_json::from_slice(body)
        .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
    if patch.0.len() > MOST_OPERATIONS {
        return Err(Failure::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
            patch.0.len()
        )));
    }
    let mut patched = object.clone();
    json_patch::patch(&mut patched, &patch).map_err(|error| Failure::inapplicable(&error.to_string()))?;
    Ok(patched)
}

/// A patch may not make another kind of an object.
fn checked_type(call: &Call, patched: Value) -> Result<Value, Failure> {
    if call.resource.habits.custom {
        for (field, wanted) in [("apiVersion", call.api_version()), ("kind", call.resource.kind.clone())] {
            if patched[field] != wanted.as_str() {
                let cause = Cause::invalid(field, &patched[field], &format!("must be {wanted}"));
                return Err(Failure::invalid(
                    &call.resource.group,
                    &call.resource.kind,
                    &call.name,
                    &[cause],
                ));
            }
        }
    }
    write::checked_type(call, patched)
}

/// Server-side apply. The body is JSON, as clients that are programs send it.
fn apply(cluster: &mut Cluster, call: &Call) -> Result<Reply, Failure> {
    if call.query.text("fieldManager").is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Failure::invalid("meta.k8s.io", "PatchOptions", "", &[cause]));
    }
    let mut applied = write::checked_type(call, read(&call.body)?)?;
    if !applied["metadata"]["managedFields"].is_null() {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    let warnings = normalize_applied(cluster, call, &mut applied)?;
    write::check_addressed(call, &applied)?;
    let author = write::author(call);
    let force = call.query.is("force");
    let schema = &call.version.schema;
    let before = cluster.store.get(&call.resource.table, &call.key(&call.name)).cloned();
    let Some(before) = before else {
        if call.is_status() {
            return Err(call.resource.not_found(&call.name));
        }
        let mut object = managed::apply(schema, &Value::Null, &applied, &author, force)?;
        write::normalize(cluster, call, &mut object)?;
        let value = write::insert(cluster, call, object, None)?;
        return Ok(Reply { code: 201, value, warnings });
    };
    let live = call.resource.shown(&call.version.name, &before);
    // A version that is applied is one that the writer has seen.
    let version = metadata::text(&applied, "resourceVersion");
    if !version.is_empty() && version != metadata::text(&before, "resourceVersion") {
        return Err(call.resource.modified(&call.name));
    }
    let mut object = managed::apply(schema, &live, &applied, &author, force)?;
    write::normalize(cluster, call, &mut object)?;
    let value = write::replace(cluster, call, &before, object, None)?;
    Ok(Reply { code: 200, value, warnings })
}

/// Returns what is applied to one part of an object owns nothing of the other.
fn normalize_applied(cluster: &Cluster, call: &Call, applied: &mut Value) -> Result<Vec<String>, Failure> {
    let mut whole = applied.clone();
    // Defaults are not what was applied; they come to the object.
    let warnings = write::normalize(cluster, call, &mut whole)?;
    super::schema::prune(&call.version.schema, applied);
    let fields = applied.as_object_mut().expect("its type was read");
    if call.is_status() {
        fields.retain(|field, _| ["apiVersion", "kind", "metadata", "status"].contains(&field.as_str()));
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata
                .retain(|field, _| ["name", "namespace", "resourceVersion", "uid"].contains(&field.as_str()));
        }
    } else if call.version.status {
        fields.remove("status");
    }
    Ok(warnings)
}
