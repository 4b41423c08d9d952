//! `image-updater import --from-cluster`: what the objects of a cluster come to, as a configuration of our own.

use testkit::Outcome;

use super::*;

impl World {
    fn import(&self, arguments: &[&str]) -> Outcome {
        let command = ["import", "--from-cluster", "--kubeconfig", "kubeconfig"];
        self.folder.run_at_home(IMAGE_UPDATER, &[&command, arguments].concat(), &[])
    }

    /// A git server that everybody may read, with a kustomization and a file that is marked.
    fn open_git(&self) -> (Server, BareRepository) {
        let image = self.image();
        let kustomization = format!("images:\n- name: {image}\n  newTag: 1.0.0\n");
        let marked = format!("image: {image}:1.0.0 # {{\"$imagepolicy\": \"{ARGO_CD}:shop\"}}\n");
        let path = self.folder.path("git/config.git");
        let files = [(KUSTOMIZATION, kustomization.as_str()), ("clusters/shop.yaml", &marked)];
        let config = BareRepository::with(&path, &files);
        (Server::start(&self.folder.path(""), Habits::default()), config)
    }

    /// Has the image be written there by an ImageUpdater and by Flux.
    fn put_objects(&self, server: &Server) {
        self.api.put(&self.application("shop", &server.url("/git/config.git")));
        let mut updater = self.updater("all", "shop");
        updater["spec"]["writeBackConfig"] =
            json!({"method": "git", "gitConfig": {"writeBackTarget": "kustomization"}});
        self.api.put(&updater);
        let image = "image.toolkit.fluxcd.io/v1";
        for (api, kind, spec) in [
            (
                "source.toolkit.fluxcd.io/v1",
                "GitRepository",
                json!({"interval": "1m", "url": server.url("/git/config.git"), "ref": {"branch": "main"}}),
            ),
            (image, "ImageRepository", json!({"image": self.image(), "interval": "5m", "insecure": true})),
            (
                image,
                "ImagePolicy",
                json!({"imageRepositoryRef": {"name": "shop"}, "policy": {"semver": {"range": "1.x"}}}),
            ),
            (
                image,
                "ImageUpdateAutomation",
                json!({
                    "interval": "1h", "sourceRef": {"kind": "GitRepository", "name": "shop"},
                    "git": {"commit": {"author": {"name": "bot", "email": "bot@example.com"}}},
                    "update": {"path": "./clusters", "strategy": "Setters"},
                }),
            ),
        ] {
            self.api.put(&json!({
                "apiVersion": api, "kind": kind, "metadata": {"namespace": ARGO_CD, "name": "shop"}, "spec": spec,
            }));
        }
    }
}

#[test]
fn what_is_imported_works() {
    let world = World::new();
    let (server, config) = world.open_git();
    world.put_objects(&server);
    world.push("1.1.0");
    let imported = world.import(&[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    world.folder.write("image-updater.yaml", &imported.stdout);
    let run = |arguments: &[&str]| world.folder.run_at_home(IMAGE_UPDATER, arguments, &[]);
    let check = run(&["check", "-o", "json"]);
    assert_eq!(check.code, Some(10), "{}{}\n{}", check.stdout, check.stderr, imported.stdout);
    let update = run(&["update", "--push"]);
    assert_eq!(update.code, Some(0), "{}", update.stderr);
    assert!(stands_at(&config, "1.1.0"));
    let marked = config.read("main", "clusters/shop.yaml").expect("it is there");
    assert!(marked.contains("shop:1.1.0 #"), "{marked}");
    assert_eq!(run(&["check"]).code, Some(0));
    // Nothing in the cluster is changed by it.
    assert!(world.api.requests().iter().all(|asked| !asked.is_write()));
}

#[test]
fn only_a_namespace_may_be_imported() {
    let world = World::new();
    let (server, _config) = world.open_git();
    world.put_objects(&server);
    world.api.put(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}));
    assert_eq!(world.import(&["-n", ARGO_CD]).stdout, world.import(&[]).stdout);
    let nothing = world.import(&["--namespace", "team"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("no image found in the cluster"), "{}", nothing.stderr);
}

/// There is no file that could be written instead of an Application that is only in the cluster.
#[test]
fn what_only_a_cluster_can_do_is_refused_with_what_to_do() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    let outcome = world.import(&[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
    for said in ["ImageUpdater/argocd/all", "by the method `argocd`", "run --cluster", "write back by git"] {
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn a_cluster_that_is_not_there_is_told() {
    let world = World::new();
    world.api.refuse();
    let outcome = world.import(&[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{}", outcome.stderr);
    let outcome = world.import(&["--context", "other"]);
    assert_ne!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("other"), "{}", outcome.stderr);
}
