//! Objects of the cluster define the work, and their status reports it.

use super::*;

#[test]
fn a_new_tag_reaches_the_applications_that_a_resource_names() {
    let world = World::new();
    world.deploy("shop");
    world.deploy("other");
    world.api.put(&world.updater("all", "shop"));
    let daemon = world.start(&[]);
    daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
    world.push("1.1.0");
    world.runs(&daemon, "shop", "1.1.0");
    let updater = world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| {
        updater["status"]["recentUpdates"][0]["newVersion"] == "1.1.0"
    });
    let status = &updater["status"];
    assert_eq!((&status["applicationsMatched"], &status["imagesManaged"]), (&json!(1), &json!(1)));
    assert_eq!(status["observedGeneration"], updater["metadata"]["generation"]);
    assert_eq!(world.condition(UPDATERS, "all", "Ready")["status"], "True");
    assert_eq!(world.condition(UPDATERS, "all", "Error")["status"], "False");
    daemon.waits("an Event says so", || {
        world.api.list("events").iter().any(|event| {
            let annotations = event["metadata"]["annotations"].to_string();
            event["involvedObject"]["name"] == "shop"
                && event["reason"] == "ImagesUpdated"
                && annotations.contains("new-tag\":\"1.1.0\"")
        })
    });
    assert_eq!(world.images("other"), Value::Null);
    // Nothing else of the Application is touched: one change of what is asked for, and no more.
    let application = world.api.get(APPLICATIONS, ARGO_CD, "shop").expect("it is there");
    assert_eq!(application["metadata"]["generation"], 2);
    assert_eq!(application["spec"]["source"]["targetRevision"], "main");
}

#[test]
fn what_changes_in_the_cluster_is_acted_on() {
    let world = World::new();
    world.push("1.1.0");
    world.push("2.0.0");
    let daemon = world.start(&["--interval", "1h"]);
    world.is_watched(&daemon);
    // A resource comes, and names nothing that is there; then the Application comes.
    let mut updater = world.updater("all", "shop*");
    updater["spec"]["applicationRefs"][0]["images"][0]["imageName"] =
        json!(format!("{}:~1.0", world.image()));
    world.api.put(&updater);
    world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| updater["status"]["applicationsMatched"] == 0);
    world.deploy("shop");
    world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| updater["status"]["applicationsMatched"] == 1);
    assert_eq!(world.images("shop"), Value::Null, "nothing is newer within 1.0");
    // The resource asks for more.
    world.api.change(UPDATERS, ARGO_CD, "all", |updater| {
        updater["spec"]["applicationRefs"][0]["images"][0]["imageName"] =
            json!(format!("{}:1.x", world.image()));
    });
    world.runs(&daemon, "shop", "1.1.0");
    // An Application that comes later is another.
    world.deploy("shop-2");
    world.runs(&daemon, "shop-2", "1.1.0");
    // And no more, when the resource is gone: its finalizer must not hold it.
    world.api.delete(UPDATERS, ARGO_CD, "all");
    daemon.waits("it is let go of", || world.api.get(UPDATERS, ARGO_CD, "all").is_none());
    world.deploy("shop-3");
    world.api.put(&world.updater("next", "none"));
    world.api.wait_for(UPDATERS, ARGO_CD, "next", |updater| updater["status"]["observedGeneration"] == 1);
    assert_eq!(world.images("shop-3"), Value::Null);
}

#[test]
fn annotations_of_an_application_say_it_too() {
    let world = World::new();
    let mut application = world.application("shop", "https://git.example.com/config.git");
    application["metadata"]["annotations"] =
        json!({"argocd-image-updater.argoproj.io/image-list": format!("web={}:1.x", world.image())});
    world.api.put(&application);
    world.push("1.1.0");
    world.push("2.0.0");
    let daemon = world.start(&[]);
    world.runs(&daemon, "shop", "1.1.0");
}

#[test]
fn an_image_that_two_resources_claim_is_reported_on_both() {
    let world = World::new();
    world.deploy("shop");
    world.push("1.1.0");
    world.api.put(&world.updater("one", "shop"));
    world.api.put(&world.updater("two", "sh*"));
    let daemon = world.start(&[]);
    for name in ["one", "two"] {
        daemon.waits("it is told", || {
            let error = world.condition(UPDATERS, name, "Error");
            error["status"] == "True" && error["message"].to_string().contains("shop")
        });
    }
    assert_eq!(world.images("shop"), Value::Null, "neither wins");
    // As soon as one gives in, the other goes on.
    world.api.delete(UPDATERS, ARGO_CD, "two");
    world.runs(&daemon, "shop", "1.1.0");
}

#[test]
fn an_invalid_resource_is_told_which_field_and_stops_only_itself() {
    let world = World::new();
    world.deploy("shop");
    world.deploy("db");
    world.push("1.1.0");
    let mut bad = world.updater("bad", "db");
    bad["spec"]["applicationRefs"][0]["images"][0]["commonUpdateSettings"] = json!({"allowTags": "regexp:("});
    world.api.put(&bad);
    world.api.put(&world.updater("good", "shop"));
    let daemon = world.start(&[]);
    world.runs(&daemon, "shop", "1.1.0");
    daemon.waits("it is told", || {
        let error = world.condition(UPDATERS, "bad", "Error");
        error["status"] == "True"
            && error["message"]
                .to_string()
                .contains("spec.applicationRefs[0].images[0].commonUpdateSettings.allowTags")
    });
    assert_eq!(world.images("db"), Value::Null);
    daemon.waits("others are well", || world.condition(UPDATERS, "good", "Error")["status"] == "False");
    // It goes on as soon as it is mended.
    world.api.put(&world.updater("bad", "db"));
    world.runs(&daemon, "db", "1.1.0");
    daemon.waits("all is well", || world.condition(UPDATERS, "bad", "Error")["status"] == "False");
}

#[test]
fn a_restart_loses_nothing_and_repeats_nothing() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    let mut daemon = world.start(&[]);
    world.push("1.1.0");
    world.runs(&daemon, "shop", "1.1.0");
    let told = |version: &str| {
        let version = version.to_owned();
        world.api.wait_for(UPDATERS, ARGO_CD, "all", move |updater| {
            updater["status"]["recentUpdates"][0]["newVersion"] == version.as_str()
        })
    };
    told("1.1.0");
    daemon.signal("TERM");
    assert!(daemon.ends().success());
    // Nobody looks meanwhile.
    world.push("1.2.0");
    world.api.forget_requests();
    let daemon = world.start_as("log-2", &[]);
    world.runs(&daemon, "shop", "1.2.0");
    let updates = told("1.2.0")["status"]["recentUpdates"].clone();
    assert_eq!(updates[1]["newVersion"], "1.1.0", "what was told before stays");
    let patches = world
        .api
        .requests()
        .iter()
        .filter(|asked| asked.resource == "applications" && asked.is_write())
        .count();
    assert_eq!(patches, 1);
}

#[test]
fn flux_objects_lead_to_a_commit() {
    let world = World::new();
    let (server, config) = world.git();
    let text = format!("image: {}:1.0.0 # {{\"$imagepolicy\": \"argocd:shop\"}}\n", world.image());
    config.rival("main", &[("clusters/shop.yaml", &text)]);
    world.api.put(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "git-login"},
        "stringData": {"username": "bot", "password": PASSWORD},
    }));
    let object = |api: &str, kind: &str, spec: Value| {
        world.api.put(&json!({
            "apiVersion": api, "kind": kind, "metadata": {"namespace": ARGO_CD, "name": "shop"}, "spec": spec,
        }))
    };
    let flux = "image.toolkit.fluxcd.io/v1";
    object(
        "source.toolkit.fluxcd.io/v1",
        "GitRepository",
        json!({
            "interval": "1m", "url": server.url("/git/config.git"), "ref": {"branch": "main"},
            "secretRef": {"name": "git-login"},
        }),
    );
    object(flux, "ImageRepository", json!({"image": world.image(), "interval": "1s", "insecure": true}));
    object(
        flux,
        "ImagePolicy",
        json!({"imageRepositoryRef": {"name": "shop"}, "policy": {"semver": {"range": "1.x"}}}),
    );
    object(
        flux,
        "ImageUpdateAutomation",
        json!({
            "interval": "1s", "sourceRef": {"kind": "GitRepository", "name": "shop"},
            "git": {"commit": {"author": {"name": "bot", "email": "bot@example.com"}}},
            "update": {"path": "./clusters", "strategy": "Setters"},
        }),
    );
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("it is written", || {
        config.read("main", "clusters/shop.yaml").is_some_and(|text| text.contains("shop:1.1.0"))
    });
    let policies = "imagepolicies.image.toolkit.fluxcd.io";
    world.api.wait_for(policies, ARGO_CD, "shop", |policy| policy["status"]["latestRef"]["tag"] == "1.1.0");
    daemon.waits("it is ready", || world.condition(policies, "shop", "Ready")["status"] == "True");
    let automations = "imageupdateautomations.image.toolkit.fluxcd.io";
    let commit = config.git(&["rev-parse", "main"]);
    world.api.wait_for(automations, ARGO_CD, "shop", |automation| {
        automation["status"]["lastPushCommit"] == commit.as_str()
    });
}
