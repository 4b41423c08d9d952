//! Pushes over a real sshd whose host key is checked.

use std::fs;

use diagnostic::ErrorKind;
use gitremote::{KnownHosts, Mirror, Remote, Secret, Target};
use testkit::{BareRepository, Folder, SshServer};

use super::sign::run;
use super::{bump, fails, on_disk, publish, pushed};

fn on_sshd() -> (Folder, BareRepository, Remote, SshServer) {
    let (folder, config, mut remote) = on_disk();
    let server = SshServer::start(&folder.path("ssh"));
    remote.url = server.url(&folder.path("git/config.git").display().to_string());
    remote.access.ssh.key = Some(Secret::File(folder.path("ssh/key")));
    remote.access.ssh.hosts = KnownHosts::File(folder.path("ssh/known_hosts"));
    (folder, config, remote, server)
}

#[test]
fn a_commit_is_pushed_over_ssh() {
    let (folder, config, mut remote, _server) = on_sshd();
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    let target = Target::default();
    let mut calls = 0;
    let (published, _) = publish(&mirror, &remote, &target, |tree| {
        calls += 1;
        if calls == 1 {
            config.rival("main", &[("README.md", "rival\n")]);
        }
        bump(tree, "1.1.0")
    });
    assert_eq!(pushed(published).2, 2);
    assert_eq!(config.read("main", "README.md").as_deref(), Some("rival"));
    // A key that is no file.
    remote.access.ssh.key = Some(Secret::Value(fs::read_to_string(folder.path("ssh/key")).unwrap()));
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.2.0")).0);
    // Nor are the hosts.
    remote.access.ssh.hosts = KnownHosts::Given(fs::read_to_string(folder.path("ssh/known_hosts")).unwrap());
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.2.1")).0);
    config.hook("pre-receive", "echo 'no commits on Fridays' >&2; exit 1");
    let (published, _) = publish(&mirror, &remote, &target, |tree| bump(tree, "1.3.0"));
    fails(published, ErrorKind::Rejected, "pre-receive hook declined: no commits on Fridays");
    assert_eq!(config.subjects("main").len(), 5);
    config.check();
}

#[test]
fn a_host_key_that_is_not_known_is_refused() {
    let (folder, config, mut remote, _server) = on_sshd();
    let mirror = Mirror::temporary().unwrap();
    folder.write("nobody", "");
    let stranger = fs::read_to_string(folder.path("ssh/other_key.pub")).unwrap();
    let known = fs::read_to_string(folder.path("ssh/known_hosts")).unwrap();
    let host = known.split(' ').next().unwrap();
    folder.write("other", &format!("{host} {stranger}"));
    for hosts in ["nobody", "other"] {
        remote.access.ssh.hosts = KnownHosts::File(folder.path(hosts));
        let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
        let error = published.expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert!(error.to_string().contains("Host key verification failed"), "{error}");
        assert!(error.get_hint().is_some_and(|help| help.contains("known_hosts")), "{error:?}");
    }
    remote.access.ssh.hosts = KnownHosts::Given(format!("{host} {stranger}"));
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Denied, "Host key verification failed");
    remote.access.ssh.hosts = KnownHosts::File(folder.path("none"));
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Invalid, "the file of known hosts");
    assert_eq!(config.subjects("main"), ["change"]);
}

#[test]
fn a_key_that_the_server_does_not_know_is_refused() {
    let (folder, _config, mut remote, _server) = on_sshd();
    remote.access.ssh.key = Some(Secret::File(folder.path("ssh/other_key")));
    let mirror = Mirror::temporary().unwrap();
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Denied, "Permission denied");
}

#[test]
fn whoever_says_so_checks_no_host_key() {
    let (_folder, config, mut remote, _server) = on_sshd();
    remote.access.ssh.hosts = KnownHosts::Unchecked;
    let mirror = Mirror::temporary().unwrap();
    pushed(publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0")).0);
    assert_eq!(config.subjects("main").len(), 2);
}

#[test]
fn a_key_that_is_locked_is_opened_with_its_passphrase() {
    let (folder, config, mut remote, _server) = on_sshd();
    let key = folder.path("ssh/key").display().to_string();
    run("ssh-keygen", &["-q", "-p", "-f", &key, "-P", "", "-N", "it's a $ecret"]);
    let mirror = Mirror::temporary().unwrap();
    for (passphrase, opens) in [(None, false), (Some("hunter2"), false), (Some("it's a $ecret"), true)] {
        remote.access.ssh.passphrase = passphrase.map(|text| Secret::Value(text.to_owned()));
        let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
        match opens {
            true => drop(pushed(published)),
            false => fails(published, ErrorKind::Denied, "Permission denied"),
        }
    }
    assert_eq!(config.subjects("main").len(), 2);
}
