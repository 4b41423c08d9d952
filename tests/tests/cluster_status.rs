//! The status of cluster objects, against CRDs that reject unknown fields.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::apiserver::{self, ApiServer};
use testkit::{BareRepository, Folder};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

const UPDATERS: &str = "imageupdaters.argocd-image-updater.argoproj.io";

const MARKED: &str = "image: r.test/shop:1.0.0 # {\"$imagepolicy\": \"apps:shop\"}\n";

/// A cluster, a repository, and a replica that works them off.
struct World {
    api: ApiServer,
    folder: Folder,
    config: BareRepository,
    daemon: Option<Child>,
}

impl World {
    fn new() -> Self {
        let folder = Folder::with(&[]);
        let config = BareRepository::with(&folder.path("config.git"), &[("apps/pod.yaml", MARKED)]);
        folder.write("tags.json", r#"{"r.test/shop": ["1.0.0", "1.1.0", "1.1.0.sig"]}"#);
        let api = ApiServer::start();
        api.define(&apiserver::applications());
        api.define(&apiserver::git_repositories());
        let outcome = folder.run(IMAGE_UPDATER, &["crds", "-o", "json"], "");
        let definitions: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
        definitions["items"].as_array().expect("it is a list").iter().for_each(|one| _ = api.put(one));
        api.put(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}));
        folder.write("kubeconfig", &api.kubeconfig(""));
        Self { api, folder, config, daemon: None }
    }

    fn url(&self) -> String {
        format!("file://{}", self.folder.path("config.git").display())
    }

    fn put(&self, api: &str, kind: &str, name: &str, spec: &Value) {
        self.api.put(&json!({
            "apiVersion": api, "kind": kind, "metadata": {"namespace": "apps", "name": name}, "spec": spec,
        }));
    }

    fn put_application(&self) {
        self.api.put(&json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"namespace": "apps", "name": "shop"},
            "spec": {
                "project": "default", "destination": {"namespace": "shop"},
                "source": {"repoURL": self.url(), "path": "apps/shop", "targetRevision": "main"},
            },
            "status": {"sourceType": "Kustomize", "summary": {"images": ["r.test/shop:1.0.0"]}},
        }));
    }

    fn put_updater(&self, name: &str) {
        let spec = json!({
            "applicationRefs": [{
                "namePattern": "shop", "images": [{"alias": "web", "imageName": "r.test/shop:1.x"}],
            }],
        });
        self.put("argocd-image-updater.argoproj.io/v1alpha1", "ImageUpdater", name, &spec);
    }

    fn start(&mut self) {
        let log = fs::File::create(self.folder.path("log")).expect("it can be written");
        let mut command = Command::new(IMAGE_UPDATER);
        command.args([
            "run",
            "--cluster",
            "--kubeconfig=kubeconfig",
            "--tags-from=tags.json",
            "--interval=1s",
        ]);
        command.args(["--watch-namespaces=apps", "--argocd-namespace=apps", "--leader-election=false"]);
        command.current_dir(self.folder.path("")).env("HOME", self.folder.path(""));
        command.env("XDG_CACHE_HOME", self.folder.path("cache")).stdout(Stdio::null()).stderr(log);
        self.daemon = Some(command.spawn().expect("it can be run"));
    }

    /// Waits until an object is so.
    fn wait(&self, resource: &str, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1_200 {
            if let Some(object) = self.api.get(resource, "apps", name).filter(&is_so) {
                return object;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let object = self.api.get(resource, "apps", name);
        panic!("{:#}\n{}", object.unwrap_or_default()["status"], self.folder.read("log").unwrap_or_default());
    }

    /// Waits for an Event on an object.
    fn event(&self, kind: &str, name: &str, reason: &str) -> Value {
        for _ in 0..1_200 {
            let is_it = |event: &Value| {
                let about = &event["involvedObject"];
                about["kind"] == kind && about["name"] == name && event["reason"] == reason
            };
            if let Some(event) = self.api.list("events").into_iter().find(is_it) {
                return event;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{:#?}\n{}", self.api.list("events"), self.folder.read("log").unwrap_or_default());
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn condition(object: &Value, kind: &str, field: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind);
    found.and_then(|found| found[field].as_str().map(str::to_owned)).unwrap_or_default()
}

fn is_ready(object: &Value) -> bool {
    condition(object, "Ready", "status") == "True"
}

#[test]
fn an_image_updater_and_its_application_are_told_what_was_done() {
    let mut world = World::new();
    world.put_application();
    world.put_updater("one");
    world.start();
    let one = world.wait(UPDATERS, "one", |one| one["status"]["lastUpdatedAt"].is_string() && is_ready(one));
    let status = &one["status"];
    assert_eq!((&status["applicationsMatched"], &status["imagesManaged"]), (&json!(1), &json!(1)));
    let recent = &status["recentUpdates"][0];
    let said = ["alias", "image", "newVersion", "message"].map(|field| recent[field].as_str().unwrap_or(""));
    assert_eq!(said, ["web", "r.test/shop", "1.1.0", "Updated from 1.0.0 to 1.1.0."]);
    let finalizer = "resources-finalizer.argocd-image-updater.argoproj.io";
    assert_eq!(one["metadata"]["finalizers"], json!([finalizer]));
    let event = world.event("Application", "shop", "ImagesUpdated");
    assert_eq!(event["message"], "Successfully updated application 'apps/shop'");
    assert_eq!(
        (&event["type"], &event["source"]["component"]),
        (&json!("Normal"), &json!("ArgocdImageUpdater"))
    );
    let annotation =
        |what: &str| event["metadata"]["annotations"][format!("argocd-image-updater.image-0/{what}")].clone();
    assert_eq!(
        ["full-image-name", "image-name", "old-tag", "new-tag"].map(annotation),
        ["r.test/shop", "shop", "1.0.0", "1.1.0"].map(Value::from)
    );
    world.event("ImageUpdater", "one", "ImagesUpdated");
    // Both are told that two want the same, and are well again when one is gone, which nothing holds up.
    world.put_updater("two");
    for name in ["one", "two"] {
        let torn = world.wait(UPDATERS, name, |it| condition(it, "Error", "reason") == "Conflict");
        assert!(condition(&torn, "Error", "message").starts_with("spec.applicationRefs[0]"), "{torn:#}");
        world.event("ImageUpdater", name, "Conflict");
    }
    world.api.delete(UPDATERS, "apps", "two");
    world.wait(UPDATERS, "one", |one| condition(one, "Error", "status") == "False");
    assert!(world.api.get(UPDATERS, "apps", "two").is_none(), "its finalizer is off");
}

#[test]
fn flux_objects_are_told_what_was_found_chosen_and_pushed() {
    let mut world = World::new();
    let flux = "image.toolkit.fluxcd.io/v1";
    let source = json!({"url": world.url(), "interval": "1m", "ref": {"branch": "main"}});
    world.put("source.toolkit.fluxcd.io/v1", "GitRepository", "config", &source);
    world.put(flux, "ImageRepository", "shop", &json!({"image": "r.test/shop", "interval": "1m"}));
    let policy = json!({"imageRepositoryRef": {"name": "shop"}, "policy": {"semver": {"range": "1.x"}}});
    world.put(flux, "ImagePolicy", "shop", &policy);
    let lost = json!({"imageRepositoryRef": {"name": "absent"}, "policy": {"semver": {"range": "1.x"}}});
    world.put(flux, "ImagePolicy", "lost", &lost);
    let automation = json!({
        "interval": "1m", "sourceRef": {"kind": "GitRepository", "name": "config"},
        "git": {"commit": {"author": {"email": "bot@example.com"}}, "checkout": {"ref": {"branch": "main"}}},
        "update": {"path": "./apps", "strategy": "Setters"},
    });
    world.put(flux, "ImageUpdateAutomation", "all", &automation);
    world.start();
    let of_flux = |plural: &str| format!("{plural}.image.toolkit.fluxcd.io");
    let repository = world.wait(&of_flux("imagerepositories"), "shop", is_ready);
    let scan = &repository["status"]["lastScanResult"];
    assert_eq!((&scan["tagCount"], &scan["latestTags"]), (&json!(2), &json!(["1.1.0", "1.0.0"])));
    assert_eq!(repository["status"]["observedGeneration"], repository["metadata"]["generation"]);
    let policy = world.wait(&of_flux("imagepolicies"), "shop", is_ready);
    assert_eq!(policy["status"]["latestRef"], json!({"name": "r.test/shop", "tag": "1.1.0"}));
    let automation = world.wait(&of_flux("imageupdateautomations"), "all", |all| {
        is_ready(all) && all["status"]["lastPushCommit"].is_string()
    });
    let commit = world.config.git(&["rev-parse", "main"]);
    assert_eq!(automation["status"]["lastPushCommit"], commit);
    assert_eq!(automation["status"]["observedSourceRevision"], format!("main@sha1:{commit}"));
    assert_eq!(automation["status"]["observedPolicies"]["shop"]["tag"], "1.1.0");
    let event = world.event("ImageUpdateAutomation", "all", "Succeeded");
    assert!(event["message"].as_str().is_some_and(|text| text.starts_with("pushed commit '")), "{event:#}");
    let lost = world.wait(&of_flux("imagepolicies"), "lost", |lost| {
        condition(lost, "Ready", "reason") == "DependencyNotReady"
    });
    assert!(condition(&lost, "Ready", "message").starts_with("spec.imageRepositoryRef"), "{lost:#}");
}
