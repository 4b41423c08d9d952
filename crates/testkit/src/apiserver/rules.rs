//! Rules of the server for built-in kinds beyond their schemas.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::failure::Cause;
use super::metadata;
use super::resource::Resource;

/// Of Secrets and ConfigMaps.
const MOST_DATA: usize = 1 << 20;

/// Brings an object of a built-in kind into the form in which it is kept.
pub(super) fn complete(resource: &Resource, object: &mut Value) {
    match resource.kind.as_str() {
        "Secret" => complete_secret(object),
        "Namespace" => {
            if object["spec"]["finalizers"].is_null() {
                object["spec"] = json!({"finalizers": ["kubernetes"]});
            }
            if object["status"]["phase"].is_null() {
                object["status"] = json!({"phase": "Active"});
            }
            let name = metadata::text(object, "name").to_owned();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.into();
        }
        "ServiceAccount" => {
            for secret in object["secrets"].as_array_mut().into_iter().flatten() {
                *secret = json!({"name": secret["name"]});
            }
        }
        _ => {}
    }
}

fn complete_secret(object: &mut Value) {
    if object["type"].as_str().is_none_or(str::is_empty) {
        object["type"] = "Opaque".into();
    }
    let Some(Value::Object(texts)) = object.as_object_mut().and_then(|fields| fields.remove("stringData"))
    else {
        return;
    };
    for (key, text) in texts {
        object["data"][key] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
}

/// Returns what is wrong with an object of a built-in kind, in the place of another or of none. `group` is that of the request:
/// the newer API of events asks for more.
pub(super) fn check(resource: &Resource, old: Option<&Value>, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match resource.kind.as_str() {
        "Secret" => check_secret(old, new, &mut causes),
        "ConfigMap" => check_config_map(old, new, &mut causes),
        "Lease" => check_lease(new, &mut causes),
        "Event" => check_event(&resource.group, old, new, &mut causes),
        _ => {}
    }
    causes
}

fn check_data(field: &str, new: &Value, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in new[field].as_object().into_iter().flatten() {
        size += value.as_str().map_or(0, str::len);
        let is_key = !key.is_empty()
            && key.len() <= 253
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            && ![".", ".."].contains(&key.as_str());
        if !is_key {
            let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                       'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
            causes.push(Cause::invalid(format!("{field}[{key}]"), &json!(key), why));
        }
    }
    if size > MOST_DATA {
        causes.push(Cause::too_long(field, MOST_DATA as u64));
    }
}

fn check_immutable(fields: &[&str], old: Option<&Value>, new: &Value, causes: &mut Vec<Cause>) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    if new["immutable"] != true {
        causes.push(Cause::forbidden("immutable", "field is immutable when `immutable` is set"));
    }
    for field in fields.iter().filter(|field| old[**field] != new[**field]) {
        causes.push(Cause::forbidden(*field, "field is immutable when `immutable` is set"));
    }
}

/// Which keys a Secret of a type must have.
const SECRET_TYPES: &[(&str, &[&str])] = &[
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];

fn check_secret(old: Option<&Value>, new: &Value, causes: &mut Vec<Cause>) {
    check_data("data", new, causes);
    let kind = new["type"].as_str().unwrap_or_default();
    let keys = SECRET_TYPES.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, keys)| keys);
    for key in keys {
        let place = format!("data[{key}]");
        match new["data"][*key].as_str() {
            None => causes.push(Cause::required(place, "")),
            Some(text) if key.starts_with(".docker") => {
                let decoded = STANDARD.decode(text).unwrap_or_default();
                if serde_json::from_slice::<Value>(&decoded).is_err() {
                    // Not its content.
                    causes.push(Cause::invalid(
                        place,
                        &json!("<secret contents redacted>"),
                        "invalid character",
                    ));
                }
            }
            Some(_) => {}
        }
    }
    if kind == "kubernetes.io/basic-auth"
        && new["data"]["username"].is_null()
        && new["data"]["password"].is_null()
    {
        causes.push(Cause::required("data[username]", ""));
        causes.push(Cause::required("data[password]", ""));
    }
    if old.is_some_and(|old| old["type"] != new["type"]) {
        causes.push(Cause::immutable("type", &new["type"]));
    }
    check_immutable(&["data"], old, new, causes);
}

fn check_config_map(old: Option<&Value>, new: &Value, causes: &mut Vec<Cause>) {
    check_data("data", new, causes);
    check_data("binaryData", new, causes);
    for key in new["binaryData"].as_object().into_iter().flatten().map(|(key, _)| key) {
        if new["data"].get(key).is_some() {
            let why = "duplicate of key present in binaryData";
            causes.push(Cause::invalid(format!("data[{key}]"), &json!(key), why));
        }
    }
    check_immutable(&["data", "binaryData"], old, new, causes);
}

fn check_lease(new: &Value, causes: &mut Vec<Cause>) {
    let spec = &new["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64().filter(|seconds| *seconds <= 0) {
        causes.push(Cause::invalid("spec.leaseDurationSeconds", &json!(seconds), "must be greater than 0"));
    }
    if let Some(count) = spec["leaseTransitions"].as_i64().filter(|count| *count < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("spec.leaseTransitions", &json!(count), why));
    }
}

/// Fields of events are named as `v1` has them, also by the newer API.
fn check_event(group: &str, old: Option<&Value>, new: &Value, causes: &mut Vec<Cause>) {
    let text = |field: &str| new[field].as_str().unwrap_or_default();
    let namespace = metadata::text(new, "namespace");
    let about = new["involvedObject"]["namespace"].as_str().unwrap_or_default();
    let is_of_cluster = about.is_empty() && ["default", "kube-system"].contains(&namespace);
    // With `eventTime` the real server leaves a namespace that differs alone, where one is given at all.
    if about != namespace && !is_of_cluster {
        causes.push(Cause::invalid(
            "involvedObject.namespace",
            &json!(about),
            "does not match event.namespace",
        ));
    }
    let is_new = !new["eventTime"].is_null();
    if is_new {
        for (field, most) in
            [("reportingComponent", 253), ("reportingInstance", 128), ("action", 128), ("reason", 128)]
        {
            let shown = if field == "reportingComponent" { "reportingController" } else { field };
            if text(field).is_empty() {
                causes.push(Cause::required(shown, ""));
            } else if text(field).len() > most {
                causes.push(Cause::invalid(
                    shown,
                    &json!(""),
                    &format!("can have at most {most} characters"),
                ));
            }
        }
        if !text("reportingComponent").is_empty() && !metadata::is_qualified_name(text("reportingComponent"))
        {
            causes.push(Cause::invalid(
                "reportingController",
                &new["reportingComponent"],
                "name part must consist of alphanumeric characters",
            ));
        }
        if text("message").len() > 1024 {
            causes.push(Cause::invalid("message", &json!(""), "can have at most 1024 characters"));
        }
    }
    if group.is_empty() {
        return;
    }
    match old {
        None => check_new_event(new, is_new, causes),
        Some(old) => check_changed_event(old, new, causes),
    }
    check_series(&new["series"], causes);
}

fn check_new_event(new: &Value, is_new: bool, causes: &mut Vec<Cause>) {
    if !is_new {
        causes.push(Cause::required("eventTime", ""));
    }
    if new["type"] != "Normal" && new["type"] != "Warning" {
        let kind = new["type"].as_str().unwrap_or_default();
        causes.push(Cause::invalid("type", &json!(""), &format!("has invalid value: {kind}")));
    }
    for field in ["firstTimestamp", "lastTimestamp", "count"] {
        if !new[field].is_null() && new[field] != 0 {
            causes.push(Cause::invalid(field, &json!(""), "needs to be unset"));
        }
    }
    if new["source"].as_object().is_some_and(|source| source.values().any(|value| value != "")) {
        causes.push(Cause::invalid("source", &json!(""), "needs to be unset"));
    }
}

/// Of an event, only the series may change.
fn check_changed_event(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    for field in [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingComponent",
        "reportingInstance",
    ] {
        if old[field] != new[field] {
            causes.push(Cause::immutable(field, &new[field]));
        }
    }
}

fn check_series(series: &Value, causes: &mut Vec<Cause>) {
    if series.is_null() {
        return;
    }
    if series["count"].as_i64().unwrap_or_default() < 2 {
        causes.push(Cause::invalid("series.count", &json!(""), "should be at least 2"));
    }
    if series["lastObservedTime"].is_null() {
        causes.push(Cause::required("series.lastObservedTime", ""));
    }
}
