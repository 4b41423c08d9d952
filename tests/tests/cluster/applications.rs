//! Method `argocd`: Applications of the cluster are written, and nothing of them that others have written is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

#[test]
fn one_of_several_sources_is_written_and_nothing_else() {
    let world = World::new();
    let mut application = world.application("shop", "https://git.example.com/config.git");
    let values =
        json!({"repoURL": "https://git.example.com/values.git", "ref": "values", "targetRevision": "main"});
    let chart = json!({
        "repoURL": "https://charts.example.com", "chart": "shop", "targetRevision": "1.2.3",
        "helm": {"valueFiles": ["$values/shop.yaml"], "parameters": [{"name": "replicas", "value": "2"}]},
    });
    let spec = application["spec"].as_object_mut().expect("it is an object");
    spec.remove("source");
    spec.insert("sources".to_owned(), json!([values, chart]));
    application["status"] = json!({
        "sourceTypes": ["Directory", "Helm"], "summary": {"images": [format!("{}:1.0.0", world.image())]},
    });
    world.api.put(&application);
    world.api.put(&world.updater("all", "shop"));
    world.push("1.1.0");
    let daemon = world.start(&[]);
    let written = || world.api.get(APPLICATIONS, ARGO_CD, "shop").expect("it is there");
    daemon.waits("it is written", || written()["metadata"]["generation"] == 2);
    let mut expected = application["spec"].clone();
    expected["sources"][1]["helm"]["parameters"] = json!([
        {"name": "replicas", "value": "2"},
        {"name": "image.tag", "value": "1.1.0", "forceString": true},
        {"name": "image.name", "value": world.image(), "forceString": true},
    ]);
    assert_eq!(written()["spec"], expected);
}

#[test]
fn what_others_write_at_the_same_time_stays() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    let daemon = world.start(&[]);
    let is_over = AtomicBool::new(false);
    let last = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut times = 0;
            while !is_over.load(Ordering::Relaxed) {
                times += 1;
                world.api.change(APPLICATIONS, ARGO_CD, "shop", |application| {
                    application["spec"]["source"]["targetRevision"] = json!(format!("r{times}"));
                });
                thread::sleep(Duration::from_millis(20));
            }
            times
        });
        for tag in ["1.1.0", "1.2.0", "1.3.0"] {
            world.push(tag);
            world.runs(&daemon, "shop", tag);
        }
        is_over.store(true, Ordering::Relaxed);
        other.join().expect("it does not fail")
    });
    let application = world.api.get(APPLICATIONS, ARGO_CD, "shop").expect("it is there");
    assert_eq!(application["spec"]["source"]["targetRevision"], json!(format!("r{last}")));
    let wanted = json!([format!("{}:1.3.0", world.image())]);
    assert_eq!(application["spec"]["source"]["kustomize"]["images"], wanted);
}

#[test]
fn who_else_writes_an_application_is_said() {
    let world = World::new();
    let mut application = world.application("shop", "https://git.example.com/config.git");
    application["metadata"]["annotations"] =
        json!({"argocd.argoproj.io/tracking-id": "apps:argoproj.io/Application:argocd/shop"});
    world.api.put(&application);
    world.api.put(&world.updater("all", "shop"));
    world.push("1.1.0");
    let daemon = world.start(&[]);
    world.runs(&daemon, "shop", "1.1.0");
    daemon.waits("it is said", || daemon.text().contains("is deployed by the Application `apps`"));
}
