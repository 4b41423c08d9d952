//! Attacks of a repository or URL on the machine that builds it.

use std::fs;

use testkit::{Folder, GitRepository, Habits, Outcome, Server};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";

const FILES: &[(&str, &str)] =
    &[("base/kustomization.yaml", "resources:\n- settings.yaml\n"), ("base/settings.yaml", CONFIG_MAP)];

fn build(folder: &Folder, entry: &str, variables: &[(&str, &str)]) -> Outcome {
    folder.run_at_home(RENDERER, &["kustomize", "build", entry], variables)
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

fn served(files: &[(&str, &str)]) -> (Folder, GitRepository, Server) {
    let folder = Folder::with(&[]);
    let app = GitRepository::with(&folder.path("git/app"), files);
    let server = Server::start(&folder.path(""), Habits::default());
    (folder, app, server)
}

/// An entry of a tree as git stores it.
fn tree_entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let mut entry = format!("{mode} {name}\0").into_bytes();
    let digits = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("it is hexadecimal");
    entry.extend((0..id.len()).step_by(2).map(digits));
    entry
}

#[test]
fn links_out_of_the_repository_lead_nowhere() {
    let (folder, app, server) = served(&[("kustomization.yaml", "resources:\n- secret.yaml\n")]);
    folder.write("secret.yaml", CONFIG_MAP);
    std::os::unix::fs::symlink(folder.path("secret.yaml"), folder.path("git/app/secret.yaml")).unwrap();
    std::os::unix::fs::symlink("../../..", folder.path("git/app/up")).unwrap();
    app.commit(&[]);
    fails(&build(&folder, &server.url("/git/app//."), &[]), 1, "is not in or below");
    fails(&build(&folder, &server.url("/git/app//up"), &[]), 1, "leads outside of the repository");
    let arguments =
        ["kustomize", "build", &server.url("/git/app//."), "--load-restrictor=LoadRestrictionsNone"];
    fails(&folder.run_at_home(RENDERER, &arguments, &[]), 1, "is not in or below");
}

#[test]
fn trees_that_git_would_not_make_are_refused() {
    let (folder, app, server) = served(FILES);
    let blob = app.blob(CONFIG_MAP);
    let target = app.blob(&folder.path("home").display().to_string());
    let tree = app.git(&["rev-parse", "HEAD:base"]);
    folder.write("home/kustomization.yaml", "untouched");
    let twice = [tree_entry("120000", "base", &target), tree_entry("40000", "base", &tree)].concat();
    for (entries, message) in [
        (twice, "twice"),
        (tree_entry("40000", "..", &tree), "forbidden file name `..`"),
        (tree_entry("40000", ".GIT", &tree), "forbidden file name `.GIT`"),
        (tree_entry("100644", "../../../../x", &blob), "forbidden file name"),
    ] {
        let commit = app.commit_raw_tree(&entries);
        for base in [server.url("/git"), format!("file://{}", folder.path("git").display())] {
            fails(&build(&folder, &format!("{base}/app//base?ref={commit}"), &[]), 1, message);
        }
    }
    assert_eq!(folder.read("home/kustomization.yaml").as_deref(), Some("untouched"));
    assert_eq!(folder.files("home"), ["kustomization.yaml"]);
    assert_eq!(folder.files("cache"), [""; 0]);
}

#[test]
fn a_repository_runs_and_configures_nothing() {
    let (folder, app, server) = served(FILES);
    let witness = folder.path("witness");
    let command = format!("touch {}", witness.display());
    for hook in ["post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"] {
        let path = format!("git/app/.git/hooks/{hook}");
        folder.write(&path, &format!("#!/bin/sh\n{command}\n"));
        let mut permissions = fs::metadata(folder.path(&path)).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(folder.path(&path), permissions).unwrap();
    }
    app.commit(&[(".gitattributes", "* filter=evil\n")]);
    assert!(witness.exists(), "git itself runs them");
    fs::remove_file(&witness).unwrap();
    for (key, value) in [
        ("filter.evil.smudge", &command),
        ("core.fsmonitor", &command),
        ("core.sshCommand", &command),
        ("uploadpack.packObjectsHook", &command),
        ("credential.helper", &format!("!{command}")),
    ] {
        app.git(&["config", key, value]);
    }
    gives(&build(&folder, &format!("file://{}//base", folder.path("git/app").display()), &[]), CONFIG_MAP);
    gives(&build(&folder, &server.url("/git/app//base"), &[]), CONFIG_MAP);
    assert!(!witness.exists());
}

#[test]
fn submodules_use_no_protocol_that_runs_something() {
    let (folder, app, server) = served(FILES);
    let witness = folder.path("witness");
    let run = format!("ext::sh -c 'touch {}'", witness.display());
    for (url, message) in [
        (run.as_str(), "the protocol `ext` is not allowed"),
        ("-u./evil", "is not allowed"),
        ("git://localhost/x", "the protocol `git` is not allowed"),
        ("../../../../x", "leads above the host"),
        ("ssh://-oProxyCommand=x/y", "would read as an option of ssh"),
        ("elsewhere", "the address names no host"),
    ] {
        folder.write("git/app/.gitmodules", &format!("[submodule \"s\"]\n\tpath = s\n\turl = {url}\n"));
        app.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},s", "1".repeat(40))]);
        app.git(&["add", ".gitmodules"]);
        app.git(&["commit", "--quiet", "--message=submodule"]);
        fails(&build(&folder, &server.url("/git/app//base"), &[]), 1, message);
    }
    assert!(!witness.exists());
}

#[test]
fn what_came_from_a_server_reads_no_repository_of_this_machine() {
    let (folder, app, server) = served(FILES);
    let private = GitRepository::with(&folder.path("private"), FILES);
    let local = format!("file://{}", folder.path("private").display());
    app.commit(&[("evil/kustomization.yaml", &format!("resources:\n- {local}//base\n"))]);
    fails(&build(&folder, &server.url("/git/app//evil"), &[]), 1, "may not use the local repository");
    for url in [local.as_str(), &folder.path("private").display().to_string()] {
        folder.write("git/app/.gitmodules", &format!("[submodule \"s\"]\n\tpath = s\n\turl = {url}\n"));
        app.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},s", private.head())]);
        app.git(&["add", ".gitmodules"]);
        app.git(&["commit", "--quiet", "--message=submodule"]);
        fails(&build(&folder, &server.url("/git/app//base"), &[]), 1, "which a server may not refer to");
    }
    // From the disk it may.
    gives(&build(&folder, &format!("file://{}//base", folder.path("git/app").display()), &[]), CONFIG_MAP);
}

#[test]
fn addresses_are_no_options_and_no_paths() {
    let folder = Folder::with(&[("git/x/kustomization.yaml", "")]);
    let program = folder.path("ssh");
    let witness = folder.path("witness");
    folder.write("ssh", &format!("#!/bin/sh\ntouch {}\n", witness.display()));
    std::process::Command::new("chmod").args(["+x"]).arg(&program).status().unwrap();
    let program = program.display().to_string();
    for (entry, message) in [
        ("ssh://-oProxyCommand=x/org/repo", "would read as an option of ssh"),
        ("git@host:-x/y//z", "would read as an option of ssh"),
        ("git@host/org/repo", "the address names no host"),
    ] {
        fails(&build(&folder, entry, &[("GIT_SSH", &program)]), 1, message);
    }
    assert!(!witness.exists());
}

/// A server that wants an account, and the certificate to trust it by.
fn private_server() -> (Folder, Server, String) {
    let folder = Folder::with(&[]);
    let _ = GitRepository::with(&folder.path("git/app"), FILES);
    let habits = Habits { account: Some(("me", "hunter2")), tls: true, ..Habits::default() };
    let server = Server::start(&folder.path(""), habits);
    folder.write("authority.pem", server.certificate());
    let authority = folder.path("authority.pem").display().to_string();
    (folder, server, authority)
}

#[test]
fn credentials_come_from_gits_helpers() {
    let (folder, server, authority) = private_server();
    let url = server.url("/git/app//base");
    let with = |helper: &str| {
        let variables = [
            ("SSL_CERT_FILE", authority.as_str()),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "credential.helper"),
            ("GIT_CONFIG_VALUE_0", helper),
        ];
        build(&folder, &url, &variables)
    };
    gives(&with("!f() { echo username=me; echo password=hunter2; }; f"), CONFIG_MAP);
    let refused = with("!f() { echo username=me; echo password=swordfish; }; f");
    fails(&refused, 1, "wants credentials");
    assert!(!refused.stderr.contains("swordfish"), "{}", refused.stderr);
    // Nothing asks a terminal.
    fails(&build(&folder, &url, &[("SSL_CERT_FILE", &authority)]), 1, "wants credentials");
    let header = "[http]\n\textraHeader = Authorization: Basic bWU6aHVudGVyMg==\n";
    folder.write("home/.gitconfig", header);
    gives(&build(&folder, &url, &[("SSL_CERT_FILE", &authority)]), CONFIG_MAP);
    fs::remove_file(folder.path("home/.gitconfig")).expect("it was there");
    let host = server.host();
    folder.write("home/.netrc", "machine localhost\nlogin me\npassword hunter2\n");
    gives(&build(&folder, &url, &[("SSL_CERT_FILE", &authority)]), CONFIG_MAP);
    fs::remove_file(folder.path("home/.netrc")).expect("it was there");
    // git's own way to name an authority.
    folder.write("home/.gitconfig", "[credential]\n\thelper = store\n");
    folder.write("home/.git-credentials", &format!("https://me:hunter2@{host}\n"));
    gives(&build(&folder, &url, &[("GIT_SSL_CAINFO", &authority)]), CONFIG_MAP);
}

#[test]
fn credentials_in_an_address_are_used_and_not_repeated() {
    let (folder, server, authority) = private_server();
    let trust = [("SSL_CERT_FILE", authority.as_str())];
    let host = server.host();
    gives(&build(&folder, &format!("https://me:hunter2@{host}/git/app//base"), &trust), CONFIG_MAP);
    let entry = format!("https://me:swordfish@{host}/git/app//base");
    folder.write("prod/kustomization.yaml", &format!("resources:\n- {entry}\n"));
    for target in [entry.as_str(), "prod"] {
        let refused = build(&folder, target, &trust);
        fails(&refused, 1, "wants credentials");
        assert!(!refused.stderr.contains("swordfish"), "{}", refused.stderr);
    }
    assert!(!folder.files("cache").iter().any(|file| file.contains("hunter2")));
}

#[test]
fn credentials_are_not_sent_without_tls() {
    let folder = Folder::with(&[]);
    let _ = GitRepository::with(&folder.path("git/app"), FILES);
    let habits = Habits { account: Some(("me", "hunter2")), ..Habits::default() };
    let server = Server::start(&folder.path(""), habits);
    folder.write("home/.gitconfig", "[credential]\n\thelper = store\n");
    folder.write("home/.git-credentials", &format!("http://me:hunter2@{}\n", server.host()));
    fails(&build(&folder, &server.url("/git/app//base"), &[]), 1, "clear text");
}
