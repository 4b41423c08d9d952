//! Faults, and recovery from them.

use std::time::Duration;

use super::*;

#[test]
fn a_watch_that_breaks_goes_on() {
    let world = World::new();
    world.push("1.1.0");
    let daemon = world.start(&[]);
    world.is_watched(&daemon);
    world.api.cut_watches();
    world.deploy("shop");
    world.api.put(&world.updater("all", "*"));
    world.runs(&daemon, "shop", "1.1.0");
    // A watch of which the server has forgotten where it was.
    world.api.refuse();
    world.deploy("db");
    world.api.delete(APPLICATIONS, ARGO_CD, "shop");
    world.api.compact();
    world.api.resume();
    world.runs(&daemon, "db", "1.1.0");
    world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| updater["status"]["applicationsMatched"] == 1);
    // The server says it at once, by its status.
    world.api.fail(3, 410, |asked| asked.verb == "watch");
    world.api.cut_watches();
    world.deploy("next");
    world.runs(&daemon, "next", "1.1.0");
}

/// A change of somebody else's between a look and a write is not overwritten.
#[test]
fn who_was_faster_is_heeded() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    world.api.fail(2, 409, |asked| asked.verb == "patch" && asked.resource == "applications");
    let daemon = world.start(&[]);
    world.push("1.1.0");
    world.runs(&daemon, "shop", "1.1.0");
    let tries: Vec<_> = world
        .api
        .requests()
        .into_iter()
        .filter(|asked| asked.resource == "applications" && asked.is_write())
        .collect();
    assert_eq!(tries.len(), 3);
    world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| {
        updater["status"]["recentUpdates"][0]["newVersion"] == "1.1.0"
    });
    assert_eq!(world.condition(UPDATERS, "all", "Error")["status"], "False");
}

/// Argo CD writes the status of Applications all the time.
#[test]
fn a_busy_application_is_written_to_all_the_same() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    let daemon = world.start(&[]);
    world.is_watched(&daemon);
    world.push("1.1.0");
    for count in 0..50 {
        world.api.change(APPLICATIONS, ARGO_CD, "shop", |app| app["status"]["reconciledAt"] = json!(count));
        std::thread::sleep(Duration::from_millis(20));
    }
    world.runs(&daemon, "shop", "1.1.0");
    let application = world.api.get(APPLICATIONS, ARGO_CD, "shop").expect("it is there");
    assert_eq!(application["status"]["reconciledAt"], 49, "and nothing of others is lost");
}

#[test]
fn requests_that_fail_are_made_again() {
    let world = World::new();
    world.deploy("shop");
    world.api.put(&world.updater("all", "shop"));
    for code in [429, 500, 503] {
        world.api.fail(2, code, |asked| asked.resource == "imageupdaters/status");
        world.api.fail(1, code, |asked| asked.verb == "list");
    }
    let daemon = world.start(&[]);
    world.push("1.1.0");
    world.runs(&daemon, "shop", "1.1.0");
    world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| {
        updater["status"]["recentUpdates"][0]["newVersion"] == "1.1.0"
    });
}
