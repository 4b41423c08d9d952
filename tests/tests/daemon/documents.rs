//! Several documents in one configuration, and what repositories themselves say that there is to do.

use testkit::GitRepository;

use super::*;

impl World {
    /// A document for another repository on the server.
    fn document(&self, repository: &str, more: &str) -> String {
        format!(
            "---\napiVersion: image-updater/v1alpha1\nkind: Config\n\
             git: {{url: '{}', credentials: {{file: git-login}}}}\n{more}",
            self.server.url(repository)
        )
    }

    /// Has it do what the branch says.
    pub(super) fn discover(&self) {
        self.folder.write(
            "image-updater.yaml",
            &format!(
                "apiVersion: image-updater/v1alpha1\nkind: Config\n\
                 registries: [{{prefix: '{}', plainHttp: true, credentials: {{file: registry-login}}}}]\n\
                 git: {{url: '{}', credentials: {{file: git-login}}}}\ndiscover: [clusters/prod]\n",
                self.registry.host(),
                self.server.url("/git/config.git"),
            ),
        );
    }

    fn updates(&self) -> String {
        let image = self.image();
        format!(
            "updates:\n- images: [{{image: {image}}}]\n  targets: [{{kind: kustomization, path: {FILE}}}]\n"
        )
    }

    /// A policy of Flux with its repository and automation, which allows what is in a range.
    pub(super) fn flux(&self, range: &str) -> String {
        let (image, url) = (self.image(), self.server.url("/git/config.git"));
        format!(
            "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\n\
             metadata: {{name: shop, namespace: flux-system}}\nspec: {{image: '{image}', interval: 1s}}\n---\n\
             apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\n\
             metadata: {{name: shop, namespace: flux-system}}\n\
             spec:\n  imageRepositoryRef: {{name: shop}}\n  policy: {{semver: {{range: '{range}'}}}}\n---\n\
             apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageUpdateAutomation\n\
             metadata: {{name: all, namespace: flux-system}}\n\
             spec:\n  interval: 1m\n  sourceRef: {{kind: GitRepository, name: config}}\n  \
             git:\n    checkout: {{ref: {{branch: main}}}}\n    commit: {{author: {{name: Flux, email: flux@test}}}}\n---\n\
             apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
             metadata: {{name: config, namespace: flux-system}}\nspec: {{url: '{url}', interval: 1m}}\n"
        )
    }

    pub(super) fn marked(&self, tag: &str) -> String {
        format!("image: {}:{tag} # {{\"$imagepolicy\": \"flux-system:shop\"}}\n", self.image())
    }
}

#[test]
fn a_repository_does_not_wait_for_another() {
    let world = World::new();
    let other = BareRepository::with(
        &world.folder.path("git/other.git"),
        &[(FILE, &kustomization(&world.registry, "1.0.0"))],
    );
    world.configure(
        &(world.document("/silent/config.git", &world.updates())
            + &world.document("/git/other.git", &world.updates())),
    );
    let mut daemon = world.start(&[]);
    daemon.waits("it asks", || world.server.requests().iter().any(|line| line.contains("/silent/")));
    world.push("1.1.0");
    let done = || world.stands_at("1.1.0") && other.subjects("main").len() == 2;
    daemon.waits("both others are written", done);
    let repository = world.server.url("/git/other.git");
    let of_other = |line: &serde_json::Value| line["message"] == "pushed" && line["repository"] == repository;
    daemon.waits("it is logged", || daemon.log().iter().any(of_other));
    daemon.waits("it is counted", || daemon.counts(&world.numbered("commits_total", "", 1)));
    assert!(daemon.counts("argocd_image_updater_images_watched_total 3"));
    assert_eq!(daemon.get("/healthz").0, 200);
    daemon.signal("TERM");
    assert_eq!(daemon.ends().code(), Some(0));
}

#[test]
fn a_policy_that_changes_on_the_branch_counts_from_the_next_round_on() {
    let world = World::new();
    world.push("1.1.0");
    world.push("2.0.0");
    world.config.rival(
        "main",
        &[("clusters/prod/flux.yaml", &world.flux("1.x")), ("apps/pod.yaml", &world.marked("1.0.0"))],
    );
    world.discover();
    let check = world.run(&["check"]);
    assert_eq!(check.code, Some(10), "{}{}", check.stdout, check.stderr);
    let daemon = world.start(&["--audit-log", "audit.jsonl"]);
    let stands_at = |tag: &str| {
        world.config.read("main", "apps/pod.yaml").is_some_and(|text| text + "\n" == world.marked(tag))
    };
    daemon.waits("it is written", || stands_at("1.1.0"));
    world.config.rival("main", &[("clusters/prod/flux.yaml", &world.flux("2.x"))]);
    daemon.waits("the new policy counts", || stands_at("2.0.0"));
    // A policy that is broken is said, and leaves out its own image only.
    let broken = world.flux(">>2");
    world.config.rival("main", &[("clusters/prod/flux.yaml", &broken)]);
    daemon.says("it is left out");
    let log = daemon.log();
    let line = log.iter().find(|line| line["message"] == "it is left out").expect("it is logged");
    assert!(
        line["place"].as_str().is_some_and(|place| place.starts_with("clusters/prod/flux.yaml:")),
        "{line}"
    );
    assert_eq!(daemon.get("/healthz").0, 200);
    let log = world.folder.read("log").expect("it is there");
    assert!(!log.contains(PASSWORD) && !log.contains("s3cret"));
}

#[test]
fn in_a_checkout_the_branch_on_the_server_counts() {
    let folder = Folder::with(&[]);
    let said = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: shop\n  namespace: argocd\n  \
                annotations:\n    argocd-image-updater.argoproj.io/image-list: r.test/shop:RANGE\n    \
                argocd-image-updater.argoproj.io/write-back-method: git\n    \
                argocd-image-updater.argoproj.io/write-back-target: kustomization\n\
                spec:\n  source: {repoURL: ADDRESS, path: apps/shop, targetRevision: main}\n";
    let url = format!("file://{}", folder.path("config.git").display());
    let application = |range: &str| said.replace("ADDRESS", &url).replace("RANGE", range);
    let text = "images:\n- name: r.test/shop\n  newTag: 1.0.0\n";
    let config = BareRepository::with(
        &folder.path("config.git"),
        &[("apps/shop.yaml", &application("1.x")), (FILE, text)],
    );
    folder.write("tags.json", r#"{"r.test/shop": ["1.0.0", "1.1.0", "2.0.0"]}"#);
    let cloned = folder.run_at_home("git", &["clone", "--quiet", "config.git", "work"], &[]);
    assert_eq!(cloned.code, Some(0), "{}", cloned.stderr);
    let run = |arguments: &[&str]| {
        let common = ["run", "--once", "--tags-from", "tags.json"];
        folder.run_at_home(IMAGE_UPDATER, &[&common, arguments].concat(), &[])
    };
    let outcome = run(&["--in", "work/apps"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(config.read("main", FILE).unwrap() + "\n", text.replace("1.0.0", "1.1.0"));
    // The checkout is behind, and stays as it is.
    config.rival("main", &[("apps/shop.yaml", &application("2.x"))]);
    let outcome = run(&["--in", "work/apps"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(config.read("main", FILE).unwrap() + "\n", text.replace("1.0.0", "2.0.0"));
    assert_eq!(GitRepository::at(&folder.path("work")).git(&["status", "--porcelain"]), "");
    // A folder that is mounted says so itself, and names its repository.
    folder.write("mounted/shop.yaml", &application("<1.1"));
    let outcome = run(&["--in", "mounted"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("applications=1 images_considered=1"), "{}", outcome.stderr);
    // The Application itself would be written, and nothing says where it is kept.
    let method = |method: &str| format!("write-back-method: {method}");
    let live = application("1.x").replace(&method("git"), &method("argocd"));
    folder.write("mounted/shop.yaml", &live.replace("targetRevision:", "kustomize: {}, targetRevision:"));
    let outcome = run(&["--in", "mounted"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("missing write-back repository"), "{}", outcome.stderr);
}
