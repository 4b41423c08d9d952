//! The example repository with tags that were recorded, as the README shows it.

use std::path::Path;
use std::process::{Command, Output};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

fn run(command: &str) -> Output {
    Command::new(IMAGE_UPDATER)
        .args([command, "--config", "testdata/example-repo/image-updater.yaml"])
        .args(["--tags-from", "testdata/image-updater/example/tags.json"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("it can be run")
}

#[test]
fn what_would_change_is_shown_as_a_diff() {
    let output = run("update");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).expect("it is text");
    let changed: Vec<&str> = stdout
        .lines()
        .filter(|line| line.starts_with(['-', '+']) && !line.contains(" a/") && !line.contains(" b/"))
        .collect();
    // Production takes no pre-release and no date, redis no next major version and no other flavour.
    assert_eq!(
        changed,
        [
            "-        image: docker.io/library/redis:7.4.1",
            "+        image: docker.io/library/redis:7.4.2",
            "-  newTag: v6-rc.1 # {\"$imagepolicy\": \"flux-system:guestbook-dev:tag\"}",
            "+  newTag: v7-rc.1 # {\"$imagepolicy\": \"flux-system:guestbook-dev:tag\"}",
            "-  newTag: v5",
            "+  newTag: v6",
        ]
    );
}

#[test]
fn check_says_by_its_code_that_something_would_change() {
    assert_eq!(run("check").status.code(), Some(10));
}
