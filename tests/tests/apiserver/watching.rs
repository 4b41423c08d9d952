//! Watches: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes

use std::time::Duration;

use serde_json::json;
use testkit::apiserver::{ApiServer, Settings};

use super::{CONFIG_MAPS, Raw, config_map, version};

#[test]
fn a_watch_says_what_comes_after_a_list() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("old", &json!({})));
    let (_, list) = raw.get(CONFIG_MAPS);
    let mut watching = raw.watch(CONFIG_MAPS, &format!("resourceVersion={}", version(&list)));
    raw.post(CONFIG_MAPS, &config_map("new", &json!({})));
    let (_, changed) = raw.patch("merge", &format!("{CONFIG_MAPS}/new"), &json!({"data": {"a": "b"}}));
    raw.delete(&format!("{CONFIG_MAPS}/new"));
    // Not in this namespace.
    server.put(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "other", "name": "x"}}),
    );
    raw.delete(&format!("{CONFIG_MAPS}/old"));
    assert_eq!(watching.brief(), "ADDED new");
    let line = watching.next().unwrap();
    assert_eq!(line, json!({"type": "MODIFIED", "object": changed}));
    // As it was last, at the version of its deletion.
    let gone = watching.next().unwrap();
    assert_eq!((&gone["type"], &gone["object"]["data"]), (&json!("DELETED"), &json!({"a": "b"})));
    assert!(version(&gone["object"]).parse::<u64>().unwrap() > version(&changed).parse::<u64>().unwrap());
    assert_eq!(watching.brief(), "DELETED old");
}

#[test]
fn without_a_version_a_watch_begins_with_what_there_is() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("b", &json!({})));
    raw.post(CONFIG_MAPS, &config_map("a", &json!({})));
    for query in ["", "resourceVersion=0"] {
        let mut watching = raw.watch(CONFIG_MAPS, query);
        assert_eq!([watching.brief(), watching.brief()], ["ADDED b", "ADDED a"]);
        raw.post(CONFIG_MAPS, &config_map("c", &json!({})));
        assert_eq!(watching.brief(), "ADDED c");
        raw.delete(&format!("{CONFIG_MAPS}/c"));
    }
}

/// Expected values: what comes into a selection is added to it, and what leaves it is deleted.
#[test]
fn who_sees_only_some_sees_them_come_and_go() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let mut watching = raw.watch(CONFIG_MAPS, "labelSelector=l%3Dv");
    raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let path = &format!("{CONFIG_MAPS}/x");
    raw.patch("merge", path, &json!({"metadata": {"labels": {"l": "v"}}}));
    raw.patch("merge", path, &json!({"metadata": {"labels": {"l": "w"}}}));
    assert_eq!(watching.brief(), "ADDED x");
    let line = watching.next().unwrap();
    assert_eq!((&line["type"], &line["object"]["metadata"]["labels"]["l"]), (&json!("DELETED"), &json!("v")));
    let mut one = raw.watch(CONFIG_MAPS, "fieldSelector=metadata.name%3Dy");
    raw.post(CONFIG_MAPS, &config_map("y", &json!({})));
    assert_eq!(one.brief(), "ADDED y");
}

#[test]
fn bookmarks_tell_how_far_it_is() {
    let settings = Settings { bookmark_interval: Duration::from_millis(50), ..Settings::default() };
    let server = ApiServer::with(&settings);
    let raw = Raw(&server);
    let mut watching = raw.watch(CONFIG_MAPS, "allowWatchBookmarks=true&resourceVersion=100");
    server.put(
        &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "x"}}),
    );
    let newest = server.get("secrets", "default", "x").unwrap();
    // Also what others have changed counts.
    let found = (0..1000).find_map(|_| {
        let line = watching.next().expect("it goes on");
        assert_eq!((&line["type"], &line["object"]["kind"]), (&json!("BOOKMARK"), &json!("ConfigMap")));
        (version(&line["object"]) == version(&newest)).then_some(())
    });
    assert!(found.is_some());
}

#[test]
fn a_watch_ends_when_its_time_is_up() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let mut watching = raw.watch(CONFIG_MAPS, "timeoutSeconds=1&allowWatchBookmarks=true");
    assert_eq!(watching.brief(), "BOOKMARK", "the last word");
    assert_eq!(watching.next(), None);
}

#[test]
fn what_is_forgotten_is_gone() {
    let server = ApiServer::start();
    let raw = Raw(&server);
    let (_, object) = raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    raw.patch("merge", &format!("{CONFIG_MAPS}/x"), &json!({"data": {"a": "b"}}));
    server.compact();
    // The answer has begun by then, so that it can only be said in it.
    let mut watching = raw.watch(CONFIG_MAPS, &format!("resourceVersion={}", version(&object)));
    let line = watching.next().unwrap();
    assert_eq!(line["type"], "ERROR");
    let status = &line["object"];
    assert_eq!(
        (&status["kind"], &status["code"], &status["reason"]),
        (&json!("Status"), &json!(410), &json!("Expired"))
    );
    assert_eq!(watching.next(), None);
    // Who is up to date goes on.
    let (_, list) = raw.get(CONFIG_MAPS);
    let mut watching = raw.watch(CONFIG_MAPS, &format!("resourceVersion={}", version(&list)));
    server.compact();
    raw.delete(&format!("{CONFIG_MAPS}/x"));
    assert_eq!(watching.brief(), "DELETED x");
    // A server whose cache is not there yet says it by the status.
    server.fail(1, 410, |asked| asked.verb == "watch");
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=101")).0, 410);
}

/// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
#[test]
fn lists_are_streamed_where_that_is_turned_on() {
    let server = ApiServer::with(&Settings { streaming_lists: true, ..Settings::default() });
    let raw = Raw(&server);
    raw.post(CONFIG_MAPS, &config_map("x", &json!({})));
    let asked = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watching = raw.watch(CONFIG_MAPS, asked);
    assert_eq!(watching.brief(), "ADDED x");
    let end = watching.next().unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(end["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    for bad in [
        "sendInitialEvents=true&allowWatchBookmarks=true",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=NotOlderThan",
    ] {
        assert_eq!(raw.get(&format!("{CONFIG_MAPS}?watch=1&{bad}")).0, 422, "{bad}");
    }
    assert_eq!(raw.get(&format!("{CONFIG_MAPS}?sendInitialEvents=true")).0, 422);
    let without = ApiServer::start();
    let (code, status) = Raw(&without).get(&format!("{CONFIG_MAPS}?watch=1&{asked}"));
    assert_eq!((code, &status["details"]["causes"][0]["field"]), (422, &json!("sendInitialEvents")));
}
