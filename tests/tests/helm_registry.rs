//! Charts in a real registry: logging in, pulling, logging out.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use testkit::{DockerRegistry, Folder, Outcome, RegistryHabits};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";

const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

fn login(folder: &Folder, host: &str, password: &str, flags: &[&str]) -> Outcome {
    let fixed = [
        "helm",
        "registry",
        "login",
        host,
        "-u",
        "ci",
        "--password-stdin",
        "--registry-config",
        "a/config.json",
    ];
    folder.run(RENDERER, &[&fixed[..], flags].concat(), password)
}

fn pull(folder: &Folder, host: &str, flags: &[&str]) -> Outcome {
    let chart = format!("oci://{host}/charts/web");
    let fixed = ["helm", "pull", &chart, "--registry-config", "a/config.json", "--cache-dir", "cache"];
    folder.run(RENDERER, &[&fixed[..], flags].concat(), "")
}

fn registry(habits: RegistryHabits) -> DockerRegistry {
    let registry = DockerRegistry::start(RegistryHabits { account: true, ..habits });
    registry.push("charts/web", "1.2.3", (CONFIG, b"{}"), &[(CHART, b"an archive")]);
    registry
}

/// Expected values: what helm 4.3.1 says and leaves behind.
#[test]
fn who_has_logged_in_may_pull_until_they_log_out() {
    let registry = registry(RegistryHabits::default());
    let host = registry.host();
    let folder = Folder::with(&[]);
    assert_eq!(pull(&folder, &host, &["--plain-http"]).code, Some(1));
    let outcome = login(&folder, &host, "s3cret\r\n", &["--plain-http"]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()),
        (Some(0), "Login Succeeded\n", "")
    );
    let config = format!(
        "{{\n\t\"auths\": {{\n\t\t\"{host}\": {{\n\t\t\t\"auth\": \"Y2k6czNjcmV0\"\n\t\t}}\n\t}}\n}}"
    );
    assert_eq!(folder.read("a/config.json"), Some(config));
    let outcome = pull(&folder, &host, &["--plain-http"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.read("web-1.2.3.tgz").as_deref(), Some("an archive"));
    let logout = ["helm", "registry", "logout", &host, "--registry-config", "a/config.json"];
    for _ in 0..2 {
        let outcome = folder.run(RENDERER, &logout, "");
        let want = format!("Removing login credentials for {host}\n");
        assert_eq!((outcome.code, outcome.stdout), (Some(0), want));
    }
    assert_eq!(folder.read("a/config.json").as_deref(), Some("{\n\t\"auths\": {}\n}"));
    assert_eq!(pull(&folder, &host, &["--plain-http"]).code, Some(1));
}

#[test]
fn tls_is_checked_unless_told_otherwise() {
    let registry = registry(RegistryHabits { tls: true, ..RegistryHabits::default() });
    let host = registry.host();
    let folder = Folder::with(&[("ca.pem", registry.authority().pem()), ("junk.pem", "junk")]);
    for flags in [&["--insecure"][..], &["--ca-file", "ca.pem"]] {
        assert_eq!(login(&folder, &host, "s3cret", flags).stdout, "Login Succeeded\n", "{flags:?}");
    }
    for flags in
        [&[][..], &["--ca-file", "junk.pem"], &["--ca-file", "missing.pem"], &["--cert-file", "ca.pem"]]
    {
        let outcome = login(&folder, &host, "s3cret", flags);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{flags:?}");
        assert!(
            outcome.stderr.starts_with(&format!("error: authenticating to {host:?}: ")),
            "{}",
            outcome.stderr
        );
    }
    let outcome = pull(&folder, &host, &["--ca-file", "ca.pem"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn what_is_not_accepted_is_not_kept() {
    let registry = registry(RegistryHabits::default());
    let host = registry.host();
    let folder = Folder::with(&[]);
    let outcome = login(&folder, &host, "wr0ng", &["--plain-http"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    let want = format!(
        "error: authenticating to {host:?}: `{host}` answers `401 Unauthorized` for `{host}` (it says: authentication required)\n"
    );
    assert!(outcome.stderr.starts_with(&want), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("wr0ng"));
    assert_eq!(folder.read("a/config.json"), None);
    let outcome = login(&folder, &format!("oci://{host}"), "s3cret", &["--plain-http"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains(&format!("name the host only: `{host}`")), "{}", outcome.stderr);
    assert_eq!(login(&folder, &host, "", &["--plain-http"]).code, Some(1));
    let without = folder.run(RENDERER, &["helm", "registry", "login", &host], "");
    assert_eq!(without.code, Some(2), "{}", without.stderr);
    let open = folder.run(
        RENDERER,
        &[
            "helm",
            "registry",
            "login",
            &host,
            "-uci",
            "-ps3cret",
            "--plain-http=true",
            "--registry-config=b.json",
        ],
        "",
    );
    let notice = "warning: using --password via the CLI is insecure. Use --password-stdin\n";
    assert_eq!((open.code, open.stderr.as_str()), (Some(0), notice));
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let registry = registry(RegistryHabits::default());
    let folder = Folder::with(&[("a/config.json", "{bad")]);
    let outcome = login(&folder, &registry.host(), "s3cret", &["--plain-http"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("a/config.json"), "{}", outcome.stderr);
    assert_eq!(folder.read("a/config.json").as_deref(), Some("{bad"));
}

/// A helper keeps what it is told in a file beside it, and says it again.
#[test]
fn a_helper_keeps_accounts_in_place_of_the_file() {
    let registry = registry(RegistryHabits::default());
    let host = registry.host();
    let helper = r#"#!/bin/sh
kept="$(dirname "$0")/kept"
case "$1" in
  store) cat > "$kept" ;;
  erase) rm "$kept" ;;
  get) read -r server; if grep -q "\"$server\"" "$kept" 2> /dev/null; then cat "$kept"; else
    echo "credentials not found in native keychain"; exit 1; fi ;;
esac
"#;
    let config = format!(r#"{{"credHelpers": {{"{host}": "test"}}}}"#);
    let folder = Folder::with(&[("bin/docker-credential-test", helper), ("a/config.json", &config)]);
    let path = folder.path("bin/docker-credential-test");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path("bin").display(), env::var("PATH").unwrap());
    let helm = |arguments: &[&str]| {
        let fixed = ["helm", "--registry-config", "a/config.json"];
        let arguments = [&[fixed[0]], arguments, &fixed[1..]].concat();
        folder.run_at_home(RENDERER, &arguments, &[("PATH", &path)])
    };
    let chart = format!("oci://{host}/charts/web");
    let pull = || helm(&["pull", &chart, "--plain-http"]).code;
    assert_eq!(pull(), Some(1));
    let login = helm(&["registry", "login", &host, "-uci", "-ps3cret", "--plain-http"]);
    assert_eq!(login.code, Some(0), "{}", login.stderr);
    let kept = format!(r#"{{"Secret":"s3cret","ServerURL":"{host}","Username":"ci"}}"#);
    assert_eq!(folder.read("bin/kept"), Some(kept));
    assert_eq!(folder.read("a/config.json").as_deref(), Some(config.as_str()));
    assert_eq!(pull(), Some(0));
    assert_eq!(helm(&["registry", "logout", &host]).code, Some(0));
    assert_eq!((folder.read("bin/kept"), pull()), (None, Some(1)));
}
