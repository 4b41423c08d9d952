//! Shutdown: on a signal, and killed at any moment.

use testkit::GitRepository;

use super::*;

#[test]
fn it_ends_while_it_waits() {
    let world = World::new();
    for signal in ["TERM", "INT"] {
        let mut daemon = world.start(&["--interval", "1h"]);
        daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
        daemon.signal(signal);
        assert_eq!(daemon.ends().code(), Some(0));
        assert!(daemon.log().iter().any(|line| line["message"] == "stops"));
    }
}

#[test]
fn it_does_not_wait_for_a_server_that_says_nothing() {
    let world = World::new();
    let silent = world.server.url("/silent/config.git");
    let text = world.folder.read("image-updater.yaml").unwrap();
    world.folder.write("image-updater.yaml", &text.replace(&world.server.url("/git/config.git"), &silent));
    let mut daemon = world.start(&[]);
    daemon.waits("it asks", || world.server.requests().iter().any(|line| line.contains("/silent/")));
    daemon.signal("TERM");
    assert_eq!(daemon.ends().code(), Some(0));
}

#[test]
fn a_push_that_has_begun_is_finished_and_noted() {
    let world = World::new();
    world.push("1.1.0");
    world.config.hook("pre-receive", "touch ../../begun\nsleep 2");
    let mut daemon = world.start(&["--audit-log", "audit.jsonl"]);
    daemon.waits("it pushes", || world.folder.path("begun").exists());
    daemon.signal("TERM");
    assert_eq!(daemon.ends().code(), Some(0));
    assert!(world.stands_at("1.1.0"));
    let audit = world.folder.read("audit.jsonl").unwrap();
    assert!(audit.contains(&world.config.git(&["rev-parse", "main"])), "{audit}");
    assert_eq!(world.commits(), 2);
}

#[test]
fn who_asks_twice_does_not_wait() {
    let world = World::new();
    world.push("1.1.0");
    world.config.hook("pre-receive", "touch ../../begun\nsleep 20");
    let mut daemon = world.start(&[]);
    daemon.waits("it pushes", || world.folder.path("begun").exists());
    daemon.signal("TERM");
    daemon.says("stops");
    // It is watched for a moment after that is said.
    let status = (0..500).find_map(|_| {
        daemon.signal("INT");
        thread::sleep(Duration::from_millis(20));
        daemon.ended()
    });
    assert_eq!(status.and_then(|status| status.code()), Some(130));
}

#[test]
fn killed_at_any_moment_all_is_sound() {
    let world = World::new();
    for moment in 0..8 {
        let tag = format!("1.{}.0", moment + 1);
        world.push(&tag);
        let mut daemon = world.start(&["--audit-log", "audit.jsonl"]);
        thread::sleep(Duration::from_millis(20 + 53 * moment));
        daemon.signal("KILL");
        daemon.ends();
        is_sound(&world, &tag);
    }
}

/// The server's repository is whole, and a round goes on from there with the cache that is left.
fn is_sound(world: &World, tag: &str) {
    world.config.wait_for_git();
    world.config.check();
    let before = world.commits();
    let outcome = world.run(&["run", "--once", "--audit-log", "audit.jsonl"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(world.stands_at(tag), "{}", world.text());
    assert!(world.commits() <= before + 1, "no version is set twice");
    world.config.check();
    for entry in
        std::fs::read_dir(world.folder.path("cache/image-updater/git")).expect("it is there").flatten()
    {
        if entry.path().is_dir() {
            GitRepository::at(&entry.path()).git(&["fsck"]);
        }
    }
    // Whatever the log says was pushed.
    for line in world.folder.read("audit.jsonl").expect("it is there").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("every line is whole");
        let commit = line["commit"].as_str().expect("it is a text");
        world.config.git(&["merge-base", "--is-ancestor", commit, "main"]);
    }
}
