//! `image-updater test` and `explain` with registries: what is asked, with whose credentials, and what is said where
//! something cannot be had.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::{DockerRegistry, Folder, Outcome, RegistryHabits, Reply, Request, StandIn};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

/// `ci:s3cret`, as Basic authentication and Docker's configuration have it.
const ENCODED: &str = "Y2k6czNjcmV0";

fn run(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let outcome = folder.run_at_home(IMAGE_UPDATER, arguments, variables);
    for secret in ["s3cret", ENCODED, "wr0ng", "t0ken"] {
        assert!(!outcome.stdout.contains(secret) && !outcome.stderr.contains(secret), "{outcome:?}");
    }
    outcome
}

/// A folder whose `iu.yaml` says of a registry that it speaks no TLS, and more.
fn folder_for(host: &str, more: &str) -> Folder {
    Folder::with(&[("iu.yaml", &config(host, more))])
}

fn config(host: &str, more: &str) -> String {
    format!(
        "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates: []\n\
         registries:\n- prefix: {host}\n  plainHttp: true\n  rateLimit: 100000\n{more}"
    )
}

fn registries_conf(host: &str, more: &str) -> String {
    format!("registries:\n- name: test\n  prefix: {host}\n  api_url: http://{host}\n{more}")
}

/// Asks with `iu.yaml`, and gives the decision.
#[track_caller]
fn decide(folder: &Folder, image: &str, arguments: &[&str]) -> Value {
    decision(&run(folder, &[&["test", image, "--config", "iu.yaml", "-o", "json"], arguments].concat(), &[]))
}

#[track_caller]
fn decision(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "");
    serde_json::from_str(&outcome.stdout).expect("it is JSON")
}

#[track_caller]
fn fails(outcome: &Outcome, message: &str) {
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
}

fn write_program(folder: &Folder, path: &str, script: &str) -> String {
    folder.write(path, &format!("#!/bin/sh\n{script}\n"));
    let path = folder.path(path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

mod credentials {
    use super::*;

    const LOGIN: (&str, &str) = ("LOGIN", "ci:s3cret");

    fn guarded() -> DockerRegistry {
        let registry = DockerRegistry::start(RegistryHabits { account: true, ..RegistryHabits::default() });
        for tag in ["1.0.0", "1.1.0"] {
            registry.push_image("team/app", tag, "linux/amd64", "2024-01-01T00:00:00Z");
        }
        registry
    }

    /// Returns what is asked of a registry with an account, with a file that says how.
    fn ask(folder: &Folder, registry: &DockerRegistry, arguments: &[&str]) -> Outcome {
        let image = format!("{}/team/app:1.0.0", registry.host());
        run(folder, &[&["test", &image, "-o", "json"], arguments].concat(), &[LOGIN])
    }

    #[test]
    fn are_taken_from_wherever_a_configuration_says() {
        let registry = guarded();
        let folder = Folder::with(&[("login", "ci:s3cret\n"), ("docker.json", &registry.docker_config())]);
        let program = write_program(&folder, "login.sh", r#"test "$1" = "a b" && echo ci:s3cret"#);
        for source in [
            "{env: LOGIN}".to_owned(),
            "{file: login}".to_owned(),
            "{dockerConfig: docker.json}".to_owned(),
            format!("{{command: ['{program}', a b]}}"),
        ] {
            folder.write("iu.yaml", &config(&registry.host(), &format!("  credentials: {source}\n")));
            let outcome = ask(&folder, &registry, &["--config", "iu.yaml"]);
            assert_eq!(decision(&outcome)["chosen"], "1.1.0", "{source}");
        }
    }

    #[test]
    fn are_else_those_that_the_machine_has_for_docker() {
        let registry = guarded();
        let folder = folder_for(&registry.host(), "");
        folder.write("home/.docker/config.json", &registry.docker_config());
        assert_eq!(decision(&ask(&folder, &registry, &["--config", "iu.yaml"]))["chosen"], "1.1.0");

        let helper = format!(r#"{{"credHelpers": {{"{}": "test"}}}}"#, registry.host());
        folder.write("home/.docker/config.json", &helper);
        let answer = r#"cat >/dev/null; echo '{"Username": "ci", "Secret": "s3cret"}'"#;
        write_program(&folder, "bin/docker-credential-test", answer);
        let path = format!("{}:/usr/bin:/bin", folder.path("bin").display());
        let image = format!("{}/team/app", registry.host());
        let arguments = ["test", &image, "--config", "iu.yaml", "-o", "json"];
        assert_eq!(decision(&run(&folder, &arguments, &[("PATH", &path)]))["chosen"], "1.1.0");
    }

    #[test]
    fn are_named_as_argo_cd_image_updater_names_them() {
        let registry = guarded();
        let host = registry.host();
        let folder = folder_for(&host, "");
        let program = write_program(&folder, "login:v2.sh", "echo ci:s3cret");
        let sources = ["env:LOGIN".to_owned(), format!("ext:{program}"), format!("{host}=env:LOGIN")];
        for source in &sources {
            let flag = ["--config", "iu.yaml", "--credentials", source];
            assert_eq!(decision(&ask(&folder, &registry, &flag))["chosen"], "1.1.0", "{source}");
            folder.write("registries.conf", &registries_conf(&host, &format!("  credentials: {source}\n")));
            let flag = ["--registries-conf-path", "registries.conf"];
            assert_eq!(decision(&ask(&folder, &registry, &flag))["chosen"], "1.1.0", "{source}");
        }
        // The flag counts before the file, whose credentials may be where they cannot be had.
        folder.write("registries.conf", &registries_conf(&host, "  credentials: secret:argocd/hub#login\n"));
        let conf = ["--registries-conf-path", "registries.conf"];
        let refused = ask(&folder, &registry, &conf);
        fails(&refused, "in a Secret of a cluster");
        assert!(refused.stderr.contains("--> registries.conf:5:16"), "{}", refused.stderr);
        let both = [&conf[..], &["--credentials", "env:LOGIN"]].concat();
        assert_eq!(decision(&ask(&folder, &registry, &both))["chosen"], "1.1.0");
    }

    #[test]
    fn that_are_refused_or_missing_are_said_so() {
        let registry = guarded();
        let host = registry.host();
        let folder = folder_for(&host, "");
        let image = format!("{host}/team/app");
        let ask = |credentials: &[&str], variables: &[(&str, &str)]| {
            let arguments = ["test", &image, "--config", "iu.yaml"];
            run(&folder, &[&arguments, credentials].concat(), variables)
        };
        fails(&ask(&[], &[]), &host);
        fails(&ask(&["--credentials", "env:LOGIN"], &[("LOGIN", "ci:wr0ng")]), &host);
        fails(&ask(&["--credentials", "env:LOGIN"], &[("LOGIN", "wr0ng")]), "`$LOGIN`: it holds no");
        fails(&ask(&["--credentials", "env:LOGIN"], &[]), "`$LOGIN`: it is not set");
        fails(&ask(&["--credentials", "ext:/nonexistent"], &[]), "`/nonexistent`");
        let program = write_program(&folder, "fails.sh", "echo ci:s3cret; echo s3cret >&2; exit 1");
        fails(&ask(&["--credentials", &format!("ext:{program}")], &[]), "reports a failure");
    }

    #[test]
    fn are_not_sent_to_another_registry_nor_shown_where_they_are_typed() {
        let server = StandIn::start(|_| Reply::new(500));
        let folder = folder_for(&server.host(), "");
        let image = format!("{}/team/app", server.host());
        for (credentials, message) in [
            ("registry.example.com=env:LOGIN", "the credentials are for `registry.example.com`"),
            ("pullsecret:argocd/hub", "in a Secret of a cluster"),
            ("ci:s3cret", "invalid credentials source"),
        ] {
            let arguments = ["test", &image, "--config", "iu.yaml", "--credentials", credentials];
            fails(&run(&folder, &arguments, &[LOGIN]), message);
        }
        assert!(server.requests().is_empty());
    }
}

mod authorities {
    use super::*;

    fn certified() -> DockerRegistry {
        let registry = DockerRegistry::start(RegistryHabits { tls: true, ..RegistryHabits::default() });
        registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
        registry
    }

    #[test]
    fn are_trusted_where_a_configuration_names_them() {
        let registry = certified();
        let host = registry.host();
        let image = format!("{host}/team/app");
        let pem = registry.authority().pem();
        let folder = Folder::with(&[("deploy/ca.pem", pem)]);
        let start = "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates: []\nregistries:\n";
        let inline = pem.replace('\n', "\n    ");
        for trust in
            ["caFile: ca.pem".to_owned(), "insecure: true".to_owned(), format!("caData: |\n    {inline}")]
        {
            // The file is beside the configuration.
            folder.write("deploy/iu.yaml", &format!("{start}- prefix: {host}\n  {trust}\n"));
            let arguments = ["test", &image, "--config", "deploy/iu.yaml", "-o", "json"];
            assert_eq!(decision(&run(&folder, &arguments, &[]))["chosen"], "1.0.0", "{trust}");
        }
        let entry = format!("registries:\n- name: test\n  prefix: {host}\n  api_url: https://{host}\n");
        for trust in [
            "ca_file: deploy/ca.pem".to_owned(),
            "insecure: yes".to_owned(),
            format!("ca_data: |\n    {inline}"),
        ] {
            folder.write("registries.conf", &format!("{entry}  {trust}\n"));
            let arguments = ["test", &image, "--registries-conf-path", "registries.conf", "-o", "json"];
            assert_eq!(decision(&run(&folder, &arguments, &[]))["chosen"], "1.0.0", "{trust}");
        }
    }

    #[test]
    fn are_needed_and_have_to_be_some() {
        let registry = certified();
        let host = registry.host();
        let folder = Folder::with(&[("ca.pem", "none")]);
        let ask = |trust: &str| {
            folder.write("iu.yaml", &config(&host, &format!("  api: https://{host}\n{trust}")));
            run(&folder, &["test", &format!("{host}/team/app"), "--config", "iu.yaml"], &[])
        };
        fails(&ask(""), "trust its authority");
        fails(&ask("  caFile: ca.pem\n"), "the certificate authority for `localhost` holds no certificate");
        fails(&ask("  caFile: missing.pem\n"), "cannot read `missing.pem`");
    }
}

mod lists {
    use super::*;

    /// A registry that gives its tags in pages, with tags of entity, to who has a token.
    fn paged(pages: Vec<Vec<String>>) -> StandIn {
        let patience = AtomicUsize::new(0);
        StandIn::start(move |request| {
            let host = request.header("host").expect("clients name it");
            if request.path == "/token" {
                assert_eq!(request.header("authorization"), Some(format!("Basic {ENCODED}").as_str()));
                return Reply::new(200).body(r#"{"token": "t0ken", "expires_in": 300}"#);
            }
            if request.header("authorization") != Some("Bearer t0ken") {
                let scope = "repository:team/app:pull";
                return Reply::new(401).header(format!(
                    r#"WWW-Authenticate: Bearer realm="http://{host}/token",service="test",scope="{scope}""#
                ));
            }
            if patience.fetch_add(1, Ordering::SeqCst) == 0 {
                return Reply::new(429).header("Retry-After: 1");
            }
            page(request, &pages)
        })
    }

    fn page(request: &Request, pages: &[Vec<String>]) -> Reply {
        if request.path != "/v2/team/app/tags/list" {
            return Reply::new(500);
        }
        let number =
            request.query.strip_prefix("page=").map_or(0, |number| number.parse().expect("a number"));
        let mark = format!(r#""{number}""#);
        if request.header("if-none-match") == Some(&mark) {
            return Reply::new(304);
        }
        let body = serde_json::json!({"name": "team/app", "tags": pages[number]}).to_string();
        let reply = Reply::new(200).header(format!("ETag: {mark}")).body(body);
        let next = number + 1;
        if next == pages.len() { reply } else { reply.header(format!("Link: <?page={next}>; rel=next")) }
    }

    fn versions(count: usize) -> Vec<String> {
        (0..count).map(|patch| format!("1.0.{patch}")).collect()
    }

    fn login(folder: &Folder) -> String {
        let path = folder.path("login").display().to_string();
        folder.write("login", "ci:s3cret");
        format!("  credentials: {{file: '{path}'}}\n")
    }

    #[test]
    fn of_seven_hundred_tags_cost_list_requests_only() {
        let tags = versions(700);
        let server = paged(tags.chunks(100).map(<[_]>::to_vec).collect());
        let folder = Folder::with(&[]);
        folder.write("iu.yaml", &config(&server.host(), &login(&folder)));
        let image = format!("{}/team/app:1.0.3", server.host());
        let versions = ["--semver-constraint", "^1.0"];
        assert_eq!(decide(&folder, &image, &versions)["chosen"], "1.0.699");
        let pages = (1..7).map(|page| format!("GET /v2/team/app/tags/list?page={page}"));
        let mut expected = vec![
            "GET /v2/team/app/tags/list".to_owned(),
            "GET /token?service=test&scope=repository%3Ateam%2Fapp%3Apull".to_owned(),
            // A pause is wanted.
            "GET /v2/team/app/tags/list".to_owned(),
            "GET /v2/team/app/tags/list".to_owned(),
        ];
        expected.extend(pages);
        assert_eq!(server.requests(), expected);
    }

    #[test]
    fn are_asked_whether_they_changed_and_no_more() {
        let unconditional = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&unconditional);
        let server = StandIn::start(move |request| {
            if request.header("if-none-match").is_none() {
                count.fetch_add(1, Ordering::SeqCst);
            }
            page(request, &[versions(700)])
        });
        let folder = folder_for(&server.host(), "");
        let image = format!("{}/team/app:1.0.3", server.host());
        for _ in 0..2 {
            assert_eq!(decide(&folder, &image, &[])["chosen"], "1.0.699");
            assert_eq!(server.requests(), ["GET /v2/team/app/tags/list"]);
        }
        assert_eq!(unconditional.load(Ordering::SeqCst), 1);
        assert!(!folder.files("cache/image-updater/registries/tags").is_empty());

        let folder = folder_for(&server.host(), "");
        assert_eq!(decide(&folder, &image, &["--no-cache"])["chosen"], "1.0.699");
        assert!(folder.files("cache").is_empty());
    }

    #[test]
    fn with_a_page_that_cannot_be_read_are_no_lists() {
        let server = StandIn::start(|request| match request.query.as_str() {
            "" => Reply::new(200).header("Link: <?page=1>; rel=next").body(r#"{"tags": ["1.0.0", "1.1.0"]}"#),
            _ => Reply::new(403),
        });
        let folder = folder_for(&server.host(), "");
        let image = format!("{}/team/app", server.host());
        fails(&run(&folder, &["test", &image, "--config", "iu.yaml"], &[]), &image);
    }

    #[test]
    fn of_the_default_registry_are_those_of_images_that_name_none() {
        let server = StandIn::start(|request| page(request, &[versions(2)]));
        let host = server.host();
        let folder = Folder::with(&[("registries.conf", &registries_conf(&host, "  default: yes\n"))]);
        let flags = ["--registries-conf-path", "registries.conf", "--rate-limit", "50"];
        let accepted = ["--disable-kubernetes", "--loglevel", "debug"];
        let arguments = [&["test", "team/app", "-o", "json"], &flags[..], &accepted].concat();
        assert_eq!(decision(&run(&folder, &arguments, &[]))["chosen"], "1.0.1");
        assert_eq!(server.requests(), ["GET /v2/team/app/tags/list"]);
        let arguments = [&["explain", "team/app", "1.0.0"], &flags[..]].concat();
        let outcome = run(&folder, &arguments, &[]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.contains("lower than `1.0.1`"), "{}", outcome.stdout);
    }

    #[test]
    fn need_flags_and_files_that_are_right() {
        let folder = Folder::with(&[
            ("registries.conf", "registries:\n- name: a\n  prefix: a.test\n  url: https://a.test\n"),
            ("iu.yaml", "kind: Config\n"),
        ]);
        let ask = |flags: &[&str]| run(&folder, &[&["test", "a.test/a"], flags].concat(), &[]);
        let refused = ask(&["--registries-conf-path", "registries.conf"]);
        fails(&refused, "unknown field `url`");
        assert!(refused.stderr.contains("--> registries.conf:4:3"), "{}", refused.stderr);
        fails(&ask(&["--registries-conf-path", "missing.conf"]), "cannot read `missing.conf`");
        fails(&ask(&["--config", "iu.yaml"]), "--> iu.yaml:1:1");
        fails(
            &ask(&["--config", "iu.yaml", "--registries-conf-path", "registries.conf"]),
            "cannot be used with",
        );
        fails(&ask(&["--rate-limit", "0"]), "above 0");
        fails(&ask(&["--rate-limit", "-1"]), "above 0");
        fails(&ask(&["--loglevel", "loud"]), "loud");
    }
}

mod metadata {
    use super::*;

    #[test]
    fn decides_what_the_list_does_not_say() {
        let registry = DockerRegistry::start(RegistryHabits::default());
        let push = |tag: &str, platform: &str, created: &str| {
            registry.push_image("team/app", tag, platform, created)
        };
        let old = push("2.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
        let young = push("1.0.0", "linux/arm64", "2024-03-01T00:00:00Z");
        push("1.5.0", "linux/amd64", "2024-02-01T00:00:00Z");
        let index =
            registry.push_index("team/app", "main", &[("linux/amd64", &old), ("linux/arm64", &young)]);
        let folder = folder_for(&registry.host(), "");
        let image = format!("{}/team/app", registry.host());
        let newest = ["--update-strategy", "newest-build", "--ignore-tags", "main"];
        let decided = decide(&folder, &image, &newest);
        assert_eq!(
            (decided["chosen"].as_str(), decided["digest"].as_str()),
            (Some("1.0.0"), Some(&*young.digest))
        );
        let amd64 = [&newest[..], &["--platforms", "linux/amd64"]].concat();
        assert_eq!(decide(&folder, &image, &amd64)["chosen"], "1.5.0");
        let age = ["--min-age", "20d", "--now", "2024-02-10T00:00:00Z"];
        assert_eq!(decide(&folder, &image, &age)["chosen"], "2.0.0");

        let watched = format!("{image}:main");
        let decided = decide(&folder, &watched, &["--update-strategy", "digest"]);
        assert_eq!(
            (decided["chosen"].as_str(), decided["digest"].as_str()),
            (Some("main"), Some(&*index.digest))
        );
    }

    /// Of four tags that are listed one is not there, and one has no time.
    #[test]
    fn that_is_missing_is_no_decision_but_an_error_with_its_name() {
        let config = r#"{"created": "2024-01-01T00:00:00Z", "os": "linux", "architecture": "amd64"}"#;
        let timeless = r#"{"os": "linux", "architecture": "amd64"}"#;
        let manifest = |config: &str| {
            let digest = oci_registry::Digest::of(config.as_bytes());
            format!(r#"{{"config": {{"digest": "{digest}", "size": {}}}, "layers": []}}"#, config.len())
        };
        let server = StandIn::start(move |request| {
            let asked = request.path.rsplit('/').next().expect("a path has a slash");
            let is = |content: &str| oci_registry::Digest::of(content.as_bytes()).as_str() == asked;
            match asked {
                "list" => Reply::new(200).body(r#"{"tags": ["1.0", "1.1", "1.2", "1.3"]}"#),
                "1.0" | "1.1" => {
                    let body = manifest(config);
                    let digest = oci_registry::Digest::of(body.as_bytes());
                    Reply::new(200).header(format!("Docker-Content-Digest: {digest}")).body(body)
                }
                "1.2" => Reply::new(200).body(manifest(timeless)),
                _ if is(config) => Reply::new(200).body(config),
                _ if is(timeless) => Reply::new(200).body(timeless),
                _ => Reply::new(404)
                    .body(r#"{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}"#),
            }
        });
        let folder = folder_for(&server.host(), "");
        let image = format!("{}/team/app", server.host());
        let newest = |ignored: &[&str]| {
            let arguments = ["test", &image, "--config", "iu.yaml", "--update-strategy", "newest-build"];
            run(&folder, &[&arguments, ignored].concat(), &[])
        };
        fails(&newest(&["--ignore-tags", "1.2"]), &format!("`{image}:1.3` not found"));
        fails(&newest(&["--ignore-tags", "1.3"]), "1.2");
        assert_eq!(newest(&["--ignore-tags", "1.[23]"]).code, Some(0));
        // Nobody needs to know how old they are.
        server.requests();
        let running = format!("{image}:1.0");
        assert_eq!(decide(&folder, &running, &[])["chosen"], "1.3");
        assert_eq!(server.requests(), ["GET /v2/team/app/tags/list"]);
        // Registries count no download where only the digest is asked for.
        let decided = decide(&folder, &running, &["--update-strategy", "digest", "--no-cache"]);
        assert_eq!(decided["chosen"], "1.0");
        assert_eq!(server.requests(), ["HEAD /v2/team/app/manifests/1.0"]);
    }
}
