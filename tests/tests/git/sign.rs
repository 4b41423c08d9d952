//! Signatures that git itself takes for good.

use std::fs;
use std::path::Path;
use std::process::Command;

use diagnostic::ErrorKind;
use gitremote::{GpgKeyring, GpgSigner, Mirror, Secret, Sign, SshSigner, Target};
use testkit::{BareRepository, Folder};

use super::{bump, fails, on_disk, publish_signed, pushed};

pub(super) fn run(program: &str, arguments: &[&str]) -> String {
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
    let missing = SshSigner {
        program: "/none/ssh-keygen".into(),
        ..SshSigner::new(Secret::File(locked.clone().into()))
    };
    let none = SshSigner::new(Secret::File(folder.path("none")));
    for signer in [SshSigner::new(Secret::File(locked.into())), none, missing] {
        let published =
            publish_signed(&mirror, &remote, &Target::default(), &signer, |tree| bump(tree, "1.1.0"));
        fails(published, ErrorKind::Unavailable, "a commit cannot be signed by `");
    }
    assert_eq!(config.subjects("main"), ["change"]);
}

#[test]
fn a_locked_key_signs_with_its_passphrase() {
    let (folder, config, remote) = on_disk();
    let path = ssh_key(&folder.path(""), "locked", "a passphrase");
    let public = fs::read_to_string(format!("{path}.pub")).unwrap();
    folder.write("trusted", &format!("bot@example.com {public}"));
    let key = Secret::Value(fs::read_to_string(&path).unwrap());
    let passphrase = Some(Secret::Value("a passphrase".to_owned()));
    let signer = SshSigner { passphrase, ..SshSigner::new(key) };
    let mirror = Mirror::temporary().unwrap();
    for to in ["1.1.0", "1.2.0"] {
        pushed(publish_signed(&mirror, &remote, &Target::default(), &signer, |tree| bump(tree, to)));
    }
    verify(&config, &folder.path("trusted"));
}

#[test]
fn a_key_of_gpg_needs_no_keyring_of_the_machine() {
    let folder = Folder::with(&[]);
    let home = folder.path("gpg");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let homedir = home.display().to_string();
    let gpg = |arguments: &[&str]| {
        let common =
            ["--homedir", &homedir, "--batch", "--pinentry-mode", "loopback", "--passphrase", "hunter2"];
        let output = Command::new("gpg").args(common).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for user in ["Image Bot <bot@example.com>", "Other <other@example.com>"] {
        gpg(&["--quick-generate-key", user, "ed25519", "sign", "never"]);
    }
    let key = Secret::Value(gpg(&["--armor", "--export-secret-keys", "bot@example.com"]));
    let both = Secret::Value(gpg(&["--armor", "--export-secret-keys"]));
    let public = Secret::Value(gpg(&["--armor", "--export", "bot@example.com"]));
    let passphrase = || Some(Secret::Value("hunter2".to_owned()));
    let signature = GpgKeyring::of(&key, passphrase()).unwrap().sign(b"payload").unwrap();
    folder.write("payload", "payload");
    folder.write("payload.sig", &signature);
    let at = |name: &str| folder.path(name).display().to_string();
    gpg(&["--verify", &at("payload.sig"), &at("payload")]);
    assert!(GpgKeyring::of(&key, None).unwrap().sign(b"payload").is_err());
    for (wrong, reason) in [
        (both, "several private keys"),
        (public, "does not contain an OpenPGP private key"),
        (Secret::Value("x".to_owned()), "does not contain an OpenPGP private key"),
    ] {
        let error = GpgKeyring::of(&wrong, passphrase()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    run("gpgconf", &["--homedir", &homedir, "--kill", "gpg-agent"]);
}
