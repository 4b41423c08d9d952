//! Several replicas with a cluster: one leads by a Lease, whatever becomes of it.

use serde_json::{Value, json};
use testkit::apiserver::ApiServer;

use super::*;

const LEASE: &str = "c21b75f2.argoproj.io";

/// A cluster for the replicas of a world, which has nothing but their Lease.
fn cluster(world: &World) -> ApiServer {
    let cluster = ApiServer::start();
    world.folder.write("kubeconfig", &cluster.kubeconfig(""));
    cluster
}

/// Starts one that works off its configuration while it leads.
fn replica(world: &World, log: &str) -> Daemon {
    world.start_as(log, &["--cluster", "--kubeconfig", "kubeconfig", "--config", "image-updater.yaml"])
}

fn spec(cluster: &ApiServer) -> Value {
    cluster
        .get("leases.coordination.k8s.io", "default", LEASE)
        .map_or(json!(null), |lease| lease["spec"].clone())
}

fn rounds(daemon: &Daemon) -> usize {
    daemon
        .log()
        .iter()
        .filter(|line| line["message"].as_str().is_some_and(|text| text.starts_with("Processing")))
        .count()
}

#[test]
fn one_leads_and_another_takes_over_when_it_is_killed() {
    let world = World::new();
    let cluster = cluster(&world);
    let mut one = replica(&world, "one");
    one.says("leads");
    let other = replica(&world, "other");
    other.says("is a standby");
    other.waits("it is ready", || other.get("/readyz") == (200, "ok: is a standby\n".to_owned()));
    one.waits("it is ready", || one.get("/readyz") == (200, "ok: leads\n".to_owned()));
    world.push("1.1.0");
    one.waits("it pushes", || world.stands_at("1.1.0"));
    assert_eq!(rounds(&other), 0, "it does nothing");
    one.signal("KILL");
    one.ends();
    world.push("1.2.0");
    other.says("leads");
    other.waits("it pushes", || world.stands_at("1.2.0"));
    assert_eq!(spec(&cluster)["leaseTransitions"], 1);
    assert_eq!(world.commits(), 3);
}

#[test]
fn who_is_asked_to_stop_gives_the_lease_back_once_its_push_is_over() {
    let world = World::new();
    let cluster = cluster(&world);
    world.config.hook("pre-receive", "touch ../../begun\nsleep 2");
    let mut one = replica(&world, "one");
    one.says("leads");
    world.push("1.1.0");
    one.waits("it pushes", || world.folder.path("begun").exists());
    one.signal("TERM");
    one.says("stops");
    assert!(spec(&cluster)["holderIdentity"].is_string() || world.stands_at("1.1.0"), "it is at it still");
    assert_eq!(one.ends().code(), Some(0));
    assert!(world.stands_at("1.1.0"));
    let spec = spec(&cluster);
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(null), &json!(1)));
    let other = replica(&world, "other");
    other.says("leads");
}

/// The server lets a push wait for longer than it takes to notice that the Lease is somebody else's.
#[test]
fn who_loses_the_lease_while_it_reaches_the_server_sends_nothing() {
    let world = World::new();
    let cluster = cluster(&world);
    let text = world.folder.read("image-updater.yaml").unwrap();
    let slow = world.server.url("/slow/config.git");
    world.folder.write("image-updater.yaml", &text.replace(&world.server.url("/git/config.git"), &slow));
    let one = replica(&world, "one");
    one.says("leads");
    world.push("1.1.0");
    let is_push = |request: &String| request.starts_with("GET /slow/config.git/info/refs receive-pack");
    one.waits("it reaches the server", || world.server.requests().iter().any(is_push));
    cluster.change("leases.coordination.k8s.io", "default", LEASE, |lease| {
        lease["spec"]["holderIdentity"] = "thief".into();
    });
    one.says("leads no more, and begins no push");
    // Nothing comes of the push that was about to be sent, and of no other while somebody else leads.
    one.waits("the thief is gone", || {
        one.log().iter().filter(|line| line["message"] == "leads").count() == 2
    });
    let posts = world.server.requests();
    assert!(
        !posts.iter().any(|request| request.starts_with("POST /slow/config.git/git-receive-pack")),
        "{posts:?}"
    );
    one.waits("it pushes", || world.stands_at("1.1.0"));
    assert_eq!(spec(&cluster)["leaseTransitions"], 1);
}

#[test]
fn while_the_api_server_is_away_nothing_is_pushed_and_it_lives() {
    let world = World::new();
    let cluster = cluster(&world);
    let one = replica(&world, "one");
    one.says("leads");
    cluster.refuse();
    one.says("leads no more, and begins no push");
    world.push("1.1.0");
    assert_eq!(one.get("/healthz").0, 200);
    let before = rounds(&one);
    thread::sleep(Duration::from_secs(2));
    assert!(!world.stands_at("1.1.0") && rounds(&one) <= before + 1, "one round may have been at work");
    cluster.resume();
    one.waits("it leads again and pushes", || world.stands_at("1.1.0"));
    assert_eq!(spec(&cluster)["leaseTransitions"], 0, "nobody else had it");
}

#[test]
fn what_is_only_tried_keeps_nobody_from_leading() {
    let world = World::new();
    let cluster = cluster(&world);
    let arguments = ["run", "--cluster", "--kubeconfig", "kubeconfig", "--once", "--dry-run"];
    let outcome = world.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(spec(&cluster), json!(null));
}
