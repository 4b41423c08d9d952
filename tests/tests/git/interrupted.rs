//! A publisher that is killed at any moment leaves the server and its mirror sound.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::{BareRepository, Folder, GitRepository};

use super::on_disk;

const PUBLISHER: &str = env!("CARGO_BIN_EXE_publisher-under-test");

/// One that adds one to the number in `app/values.yaml` as often as it is told, and says so each time.
fn start(folder: &Folder, times: u32) -> Child {
    let url = format!("file://{}", folder.path("git/config.git").display());
    let publisher = Command::new(PUBLISHER)
        .args([&url, &folder.path("cache").display().to_string(), &times.to_string()])
        .current_dir(folder.path(""))
        .stdout(Stdio::null())
        .spawn();
    publisher.expect("it can be run")
}

fn number(config: &BareRepository) -> u32 {
    let values = config.read("main", "app/values.yaml").expect("it is there");
    let number = values.strip_prefix("number: ").expect("nothing else was changed");
    number.parse().expect("it is whole")
}

/// Everything is as if nothing had happened, and it goes on from there.
fn check(folder: &Folder, config: &BareRepository) {
    config.check();
    let before = number(config);
    assert_eq!(config.git(&["rev-list", "--count", "main"]), (before + 2).to_string());
    assert!(start(folder, 1).wait().expect("it ends").success());
    assert_eq!(number(config), before + 1);
    for entry in fs::read_dir(folder.path("cache")).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            GitRepository::at(&path).git(&["fsck"]);
        }
    }
}

fn with_number() -> (Folder, BareRepository) {
    let (folder, config, _) = on_disk();
    config.rival("main", &[("app/values.yaml", "number: 0\n")]);
    (folder, config)
}

#[test]
fn killed_while_the_server_works() {
    let (folder, config) = with_number();
    let killing = "if test -e ../../kill; then rm ../../kill; kill -9 $(cat ../../pid); fi";
    for hook in ["pre-receive", "update", "post-receive"] {
        let before = number(&config);
        config.hook(hook, killing);
        folder.write("kill", "");
        let mut publisher = start(&folder, 1);
        // It may want to be killed before we have written whom to kill: it waits for this file.
        folder.write("pid", &publisher.id().to_string());
        assert!(!publisher.wait().expect("it ends").success());
        // git itself may still be at it.
        thread::sleep(Duration::from_millis(200));
        assert!(number(&config) >= before);
        check(&folder, &config);
        fs::remove_file(folder.path(&format!("git/config.git/hooks/{hook}"))).unwrap();
        fs::remove_file(folder.path("pid")).unwrap();
    }
}

#[test]
fn killed_at_any_moment() {
    let (folder, config) = with_number();
    folder.write("pid", "");
    for moment in 0..12 {
        let mut publisher = start(&folder, 1000);
        thread::sleep(Duration::from_millis(40 + 37 * moment));
        publisher.kill().expect("it runs");
        publisher.wait().expect("it ends");
        config.wait_for_git();
        check(&folder, &config);
    }
}
