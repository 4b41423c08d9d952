//! The API server is away: health is answered, and nothing is written that may be wrong by now.

use super::*;

#[test]
fn nothing_is_pushed_until_the_cluster_is_seen_again() {
    let world = World::new();
    // A push could go on without the cluster.
    let (_server, config) = world.deploy_by_git();
    let daemon = world.start(&[]);
    world.push("1.1.0");
    daemon.waits("it is pushed", || stands_at(&config, "1.1.0"));
    world.api.refuse();
    daemon.says("the API server does not answer, so nothing is pushed until it does");
    world.push("1.2.0");
    assert_eq!(daemon.get("/healthz").0, 200);
    // It looks every second, and would have pushed by now.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(stands_at(&config, "1.1.0"));
    assert_eq!(daemon.get("/healthz").0, 200);
    // What holds meanwhile is what the cluster says when it is back.
    world.api.change(UPDATERS, ARGO_CD, "all", |updater| {
        updater["spec"]["applicationRefs"][0]["images"][0]["imageName"] =
            json!(format!("{}:~1.1", world.image()));
    });
    world.push("1.1.1");
    world.api.resume();
    daemon.waits("it goes on", || stands_at(&config, "1.1.1"));
    assert_eq!(config.subjects("main").len(), 3);
}

#[test]
fn a_cluster_that_comes_late_is_waited_for() {
    let world = World::new();
    // A push could go on without the cluster.
    let (_server, config) = world.deploy_by_git();
    world.push("1.1.0");
    world.api.refuse();
    let daemon = world.start(&[]);
    assert_eq!(daemon.get("/healthz").0, 200);
    assert_ne!(daemon.get("/readyz").0, 200);
    assert!(stands_at(&config, "1.0.0"));
    world.api.resume();
    daemon.waits("it is pushed", || stands_at(&config, "1.1.0"));
    daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
}
