//! Repositories over ssh: through the user's `ssh`, with its keys and its view of whom to trust.

use std::time::{Duration, Instant};

use testkit::{Folder, GitRepository, Outcome, SshServer};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";

fn build(folder: &Folder, entry: &str, ssh: &str) -> Outcome {
    folder.run_at_home(RENDERER, &["kustomize", "build", entry], &[("GIT_SSH_COMMAND", ssh)])
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

fn with_app() -> (Folder, GitRepository) {
    let folder = Folder::with(&[]);
    let app = GitRepository::with(
        &folder.path("git/app"),
        &[("base/kustomization.yaml", "resources:\n- settings.yaml\n"), ("base/settings.yaml", CONFIG_MAP)],
    );
    (folder, app)
}

/// The command line of an ssh that trusts only what a test says.
fn client(folder: &Folder, server: &SshServer, key: &str, known_hosts: &str) -> String {
    let path = |name: &str| folder.path("ssh").join(name).display().to_string();
    let configuration = [
        format!(
            "Host alias\nHostName localhost\nPort {}\nHostKeyAlias [localhost]:{}",
            server.port(),
            server.port()
        ),
        "Host *".to_owned(),
        format!("IdentityFile {}", path(key)),
        "IdentitiesOnly yes".to_owned(),
        "IdentityAgent none".to_owned(),
        format!("UserKnownHostsFile {}", path(known_hosts)),
        "GlobalKnownHostsFile /dev/null".to_owned(),
    ];
    let name = format!("ssh/config-{key}-{known_hosts}");
    folder.write(&name, &configuration.join("\n"));
    format!("ssh -F {}", folder.path(&name).display())
}

#[test]
fn ssh_fetches_with_the_users_keys_and_hosts() {
    let (folder, app) = with_app();
    let server = SshServer::start(&folder.path("ssh"));
    let path = folder.path("git/app").display().to_string();
    let ssh = client(&folder, &server, "key", "known_hosts");
    gives(&build(&folder, &server.url(&format!("{path}//base")), &ssh), CONFIG_MAP);
    gives(&build(&folder, &server.url(&format!("{path}//base?ref={}", app.head())), &ssh), CONFIG_MAP);
    gives(&build(&folder, &format!("{}@alias:{path}//base?ref=main", server.user()), &ssh), CONFIG_MAP);
    fails(
        &build(&folder, &server.url(&format!("{path}//base?ref=none")), &ssh),
        1,
        "no branch or tag `none`",
    );
    fails(&build(&folder, &server.url("/none//base"), &ssh), 1, "cannot fetch `ssh://");

    let unknown = client(&folder, &server, "key", "nobody");
    fails(
        &build(&folder, &server.url(&format!("{path}//base")), &unknown),
        1,
        "Host key verification failed",
    );
    let stranger = client(&folder, &server, "other_key", "known_hosts");
    fails(&build(&folder, &server.url(&format!("{path}//base")), &stranger), 1, "Permission denied");
}

/// A program in place of ssh.
fn program(folder: &Folder, script: &str) -> String {
    folder.write("program", &format!("#!/bin/sh\n{script}\n"));
    let path = folder.path("program").display().to_string();
    assert!(
        std::process::Command::new("chmod").args(["+x", &path]).status().expect("chmod can be run").success()
    );
    path
}

#[test]
fn ssh_is_told_to_ask_nothing() {
    let (folder, _) = with_app();
    let ssh = program(
        &folder,
        "for a; do echo \"$a\"; done > arguments; echo GIT_DIR=$GIT_DIR >> arguments; exit 1",
    );
    let arguments = ["kustomize", "build", "ssh://git@example.com:2222/org/it's.git//base"];
    let outcome = folder.run_at_home(RENDERER, &arguments, &[("GIT_SSH", &ssh), ("GIT_DIR", "/x")]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let want = "-o\nBatchMode=yes\n-o\nSendEnv=GIT_PROTOCOL\n-p\n2222\ngit@example.com\n\
        git-upload-pack '/org/it'\\''s.git'\nGIT_DIR=\n";
    assert_eq!(folder.read("arguments").as_deref(), Some(want));
}

#[test]
fn what_ssh_complains_about_is_the_reason() {
    let (folder, _) = with_app();
    let ssh = program(&folder, "echo 'all circuits are busy' >&2; exit 255");
    fails(&build(&folder, "git@example.com:org/repo.git//base", &ssh), 1, "all circuits are busy");
}

#[test]
fn an_ssh_that_hangs_is_ended() {
    let (folder, _) = with_app();
    let hanging = program(&folder, "echo $$ > pid; sleep 600; echo never");
    // Alone, and behind the shell that a command line needs.
    for ssh in [hanging.clone(), format!("true; {hanging}")] {
        let started = Instant::now();
        fails(
            &build(&folder, "git@example.com:org/repo.git//base?timeout=1", &ssh),
            1,
            "no answer within 1s",
        );
        assert!(started.elapsed() < Duration::from_secs(20));
        let pid = folder.read("pid").expect("it was started");
        // Where nobody waits for it, it is kept as a zombie.
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
        assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
    }
}

#[test]
fn an_ssh_that_leaves_something_running_delays_no_message() {
    let (folder, _) = with_app();
    let ssh = program(&folder, "setsid sleep 60 >/dev/null & echo 'no such repository' >&2; exit 1");
    let started = Instant::now();
    fails(&build(&folder, "git@example.com:org/repo.git//base", &ssh), 1, "no such repository");
    assert!(started.elapsed() < Duration::from_secs(20));
}
