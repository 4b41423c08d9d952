//! The rules of built-in kinds.

use serde_json::{Value, json};
use testkit::apiserver::ApiServer;

use super::{Raw, version};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn fields(said: &(u16, Value)) -> Vec<&str> {
    assert_eq!(said.0, 422, "{}", said.1);
    said.1["details"]["causes"]
        .as_array()
        .expect("it is a list")
        .iter()
        .filter_map(|cause| cause["field"].as_str())
        .collect()
}

fn secret(kind: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "type": kind, "data": data})
}

#[test]
fn secrets_hold_what_their_type_promises() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let docker = "kubernetes.io/dockerconfigjson";
    assert_eq!(fields(&raw.post(SECRETS, &secret(docker, &json!({})))), ["data[.dockerconfigjson]"]);
    // `{` is no JSON, and is not shown.
    let broken = raw.post(SECRETS, &secret(docker, &json!({".dockerconfigjson": "ew=="})));
    assert_eq!(fields(&broken), ["data[.dockerconfigjson]"]);
    assert!(!broken.1.to_string().contains("ew=="));
    assert_eq!(fields(&raw.post(SECRETS, &secret("Opaque", &json!({"a/b": "YQ=="})))), ["data[a/b]"]);
    assert_eq!(raw.post(SECRETS, &secret("Opaque", &json!({"a": "no base64"}))).0, 400);
    let mut written = secret("", &json!({"a": "YQ=="}));
    written["stringData"] = json!({"b": "b"});
    let (_, made) = raw.post(SECRETS, &written);
    assert_eq!(made["data"], json!({"a": "YQ==", "b": "Yg=="}));
    assert_eq!(made["type"], "Opaque");
    assert!(made.get("stringData").is_none());
    let path = &format!("{SECRETS}/x");
    assert_eq!(fields(&raw.patch("merge", path, &json!({"type": "other"}))), ["type"]);
    raw.patch("merge", path, &json!({"immutable": true}));
    assert_eq!(fields(&raw.patch("merge", path, &json!({"data": {"a": "Yg=="}}))), ["data"]);
}

#[test]
fn a_lease_has_one_holder() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let lease = |spec: Value| json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"}, "spec": spec});
    // Go reads times with micros by a layout that has six digits.
    for time in ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"] {
        assert_eq!(raw.post(LEASES, &lease(json!({"renewTime": time}))).0, 400, "{time}");
    }
    assert_eq!(
        fields(&raw.post(LEASES, &lease(json!({"leaseDurationSeconds": 0})))),
        ["spec.leaseDurationSeconds"]
    );
    let spec = json!({"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"});
    let (_, made) = raw.post(LEASES, &lease(spec));
    let path = &format!("{LEASES}/x");
    let take = |holder: &str| {
        let mut taken = made.clone();
        taken["spec"]["holderIdentity"] = json!(holder);
        raw.put(path, &taken).0
    };
    assert_eq!([take("b"), take("c")], [200, 409], "both saw it free, one has it");
    assert_eq!(raw.get(path).1["spec"]["holderIdentity"], "b");
}

fn event() -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "web.1"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "reason": "Updated", "action": "Update",
        "reportingController": "image-updater", "reportingInstance": "image-updater-0", "note": "1.0 is 1.1 now",
        "regarding": {"kind": "Application", "namespace": "default", "name": "web"},
    })
}

#[test]
fn events_say_all_that_they_must() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    for (field, value, told) in [
        ("eventTime", Value::Null, "eventTime"),
        ("type", json!("Bad"), "type"),
        ("reason", json!(""), "reason"),
        ("reason", json!("x".repeat(129)), "reason"),
        ("action", Value::Null, "action"),
        ("reportingController", Value::Null, "reportingController"),
        ("reportingInstance", json!("x".repeat(129)), "reportingInstance"),
        ("note", json!("x".repeat(1025)), "message"),
        ("deprecatedCount", json!(1), "count"),
        ("regarding", json!({"namespace": "other", "name": "web"}), "involvedObject.namespace"),
        ("series", json!({"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}), "series.count"),
    ] {
        let mut event = event();
        event[field] = value;
        assert_eq!(fields(&raw.post(EVENTS, &event)), [told], "{field}");
    }
    assert_eq!(raw.post(EVENTS, &event()).0, 201);
    // The older API shows the same one under its own names.
    let (_, old) = raw.get("/api/v1/namespaces/default/events/web.1");
    assert_eq!((&old["apiVersion"], &old["message"]), (&json!("v1"), &json!("1.0 is 1.1 now")));
    assert_eq!(old["involvedObject"]["name"], "web");
    let found = raw.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dweb").1;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
    // Of an event only the series may change.
    let path = &format!("{EVENTS}/web.1");
    assert_eq!(fields(&raw.patch("merge", path, &json!({"note": "else"}))), ["message"]);
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}});
    let (code, counted) = raw.patch("merge", path, &series);
    assert_eq!((code, &counted["series"]["count"]), (200, &json!(2)));
    // Objects that are in no namespace have theirs in `default`.
    let mut of_cluster = event();
    of_cluster["metadata"]["name"] = json!("node.1");
    of_cluster["regarding"] = json!({"kind": "Node", "name": "n"});
    assert_eq!(raw.post(EVENTS, &of_cluster).0, 201);
}

/// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
#[test]
fn service_accounts_give_tokens() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["sts"]}});
    let (code, _) = raw.post(&format!("{accounts}/bot/token"), &request);
    assert_eq!(code, 404);
    raw.post(accounts, &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}}));
    let (code, made) = raw.post(&format!("{accounts}/bot/token"), &request);
    assert_eq!(code, 201);
    assert_eq!(made["status"]["token"].as_str().unwrap().split('.').count(), 3);
    assert!(made["status"]["expirationTimestamp"].is_string());
    assert_eq!(made["spec"]["expirationSeconds"], 3600);
    let short = json!({"spec": {"expirationSeconds": 60}});
    assert_eq!(fields(&raw.post(&format!("{accounts}/bot/token"), &short)), ["spec.expirationSeconds"]);
    assert_eq!(raw.get(&format!("{accounts}/bot/token")).0, 405);
}

#[test]
fn fields_that_a_built_in_kind_does_not_have_are_dropped() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let mut object = secret("Opaque", &json!({"a": "YQ=="}));
    object["spec"] = json!({"x": 1});
    object["metadata"]["clusterName"] = json!("x");
    assert_eq!(raw.post(&format!("{SECRETS}?fieldValidation=Strict"), &object).0, 400);
    let (_, made) = raw.post(SECRETS, &object);
    assert!(made.get("spec").is_none() && made["metadata"].get("clusterName").is_none());
    let (_, same) = raw.patch("merge", &format!("{SECRETS}/x"), &json!({"spec": {"y": 1}}));
    assert_eq!(version(&same), version(&made));
}
