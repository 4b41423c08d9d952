//! Reconciles with and without faults.

use super::*;

#[test]
fn a_new_tag_becomes_a_commit() {
    let world = World::new();
    let daemon = world.start(&["--audit-log", "audit.jsonl"]);
    daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
    assert_eq!(daemon.get("/healthz"), (200, "ok\n".to_owned()));
    assert_eq!(daemon.get("/other").0, 404);
    assert_eq!((world.commits(), world.folder.read("audit.jsonl").as_deref()), (1, Some("")));
    world.push("1.1.0");
    daemon.waits("it is written", || world.stands_at("1.1.0"));
    daemon.says("pushed");
    daemon.waits("the commit is counted", || daemon.counts(&world.numbered("commits_total", "", 1)));
    assert!(daemon.counts("argocd_image_updater_images_watched_total 1"));
    assert!(daemon.counts("argocd_image_updater_images_updated_total 1"));
    assert!(daemon.counts(&world.numbered("decisions_total", ",outcome=\"changed\"", 1)));
    assert_eq!(world.commits(), 2);
    the_audit_log_says_it(&world);
    let log = daemon.log();
    let changed = log.iter().find(|line| line["message"] == "changed").expect("it is logged");
    let field = |name: &str| changed[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(field("level"), "INFO");
    assert_eq!([field("image_name"), field("image_alias")], ["shop", "web"]);
    assert_eq!([field("image_tag"), field("from")], ["1.1.0", "1.0.0"]);
    assert_eq!(field("image_registry"), world.registry.host());
    assert_eq!(field("repository"), world.server.url("/git/config.git"));
    let summary =
        "Processing results: applications=0 images_considered=1 images_skipped=0 images_updated=1 errors=0";
    assert!(log.iter().any(|line| line["message"] == summary));
    nothing_is_given_away(&world);
}

fn the_audit_log_says_it(world: &World) {
    let text = world.folder.read("audit.jsonl").expect("it is there");
    let mut line: serde_json::Value = serde_json::from_str(&text).expect("it is one line");
    let time = line.as_object_mut().expect("it is an object").remove("time").expect("it has a time");
    assert!(time.as_str().is_some_and(|time| time.ends_with('Z')), "{time}");
    let expected = serde_json::json!({
        "image": world.image(),
        "old": "1.0.0",
        "new": "1.1.0",
        "digest": null,
        "files": [FILE],
        "commit": world.config.git(&["rev-parse", "main"]),
        "branch": "main",
        "reason": "the highest version",
    });
    assert_eq!(line, expected);
}

#[test]
fn reasons_are_told_to_who_wants_them() {
    let world = World::new();
    world.push("latest");
    let daemon = world.start(&["--log-level", "debug"]);
    daemon.waits("it tells", || daemon.log().iter().any(|line| line["reason"] == "no version"));
    daemon.says("current");
    // The libraries below have no say, whatever the level.
    let ours = [
        "answers /healthz, /readyz and /metrics",
        "works by this configuration",
        "current",
        "chosen",
        "dropped",
    ];
    for line in daemon.log() {
        let message = line["message"].as_str().unwrap_or_default().to_owned();
        assert!(ours.contains(&message.as_str()) || message.starts_with("Processing results: "), "{line}");
    }
    let log = world.folder.read("log").expect("it is there");
    assert!(!log.contains(PASSWORD) && !log.contains("s3cret"));
}

#[test]
fn a_broken_configuration_changes_nothing_until_it_is_mended() {
    let world = World::new();
    let daemon = world.start(&[]);
    daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
    assert!(daemon.counts("image_updater_config_valid 1"));
    world.configure("- imags: []\n");
    let broken = "the configuration is broken, and the one before it stays in force";
    daemon.says(broken);
    let line = daemon.log().into_iter().find(|line| line["message"] == broken).expect("it is logged");
    assert!(line["error"].as_str().is_some_and(|error| error.contains("imags")), "{line}");
    assert!(line["place"].as_str().is_some_and(|place| place.starts_with("image-updater.yaml:")), "{line}");
    assert!(daemon.counts("image_updater_config_valid 0"));
    world.push("1.1.0");
    daemon.waits("the old one is worked off", || world.stands_at("1.1.0"));
    let suspended = format!(
        "- suspend: true\n  targets: [{{kind: kustomization, path: {FILE}}}]\n  images: [{{image: nginx}}]\n"
    );
    world.configure(&suspended);
    daemon.says("suspended");
    assert!(daemon.counts("image_updater_config_valid 1"));
    assert_eq!(daemon.get("/healthz").0, 200);
}

#[test]
fn it_is_not_ready_while_the_repository_cannot_be_had() {
    let world = World::new();
    world.folder.write("git-login", "bot:wrong\n");
    let daemon = world.start(&[]);
    daemon.says("the round failed");
    assert_eq!(daemon.get("/readyz").0, 503);
    assert_eq!(daemon.get("/healthz").0, 200);
    assert!(daemon.counts(&world.numbered("rounds_total", ",result=\"failed\"", 1)));
    world.folder.write("git-login", &format!("bot:{PASSWORD}\n"));
    daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
}

#[test]
fn one_round_ends_by_itself() {
    let world = World::new();
    world.push("1.1.0");
    let dry = world.run(&["run", "--once", "--dry-run"]);
    assert_eq!((dry.code, world.commits()), (Some(0), 1), "{}", dry.stderr);
    assert!(dry.stderr.contains("changed image_name=\"shop\""), "{}", dry.stderr);
    let once = world.run(&["run", "--once"]);
    assert_eq!((once.code, once.stdout.as_str()), (Some(0), ""), "{}", once.stderr);
    assert!(world.stands_at("1.1.0"));
    world.configure(&format!(
        "- targets: [{{kind: kustomization, path: missing.yaml}}]\n  images: [{{image: {}}}]\n",
        world.image()
    ));
    world.push("1.2.0");
    let partly = world.run(&["run", "--once"]);
    assert_eq!(partly.code, Some(1), "{}", partly.stderr);
    assert!(partly.stderr.contains("the file `missing.yaml` does not exist"), "{}", partly.stderr);
    assert!(world.stands_at("1.2.0"), "the others are done");
}

#[test]
fn what_cannot_work_is_said_at_once() {
    let world = World::new();
    let fails = |arguments: &[&str], code: i32, message: &str| {
        let outcome = world.run(&[&["run"], arguments].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    };
    fails(&["--config", "missing.yaml"], 1, "cannot read `missing.yaml`");
    fails(&["--interval", "0s"], 1, "an interval is longer than nothing");
    fails(&["--interval", "5"], 1, "a unit is missing");
    fails(&["--audit-log", "missing/audit.jsonl"], 1, "cannot write `missing/audit.jsonl`");
    fails(&["--listen", "here"], 2, "--listen");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    fails(&["--listen", &address], 3, "cannot listen on");
    world.folder.write(
        "folder.yaml",
        "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates:\n- images: [{image: nginx}]\n  \
         targets: [{kind: manifest, path: a.yaml}]\n",
    );
    fails(&["--config", "folder.yaml"], 1, "names no repository to push to");
    assert_eq!(world.commits(), 1);
}
