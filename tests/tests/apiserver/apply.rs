//! Server-side apply: https://kubernetes.io/docs/reference/using-api/server-side-apply/

use serde_json::{Value, json};
use testkit::apiserver::{ApiServer, CustomResource};

use super::{CONFIG_MAPS, Raw, config_map, version};

#[test]
fn an_apply_makes_and_changes_what_is_its_own() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let path = &format!("{CONFIG_MAPS}/x");
    let apply = |manager: &str, data: Value, more: &str| {
        raw.patch("apply", &format!("{path}?fieldManager={manager}{more}"), &config_map("x", &data))
    };
    let (code, made) = apply("one", json!({"a": "1", "b": "1"}), "");
    assert_eq!(code, 201);
    assert_eq!(made["metadata"]["managedFields"][0]["operation"], "Apply");
    assert_eq!(apply("one", json!({"a": "1", "b": "1"}), ""), (200, made.clone()), "nothing has changed");
    let (code, status) = apply("two", json!({"a": "2"}), "");
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    let cause =
        json!([{"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.a"}]);
    assert_eq!(status["details"]["causes"], cause);
    let (code, forced) = apply("two", json!({"a": "2"}), "&force=true");
    assert_eq!((code, &forced["data"]), (200, &json!({"a": "2", "b": "1"})));
    // What a manager no longer applies, and nobody else has, goes.
    assert_eq!(apply("one", json!({}), "").1["data"], json!({"a": "2"}));
}

#[test]
fn what_is_no_apply_is_refused() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let path = &format!("{CONFIG_MAPS}/x");
    let (code, status) = raw.patch("apply", path, &config_map("x", &json!({})));
    assert_eq!((code, &status["details"]["causes"][0]["field"]), (422, &json!("fieldManager")));
    let mut managed = config_map("x", &json!({}));
    managed["metadata"]["managedFields"] = json!([{}]);
    assert_eq!(raw.patch("apply", &format!("{path}?fieldManager=m"), &managed).0, 400);
    assert_eq!(raw.patch("merge", &format!("{path}?force=true"), &json!({})).0, 422);
    assert_eq!(raw.patch("apply", &format!("{path}?fieldManager=m"), &config_map("y", &json!({}))).0, 400);
}

#[test]
fn a_status_is_applied_apart_from_its_object() {
    let server = ApiServer::start();
    server.define(&CustomResource::new("tests.io", "v1", "Thing", "things").with_status().with_schema(
        json!({
            "type": "object", "properties": {
                "spec": {"type": "object", "properties": {"a": {"type": "integer"}}},
                "status": {"type": "object", "properties": {"conditions": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                    "items": {"type": "object", "required": ["type"], "properties": {
                        "type": {"type": "string"}, "status": {"type": "string"}}}}}},
            },
        }),
    ));
    let raw = Raw(&server);
    let path = "/apis/tests.io/v1/namespaces/default/things/x";
    let thing = |more: Value| {
        let mut object = json!({"apiVersion": "tests.io/v1", "kind": "Thing", "metadata": {"name": "x"}});
        json_merge(&mut object, more);
        object
    };
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "spec": {"a": 5}});
    // A status is of an object that is there.
    assert_eq!(raw.patch("apply", &format!("{path}/status?fieldManager=m"), &thing(ready.clone())).0, 404);
    raw.patch("apply", &format!("{path}?fieldManager=kubectl"), &thing(json!({"spec": {"a": 1}})));
    let (code, object) = raw.patch("apply", &format!("{path}/status?fieldManager=m"), &thing(ready));
    assert_eq!(code, 200);
    assert_eq!((&object["spec"]["a"], &object["metadata"]["generation"]), (&json!(1), &json!(1)));
    let managers = object["metadata"]["managedFields"].as_array().unwrap();
    let mine = managers.iter().find(|entry| entry["manager"] == "m").unwrap();
    assert_eq!(mine["subresource"], "status");
    let owned = json!({"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:status": {}, "f:type": {}}}}});
    assert_eq!(mine["fieldsV1"], owned);
    // Conditions of others stay.
    let other = json!({"status": {"conditions": [{"type": "Other", "status": "False"}]}});
    let (_, both) = raw.patch("apply", &format!("{path}/status?fieldManager=n"), &thing(other));
    assert_eq!(both["status"]["conditions"].as_array().map(Vec::len), Some(2));
    assert_ne!(version(&both), version(&object));
}

fn json_merge(object: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    for (field, value) in more {
        object[field] = value;
    }
}
