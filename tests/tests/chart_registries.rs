//! Charts in registries: a real `docker-registry`, plain and with TLS, with and without an account.

use std::fs;

use helm_lite::{File, pack};
use oci_registry::Digest;
use testkit::{DockerRegistry, Folder, Habits, Outcome, RegistryHabits, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG: (&str, &[u8]) = ("application/vnd.cncf.helm.config.v1+json", b"{}");
const LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

fn helm(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let arguments: Vec<&str> = ["helm"].iter().chain(arguments).copied().collect();
    folder.run_at_home(RENDERER, &arguments, variables)
}

#[track_caller]
fn works(outcome: &Outcome) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[track_caller]
fn fails(outcome: &Outcome, message: &str) {
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains(DockerRegistry::ACCOUNT.1), "{}", outcome.stderr);
}

fn archive(version: &str) -> Vec<u8> {
    let template = "kind: ConfigMap\nmetadata: {name: '{{ .Chart.Version }}'}\n";
    let metadata = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    let files =
        [File::new("Chart.yaml", metadata.as_bytes()), File::new("templates/a.yaml", template.as_bytes())];
    pack("web", &files).expect("it is written to memory")
}

fn rendered(version: &str) -> String {
    format!("---\n# Source: web/templates/a.yaml\nkind: ConfigMap\nmetadata: {{name: '{version}'}}\n")
}

/// A registry with charts as `helm push` leaves them: a `+` in a version is a `_` in its tag.
fn with_charts(habits: RegistryHabits, versions: &[&str]) -> DockerRegistry {
    let registry = DockerRegistry::start(habits);
    for version in versions {
        let tag = version.replace('+', "_");
        registry.push("charts/web", &tag, CONFIG, &[(LAYER, &archive(version))]);
    }
    registry
}

#[test]
fn a_version_is_chosen_among_tags() {
    let registry = with_charts(RegistryHabits::default(), &["1.0.0", "1.1.0", "2.0.0-rc.1", "1.1.0+b.1"]);
    registry.push_image("charts/web", "latest", "linux/amd64", "2024-01-01T00:00:00Z");
    let folder = Folder::with(&[]);
    let chart = format!("oci://{}/charts/web", registry.host());
    let tagged = format!("{chart}:1.0.0");
    for (reference, flags, want) in [
        (&chart, &[][..], "1.1.0"),
        (&chart, &["--version", "~1.0"][..], "1.0.0"),
        (&chart, &["--version", "1.1.0+b.1"][..], "1.1.0+b.1"),
        (&chart, &["--devel"][..], "2.0.0-rc.1"),
        (&tagged, &[][..], "1.0.0"),
    ] {
        let outcome = helm(&folder, &[&["template", reference, "--plain-http"][..], flags].concat(), &[]);
        works(&outcome);
        assert_eq!(outcome.stdout, rendered(want));
    }
    let template =
        |flags: &[&str]| helm(&folder, &[&["template", &chart, "--plain-http"][..], flags].concat(), &[]);
    fails(&template(&["--version", "^9"]), "could not locate a version matching provided version string ^9");
    fails(&template(&["--version", "9.9.9"]), "no such tag or manifest");
    fails(
        &helm(&folder, &["template", &tagged, "--version", "1.1.0", "--plain-http"], &[]),
        "chart reference and version mismatch: 1.1.0 is not 1.0.0",
    );
    let none = format!("oci://{}/charts/none", registry.host());
    fails(&helm(&folder, &["template", &none, "--plain-http"], &[]), "not found: no such repository");
    let latest = format!("{chart}:latest");
    fails(&helm(&folder, &["pull", &latest, "--plain-http"], &[]), "improper constraint");
    assert_eq!(folder.files("").iter().filter(|path| path.ends_with(".tgz")).count(), 0);
}

#[test]
fn a_pull_says_what_it_got_and_a_digest_is_heeded() {
    let registry = with_charts(RegistryHabits::default(), &["1.0.0"]);
    let pushed = registry.push("charts/web", "1.1.0_b.1", CONFIG, &[(LAYER, &archive("1.1.0+b.1"))]);
    let folder = Folder::with(&[]);
    let chart = format!("oci://{}/charts/web", registry.host());
    let outcome = helm(&folder, &["pull", &chart, "--version", "1.1.0+b.1", "--plain-http"], &[]);
    let name = format!("{}/charts/web:1.1.0_b.1", registry.host());
    assert_eq!(outcome.stdout, format!("Pulled: {name}\nDigest: {}\n", pushed.digest), "{}", outcome.stderr);
    assert_eq!(fs::read(folder.path("web-1.1.0+b.1.tgz")).expect("it is there"), archive("1.1.0+b.1"));
    let by_digest = format!("{chart}@{}", pushed.digest);
    assert_eq!(helm(&folder, &["template", &by_digest, "--plain-http"], &[]).stdout, rendered("1.1.0+b.1"));
    let other = ["template", &by_digest, "--version", "1.0.0", "--plain-http"];
    fails(&helm(&folder, &other, &[]), "chart reference digest mismatch");
    drop(registry);
    let offline = ["template", &chart, "--version", "1.1.0+b.1", "--offline"];
    assert_eq!(helm(&folder, &offline, &[]).stdout, rendered("1.1.0+b.1"));
    fails(&helm(&folder, &["template", &chart, "--offline"], &[]), "is not in the cache");
}

#[test]
fn what_is_no_chart_is_refused() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    registry.push_image("app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
    registry.push("empty", "1.0.0", CONFIG, &[("application/octet-stream", b"x")]);
    registry.push("broken", "1.0.0", CONFIG, &[(LAYER, b"no archive")]);
    let folder = Folder::with(&[]);
    for (name, message) in [
        ("app", "could not load config with mediatype application/vnd.cncf.helm.config.v1+json"),
        ("empty", "does not contain a layer with mediatype application/vnd.cncf.helm.chart.content"),
        ("broken", "gzip"),
    ] {
        let chart = format!("oci://{}/{name}:1.0.0", registry.host());
        fails(&helm(&folder, &["template", &chart, "--plain-http"], &[]), message);
    }
}

#[test]
fn an_account_may_be_given_or_logged_in() {
    let registry = with_charts(RegistryHabits { account: true, ..RegistryHabits::default() }, &["1.0.0"]);
    let folder = Folder::with(&[("config.json", &registry.docker_config())]);
    let chart = format!("oci://{}/charts/web", registry.host());
    let template = ["template", &chart, "--plain-http"];
    fails(&helm(&folder, &template, &[]), &registry.host());
    let (user, password) = DockerRegistry::ACCOUNT;
    let given = [&template[..], &["--username", user, "--password", password]].concat();
    assert_eq!(helm(&folder, &given, &[]).stdout, rendered("1.0.0"));
    fails(&helm(&folder, &[&template[..], &["--username", user, "--password", "wrong"]].concat(), &[]), "");
    let config = folder.path("config.json").display().to_string();
    let logged_in = helm(&folder, &template, &[("HELM_REGISTRY_CONFIG", &config)]);
    assert_eq!(logged_in.stdout, rendered("1.0.0"), "{}", logged_in.stderr);
    let flag = [&template[..], &["--registry-config", "config.json"]].concat();
    works(&helm(&folder, &flag, &[]));
}

#[test]
fn tls_needs_an_authority_that_is_trusted_and_may_need_a_certificate() {
    let registry = with_charts(RegistryHabits { tls: true, ..RegistryHabits::default() }, &["1.0.0"]);
    let folder = Folder::with(&[("authority.pem", registry.authority().pem())]);
    let chart = format!("oci://{}/charts/web", registry.host());
    fails(&helm(&folder, &["template", &chart], &[]), "certificate");
    works(&helm(&folder, &["template", &chart, "--ca-file", "authority.pem"], &[]));
    works(&helm(&folder, &["template", &chart, "--insecure-skip-tls-verify"], &[]));
    let habits = RegistryHabits { tls: true, client_certificate: true, ..RegistryHabits::default() };
    let registry = with_charts(habits, &["1.0.0"]);
    let own = registry.authority().certify("reader");
    let folder = Folder::with(&[
        ("authority.pem", registry.authority().pem()),
        ("own.pem", &own.pem()),
        ("own.key", &own.key_pem()),
    ]);
    let chart = format!("oci://{}/charts/web", registry.host());
    let template = ["template", &chart, "--ca-file", "authority.pem"];
    fails(&helm(&folder, &template, &[]), &registry.host());
    let certified = [&template[..], &["--cert-file", "own.pem", "--key-file", "own.key"]].concat();
    assert_eq!(helm(&folder, &certified, &[]).stdout, rendered("1.0.0"));
}

#[test]
fn an_index_may_lead_to_a_registry() {
    let registry = with_charts(RegistryHabits { account: true, ..RegistryHabits::default() }, &["1.0.0"]);
    let index = |digest: &Digest| {
        format!(
            "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.0.0, digest: '{digest}', \
             urls: ['oci://{}/charts/web:1.0.0']}}\n",
            registry.host()
        )
    };
    let folder = Folder::with(&[("files/index.yaml", &index(&Digest::of(&archive("1.0.0"))))]);
    let server = Server::start(&folder.path(""), Habits::default());
    let (user, password) = DockerRegistry::ACCOUNT;
    let repo = server.url("/files");
    let template =
        ["template", "web", "--repo", &repo, "--plain-http", "--username", user, "--password", password];
    // The account is for the repository, which is elsewhere.
    fails(&helm(&folder, &template, &[]), &registry.host());
    let passed = [&template[..], &["--pass-credentials"]].concat();
    assert_eq!(helm(&folder, &passed, &[]).stdout, rendered("1.0.0"));
    folder.write("files/index.yaml", &index(&Digest::of(b"another")));
    fails(&helm(&folder, &passed, &[]), "but its repository says sha256:");
}

#[test]
fn dependencies_may_be_in_a_registry() {
    let registry = with_charts(RegistryHabits::default(), &["1.0.0", "1.1.0", "2.0.0"]);
    let metadata = format!(
        "apiVersion: v2\nname: top\nversion: 0.1.0\ndependencies:\n- name: web\n  version: ^1.0\n  repository: oci://{}/charts\n",
        registry.host()
    );
    let folder = Folder::with(&[("top/Chart.yaml", &metadata)]);
    let outcome = helm(&folder, &["dependency", "update", "top", "--plain-http"], &[]);
    works(&outcome);
    assert_eq!(folder.files("top"), ["Chart.lock", "Chart.yaml", "charts/web-1.1.0.tgz"]);
    fs::remove_dir_all(folder.path("top/charts")).expect("it is there");
    works(&helm(&folder, &["dep", "build", "top", "--plain-http"], &[]));
    assert_eq!(folder.files("top/charts"), ["web-1.1.0.tgz"]);
    folder.write("top/Chart.yaml", &metadata.replace("^1.0", "^3"));
    fails(
        &helm(&folder, &["dep", "update", "top", "--plain-http"], &[]),
        "can't get a valid version for 1 subchart(s): \"web\"",
    );
    assert_eq!(folder.files("top/charts"), ["web-1.1.0.tgz"]);
}
