//! Commits pushed to real git servers without a work tree: over https with an account, over ssh, from the disk.

mod access;
mod interrupted;
mod mirror;
mod push;
mod sign;
mod ssh;

use std::collections::BTreeMap;
use std::time::Duration;

use diagnostic::{Error, ErrorKind};
use gitremote::{
    Access, Authorship, Change, Credentials, Mirror, Person, Published, Publisher, Remote, Secret, Sign,
    Target, Tree, Waiting,
};
use testkit::{BareRepository, Folder, Habits, Server};

const VALUES: &str = "image:\n  tag: 1.0.0 # ours\nreplicas: 1\n";

fn authorship() -> Authorship {
    let bot = Person { name: "Image Bot".to_owned(), email: "bot@example.com".to_owned() };
    Authorship { author: bot.clone(), committer: bot, time: 1_700_000_000, sign_off: true }
}

fn remote(url: String) -> Remote {
    Remote { url, access: Access::new("tests/1", Duration::from_secs(60)) }
}

/// Publishes with what a test says; the pauses that were made.
fn publish(
    mirror: &Mirror,
    remote: &Remote,
    target: &Target,
    edit: impl FnMut(&Tree) -> Result<Vec<Change>, Error>,
) -> (Result<Published, Error>, Vec<Duration>) {
    let mut pauses = Vec::new();
    let mut waiting = Waiting { random: &mut || 0, sleep: &mut |pause| pauses.push(pause) };
    let authorship = authorship();
    let publisher =
        Publisher { mirror, remote, target, authorship: &authorship, signer: None, consent: None };
    let published = publisher.publish(&mut waiting, edit);
    (published, pauses)
}

/// Publishes signed commits.
fn publish_signed(
    mirror: &Mirror,
    remote: &Remote,
    target: &Target,
    signer: &dyn Sign,
    edit: impl FnMut(&Tree) -> Result<Vec<Change>, Error>,
) -> Result<Published, Error> {
    let mut waiting = Waiting { random: &mut || 0, sleep: &mut |_| () };
    let authorship = authorship();
    let publisher =
        Publisher { mirror, remote, target, authorship: &authorship, signer: Some(signer), consent: None };
    publisher.publish(&mut waiting, edit)
}

/// One file with other content.
fn change(path: &str, content: &str, message: &str) -> Change {
    Change {
        files: BTreeMap::from([(path.to_owned(), content.as_bytes().to_vec())]),
        message: message.to_owned(),
        trailers: vec![("Image-Updater-Set".to_owned(), format!("{path}=1.1.0"))],
    }
}

/// Sets the tag in `app/values.yaml`, as long as that goes up.
fn bump(tree: &Tree, to: &str) -> Result<Vec<Change>, Error> {
    let values = String::from_utf8(tree.read("app/values.yaml")?.expect("it is there")).expect("it is text");
    let at = values.find("tag: ").expect("it has one") + 5;
    let end = at + values[at..].find(' ').expect("a comment follows");
    if &values[at..end] >= to {
        return Ok(Vec::new());
    }
    let edited = format!("{}{to}{}", &values[..at], &values[end..]);
    Ok(vec![change("app/values.yaml", &edited, &format!("bump to {to}"))])
}

fn on_disk() -> (Folder, BareRepository, Remote) {
    let folder = Folder::with(&[]);
    let files = [("app/values.yaml", VALUES), ("README.md", "hello\n"), ("app/run.sh", "#!/bin/sh\n")];
    let config = BareRepository::with(&folder.path("git/config.git"), &files);
    let remote = remote(format!("file://{}", folder.path("git/config.git").display()));
    (folder, config, remote)
}

/// The same on a server that wants TLS and an account, and a remote that has both.
fn on_server() -> (Folder, BareRepository, Remote, Server) {
    let (folder, config, mut remote) = on_disk();
    let habits = Habits { account: Some(("bot", "hunter2")), tls: true, ..Habits::default() };
    let server = Server::start(&folder.path(""), habits);
    folder.write("authority.pem", server.certificate());
    remote.url = server.url("/git/config.git");
    remote.access.authorities = Some(gitremote::Authorities::File(folder.path("authority.pem")));
    remote.access.credentials =
        Credentials::Account { username: "bot".to_owned(), password: Secret::Value("hunter2".to_owned()) };
    (folder, config, remote, server)
}

#[track_caller]
fn pushed(published: Result<Published, Error>) -> (String, Vec<String>, u32) {
    match published.expect("it is pushed") {
        Published::Pushed { tip, commits, tries, .. } => {
            (tip.branch, commits.iter().map(ToString::to_string).collect(), tries)
        }
        unchanged @ Published::Unchanged { .. } => panic!("{unchanged:?}"),
    }
}

#[track_caller]
fn fails(published: Result<Published, Error>, kind: ErrorKind, message: &str) {
    let error = published.expect_err("it fails");
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(error.kind(), kind, "{error}");
}
