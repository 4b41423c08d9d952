//! Signatures that git itself takes for good.

use std::fs;
use std::path::Path;
use std::process::Command;

use gitremote::{ErrorKind, GpgSigner, Mirror, Secret, Sign, SshSigner, Target};
use tests::BareRepository;

use super::{bump, fails, on_disk, publish_signed, pushed};

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it can be run");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An ssh key without a passphrase; its path.
fn ssh_key(folder: &Path, name: &str, passphrase: &str) -> String {
    let path = folder.join(name).display().to_string();
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", passphrase, "-f", &path]);
    path
}

/// Has git check the commits of `main` but the first, with the keys that it shall trust.
fn verify(config: &BareRepository, trusted: &Path) {
    config.git(&["config", "gpg.ssh.allowedSignersFile", &trusted.display().to_string()]);
    for commit in config.git(&["rev-list", "main", "--max-count=2"]).lines() {
        config.git(&["verify-commit", commit]);
    }
    config.check();
}

#[test]
fn git_verifies_what_an_ssh_key_signed() {
    let (folder, config, remote) = on_disk();
    let path = ssh_key(&folder.path(""), "key", "");
    let public = fs::read_to_string(format!("{path}.pub")).unwrap();
    folder.write("trusted", &format!("bot@example.com {public}"));
    let mirror = Mirror::temporary().unwrap();
    let as_value = Secret::Value(fs::read_to_string(&path).unwrap());
    for (key, to) in [(Secret::File(path.into()), "1.1.0"), (as_value, "1.2.0")] {
        let signer = SshSigner::new(key);
        pushed(publish_signed(&mirror, &remote, &Target::default(), &signer, |tree| bump(tree, to)));
    }
    verify(&config, &folder.path("trusted"));
}

#[test]
fn git_verifies_what_a_gpg_key_signed() {
    let (folder, config, remote) = on_disk();
    let home = folder.path("gpg");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let homedir = home.display().to_string();
    let gpg = |arguments: &[&str]| run("gpg", &[&["--homedir", &homedir, "--batch"], arguments].concat());
    let generate = ["--pinentry-mode", "loopback", "--passphrase", "hunter2", "--quick-generate-key"];
    gpg(&[&generate[..], &["Image Bot <bot@example.com>", "ed25519", "sign", "never"]].concat());
    let signer = GpgSigner {
        home: Some(home.clone()),
        passphrase: Some(Secret::Value("hunter2".to_owned())),
        ..GpgSigner::new("bot@example.com")
    };
    let mirror = Mirror::temporary().unwrap();
    let published = publish_signed(&mirror, &remote, &Target::default(), &signer, |tree| bump(tree, "1.1.0"));
    let (_, commits, _) = pushed(published);
    folder.write("program", &format!("#!/bin/sh\nexec gpg --homedir {homedir} \"$@\"\n"));
    let program = folder.path("program");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    config.git(&["config", "gpg.program", &program.display().to_string()]);
    config.git(&["verify-commit", &commits[0]]);
    config.check();
    let stranger = GpgSigner { key: "nobody@example.com".to_owned(), ..signer };
    let error = stranger.sign(b"x").unwrap_err();
    assert!(error.to_string().contains("a commit cannot be signed by `gpg`"), "{error}");
    run("gpgconf", &["--homedir", &homedir, "--kill", "gpg-agent"]);
}

#[test]
fn without_a_key_that_signs_nothing_is_pushed() {
    let (folder, config, remote) = on_disk();
    let mirror = Mirror::temporary().unwrap();
    let locked = ssh_key(&folder.path(""), "locked", "a passphrase");
    let missing = SshSigner { program: "/none/ssh-keygen".into(), key: Secret::File(locked.clone().into()) };
    let none = SshSigner::new(Secret::File(folder.path("none")));
    for signer in [SshSigner::new(Secret::File(locked.into())), none, missing] {
        let published =
            publish_signed(&mirror, &remote, &Target::default(), &signer, |tree| bump(tree, "1.1.0"));
        fails(published, ErrorKind::Unavailable, "a commit cannot be signed by `");
    }
    assert_eq!(config.subjects("main"), ["change"]);
}
