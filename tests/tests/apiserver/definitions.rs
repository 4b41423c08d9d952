//! CRDs: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/

use serde_json::{Value, json};
use testkit::apiserver::ApiServer;

use super::{Raw, version};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/tests.io/v1/namespaces/default/things";

fn definition() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["images"], "properties": {
            "mode": {"type": "string", "enum": ["semver", "digest"], "default": "semver"},
            "images": {
                "type": "array", "minItems": 1, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["alias"],
                "items": {"type": "object", "required": ["alias"], "properties": {
                    "alias": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}}},
            },
        }},
        "status": {"type": "object", "properties": {"count": {"type": "integer"}}},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.tests.io"},
        "spec": {
            "group": "tests.io", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                 "subresources": {"status": {}}},
                {"name": "v1beta1", "served": false, "storage": false, "schema": {"openAPIV3Schema": schema}},
                {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
}

fn thing(spec: &Value) -> Value {
    json!({"apiVersion": "tests.io/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
}

#[test]
fn a_definition_makes_a_resource() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    assert_eq!(raw.get(THINGS).0, 404);
    let (code, made) = raw.post(DEFINITIONS, &definition());
    assert_eq!(code, 201);
    assert_eq!(made["spec"]["names"]["listKind"], "ThingList");
    let conditions = made["status"]["conditions"].as_array().unwrap();
    assert!(conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True"));
    assert_eq!(raw.get(THINGS).1["kind"], "ThingList");
    assert_eq!(raw.post(THINGS, &thing(&json!({"images": [{"alias": "web"}]}))).0, 201);
    // Only versions that are served are there, and all show the same objects.
    assert_eq!(raw.get("/apis/tests.io/v1beta1/things").0, 404);
    let (_, other) = raw.get("/apis/tests.io/v2/namespaces/default/things/x");
    assert_eq!(other["apiVersion"], "tests.io/v2");
    // Each version says for itself whether it has a status.
    assert_eq!(raw.get(&format!("{THINGS}/x/status")).0, 200);
    assert_eq!(raw.get("/apis/tests.io/v2/namespaces/default/things/x/status").0, 404);
    let resources = raw.get("/apis/tests.io/v1").1;
    let names: Vec<&Value> =
        resources["resources"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["things", "things/status"]);
    assert_eq!(raw.get("/apis/tests.io").1["preferredVersion"]["version"], "v2");

    let mut watching = raw.watch(THINGS, "");
    assert_eq!(watching.brief(), "ADDED x");
    raw.delete(&format!("{DEFINITIONS}/things.tests.io"));
    assert_eq!(watching.brief(), "DELETED x");
    assert_eq!(raw.get(THINGS).0, 404);
}

#[test]
fn objects_are_held_against_their_schema() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(DEFINITIONS, &definition());
    let spec = json!({"mode": "latest", "images": [{"alias": "WEB"}, {"alias": "toolong"}, {}]});
    let (code, status) = raw.post(THINGS, &thing(&spec));
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    assert_eq!(status["details"]["kind"], "Thing");
    let causes: Vec<(&str, &str)> = status["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| (cause["reason"].as_str().unwrap(), cause["field"].as_str().unwrap()))
        .collect();
    assert_eq!(
        causes,
        [
            ("FieldValueInvalid", "spec.images[0].alias"),
            ("FieldValueTooLong", "spec.images[1].alias"),
            ("FieldValueRequired", "spec.images[2].alias"),
            ("FieldValueNotSupported", "spec.mode"),
        ]
    );
    assert_eq!(
        raw.post(THINGS, &thing(&json!({}))).1["message"],
        "Thing.tests.io \"x\" is invalid: spec.images: Required value"
    );
    let (_, status) = raw.post(THINGS, &thing(&json!({"images": [{"alias": "a"}, {"alias": "a"}]})));
    assert_eq!(status["details"]["causes"][0]["reason"], "FieldValueDuplicate");
    let mut untyped = thing(&json!({}));
    untyped["kind"] = Value::Null;
    assert_eq!(raw.post(THINGS, &untyped).0, 400);
}

#[test]
fn unknown_fields_are_pruned_and_defaults_are_filled_in() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(DEFINITIONS, &definition());
    let object = thing(&json!({"images": [{"alias": "web", "x": 1}], "y": {"z": 1}}));
    let strict = format!("{THINGS}?fieldValidation=Strict");
    let (code, status) = raw.post(&strict, &object);
    assert_eq!(code, 400);
    let message = status["message"].as_str().unwrap();
    assert!(
        message
            .contains("strict decoding error: unknown field \"spec.images[0].x\", unknown field \"spec.y\""),
        "{message}"
    );
    let (_, made) = raw.post(THINGS, &object);
    assert_eq!(made["spec"], json!({"images": [{"alias": "web"}], "mode": "semver"}));
    let status = json!({"status": {"count": 1, "other": 2}});
    let (_, changed) = raw.patch("merge", &format!("{THINGS}/x/status"), &status);
    assert_eq!(changed["status"], json!({"count": 1}));
    let (code, _) = raw.patch("merge", &format!("{THINGS}/x/status"), &json!({"status": {"count": "1"}}));
    assert_eq!(code, 422);
    // What is said twice is no change.
    let (_, same) = raw.patch("merge", &format!("{THINGS}/x"), &json!({"spec": {"unknown": 1}}));
    assert_eq!(version(&same), version(&changed));
}

#[test]
fn definitions_that_contradict_themselves_are_refused() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let refused = |pointer: &str, value: Value| {
        let mut definition = definition();
        let (place, field) = pointer.rsplit_once('/').unwrap();
        definition.pointer_mut(place).expect(pointer)[field] = value;
        let (code, status) = raw.post(DEFINITIONS, &definition);
        assert_eq!(code, 422, "{pointer}");
        status["details"]["causes"][0]["field"].as_str().unwrap().to_owned()
    };
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    assert_eq!(refused("/metadata/name", json!("things")), "metadata.name");
    assert_eq!(refused("/spec/scope", json!("Everywhere")), "spec.scope");
    assert_eq!(refused("/spec/versions/0/storage", json!(false)), "spec.versions");
    assert_eq!(refused("/spec/versions/0/schema", json!({})), "spec.versions[0].schema.openAPIV3Schema");
    let field = refused(&format!("{schema}/properties/spec"), json!({"properties": {}}));
    assert_eq!(field, "spec.versions[0].schema.openAPIV3Schema.properties[spec].type");
    assert_eq!(raw.get(THINGS).0, 404);
}
