//! Thousands of Applications: all are worked off and told of, in little memory.

use std::time::{Duration, Instant};

use super::*;

const APPLICATIONS_THERE: usize = 5_000;

/// Maximum memory of the process, in MiB.
const MIB: u64 = 250;

/// Time it may take here, beside other tests and without optimisation.
const PATIENCE: Duration = Duration::from_secs(240);

/// As Argo CD has it: many lines on what the Application deploys, of which nothing is wanted here.
fn application(index: usize, url: &str) -> Value {
    let resources: Vec<Value> = (0..40)
        .map(|part| {
            json!({
                "group": "apps", "version": "v1", "kind": "Deployment", "namespace": format!("team-{index}"),
                "name": format!("component-{part}"), "status": "Synced", "health": {"status": "Healthy"},
            })
        })
        .collect();
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"namespace": ARGO_CD, "name": format!("app-{index:04}"), "labels": {"team": format!("t{}", index % 50)}},
        "spec": {
            "project": "default", "destination": {"namespace": format!("team-{index}")},
            "source": {"repoURL": url, "path": format!("apps/{index}"), "targetRevision": "main"},
        },
        "status": {"sourceType": "Kustomize", "summary": {"images": ["r.test/shop:1.0.0"]}, "resources": resources},
    })
}

#[test]
fn five_thousand_applications_fit_into_little_memory() {
    let world = World::new();
    let (server, config) = world.git();
    let url = server.url("/git/config.git");
    world.folder.write("tags.json", r#"{"r.test/shop": ["1.0.0", "1.1.0"]}"#);
    world.api.put(&json!({
        "apiVersion": "argocd-image-updater.argoproj.io/v1alpha1", "kind": "ImageUpdater",
        "metadata": {"namespace": ARGO_CD, "name": "all"},
        "spec": {
            "writeBackConfig": {"method": "git"},
            "applicationRefs": [
                {"namePattern": "app-*", "images": [{"alias": "shop", "imageName": "r.test/shop:1.x"}]},
            ],
        },
    }));
    for index in 0..APPLICATIONS_THERE {
        world.api.put(&application(index, &url));
    }
    let started = Instant::now();
    let daemon = world.start(&["--interval", "1h", "--tags-from", "tags.json", "--log-level", "warn"]);
    let last = "apps/4999/.argocd-source-app-4999.yaml";
    let written = world.api.wait_until(PATIENCE, |_| config.read("main", last));
    eprintln!("written after {:?}", started.elapsed());
    assert!(written.is_some_and(|text| text.contains("r.test/shop:1.1.0")), "{}", daemon.text());
    let told = world.api.wait_until(PATIENCE, |api| {
        let status = api.get(UPDATERS, ARGO_CD, "all")?["status"].clone();
        (status["applicationsMatched"] == APPLICATIONS_THERE && status["imagesManaged"] == APPLICATIONS_THERE)
            .then_some(status)
    });
    eprintln!("told after {:?}", started.elapsed());
    assert!(told.is_some(), "{:?}", world.api.get(UPDATERS, ARGO_CD, "all"));
    let peak = daemon.peak_mib();
    eprintln!("{peak} MiB");
    assert!(peak < MIB, "{peak} MiB");
}
