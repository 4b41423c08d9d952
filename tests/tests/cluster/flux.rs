//! Flux' objects: suspended, asked for, shared over namespaces, and with what they need in Secrets.

use super::*;

const REPOSITORIES: &str = "imagerepositories.image.toolkit.fluxcd.io";
const POLICIES: &str = "imagepolicies.image.toolkit.fluxcd.io";
const AUTOMATIONS: &str = "imageupdateautomations.image.toolkit.fluxcd.io";

const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// The file that names `shop` in the repository, and that of `db`.
const SHOP: &str = "clusters/shop.yaml";
const DB: &str = "clusters/db.yaml";

impl World {
    fn put_flux(&self, namespace: &str, kind: &str, name: &str, spec: &Value) {
        let api = match kind {
            "GitRepository" => "source.toolkit.fluxcd.io/v1",
            _ => "image.toolkit.fluxcd.io/v1",
        };
        self.api.put(&json!({
            "apiVersion": api, "kind": kind,
            "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}}, "spec": spec,
        }));
    }

    fn put_repository(&self, image: &str, interval: &str) {
        let image_name = format!("{}/{image}", self.registry.host());
        let spec = json!({"image": image_name, "interval": interval, "insecure": true});
        self.put_flux(ARGO_CD, "ImageRepository", image, &spec);
    }

    fn put_policy(&self, namespace: &str, name: &str, repository: &Value) {
        let spec = json!({"imageRepositoryRef": repository, "policy": {"semver": {"range": "1.x"}}});
        self.put_flux(namespace, "ImagePolicy", name, &spec);
    }

    fn put_automation(&self, name: &str) {
        let spec = json!({
            "interval": "1s", "sourceRef": {"kind": "GitRepository", "name": "config"},
            "policySelector": {"matchLabels": {"app": name}},
            "git": {"commit": {"author": {"name": "bot", "email": "bot@example.com"}}},
            "update": {"path": "./clusters", "strategy": "Setters"},
        });
        self.put_flux(ARGO_CD, "ImageUpdateAutomation", name, &spec);
    }

    /// A git server with an image that is marked for a policy, and a GitRepository that names a Secret for it.
    fn flux_source(&self) -> (Server, BareRepository) {
        let (server, config) = self.git();
        for (path, name) in [(SHOP, "shop"), (DB, "db")] {
            let image = format!("{}/{name}", self.registry.host());
            let text = format!("image: {image}:1.0.0 # {{\"$imagepolicy\": \"{ARGO_CD}:{name}\"}}\n");
            config.rival("main", &[(path, &text)]);
        }
        let spec = json!({
            "interval": "1m", "url": server.url("/git/config.git"), "ref": {"branch": "main"},
            "secretRef": {"name": "git-login"},
        });
        self.put_flux(ARGO_CD, "GitRepository", "config", &spec);
        (server, config)
    }

    fn put_git_login(&self) {
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "git-login"},
            "stringData": {"username": "bot", "password": PASSWORD},
        }));
    }

    /// An image with its policy and automation, looked at so often.
    fn put_chain(&self, name: &str, interval: &str) {
        self.put_repository(name, interval);
        self.put_policy(ARGO_CD, name, &json!({"name": name}));
        self.put_automation(name);
    }

    /// Waits until a policy has chosen a tag.
    fn chooses(&self, namespace: &str, policy: &str, tag: &str) {
        self.api.wait_for(POLICIES, namespace, policy, |it| it["status"]["latestRef"]["tag"] == tag);
    }

    /// Returns whether an object is ready, and why.
    fn is_ready(&self, resource: &str, namespace: &str, name: &str) -> String {
        let object = self.api.get(resource, namespace, name).expect("it is there");
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.into_iter().find(|one| one["type"] == "Ready").unwrap_or_default();
        let text = |field: &str| ready[field].as_str().unwrap_or_default().to_owned();
        format!("{} {}: {}", text("status"), text("reason"), text("message"))
    }

    fn suspend(&self, resource: &str, is_suspended: bool) {
        self.api.change(resource, ARGO_CD, "shop", |it| it["spec"]["suspend"] = json!(is_suspended));
    }
}

fn has(config: &BareRepository, path: &str, image: &str) -> bool {
    config.read("main", path).is_some_and(|text| text.contains(&format!("/{image} ")))
}

#[test]
fn who_is_suspended_is_left_alone_and_keeps_nobody_else_from_working() {
    for resource in [REPOSITORIES, POLICIES, AUTOMATIONS] {
        let world = World::new();
        let (_server, config) = world.flux_source();
        world.put_git_login();
        for name in ["shop", "db"] {
            world.put_chain(name, "1s");
            world.registry.push_image(name, "1.1.0", "linux/amd64", CREATED);
        }
        world.suspend(resource, true);
        let daemon = world.start(&[]);
        for tag in ["1.1.0", "1.2.0"] {
            world.registry.push_image("db", tag, "linux/amd64", CREATED);
            daemon.waits("the other is written", || has(&config, DB, &format!("db:{tag}")));
        }
        assert!(has(&config, SHOP, "shop:1.0.0"), "{resource}");
        let object = world.api.get(resource, ARGO_CD, "shop").expect("it is there");
        assert_eq!(object["status"], Value::Null, "who is suspended is told nothing");
        if resource == AUTOMATIONS {
            // Others may read what a policy has chosen.
            world.chooses(ARGO_CD, "shop", "1.1.0");
        }
        world.suspend(resource, false);
        daemon.waits("it goes on", || has(&config, SHOP, "shop:1.1.0"));
    }
}

#[test]
fn who_is_asked_for_is_looked_at_and_says_so() {
    let world = World::new();
    let (_server, config) = world.flux_source();
    world.put_git_login();
    world.put_chain("shop", "1h");
    let daemon = world.start(&["--interval", "1h"]);
    world.chooses(ARGO_CD, "shop", "1.0.0");
    world.push("1.1.0");
    let ask = |resource: &str, when: &str| {
        world.api.change(resource, ARGO_CD, "shop", |it| {
            it["metadata"]["annotations"] = json!({REQUESTED: when});
        });
        world.api.wait_for(resource, ARGO_CD, "shop", |it| it["status"]["lastHandledReconcileAt"] == when);
    };
    ask(REPOSITORIES, "2026-01-01T00:00:00Z");
    daemon.waits("it is written", || has(&config, SHOP, "shop:1.1.0"));
    world.chooses(ARGO_CD, "shop", "1.1.0");
    let scanned = world.api.get(REPOSITORIES, ARGO_CD, "shop").expect("it is there");
    assert_eq!(scanned["status"]["lastScanResult"]["latestTags"], json!(["1.1.0", "1.0.0"]));
    ask(POLICIES, "again");
    ask(AUTOMATIONS, "and again");
    assert_eq!(world.is_ready(AUTOMATIONS, ARGO_CD, "shop"), "True Succeeded: repository up-to-date");
}

/// Case: who only wants to know the newest tag has no automation.
#[test]
fn a_policy_that_nobody_writes_says_what_it_has_chosen() {
    let world = World::new();
    world.put_repository("shop", "1s");
    world.put_policy(ARGO_CD, "shop", &json!({"name": "shop"}));
    world.push("1.1.0");
    world.push("2.0.0");
    let _daemon = world.start(&[]);
    world.chooses(ARGO_CD, "shop", "1.1.0");
    world.push("1.2.0");
    world.chooses(ARGO_CD, "shop", "1.2.0");
    let policy = world.api.get(POLICIES, ARGO_CD, "shop").expect("it is there");
    assert_eq!(policy["status"]["latestRef"]["name"], world.image());
    assert_eq!(policy["status"]["observedPreviousRef"]["tag"], "1.1.0");
    assert!(world.is_ready(POLICIES, ARGO_CD, "shop").starts_with("True Succeeded: "));
}

#[test]
fn a_repository_is_for_the_namespaces_that_it_admits() {
    let world = World::new();
    world.put_repository("shop", "1s");
    world.put_policy("team", "shop", &json!({"name": "shop", "namespace": ARGO_CD}));
    let daemon = world.start(&["--watch-namespaces", "*"]);
    let denied = || world.is_ready(POLICIES, "team", "shop").starts_with("False AccessDenied: ");
    daemon.waits("it is denied", denied);
    let selector = json!({"namespaceSelectors": [{"matchLabels": {"images": "shared"}}]});
    world.api.change(REPOSITORIES, ARGO_CD, "shop", |it| it["spec"]["accessFrom"] = selector.clone());
    // The repository admits a label that the namespace does not have yet.
    world.put_policy(ARGO_CD, "own", &json!({"name": "shop"}));
    world.chooses(ARGO_CD, "own", "1.0.0");
    assert!(denied());
    let policy = world.api.get(POLICIES, "team", "shop").expect("it is there");
    assert_eq!(policy["status"]["latestRef"], Value::Null);
    world.api.change("namespaces", "", "team", |it| it["metadata"]["labels"]["images"] = json!("shared"));
    world.chooses("team", "shop", "1.0.0");
    // What it is no longer let to see, it no longer follows.
    world.api.change(REPOSITORIES, ARGO_CD, "shop", |it| it["spec"]["accessFrom"] = Value::Null);
    daemon.waits("it is denied", denied);
    world.push("1.1.0");
    world.chooses(ARGO_CD, "own", "1.1.0");
    let policy = world.api.get(POLICIES, "team", "shop").expect("it is there");
    assert_eq!(policy["status"]["latestRef"]["tag"], "1.0.0");
}

#[test]
fn a_git_account_that_is_missing_is_told_and_used_as_soon_as_it_is_there() {
    let world = World::new();
    let (_server, config) = world.flux_source();
    world.put_chain("shop", "1h");
    world.push("1.1.0");
    // It would look again in an hour.
    let daemon = world.start(&["--interval", "1h"]);
    let told = || world.is_ready(AUTOMATIONS, ARGO_CD, "shop");
    daemon.waits("it is told", || told().starts_with("False ") && told().contains("git-login"));
    // A policy does not need it.
    world.chooses(ARGO_CD, "shop", "1.1.0");
    world.api.put(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "git-login"},
        "stringData": {"password": PASSWORD},
    }));
    daemon.waits("what it lacks is told", || told().contains("username"));
    assert!(!told().contains(PASSWORD));
    world.put_git_login();
    daemon.waits("it is written", || has(&config, SHOP, "shop:1.1.0"));
    daemon.waits("all is well", || told() == "True Succeeded: repository up-to-date");
    assert!(!daemon.text().contains(PASSWORD));
}

#[test]
fn a_registry_is_asked_with_the_secret_of_the_repository() {
    let world = World::with(RegistryHabits { account: true, ..RegistryHabits::default() });
    let spec = json!({
        "image": world.image(), "interval": "1h", "insecure": true, "secretRef": {"name": "pull"},
    });
    world.put_flux(ARGO_CD, "ImageRepository", "shop", &spec);
    world.put_policy(ARGO_CD, "shop", &json!({"name": "shop"}));
    // It would look again in an hour: it is the Secret that has it look.
    let daemon = world.start(&["--interval", "1h"]);
    let told = || world.is_ready(REPOSITORIES, ARGO_CD, "shop");
    daemon.waits("it is told", || {
        told().starts_with("False AuthenticationFailed: ") && told().contains("Secret argocd/pull")
    });
    daemon.waits("its policy waits", || {
        world.is_ready(POLICIES, ARGO_CD, "shop").starts_with("False DependencyNotReady: ")
    });
    world.api.put(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "pull"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": world.registry.docker_config()},
    }));
    world.chooses(ARGO_CD, "shop", "1.0.0");
    daemon.waits("all is well", || told().starts_with("True Succeeded: "));
}

#[test]
fn an_authority_that_is_missing_is_told_and_trusted_as_soon_as_it_is_there() {
    let world = World::with(RegistryHabits { tls: true, ..RegistryHabits::default() });
    world.folder.write("registries.conf", "registries: []\n");
    let spec = json!({"image": world.image(), "interval": "1h", "certSecretRef": {"name": "authority"}});
    world.put_flux(ARGO_CD, "ImageRepository", "shop", &spec);
    world.put_policy(ARGO_CD, "shop", &json!({"name": "shop"}));
    let daemon = world.start(&["--interval", "1h"]);
    for resource in [REPOSITORIES, POLICIES] {
        daemon.waits("it is told", || {
            let told = world.is_ready(resource, ARGO_CD, "shop");
            told.starts_with("False ") && told.contains("argocd/authority")
        });
    }
    world.api.put(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "authority"},
        "stringData": {"ca.crt": world.registry.authority().pem()},
    }));
    world.chooses(ARGO_CD, "shop", "1.0.0");
    daemon.waits("all is well", || {
        world.is_ready(REPOSITORIES, ARGO_CD, "shop").starts_with("True Succeeded: ")
    });
}
