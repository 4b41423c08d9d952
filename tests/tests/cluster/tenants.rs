//! Applications in any namespace: who may write objects in one may not reach what others have.

use super::*;

impl World {
    /// An Application of a namespace, and an ImageUpdater for it there.
    fn settle(&self, namespace: &str, repository: &str, change: impl FnOnce(&mut Value)) {
        let mut application = self.application("shop", repository);
        application["metadata"]["namespace"] = json!(namespace);
        self.api.put(&application);
        let mut updater = self.updater("all", "*");
        updater["metadata"]["namespace"] = json!(namespace);
        change(&mut updater["spec"]);
        self.api.put(&updater);
    }

    fn put_pull_secret(&self, namespace: &str, config: &str) {
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": "pull"},
            "type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": config},
        }));
    }

    fn images_in(&self, namespace: &str) -> Value {
        let application = self.api.get(APPLICATIONS, namespace, "shop").expect("it is there");
        application["spec"]["source"]["kustomize"]["images"].clone()
    }

    fn trouble_in(&self, namespace: &str) -> String {
        let updater = self.api.get(UPDATERS, namespace, "all").expect("it is there");
        let conditions = updater["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_error = |one: &&Value| one["type"] == "Error" && one["status"] == "True";
        conditions.iter().find(is_error).map(|one| one["message"].to_string()).unwrap_or_default()
    }

    fn start_for_all(&self) -> Daemon {
        self.start(&["--watch-namespaces", "*"])
    }
}

const ELSEWHERE: &str = "https://git.example.com/config.git";

#[test]
fn a_pull_secret_of_another_namespace_is_refused() {
    let world = World::with(RegistryHabits { account: true, ..RegistryHabits::default() });
    world.push("1.1.0");
    let ask = |secret: &'static str| {
        move |spec: &mut Value| spec["commonUpdateSettings"] = json!({"pullSecret": secret})
    };
    world.settle("green", ELSEWHERE, ask("pullsecret:green/pull"));
    world.settle("red", ELSEWHERE, ask("pullsecret:green/pull"));
    world.put_pull_secret("green", &world.registry.docker_config());
    let daemon = world.start_for_all();
    let wanted = json!([format!("{}:1.1.0", world.image())]);
    daemon.waits("its owner may use it", || world.images_in("green") == wanted);
    daemon.waits("it is refused", || world.trouble_in("red").contains("green"));
    assert_eq!(world.images_in("red"), Value::Null);
    assert_eq!(world.trouble_in("green"), "");
}

/// One tenant's tokens and lists of tags are not for another, even of the same image.
#[test]
fn what_one_may_read_of_a_registry_is_not_for_others() {
    let world = World::with(RegistryHabits { account: true, ..RegistryHabits::default() });
    world.push("1.1.0");
    for namespace in ["green", "red"] {
        world.settle(namespace, ELSEWHERE, |spec| {
            spec["commonUpdateSettings"] = json!({"pullSecret": format!("pullsecret:{namespace}/pull")});
        });
    }
    world.settle("blue", ELSEWHERE, |_| {});
    let config = world.registry.docker_config();
    world.put_pull_secret("green", &config);
    let wrong = json!({"auths": {world.registry.host(): {"username": "ci", "password": "guessed"}}});
    world.put_pull_secret("red", &wrong.to_string());
    let daemon = world.start_for_all();
    for tag in ["1.1.0", "1.2.0"] {
        world.push(tag);
        let wanted = json!([format!("{}:{tag}", world.image())]);
        daemon.waits("who may read it goes on", || world.images_in("green") == wanted);
    }
    for namespace in ["red", "blue"] {
        daemon.waits("it is told", || !world.trouble_in(namespace).is_empty());
        assert_eq!(world.images_in(namespace), Value::Null, "{namespace}");
        assert!(!world.trouble_in(namespace).contains("guessed"));
    }
    // As soon as it has the right one, it goes on.
    world.put_pull_secret("red", &config);
    let wanted = json!([format!("{}:1.2.0", world.image())]);
    daemon.waits("it goes on", || world.images_in("red") == wanted);
}

/// Argo CD's credentials would otherwise be for whoever may name a repository.
#[test]
fn another_repository_than_that_of_the_application_is_refused() {
    let world = World::new();
    let (server, config) = world.git();
    world.push("1.1.0");
    let repository = server.url("/git/config.git");
    let by_git = |named: Option<String>| {
        move |spec: &mut Value| {
            let mut git = json!({"writeBackTarget": "kustomization"});
            if let Some(named) = named {
                git["repository"] = json!(named);
            }
            spec["writeBackConfig"] = json!({"method": "git", "gitConfig": git});
        }
    };
    world.settle("red", ELSEWHERE, by_git(Some(repository.clone())));
    world.settle("green", "https://git.example.com/green.git", |_| {});
    let daemon = world.start_for_all();
    daemon.waits("it is refused", || world.trouble_in("red").contains("repository"));
    let wanted = json!([format!("{}:1.1.0", world.image())]);
    daemon.waits("others go on", || world.images_in("green") == wanted);
    assert!(stands_at(&config, "1.0.0"));
    // Who may deploy from a repository may write it.
    world.settle("red", &repository, by_git(None));
    daemon.waits("it is written", || stands_at(&config, "1.1.0"));
    daemon.waits("all is well", || world.trouble_in("red").is_empty());
}

/// An ImageUpdater is for the Applications of its own namespace.
#[test]
fn applications_of_other_namespaces_are_out_of_reach() {
    let world = World::new();
    world.deploy("shop");
    world.settle("green", ELSEWHERE, |_| {});
    world.push("1.1.0");
    let daemon = world.start_for_all();
    let wanted = json!([format!("{}:1.1.0", world.image())]);
    daemon.waits("its own is written", || world.images_in("green") == wanted);
    world.api.wait_for(UPDATERS, "green", "all", |updater| updater["status"]["applicationsMatched"] == 1);
    assert_eq!(world.images("shop"), Value::Null);
}
