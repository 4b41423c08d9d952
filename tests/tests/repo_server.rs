//! The binary in the place of kustomize and helm: every command line that Argo CD's repo-server calls them with, through
//! links of these names, each with homes of its own that are thrown away.
//!
//! The command lines are those of argo-cd's `util/kustomize/kustomize.go` and `util/helm/cmd.go`.

use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use goregex::Regex;
use helm_lite::{File, pack};
use oci_registry::Digest;
use testkit::{DockerRegistry, Folder, Habits, Outcome, RegistryHabits, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG: (&str, &[u8]) = ("application/vnd.cncf.helm.config.v1+json", b"{}");
const LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// By what the repo-server finds the version in what a program prints.
const VERSION: &str = r"v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";

/// A checkout with the programs beside it.
struct Checkout {
    folder: Folder,
    homes: AtomicUsize,
}

impl Checkout {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Folder::with(files);
        for name in ["kustomize", "helm", "kustomize-v5.8.1"] {
            symlink(RENDERER, folder.path(name)).expect("a link can be made");
        }
        Self { folder, homes: AtomicUsize::new(0) }
    }

    /// Runs a program in a folder of the checkout, in a new home and with the cache that all homes share.
    fn run_in(&self, working: &str, program: &str, arguments: &[&str], stdin: &str) -> Outcome {
        let home = format!("homes/{}", self.homes.fetch_add(1, Ordering::Relaxed));
        self.run_at(&home, working, program, arguments, stdin)
    }

    fn run_at(&self, home: &str, working: &str, program: &str, arguments: &[&str], stdin: &str) -> Outcome {
        let path = |below: &str| self.folder.path(below).display().to_string();
        let program = path(program);
        let mut command = self.folder.at_home(&program, arguments, &[]);
        command
            .current_dir(self.folder.path(working))
            .env("XDG_CACHE_HOME", path(&format!("{home}/cache")))
            .env("XDG_CONFIG_HOME", path(&format!("{home}/config")))
            .env("XDG_DATA_HOME", path(&format!("{home}/data")))
            .env("HELM_CONFIG_HOME", path(&format!("{home}/config")))
            .env("RENDERER_CACHE_DIR", path("shared-cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be run");
        let mut input = child.stdin.take().expect("it is piped");
        let _ = std::io::Write::write_all(&mut input, stdin.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("the program ends");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

#[track_caller]
fn works(outcome: Outcome) -> String {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    outcome.stdout
}

#[track_caller]
fn fails(outcome: &Outcome, message: &str) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Error: "), "{}", outcome.stderr);
}

fn archive(version: &str) -> Vec<u8> {
    let metadata = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    let template = "kind: ConfigMap\nmetadata: {name: '{{ .Chart.Version }}'}\n";
    let files =
        [File::new("Chart.yaml", metadata.as_bytes()), File::new("templates/a.yaml", template.as_bytes())];
    pack("web", &files).expect("it is written to memory")
}

/// A repository of charts below `files` of a folder of its own.
fn repository() -> (Folder, Server) {
    let folder = Folder::with(&[]);
    let bytes = archive("1.0.0");
    folder.write_bytes("files/web-1.0.0.tgz", &bytes);
    folder.write(
        "files/index.yaml",
        &format!(
            "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.0.0, digest: {}, urls: [web-1.0.0.tgz]}}\n",
            Digest::of(&bytes).hex()
        ),
    );
    let account = Habits { account: Some(("me", "-s3cret")), tls: false, old_git: false };
    let server = Server::start(&folder.path(""), account);
    (folder, server)
}

#[test]
fn versions_are_what_the_repo_server_finds() {
    let checkout = Checkout::with(&[]);
    let expression = Regex::new(VERSION).expect("it is Argo CD's");
    for (program, arguments, wanted) in [
        ("kustomize", &["version", "--short"][..], "v5.8.1"),
        ("kustomize", &["version"][..], "v5.8.1"),
        ("kustomize-v5.8.1", &["version", "--short"][..], "v5.8.1"),
        ("helm", &["version", "--short"][..], "v4.3.1"),
    ] {
        let printed = works(checkout.run_in("", program, arguments, ""));
        let found = expression.find(&printed).expect("there is a version");
        let version = &printed[found];
        assert_eq!(version.split('+').next(), Some(wanted), "{printed}");
    }
}

#[test]
fn kustomize_is_called_in_the_repo_servers_order() {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations:\n  from: component\n";
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      \
                      containers:\n      - {name: web, image: nginx:1}\n";
    let checkout = Checkout::with(&[
        ("apps/web/kustomization.yaml", "# ours\nresources: # all\n- web.yaml\n- settings.yaml\n"),
        ("apps/web/web.yaml", deployment),
        ("apps/web/settings.yaml", CONFIG_MAP),
        ("apps/parts/note/kustomization.yaml", component),
    ]);
    for command in [
        &["edit", "set", "nameprefix", "--", "-pre-"][..],
        &["edit", "set", "namesuffix", "--", "-suf"],
        &["edit", "set", "image", "nginx=registry.test/nginx:1.27", "other:2", "third@sha256:00"],
        &["edit", "set", "replicas", "web=3"],
        &["edit", "add", "label", "--force", "--without-selector", "--include-templates", "a:b", "c:d:e"],
        &["edit", "add", "label", "f:g"],
        &["edit", "add", "annotation", "--force", "note:it is so"],
        &["edit", "set", "namespace", "--", "prod"],
        &["edit", "add", "component", "../parts/note"],
    ] {
        let outcome = checkout.run_in("apps/web", "kustomize", command, "");
        assert_eq!(
            (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()),
            (Some(0), "", ""),
            "{command:?}"
        );
    }
    let edited = checkout.folder.read("apps/web/kustomization.yaml").expect("it is there");
    assert!(edited.starts_with("# ours\nresources: # all\n- web.yaml\n- settings.yaml\n"), "{edited}");
    let application = checkout.folder.path("apps/web").display().to_string();
    let manifests = works(checkout.run_in("", "kustomize", &["build", &application], ""));
    for line in [
        "  name: -pre-web-suf",
        "  replicas: 3",
        "      - image: registry.test/nginx:1.27",
        "        c: d:e",
        "    from: component",
        "    note: it is so",
        "  namespace: prod",
    ] {
        assert!(manifests.lines().any(|printed| printed == line), "{line} in\n{manifests}");
    }
}

/// `buildOptions` as people have them.
#[test]
fn build_options_seen_in_the_wild_are_taken() {
    let checkout = Checkout::with(&[
        ("apps/web/kustomization.yaml", "resources: [settings.yaml]\n"),
        ("apps/web/settings.yaml", CONFIG_MAP),
        ("outside.yaml", CONFIG_MAP),
        ("apps/loose/kustomization.yaml", "resources: [../../outside.yaml]\n"),
    ]);
    let build = |folder: &str, options: &[&str]| {
        let folder = checkout.folder.path(folder).display().to_string();
        checkout.run_in("", "kustomize", &[&["build", &folder][..], options].concat(), "")
    };
    for options in [
        &["--enable-helm"][..],
        &[
            "--enable-helm",
            "--helm-kube-version",
            "1.34.0",
            "--helm-api-versions",
            "v1",
            "--helm-api-versions",
            "a/v1/B",
        ],
        &["--load-restrictor", "LoadRestrictionsNone"],
        &["--load-restrictor=LoadRestrictionsRootOnly"],
        &["--enable-alpha-plugins", "--enable-exec"],
        &["--enable-helm", "--helm-command", "helm"],
        &["--network", "--network-name", "bridge"],
        &["--reorder", "legacy"],
        &["--reorder", "none"],
        &["--as-current-user", "--mount", "type=bind,src=/a,dst=/b", "--env", "A=B", "-e", "C=D"],
        &["--helm-debug"],
        &["--enable-managedby-label=false"],
    ] {
        assert_eq!(works(build("apps/web", options)), CONFIG_MAP, "{options:?}");
    }
    assert_eq!(works(build("apps/web", &["--output", "out.yaml"])), "");
    assert_eq!(checkout.folder.read("out.yaml").as_deref(), Some(CONFIG_MAP));
    fails(&build("apps/loose", &[]), "outside.yaml");
    assert_eq!(works(build("apps/loose", &["--load-restrictor", "LoadRestrictionsNone"])), CONFIG_MAP);
}

#[test]
fn helm_templates_with_all_that_an_application_says() {
    let checkout = Checkout::with(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("chart/values.yaml", "a: 1\n"),
        ("chart/crds/c.yaml", "kind: CustomResourceDefinition\n"),
        (
            "chart/templates/a.yaml",
            "release: {{ .Release.Name }}/{{ .Release.Namespace }}\nvalues: {{ .Values | toJson }}\nkube: {{ \
             .Capabilities.KubeVersion }}\nhas: {{ .Capabilities.APIVersions.Has \"x.test/v1/Thing\" }}\n",
        ),
        ("chart/templates/test.yaml", "metadata: {annotations: {helm.sh/hook: test}}\n"),
        ("chart/values.schema.json", "{\"properties\": {\"a\": {\"type\": \"string\"}}}\n"),
        ("prod.yaml", "b: file\n"),
        ("extra.yaml", "c: extra\n"),
        ("note.txt", "noted"),
    ]);
    let printed = works(checkout.run_in(
        "chart",
        "helm",
        &[
            "template",
            ".",
            "--name-template",
            "shop",
            "--namespace",
            "prod",
            "--kube-version",
            "1.34.0",
            "--set",
            "d=x\\,y",
            "--set",
            "e={1,2}",
            "--set-string",
            "f=1",
            "--set-file",
            "g=../note.txt",
            "--values",
            "../prod.yaml",
            "--values",
            "../extra.yaml",
            "--api-versions",
            "x.test/v1/Thing",
            "--api-versions",
            "v1",
            "--include-crds",
            "--skip-schema-validation",
            "--skip-tests",
        ],
        "",
    ));
    assert_eq!(
        printed,
        "---\n# Source: web/crds/c.yaml\nkind: CustomResourceDefinition\n\n---\n# Source: web/templates/a.yaml\nrelease: \
         shop/prod\nvalues: {\"a\":1,\"b\":\"file\",\"c\":\"extra\",\"d\":\"x,y\",\"e\":[1,2],\"f\":\"1\",\"g\":\"noted\"}\n\
         kube: v1.34.0\nhas: true\n"
    );
    fails(
        &checkout.run_in(
            "chart",
            "helm",
            &["template", ".", "--name-template", "shop", "--include-crds"],
            "",
        ),
        "values don't meet the specifications of the schema(s)",
    );
    assert_eq!(works(checkout.run_in("chart", "helm", &["show", "values", "."], "")), "a: 1\n\n");
    assert_eq!(
        works(checkout.run_in("chart", "helm", &["show", "chart", "."], "")),
        "apiVersion: v2\nname: web\nversion: 1.0.0\n\n"
    );
}

/// The repo-server looks for the text, adds the repository in the same home, builds and tries again.
#[test]
fn missing_dependencies_are_said_and_built() {
    let (_folder, server) = repository();
    let url = server.url("/files");
    let checkout = Checkout::with(&[(
        "chart/Chart.yaml",
        &format!(
            "apiVersion: v2\nname: top\nversion: 0.1.0\ndependencies:\n- {{name: web, version: 1.0.0, repository: '{url}'}}\n"
        ),
    )]);
    let template = ["template", ".", "--name-template", "top", "--include-crds"];
    fails(
        &checkout.run_in("chart", "helm", &template, ""),
        "found in Chart.yaml, but missing in charts/ directory: web",
    );
    let name = url.replace('/', "-");
    let add = ["repo", "add", "--username", "me", "--password", "-s3cret", &name, &url];
    works(checkout.run_at("homes/shared", "chart", "helm", &add, ""));
    works(checkout.run_at("homes/shared", "chart", "helm", &["dependency", "build"], ""));
    let printed = works(checkout.run_at("homes/shared", "chart", "helm", &template, ""));
    assert!(printed.contains("# Source: top/charts/web/templates/a.yaml\n"), "{printed}");
    // Each of the two flags of `dependency build` is taken.
    for flag in ["--insecure-skip-tls-verify", "--plain-http"] {
        works(checkout.run_at("homes/shared", "chart", "helm", &["dependency", "build", flag], ""));
    }
    let add = ["repo", "add", "--username", "me", "--password", "wrong", "--pass-credentials", "other", &url];
    fails(&checkout.run_in("chart", "helm", &add, ""), "401");
}

#[test]
fn charts_are_pulled_with_every_flag() {
    let (_folder, server) = repository();
    let url = server.url("/files");
    let authority = testkit::Authority::new();
    let certified = authority.certify("localhost");
    let (certificate, key) = (certified.pem(), certified.key_pem());
    let checkout =
        Checkout::with(&[("ca.pem", authority.pem()), ("cert.pem", &certificate), ("key.pem", &key)]);
    let pull = |more: &[&str]| {
        let fixed = [
            "pull",
            "--destination",
            "out",
            "--version",
            "1.0.0",
            "--username",
            "me",
            "--password",
            "-s3cret",
            "--insecure-skip-tls-verify",
            "--repo",
            &url,
            "web",
        ];
        std::fs::create_dir_all(checkout.folder.path("out")).expect("a folder can be made");
        checkout.run_in("", "helm", &[&fixed[..], more].concat(), "")
    };
    works(pull(&[]));
    assert_eq!(checkout.folder.files("out"), ["web-1.0.0.tgz"]);
    works(pull(&[
        "--ca-file",
        "ca.pem",
        "--cert-file",
        "cert.pem",
        "--key-file",
        "key.pem",
        "--pass-credentials",
    ]));
    fails(&pull(&["--version", "9.9.9"]), "chart \"web\" version \"9.9.9\" not found");
}

#[test]
fn registries_are_logged_in_to_pulled_from_and_logged_out_of() {
    let registry = DockerRegistry::start(RegistryHabits { account: true, ..RegistryHabits::default() });
    registry.push("charts/web", "1.0.0", CONFIG, &[(LAYER, &archive("1.0.0"))]);
    let host = registry.host();
    let chart = format!("oci://{host}/charts/web");
    let checkout = Checkout::with(&[]);
    let helm = |arguments: &[&str], stdin: &str| checkout.run_at("homes/one", "", "helm", arguments, stdin);
    let pull = ["pull", &chart, "--version", "1.0.0", "--destination", ".", "--plain-http"];
    fails(&helm(&pull, ""), "401");
    let (user, password) = DockerRegistry::ACCOUNT;
    let login = ["registry", "login", &host, "--plain-http", "--username", user, "--password-stdin"];
    assert_eq!(works(helm(&login, password)), "Login Succeeded\n");
    works(helm(&pull, ""));
    assert_eq!(checkout.folder.files("").iter().filter(|file| *file == "web-1.0.0.tgz").count(), 1);
    works(helm(&["registry", "logout", &host], ""));
    fails(&helm(&login, "wrong"), "401");
    // Another home knows no account, whatever the shared cache has.
    fails(&checkout.run_in("", "helm", &pull, ""), "401");
}

/// Expected values: what one home has got, another one does not get again.
#[test]
fn homes_share_a_cache() {
    let (_folder, server) = repository();
    let url = server.url("/files");
    let checkout = Checkout::with(&[]);
    let pull = || {
        let arguments = [
            "pull",
            "--destination",
            "out",
            "--username",
            "me",
            "--password",
            "-s3cret",
            "--repo",
            &url,
            "web",
        ];
        checkout.run_in("", "helm", &arguments, "")
    };
    std::fs::create_dir_all(checkout.folder.path("out")).expect("a folder can be made");
    works(pull());
    // Those since the last time.
    let archives = || server.requests().iter().filter(|request| request.contains(".tgz")).count();
    assert!(archives() > 0);
    works(pull());
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..6).map(|_| scope.spawn(|| works(pull()))).collect();
        others.into_iter().for_each(|other| drop(other.join().expect("it works")));
    });
    assert_eq!(archives(), 0);
}

#[test]
fn many_homes_that_begin_together_get_an_archive_once() {
    let (_folder, server) = repository();
    let url = server.url("/files");
    let checkout = Checkout::with(&[]);
    std::fs::create_dir_all(checkout.folder.path("out")).expect("a folder can be made");
    let arguments =
        ["pull", "--destination", "out", "--username", "me", "--password", "-s3cret", "--repo", &url, "web"];
    std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..6).map(|_| scope.spawn(|| works(checkout.run_in("", "helm", &arguments, "")))).collect();
        calls.into_iter().for_each(|call| drop(call.join().expect("it works")));
    });
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|request| request.contains(".tgz")).count(), 1, "{requests:?}");
}

#[test]
fn the_name_that_was_called_is_the_one_that_is_told() {
    let checkout = Checkout::with(&[]);
    for (program, arguments) in [
        ("kustomize", &["edit", "set", "image", "--help"][..]),
        ("kustomize-v5.8.1", &["build", "--help"]),
        ("helm", &["pull", "--help"]),
        ("helm", &[]),
        ("kustomize", &["edit"]),
    ] {
        let help = works(checkout.run_in("", program, arguments, ""));
        assert!(help.contains(&format!("Usage: {program} ")), "{help}");
        assert!(!help.contains("renderer kustomize") && !help.contains("renderer helm"), "{help}");
    }
    let script = works(checkout.run_in("", "helm", &["completion", "bash"], ""));
    assert!(script.contains("complete -F _helm"), "{script}");
    fails(
        &checkout.run_in("", "kustomize", &["nonsense"], ""),
        "Error: unknown command \"nonsense\" for \"kustomize\"\n",
    );
    fails(&checkout.run_in("", "helm", &["template", "--nonsense"], ""), "Error: unknown flag: --nonsense\n");
    fails(&checkout.run_in("", "kustomize", &["build", "nowhere"], ""), "Error: `nowhere` does not exist");
}
