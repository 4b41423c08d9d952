//! Lists: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions and #retrieving-large-results-sets-in-chunks

use serde_json::{Value, json};
use testkit::apiserver::{ApiServer, applications};

use super::{CONFIG_MAPS, Raw, config_map, version};

fn names(list: &Value) -> Vec<&str> {
    list["items"]
        .as_array()
        .expect("it is a list")
        .iter()
        .filter_map(|item| item["metadata"]["name"].as_str())
        .collect()
}

fn with_four() -> ApiServer {
    let server = ApiServer::start();
    for name in ["d", "b", "a", "c"] {
        server.put(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "namespace": "default", "name": name, "labels": {"l": name}}}));
    }
    server
}

#[test]
fn a_list_says_at_which_version_it_is_true() {
    let server = with_four();
    let raw = Raw(&server);
    let (_, list) = raw.get(CONFIG_MAPS);
    assert_eq!(list["kind"], "ConfigMapList");
    assert_eq!(names(&list), ["a", "b", "c", "d"]);
    // Go does not write the types of items that are all of one built-in kind.
    assert!(list["items"][0].get("kind").is_none());
    server.define(&applications());
    server.put(&json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"namespace": "default", "name": "web"}, "spec": {"project": "p", "destination": {}}}));
    let (_, apps) = raw.get("/apis/argoproj.io/v1alpha1/applications");
    assert_eq!(
        (&apps["kind"], &apps["items"][0]["kind"]),
        (&json!("ApplicationList"), &json!("Application"))
    );
    assert!(version(&apps).parse::<u64>().unwrap() > version(&list).parse::<u64>().unwrap());
    assert_eq!(raw.get("/api/v1/namespaces/nowhere/configmaps").1["items"], json!([]));
}

#[test]
fn a_list_in_chunks_is_of_one_version() {
    let server = with_four();
    let raw = Raw(&server);
    let (_, first) = raw.get(&format!("{CONFIG_MAPS}?limit=3"));
    assert_eq!(names(&first), ["a", "b", "c"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    let next = first["metadata"]["continue"].as_str().unwrap();
    server.delete("configmaps", "default", "d");
    raw.post(CONFIG_MAPS, &config_map("e", &json!({})));
    let (_, second) = raw.get(&format!("{CONFIG_MAPS}?limit=3&continue={next}"));
    assert_eq!(names(&second), ["d"]);
    assert_eq!(version(&second), version(&first));
    assert!(second["metadata"].get("continue").is_none());
    let path = format!("{CONFIG_MAPS}?continue={next}&resourceVersion={}", version(&first));
    assert_eq!(raw.get(&path).0, 400);
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}?continue=x")).0, 400);

    server.compact();
    let (code, status) = raw.get(&format!("{CONFIG_MAPS}?limit=3&continue={next}"));
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
    // It may go on with what there is now.
    let next = status["metadata"]["continue"].as_str().unwrap();
    assert_eq!(names(&raw.get(&format!("{CONFIG_MAPS}?continue={next}")).1), ["e"]);
}

#[test]
fn a_version_says_how_old_a_list_may_be() {
    let server = with_four();
    let raw = Raw(&server);
    let (_, list) = raw.get(CONFIG_MAPS);
    raw.post(CONFIG_MAPS, &config_map("e", &json!({})));
    let at = |query: &str| raw.get(&format!("{CONFIG_MAPS}?{query}"));
    // From memory, in which there are no chunks.
    assert_eq!(names(&at("resourceVersion=0&limit=1").1).len(), 5);
    assert_eq!(names(&at(&format!("resourceVersion={}", version(&list))).1).len(), 5);
    let exact = at(&format!("resourceVersion={}&resourceVersionMatch=Exact", version(&list))).1;
    assert_eq!((names(&exact).len(), version(&exact)), (4, version(&list)));
    let (code, status) = at("resourceVersion=999999");
    assert_eq!((code, &status["reason"]), (504, &json!("Timeout")));
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    for bad in [
        "resourceVersionMatch=Exact",
        "resourceVersion=5&resourceVersionMatch=Other",
        "resourceVersion=0&resourceVersionMatch=Exact",
    ] {
        assert_eq!(at(bad).0, 422, "{bad}");
    }
    assert_eq!(at("resourceVersion=x").0, 400);
    server.compact();
    assert_eq!(at(&format!("resourceVersion={}&resourceVersionMatch=Exact", version(&list))).0, 410);
    assert_eq!(at(&format!("resourceVersion={}", version(&list))).0, 200);
}

#[test]
fn selectors_choose() {
    let server = with_four();
    let raw = Raw(&server);
    let at = |query: &str| raw.get(&format!("{CONFIG_MAPS}?{query}"));
    assert_eq!(names(&at("labelSelector=l%20in%20(a,d)").1), ["a", "d"]);
    assert_eq!(names(&at("labelSelector=l!%3Da,l!%3Db").1), ["c", "d"]);
    assert_eq!(names(&at("fieldSelector=metadata.name%3Db").1), ["b"]);
    let all = "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother";
    assert_eq!(names(&raw.get(all).1), Vec::<&str>::new());
    let (code, status) = at("fieldSelector=data.a%3Db");
    assert_eq!((code, &status["message"]), (400, &json!("field label not supported: data.a")));
    // With a selector nobody counts what remains.
    let chunk = at("labelSelector=l&limit=1").1;
    assert!(chunk["metadata"]["continue"].is_string());
    assert!(chunk["metadata"].get("remainingItemCount").is_none());
}

#[test]
fn the_server_says_what_it_has() {
    let server = ApiServer::start();
    server.define(&applications());
    let raw = Raw(&server);
    assert_eq!(raw.get("/version").1["minor"], "33");
    assert_eq!(raw.get("/api").1["versions"], json!(["v1"]));
    let groups = raw.get("/apis").1;
    let names: Vec<&Value> =
        groups["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["apiextensions.k8s.io", "argoproj.io", "coordination.k8s.io", "events.k8s.io"]);
    assert_eq!(raw.get("/apis/argoproj.io").1["preferredVersion"]["version"], "v1alpha1");
    let resources = raw.get("/apis/argoproj.io/v1alpha1").1;
    let names: Vec<&Value> =
        resources["resources"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["applications"], "without a status");
    let core = raw.get("/api/v1").1.to_string();
    for name in ["\"secrets\"", "\"serviceaccounts/token\"", "\"namespaces/status\"", "\"events\""] {
        assert!(core.contains(name), "{name}");
    }
    assert_eq!(raw.get("/apis/none.io/v1").0, 404);
}
