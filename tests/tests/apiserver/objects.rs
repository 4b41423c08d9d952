//! Making, changing and deleting objects. What is expected is written in
//! https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md, and
//! texts are those of `k8s.io/apimachinery/pkg/api/errors` and `k8s.io/apiserver/pkg/registry/generic`.

use serde_json::{Value, json};
use testkit::apiserver::{ApiServer, CustomResource, applications};

use super::{CONFIG_MAPS, Raw, config_map, version};

const APPS: &str = "/apis/argoproj.io/v1alpha1/namespaces/default/applications";

fn application(name: &str) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
        "spec": {"project": "default", "destination": {}},
    })
}

#[test]
fn an_object_gets_its_metadata_from_the_server() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let mut object = config_map("x", &json!({"a": "b"}));
    // Neither is the client's to say.
    object["metadata"]["uid"] = json!("mine");
    object["metadata"]["creationTimestamp"] = json!("2000-01-01T00:00:00Z");
    let (code, made) = raw.post(CONFIG_MAPS, &object);
    assert_eq!(code, 201);
    assert_eq!(made["metadata"]["namespace"], "default");
    assert_ne!(made["metadata"]["uid"], "mine");
    assert_ne!(made["metadata"]["creationTimestamp"], "2000-01-01T00:00:00Z");
    // ConfigMaps have no spec, and so no generation.
    assert!(made["metadata"].get("generation").is_none());
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}/x")), (200, made.clone()));
    let (_, other) = raw.post(CONFIG_MAPS, &config_map("y", &json!({})));
    let number = |object: &Value| version(object).parse::<u64>().unwrap();
    assert!(number(&other) > number(&made), "one counter counts for all objects");
}

#[test]
fn what_cannot_be_made_says_why() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let (code, status) = raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    assert_eq!((code, &status["reason"]), (409, &json!("AlreadyExists")));
    assert_eq!(status["message"], "configmaps \"x\" already exists");
    assert_eq!(status["details"], json!({"name": "x", "kind": "configmaps"}));

    let (code, status) = raw.post("/api/v1/namespaces/nowhere/configmaps", &config_map("x", &json!({})));
    assert_eq!((code, &status["message"]), (404, &json!("namespaces \"nowhere\" not found")));

    let (code, status) = raw.post(CONFIG_MAPS, &config_map("", &json!({})));
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    assert_eq!(status["details"]["causes"][0]["field"], "metadata.name");
    assert_eq!(raw.post(CONFIG_MAPS, &config_map("No_Name", &json!({}))).0, 422);

    let mut elsewhere = config_map("y", &json!({}));
    elsewhere["metadata"]["namespace"] = json!("other");
    assert_eq!(raw.post(CONFIG_MAPS, &elsewhere).0, 400);
    assert_eq!(raw.post(CONFIG_MAPS, &json!({"apiVersion": "v2", "kind": "ConfigMap"})).0, 400);
    assert_eq!(raw.post(CONFIG_MAPS, &json!({"apiVersion": "v1", "kind": "Secret"})).0, 400);
    assert_eq!(raw.send("POST", CONFIG_MAPS, "application/json", "{").0, 400);
    assert_eq!(raw.send("POST", CONFIG_MAPS, "text/plain", "{}").0, 415);
    assert_eq!(raw.send("POST", CONFIG_MAPS, "application/json", &" ".repeat((3 << 20) + 1)).0, 413);
    // A value of the wrong type cannot be decoded; nobody gets as far as checking it.
    assert_eq!(raw.post(CONFIG_MAPS, &config_map("y", &json!({"a": 1}))).0, 400);

    let mut again = config_map("z", &json!({}));
    again["metadata"]["resourceVersion"] = json!("5");
    let (code, status) = raw.post(CONFIG_MAPS, &again);
    assert_eq!(
        (code, &status["message"]),
        (500, &json!("resourceVersion should not be set on objects to be created"))
    );
}

#[test]
fn paths_that_are_none_are_not_found() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    // The text of Go's own handler, so no object.
    assert_eq!(raw.get("/apis/argoproj.io/v1alpha1/applications"), (404, Value::Null));
    assert_eq!(raw.get("/metrics").0, 404);
    let (code, status) = raw.get(&format!("{CONFIG_MAPS}/x"));
    assert_eq!((code, &status["message"]), (404, &json!("configmaps \"x\" not found")));
    assert_eq!(raw.post(&format!("{CONFIG_MAPS}/x"), &json!({})).0, 405);
    assert_eq!(raw.send("PUT", CONFIG_MAPS, "application/json", "{}").0, 405);
}

#[test]
fn a_stale_writer_is_told_so() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let path = &format!("{CONFIG_MAPS}/x");
    let (_, first) = raw.post(CONFIG_MAPS, &config_map("x", &json!({"a": "1"})));
    let mut second = first.clone();
    second["data"]["a"] = json!("2");
    let (code, second) = raw.put(path, &second);
    assert_eq!(code, 200);
    let mut stale = first.clone();
    stale["data"]["a"] = json!("3");
    let (code, status) = raw.put(path, &stale);
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(
        status["message"],
        "Operation cannot be fulfilled on configmaps \"x\": the object has been modified; please apply your changes to \
         the latest version and try again"
    );
    // ConfigMaps may be written by who has not looked: `AllowUnconditionalUpdate` of their strategy.
    assert_eq!(raw.put(path, &config_map("x", &json!({"a": "4"}))).0, 200);
    // A merge patch that names a version is as careful as an update.
    let patch = json!({"metadata": {"resourceVersion": version(&second)}, "data": {"a": "5"}});
    assert_eq!(raw.patch("merge", path, &patch).0, 409);
    // Somebody else's object of the same name.
    let mut foreign = config_map("x", &json!({}));
    foreign["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    let (code, status) = raw.put(path, &foreign);
    assert_eq!(code, 409);
    assert!(status["message"].as_str().unwrap().contains("Precondition failed: UID in precondition"));
}

#[test]
fn custom_resources_and_leases_are_only_updated_by_who_has_looked() {
    let server = ApiServer::start();
    server.define(&applications());
    let raw = Raw(&server);
    assert_eq!(raw.post(APPS, &application("web")).0, 201);
    let (code, status) = raw.put(&format!("{APPS}/web"), &application("web"));
    assert_eq!(code, 422);
    assert_eq!(
        status["message"],
        "applications.argoproj.io \"web\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for \
         an update"
    );
    let (code, status) = raw.put(&format!("{APPS}/db"), &application("db"));
    assert_eq!((code, &status["message"]), (404, &json!("applications.argoproj.io \"db\" not found")));
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"}});
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/x";
    // `AllowCreateOnUpdate` of the strategy of Leases.
    assert_eq!(raw.put(path, &lease).0, 201);
    assert_eq!(raw.put(path, &lease).0, 422);
}

#[test]
fn what_changes_nothing_is_no_change() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let path = &format!("{CONFIG_MAPS}/x");
    let (_, object) = raw.post(CONFIG_MAPS, &config_map("x", &json!({"a": "1"})));
    assert_eq!(raw.put(path, &object), (200, object.clone()));
    assert_eq!(raw.patch("merge", path, &json!({"data": {"a": "1"}})), (200, object.clone()));
    // An empty list of managers forgets them, which is a change.
    let (_, reset) = raw.patch("merge", path, &json!({"metadata": {"managedFields": []}}));
    assert_ne!(version(&reset), version(&object));
}

#[test]
fn generations_count_changes_of_what_is_asked_for() {
    let server = ApiServer::start();
    let with_status = CustomResource::new("tests.io", "v1", "Thing", "things").with_status();
    server.define(&with_status);
    server.define(&applications());
    let raw = Raw(&server);
    let things = "/apis/tests.io/v1/namespaces/default/things";
    let generation = |said: (u16, Value)| {
        assert!(said.0 < 300, "{}", said.1);
        said.1["metadata"]["generation"].clone()
    };
    let thing = json!({"apiVersion": "tests.io/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"a": 1}, "status": {"b": 1}});
    let (_, made) = raw.post(things, &thing);
    assert!(made.get("status").is_none(), "the status is not made with the object");
    let path = &format!("{things}/x");
    assert_eq!(generation(raw.patch("merge", path, &json!({"metadata": {"labels": {"l": "v"}}}))), 1);
    assert_eq!(generation(raw.patch("merge", path, &json!({"status": {"b": 2}}))), 1);
    assert_eq!(generation(raw.patch("merge", &format!("{path}/status"), &json!({"status": {"b": 2}}))), 1);
    assert_eq!(generation(raw.patch("merge", path, &json!({"spec": {"a": 2}}))), 2);
    // Applications have no status subresource: their status is a part of the object like any other.
    raw.post(APPS, &application("web"));
    let app = &format!("{APPS}/web");
    assert_eq!(generation(raw.patch("merge", app, &json!({"metadata": {"labels": {"l": "v"}}}))), 1);
    assert_eq!(generation(raw.patch("merge", app, &json!({"status": {"sync": {}}}))), 2);
}

#[test]
fn a_status_is_written_by_itself() {
    let server = ApiServer::start();
    server.define(&CustomResource::new("tests.io", "v1", "Thing", "things").with_status());
    server.define(&applications());
    let raw = Raw(&server);
    let things = "/apis/tests.io/v1/namespaces/default/things";
    let thing =
        json!({"apiVersion": "tests.io/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"a": 1}});
    let (_, mut object) = raw.post(things, &thing);
    object["spec"]["a"] = json!(2);
    object["status"] = json!({"ready": true});
    object["metadata"]["labels"] = json!({"l": "v"});
    let (code, written) = raw.put(&format!("{things}/x/status"), &object);
    assert_eq!(code, 200);
    assert_eq!(written["spec"]["a"], 1, "nothing but the status is written there");
    assert!(written["metadata"].get("labels").is_none());
    assert_eq!(written["status"], json!({"ready": true}));
    // And not without having looked.
    assert_eq!(raw.put(&format!("{things}/x/status"), &object).0, 409);
    let (_, kept) = raw.patch("merge", &format!("{things}/x"), &json!({"status": null, "spec": {"a": 3}}));
    assert_eq!(kept["status"], json!({"ready": true}));
    assert_eq!(kept["spec"]["a"], 3);
    raw.post(APPS, &application("web"));
    let (code, status) = raw.patch("merge", &format!("{APPS}/web/status"), &json!({"status": {}}));
    assert_eq!((code, &status["message"]), (404, &json!("applications.argoproj.io \"web\" not found")));
}

#[test]
fn names_are_generated_where_only_their_beginning_is_given() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x-"}});
    let (_, one) = raw.post(CONFIG_MAPS, &object);
    let (_, other) = raw.post(CONFIG_MAPS, &object);
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name(&one).starts_with("x-") && name(&one).len() == 7);
    assert_ne!(name(&one), name(&other));
}

#[test]
fn a_finalizer_holds_an_object_until_it_is_taken_away() {
    let server = ApiServer::start();
    server.define(&applications());
    let raw = Raw(&server);
    let mut object = application("web");
    object["metadata"]["finalizers"] = json!(["tests.io/hold"]);
    raw.post(APPS, &object);
    let path = &format!("{APPS}/web");
    let (code, going) = raw.delete(path);
    assert_eq!(code, 200);
    assert!(going["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 0);
    // Being deleted is asked for, too.
    assert_eq!(going["metadata"]["generation"], 2);
    assert_eq!(raw.delete(path), (200, going.clone()));
    let (code, status) = raw.post(APPS, &application("web"));
    assert_eq!(code, 409);
    assert_eq!(status["message"], "object is being deleted: applications.argoproj.io \"web\" already exists");
    let more = json!({"metadata": {"finalizers": ["tests.io/hold", "tests.io/more"]}});
    assert_eq!(raw.patch("merge", path, &more).0, 422);
    assert_eq!(raw.patch("merge", path, &json!({"metadata": {"labels": {"a": "b"}}})).0, 200);
    assert_eq!(raw.patch("merge", path, &json!({"metadata": {"finalizers": null}})).0, 200);
    assert_eq!(raw.get(path).0, 404);
}

#[test]
fn deletions_can_depend_on_what_is_there() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let path = &format!("{CONFIG_MAPS}/x");
    let (_, object) = raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let delete = |preconditions: Value| {
        let body = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions});
        raw.send("DELETE", path, "application/json", &body.to_string())
    };
    assert_eq!(delete(json!({"uid": "other"})).0, 409);
    assert_eq!(delete(json!({"resourceVersion": "1"})).0, 409);
    let (code, status) =
        delete(json!({"uid": object["metadata"]["uid"], "resourceVersion": version(&object)}));
    assert_eq!(code, 200);
    assert_eq!(status["status"], "Success");
    assert_eq!(
        status["details"],
        json!({"name": "x", "kind": "configmaps", "uid": object["metadata"]["uid"]})
    );
    assert_eq!(raw.delete(path).0, 404);
}

#[test]
fn a_collection_is_deleted_as_far_as_it_matches() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    for (name, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let mut object = config_map(name, &json!({}));
        object["metadata"]["labels"] = json!({"l": label});
        raw.post(CONFIG_MAPS, &object);
    }
    let (code, list) = raw.delete(&format!("{CONFIG_MAPS}?labelSelector=l%3Dx"));
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(2)));
    let names: Vec<Value> =
        server.list("configmaps").iter().map(|one| one["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn a_namespace_takes_its_objects_with_it() {
    let server = ApiServer::start();
    server.define(&applications());
    let mut held = application("web");
    held["metadata"]["namespace"] = json!("team");
    held["metadata"]["finalizers"] = json!(["tests.io/hold"]);
    server.put(&held);
    let raw = Raw(&server);
    assert_eq!(raw.post("/api/v1/namespaces/team/configmaps", &config_map("x", &json!({}))).0, 201);
    let (_, namespace) = raw.delete("/api/v1/namespaces/team");
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(raw.get("/api/v1/namespaces/team/configmaps/x").0, 404);
    let (code, status) = raw.post("/api/v1/namespaces/team/configmaps", &config_map("y", &json!({})));
    assert_eq!((code, &status["details"]["causes"][0]["reason"]), (403, &json!("NamespaceTerminating")));
    server.change("applications.argoproj.io", "team", "web", |app| {
        app["metadata"]["finalizers"] = json!([]);
    });
    assert_eq!(raw.get("/api/v1/namespaces/team").0, 404);
}

#[test]
fn patches_of_each_kind_do_what_theirs_do() {
    let server = ApiServer::start();
    server.define(&applications());
    let raw = Raw(&server);
    let mut app = application("web");
    app["spec"]["source"] =
        json!({"helm": {"parameters": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}});
    raw.post(APPS, &app);
    let path = &format!("{APPS}/web");
    // A merge patch knows lists only as a whole.
    let parameters = |parameters: Value| json!({"spec": {"source": {"helm": {"parameters": parameters}}}});
    let (_, merged) = raw.patch("merge", path, &parameters(json!([{"name": "c", "value": "3"}])));
    assert_eq!(merged["spec"]["source"]["helm"]["parameters"], json!([{"name": "c", "value": "3"}]));
    let place = "/spec/source/helm/parameters/0/value";
    let (code, replaced) = raw.patch(
        "json",
        path,
        &json!([
            {"op": "test", "path": place, "value": "3"}, {"op": "replace", "path": place, "value": "4"},
        ]),
    );
    assert_eq!(code, 200);
    assert_eq!(replaced["spec"]["source"]["helm"]["parameters"][0]["value"], "4");
    // A test that fails is 422, and nothing is done of it.
    let (code, status) = raw.patch("json", path, &json!([
        {"op": "replace", "path": "/spec/project", "value": "x"}, {"op": "test", "path": place, "value": "3"},
    ]));
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    assert_eq!(raw.get(path).1["spec"]["project"], "default");
    assert_eq!(raw.patch("json", path, &json!([{"op": "remove", "path": "/spec/nothing"}])).0, 422);
    assert_eq!(raw.patch("json", path, &json!({"op": "x"})).0, 400);
    let (code, status) = raw.patch("strategic-merge", path, &json!({}));
    assert_eq!((code, &status["reason"]), (415, &json!("UnsupportedMediaType")));
    assert_eq!(raw.send("PATCH", path, "application/json", "{}").0, 415);
    assert_eq!(raw.patch("merge", path, &json!({"metadata": {"name": "other"}})).0, 400);
    assert_eq!(raw.patch("merge", path, &json!({"kind": "Other"})).0, 422);
    assert_eq!(raw.patch("merge", &format!("{APPS}/none"), &json!({})).0, 404);
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}, "imagePullSecrets": [{"name": "a"}]});
    raw.post("/api/v1/namespaces/default/serviceaccounts", &account);
    let path = "/api/v1/namespaces/default/serviceaccounts/bot";
    let (_, account) = raw.patch("strategic-merge", path, &json!({"imagePullSecrets": [{"name": "b"}]}));
    assert_eq!(account["imagePullSecrets"], json!([{"name": "a"}, {"name": "b"}]));
}

#[test]
fn a_dry_run_says_what_would_be_and_does_nothing() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let (code, made) = raw.post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("x", &json!({})));
    assert_eq!((code, &made["metadata"]["name"]), (201, &json!("x")));
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}/x")).0, 404);
    assert_eq!(raw.post(&format!("{CONFIG_MAPS}?dryRun=Some"), &config_map("x", &json!({}))).0, 400);
}
