//! Access: certificates and credentials over https.

use std::fs;

use diagnostic::ErrorKind;
use gitremote::{Credentials, Mirror, Secret, Target};

use super::{bump, fails, on_server, publish, pushed};

#[test]
fn credentials_come_from_values_and_files() {
    let (folder, config, mut remote, _server) = on_server();
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    let target = Target::default();
    folder.write("token", "hunter2\n");
    let file = || Secret::File(folder.path("token"));
    remote.access.credentials = Credentials::Account { username: "bot".to_owned(), password: file() };
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.1.0")).0);
    remote.access.credentials = Credentials::Bearer(file());
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.2.0")).0);
    // In an address they are used, and stay there.
    remote.access.credentials = Credentials::Configured;
    let plain = remote.url.clone();
    remote.url = plain.replace("https://", "https://bot:hunter2@");
    drop(mirror);
    let mirror = Mirror::cached(&folder.path("cache"), &remote).unwrap();
    pushed(publish(&mirror, &remote, &target, |tree| bump(tree, "1.3.0")).0);
    for path in folder.files("cache") {
        let content = fs::read(folder.path("cache").join(&path)).unwrap();
        assert!(!content.windows(7).any(|part| part == b"hunter2"), "{path}");
    }
    assert_eq!(config.subjects("main").len(), 4);
}

#[test]
fn wrong_credentials_are_denied_and_not_repeated() {
    let (folder, _config, mut remote, _server) = on_server();
    let mirror = Mirror::temporary().unwrap();
    let password = Secret::Value("swordfish".to_owned());
    let account = Credentials::Account { username: "bot".to_owned(), password: password.clone() };
    for credentials in [account, Credentials::Bearer(password)] {
        remote.access.credentials = credentials;
        let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
        let error = published.expect_err("they are wrong");
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert!(!format!("{error} {error:?}").contains("swordfish"), "{error:?}");
    }
    let password = Secret::File(folder.path("none"));
    remote.access.credentials = Credentials::Account { username: "bot".to_owned(), password };
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Unavailable, "cannot read the secret in `");
}

#[test]
fn a_certificate_of_somebody_else_is_refused() {
    let (folder, config, mut remote, _server) = on_server();
    let (_other, _, other, _other_server) = on_server();
    let mirror = Mirror::temporary().unwrap();
    for authorities in [None, other.access.authorities] {
        remote.access.authorities = authorities;
        let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
        fails(published, ErrorKind::Unavailable, "certificate");
    }
    folder.write("empty.pem", "");
    remote.access.authorities = Some(gitremote::Authorities::File(folder.path("empty.pem")));
    let (published, _) = publish(&mirror, &remote, &Target::default(), |tree| bump(tree, "1.1.0"));
    fails(published, ErrorKind::Invalid, "it does not contain a certificate");
    assert_eq!(config.subjects("main"), ["change"]);
}
