//! Charts from repositories: what is got, what is refused, what the cache makes of it, and who sees which account.

use std::fs;
use std::thread;

use helm_lite::{File, pack};
use oci_registry::Digest;
use testkit::{Folder, Habits, Outcome, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const ACCOUNT: Habits = Habits { account: Some(("me", "s3cret")), tls: false, old_git: false };
const WITH_ACCOUNT: [&str; 4] = ["--username", "me", "--password", "s3cret"];

fn helm(folder: &Folder, arguments: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["helm"].iter().chain(arguments).copied().collect();
    folder.run_at_home(RENDERER, &arguments, &[])
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
    assert!(!outcome.stderr.contains("s3cret"), "{}", outcome.stderr);
}

fn archive(version: &str) -> Vec<u8> {
    let template = "kind: ConfigMap\nmetadata: {name: '{{ .Chart.Version }}'}\n";
    let metadata = format!("apiVersion: v2\nname: web\nversion: {version}\n");
    let files = [
        File::new("Chart.yaml", metadata.as_bytes()),
        File::new("templates/a.yaml", template.as_bytes()),
        File::new("values.yaml", b"{}\n"),
    ];
    pack("web", &files).expect("it is written to memory")
}

fn rendered(version: &str) -> String {
    format!("---\n# Source: web/templates/a.yaml\nkind: ConfigMap\nmetadata: {{name: '{version}'}}\n")
}

/// An entry of an index: the version, where it is, and its digest.
fn entry(version: &str, url: &str, digest: &str) -> String {
    format!("  - {{name: web, version: {version}, digest: {digest}, urls: [{url}]}}\n")
}

/// A repository at `files/charts`.
fn repository(versions: &[&str]) -> Folder {
    let mut entries = String::new();
    let folder = Folder::with(&[]);
    for version in versions {
        let bytes = archive(version);
        let name = format!("web-{version}.tgz");
        entries.push_str(&entry(version, &name, Digest::of(&bytes).hex()));
        folder.write_bytes(&format!("files/charts/{name}"), &bytes);
    }
    index(&folder, &entries);
    folder
}

fn index(folder: &Folder, entries: &str) {
    folder.write("files/charts/index.yaml", &format!("apiVersion: v1\nentries:\n  web:\n{entries}"));
}

/// Returns what is left of a pull: archives in the working directory, and in the cache.
fn archives(folder: &Folder) -> (Vec<String>, Vec<String>) {
    let here = folder.files("").into_iter().filter(|path| !path.contains('/') && path.ends_with(".tgz"));
    (here.collect(), folder.files("cache/renderer/charts/blobs"))
}

#[test]
fn a_version_is_chosen_and_rendered() {
    let folder = repository(&["1.0.0", "1.2.0", "2.0.0-rc.1", "1.2.0+b.1"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts/");
    for (flags, want) in [
        (&[][..], "1.2.0"),
        (&["--version", "~1.0"][..], "1.0.0"),
        (&["--devel"][..], "2.0.0-rc.1"),
        (&["--version", "1.2.0+b.1"][..], "1.2.0+b.1"),
    ] {
        let arguments = [&["template", "web", "--repo", &repo][..], flags].concat();
        let outcome = helm(&folder, &arguments);
        works(&outcome);
        assert_eq!(outcome.stdout, rendered(want));
    }
    let ignored = ["--debug", "-n", "x", "--content-cache", "x", "--kube-context=x", "--untar=false"];
    works(&helm(&folder, &[&["pull", "web", "--repo", &repo][..], &ignored].concat()));
    let explained = helm(&folder, &["explain-values", "web", "a", "--repo", &repo, "--set", "a=1"]);
    assert!(explained.stdout.starts_with("--set:1"), "{}{}", explained.stdout, explained.stderr);
    fails(&helm(&folder, &["template", "db", "--repo", &repo]), "chart \"db\" not found in http://localhost");
    fails(
        &helm(&folder, &["pull", "web", "--version", "9", "--repo", &repo]),
        "chart \"web\" version \"9\" not found",
    );
    fails(&helm(&folder, &["template", "web"]), "and no file or directory `web` exists");
    fails(&helm(&folder, &["template", "nope/web"]), "repo nope not found");
    fails(&helm(&folder, &["template", "./web"]), "path \"./web\" not found");
}

#[test]
fn an_archive_is_got_once_and_an_index_when_it_changed() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts");
    let template = ["template", "web", "--repo", &repo];
    works(&helm(&folder, &template));
    assert_eq!(server.requests(), ["GET /files/charts/index.yaml", "GET /files/charts/web-1.0.0.tgz"]);
    works(&helm(&folder, &template));
    assert_eq!(server.requests(), ["GET /files/charts/index.yaml"]);
    // What is in the cache is looked at before it is believed.
    let blob = format!("cache/renderer/charts/blobs/{}", Digest::of(&archive("1.0.0")).hex());
    fs::write(folder.path(&blob), "changed").expect("it can be written");
    works(&helm(&folder, &template));
    assert_eq!(server.requests(), ["GET /files/charts/index.yaml", "GET /files/charts/web-1.0.0.tgz"]);
    drop(server);
    fails(&helm(&folder, &template), "Connection refused");
    let offline = [&template[..], &["--offline"]].concat();
    assert_eq!(helm(&folder, &offline).stdout, rendered("1.0.0"));
    let other = ["template", "http://localhost:1/other.tgz", "--offline"];
    fails(&helm(&folder, &other), "is not in the cache");
}

#[test]
fn a_chart_may_be_named_by_its_address() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let url = server.url("/files/charts/web-1.0.0.tgz");
    assert_eq!(helm(&folder, &["template", &url]).stdout, rendered("1.0.0"));
    // What is behind an address may change.
    folder.write_bytes("files/charts/web-1.0.0.tgz", &archive("1.1.0"));
    assert_eq!(helm(&folder, &["template", &url]).stdout, rendered("1.1.0"));
    drop(server);
    assert_eq!(helm(&folder, &["template", &url, "--offline"]).stdout, rendered("1.1.0"));
}

#[test]
fn another_digest_than_promised_is_refused() {
    let folder = repository(&["1.0.0"]);
    let other = Digest::of(b"another archive");
    index(&folder, &entry("1.0.0", "web-1.0.0.tgz", other.hex()));
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts");
    let outcome = helm(&folder, &["pull", "web", "--repo", &repo]);
    fails(&outcome, &format!("but its repository says {other}"));
    assert_eq!(archives(&folder), (vec![], vec![]));
    index(&folder, &entry("1.0.0", "web-1.0.0.tgz", "abc"));
    fails(&helm(&folder, &["pull", "web", "--repo", &repo]), "the digest in the index is not SHA-256");
}

#[test]
fn what_cannot_be_had_leaves_nothing() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let digest = Digest::of(&archive("1.0.0"));
    let repo = server.url("/files/charts");
    for (url, message) in [
        ("/cut/charts/web-1.0.0.tgz", "the connection broke"),
        ("/files/charts/gone.tgz", "gone.tgz : 404 Not Found"),
        ("/circle", "too many redirects"),
        ("ftp://localhost/web.tgz", "could not find protocol handler for: ftp"),
        ("/files/charts/..%2F..%2Fweb.tgz", "does not end in the name of a file"),
    ] {
        index(&folder, &entry("1.0.0", url, digest.hex()));
        fails(&helm(&folder, &["pull", "web", "--repo", &repo]), message);
        assert_eq!(archives(&folder), (vec![], vec![]), "{url}");
    }
    for (text, message) in [
        ("a: [", "is not a valid chart repository or cannot be reached: error converting YAML"),
        ("<html>", "is not a valid chart repository"),
        ("", "empty index.yaml file"),
    ] {
        folder.write("files/charts/index.yaml", text);
        fails(&helm(&folder, &["pull", "web", "--repo", &repo]), message);
    }
    // A page that asks to log in is no chart.
    folder.write("files/login", "<html>");
    fails(&helm(&folder, &["pull", &server.url("/files/login")]), "it is not a gzipped archive");
    assert_eq!(archives(&folder), (vec![], vec![]));
}

#[test]
fn the_next_address_is_tried() {
    let folder = repository(&["1.0.0"]);
    let urls = "https://localhost:1/web-1.0.0.tgz, web-1.0.0.tgz";
    index(&folder, &entry("1.0.0", urls, Digest::of(&archive("1.0.0")).hex()));
    let server = Server::start(&folder.path(""), Habits::default());
    works(&helm(&folder, &["pull", "web", "--repo", &server.url("/files/charts")]));
    assert_eq!(archives(&folder).0, ["web-1.0.0.tgz"]);
}

#[test]
fn an_account_opens_its_own_repository() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), ACCOUNT);
    let repo = server.url("/files/charts");
    let pull = ["pull", "web", "--repo", &repo];
    fails(&helm(&folder, &pull), "index.yaml : 401 Unauthorized");
    works(&helm(&folder, &[&pull[..], &WITH_ACCOUNT].concat()));
    let in_address = format!("http://me:s3cret@{}/files/charts/web-1.0.0.tgz", server.host());
    works(&helm(&folder, &["pull", &in_address]));
    let wrong = format!("http://me:s3cret@{}/files/charts/none.tgz", server.host());
    fails(&helm(&folder, &["pull", &wrong]), "404");
}

#[test]
fn an_account_is_not_for_other_hosts() {
    let folder = repository(&["1.0.0"]);
    let (first, other) = (Server::start(&folder.path(""), ACCOUNT), Server::start(&folder.path(""), ACCOUNT));
    let digest = Digest::of(&archive("1.0.0"));
    index(&folder, &entry("1.0.0", &other.url("/files/charts/web-1.0.0.tgz"), digest.hex()));
    let repo = first.url("/files/charts");
    let pull = [&["pull", "web", "--repo", &repo][..], &WITH_ACCOUNT].concat();
    fails(&helm(&folder, &pull), "401 Unauthorized");
    works(&helm(&folder, &[&pull[..], &["--pass-credentials"]].concat()));
    // A redirect gets no account either, though the index names the first host.
    let folder = repository(&["1.0.0"]);
    let (first, other) = (Server::start(&folder.path(""), ACCOUNT), Server::start(&folder.path(""), ACCOUNT));
    let away = format!("/elsewhere/{}/files/charts/web-1.0.0.tgz", other.host());
    index(&folder, &entry("1.0.0", &away, digest.hex()));
    let repo = first.url("/files/charts");
    let pull = [&["pull", "web", "--pass-credentials", "--repo", &repo][..], &WITH_ACCOUNT].concat();
    fails(&helm(&folder, &pull), "401 Unauthorized");
    assert_eq!(other.requests(), ["GET /files/charts/web-1.0.0.tgz"]);
}

#[test]
fn tls_needs_an_authority_that_is_trusted() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits { tls: true, ..Habits::default() });
    folder.write("authority.pem", server.certificate());
    let repo = server.url("/files/charts");
    let pull = ["pull", "web", "--repo", &repo];
    fails(&helm(&folder, &pull), "certificate");
    works(&helm(&folder, &[&pull[..], &["--ca-file", "authority.pem"]].concat()));
    works(&helm(&folder, &[&pull[..], &["--insecure-skip-tls-verify"]].concat()));
    let other = Server::start(&folder.path(""), Habits { tls: true, ..Habits::default() });
    folder.write("other.pem", other.certificate());
    fails(&helm(&folder, &[&pull[..], &["--ca-file", "other.pem"]].concat()), "certificate");
    fails(&helm(&folder, &[&pull[..], &["--ca-file", "none.pem"]].concat()), "--ca-file `none.pem`");
    let half = [&pull[..], &["--cert-file", "authority.pem"]].concat();
    fails(&helm(&folder, &half), "needs both --cert-file and --key-file");
}

#[test]
fn a_chart_is_unpacked_whole_and_only_into_its_folder() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts");
    let untar = ["pull", "web", "--repo", &repo, "--untar", "-d", "out", "--untardir", "deep"];
    works(&helm(&folder, &untar));
    assert_eq!(
        folder.files("out"),
        ["deep/web/Chart.yaml", "deep/web/templates/a.yaml", "deep/web/values.yaml"]
    );
    fails(&helm(&folder, &untar), "a file or directory with the name out/deep/web already exists");
    // An archive that leads out of its folder.
    let files = [File::new("Chart.yaml", b"apiVersion: v2\nname: ../evil\nversion: 1.0.0\n")];
    folder.write_bytes("files/evil.tgz", &pack("evil", &files).expect("it is written to memory"));
    let evil = server.url("/files/evil.tgz");
    fails(&helm(&folder, &["pull", &evil, "--untar", "-d", "evil"]), "chart.metadata.name");
    assert_eq!(folder.files("evil"), [""; 0]);
    fails(
        &helm(&folder, &["pull", "web", "--repo", &repo, "-d", "none"]),
        "the directory `none` does not exist",
    );
}

#[test]
fn a_kustomization_inflates_a_chart_from_a_repository() {
    let folder = repository(&["1.0.0", "1.1.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts");
    let write = |version: &str| {
        let chart =
            format!("helmCharts:\n- {{name: web, repo: '{repo}', version: '{version}', releaseName: r}}\n");
        folder.write("app/kustomization.yaml", &chart);
    };
    let build = |flags: &[&str]| {
        let arguments = [&["kustomize", "build", "app", "--enable-helm"][..], flags].concat();
        folder.run_at_home(RENDERER, &arguments, &[])
    };
    let want = |version: &str| format!("kind: ConfigMap\nmetadata:\n  name: {version}\n");
    for version in ["1.0.0", "1.1.0"] {
        write(version);
        let outcome = build(&[]);
        works(&outcome);
        assert_eq!(outcome.stdout, want(version));
    }
    assert_eq!(folder.files("app"), ["kustomization.yaml"]);
    write("9.0.0");
    fails(&build(&[]), "chart \"web\" version \"9.0.0\" not found in http://localhost");
    drop(server);
    write("1.0.0");
    assert_eq!(build(&["--offline"]).stdout, want("1.0.0"));
    fails(&build(&[]), "Connection refused");
}

#[test]
fn many_processes_fetch_an_archive_once() {
    let folder = repository(&["1.0.0"]);
    let server = Server::start(&folder.path(""), Habits::default());
    let repo = server.url("/files/charts");
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| helm(&folder, &["template", "web", "--repo", &repo]))).collect();
        for worker in workers {
            let outcome = worker.join().expect("it does not panic");
            works(&outcome);
            assert_eq!(outcome.stdout, rendered("1.0.0"));
        }
    });
    let fetched = server.requests().into_iter().filter(|request| request.ends_with(".tgz"));
    assert_eq!(fetched.count(), 1);
    assert_eq!(archives(&folder).1.len(), 1);
    assert_eq!(folder.files("cache/renderer/staging"), [""; 0]);
}

#[test]
fn signatures_are_not_pretended_to_be_verified() {
    let folder = Folder::with(&[]);
    for flag in ["--verify", "--prov"] {
        let outcome = helm(&folder, &["pull", "web", "--repo", "http://localhost:1", flag]);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("chart signatures are not verified"), "{}", outcome.stderr);
    }
}

mod known_repositories {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn they_are_kept_as_helm_keeps_them() {
        let folder = repository(&["1.0.0"]);
        let server = Server::start(&folder.path(""), ACCOUNT);
        let repo = server.url("/files/charts");
        let add = [&["repo", "add", "one", &repo][..], &WITH_ACCOUNT].concat();
        let outcome = helm(&folder, &add);
        assert_eq!(outcome.stdout, "\"one\" has been added to your repositories\n", "{}", outcome.stderr);
        let again = helm(&folder, &add);
        assert_eq!(again.stdout, "\"one\" already exists with the same configuration, skipping\n");
        let file = folder.path("home/.config/helm/repositories.yaml");
        let permissions = fs::metadata(&file).expect("it is there").permissions();
        assert_eq!(permissions.mode() & 0o777, 0o600);
        assert_eq!(folder.read("cache/helm/repository/one-charts.txt").as_deref(), Some("web\n"));
        assert_eq!(
            folder.read("cache/helm/repository/one-index.yaml"),
            folder.read("files/charts/index.yaml")
        );
        let list = helm(&folder, &["repo", "list", "-o", "json"]);
        assert_eq!(list.stdout, format!("[{{\"name\":\"one\",\"url\":\"{repo}\"}}]\n"));
        assert_eq!(helm(&folder, &["template", "one/web"]).stdout, rendered("1.0.0"));
        // The account is found by the archive's address, too.
        works(&helm(&folder, &["pull", &format!("{repo}/web-1.0.0.tgz")]));
        let update = helm(&folder, &["repo", "update"]);
        let want = "Hang tight while we grab the latest from your chart repositories...\n\
                    ...Successfully got an update from the \"one\" chart repository\n\
                    Update Complete. ⎈Happy Helming!⎈\n";
        assert_eq!(update.stdout, want);
        let outcome = helm(&folder, &["repo", "remove", "one"]);
        assert_eq!(outcome.stdout, "\"one\" has been removed from your repositories\n");
        assert_eq!(folder.files("cache/helm/repository"), [""; 0]);
    }

    #[test]
    fn faults_are_told_in_helms_words() {
        let folder = repository(&["1.0.0"]);
        let server = Server::start(&folder.path(""), Habits::default());
        let repo = server.url("/files/charts");
        fails(&helm(&folder, &["repo", "update"]), "no repositories found. You must add one before updating");
        fails(&helm(&folder, &["repo", "remove", "one"]), "no repositories configured");
        works(&helm(&folder, &["repo", "list"]));
        fails(&helm(&folder, &["repo", "add", "a/b", &repo]), "repository name (a/b) contains '/'");
        let gone = server.url("/files/none");
        fails(&helm(&folder, &["repo", "add", "one", &gone]), "is not a valid chart repository");
        works(&helm(&folder, &["repo", "add", "one", &repo]));
        fails(&helm(&folder, &["repo", "add", "one", &gone]), "repository name (one) already exists");
        fails(&helm(&folder, &["repo", "update", "two"]), "no repositories found matching 'two'");
        fails(&helm(&folder, &["repo", "remove", "two"]), "no repo named \"two\" found");
        fails(
            &helm(&folder, &["pull", "one/web", "--version", "9"]),
            "chart \"web\" matching 9 not found in one index. (try 'helm repo update'): no chart version found",
        );
        fs::remove_file(folder.path("files/charts/index.yaml")).expect("it is there");
        fails(&helm(&folder, &["repo", "update"]), "failed to update the following repositories: [http://");
    }

    #[test]
    fn many_processes_add_repositories_at_once() {
        let folder = repository(&["1.0.0"]);
        let server = Server::start(&folder.path(""), Habits::default());
        let repo = server.url("/files/charts");
        let names: Vec<String> = (0..6).map(|number| format!("r{number}")).collect();
        thread::scope(|scope| {
            for name in &names {
                scope.spawn(|| works(&helm(&folder, &["repo", "add", name, &repo])));
            }
        });
        let list = helm(&folder, &["repo", "list", "--no-headers"]).stdout;
        assert!(names.iter().all(|name| list.contains(name)), "{list}");
    }
}
