//! Files from the web: what is got, what is refused, and what the cache and `--offline` make of it.

use testkit::{Folder, Habits, Outcome, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";

fn build(folder: &Folder, entry: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    folder.write("prod/kustomization.yaml", &format!("resources:\n- {entry}\n"));
    let arguments: Vec<&str> = ["kustomize", "build", "prod"].iter().chain(arguments).copied().collect();
    folder.run_at_home(RENDERER, &arguments, variables)
}

#[track_caller]
fn gives(outcome: &Outcome, stdout: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, stdout);
}

#[track_caller]
fn fails(outcome: &Outcome, code: i32, message: &str) {
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

fn with_file() -> (Folder, Server) {
    let folder = Folder::with(&[("files/settings.yaml", CONFIG_MAP)]);
    let server = Server::start(&folder.path(""), Habits::default());
    (folder, server)
}

#[test]
fn a_file_is_got_once_and_later_only_when_it_changed() {
    let (folder, server) = with_file();
    let url = server.url("/files/settings.yaml");
    gives(&build(&folder, &url, &[], &[]), CONFIG_MAP);
    assert_eq!(server.requests(), ["GET /files/settings.yaml"]);
    gives(&build(&folder, &url, &[], &[]), CONFIG_MAP);
    let changed = CONFIG_MAP.replace("settings", "changed");
    folder.write("files/settings.yaml", &changed);
    gives(&build(&folder, &url, &[], &[]), &changed);
    drop(server);
    fails(&build(&folder, &url, &[], &[]), 1, "Connection refused");
    gives(&build(&folder, &url, &["--offline"], &[]), &changed);
}

#[test]
fn a_file_need_not_be_named_like_one() {
    let (folder, server) = with_file();
    folder.write("files/org/repo/raw", CONFIG_MAP);
    gives(&build(&folder, &server.url("/files/org/repo/raw?ref=main"), &[], &[]), CONFIG_MAP);
}

#[test]
fn a_file_serves_as_patch_too() {
    let (folder, server) = with_file();
    folder.write("files/patch.yaml", &CONFIG_MAP.replace("metadata:", "data:\n  a: b\nmetadata:"));
    folder.write("prod/settings.yaml", CONFIG_MAP);
    let entry = format!("settings.yaml\npatches:\n- path: {}", server.url("/files/patch.yaml"));
    let want = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: settings\n";
    gives(&build(&folder, &entry, &[], &[]), want);
}

#[test]
fn a_file_that_cannot_be_had_is_named_with_its_place() {
    let (folder, server) = with_file();
    let missing = build(&folder, &server.url("/files/none.yaml"), &[], &[]);
    fails(&missing, 1, "the server answers `404 Not Found`");
    assert!(missing.stderr.contains("prod/kustomization.yaml:2:3"), "{}", missing.stderr);
    fails(&build(&folder, "http://localhost:1/a.yaml", &[], &[]), 1, "Connection refused");
    fails(
        &build(&folder, &server.url("/files/settings.yaml"), &["--offline"], &[]),
        1,
        "is not in the cache",
    );
    fails(&build(&folder, &server.url("/circle"), &[], &[]), 1, "too many redirects");
}

#[test]
fn tls_needs_a_certificate_that_is_trusted() {
    let folder = Folder::with(&[("files/settings.yaml", CONFIG_MAP)]);
    let server = Server::start(&folder.path(""), Habits { tls: true, ..Habits::default() });
    folder.write("authority.pem", server.certificate());
    let authority = folder.path("authority.pem").display().to_string();
    let url = server.url("/files/settings.yaml");
    gives(&build(&folder, &url, &[], &[("SSL_CERT_FILE", &authority)]), CONFIG_MAP);
    let other = Server::start(&folder.path(""), Habits { tls: true, ..Habits::default() });
    folder.write("other.pem", other.certificate());
    let other = folder.path("other.pem").display().to_string();
    fails(&build(&folder, &url, &[], &[("SSL_CERT_FILE", &other)]), 1, "certificate");
}

#[test]
fn a_redirect_does_not_lead_out_of_tls() {
    let (folder, plain) = with_file();
    let server = Server::start(&folder.path(""), Habits { tls: true, ..Habits::default() });
    folder.write("authority.pem", server.certificate());
    let authority = folder.path("authority.pem").display().to_string();
    let url = server.url(&format!("/elsewhere/{}/files/settings.yaml", plain.host()));
    fails(&build(&folder, &url, &[], &[("SSL_CERT_FILE", &authority)]), 1, "without TLS");
    assert_eq!(plain.requests(), [""; 0]);
}

#[test]
fn secrets_in_an_address_are_not_repeated() {
    let (folder, server) = with_file();
    let with_user = format!("http://me:hunter2@{}/files/none.yaml", server.host());
    for entry in [with_user, server.url("/files/none.yaml?x=1&access_token=hunter2")] {
        let outcome = build(&folder, &entry, &[], &[]);
        fails(&outcome, 1, "404");
        assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
    }
}
