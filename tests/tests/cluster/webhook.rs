//! A registry tells of a push, and nobody waits for an interval.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// An address of this machine that nobody else has: who is told has to be known before who tells.
fn address() -> SocketAddr {
    let [.., first, second] = std::process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(127, first, second, 200), 8082))
}

impl World {
    /// Returns how often the registry was asked for the tags of an image.
    fn looks(&self, image: &str) -> usize {
        let path = format!("/v2/{image}/tags/list");
        self.registry.requests().iter().filter(|request| request.ends_with(&path)).count()
    }

    /// Waits until nothing is asked for any more.
    fn is_quiet(&self) {
        let mut before = usize::MAX;
        loop {
            let now = self.registry.requests().len();
            if now == before {
                return;
            }
            before = now;
            thread::sleep(Duration::from_secs(3));
        }
    }
}

#[test]
fn a_push_to_a_registry_is_a_commit_and_the_objects_say_so() {
    let address = address();
    let world = World::with(RegistryHabits { told: Some(address), ..RegistryHabits::default() });
    world.registry.push_image("db", "1.0.0", "linux/amd64", CREATED);
    let (server, config) = world.deploy_by_git();
    let mut other = world.application("db", &server.url("/git/config.git"));
    let image = format!("{}/db", world.registry.host());
    other["status"]["summary"]["images"] = json!([format!("{image}:1.0.0")]);
    world.api.put(&other);
    let mut updater = world.updater("db", "db");
    updater["spec"]["applicationRefs"][0]["images"][0]["imageName"] = json!(image);
    world.api.put(&updater);
    let listen = address.to_string();
    let secret = ["--webhook-secret", "docker-registry=env:REGISTRY_TOKEN"];
    let mut command =
        world.command(&[&["--interval", "1h", "--webhook-listen", &listen], &secret[..]].concat());
    command.env("REGISTRY_TOKEN", DockerRegistry::TOKEN);
    let daemon = Daemon::start(command, &world.folder.path("log"));
    // The registry has tried to tell of what was pushed before anybody heard it, and tries again.
    let is_told = |image: &str, tag: &str| {
        daemon.log().iter().any(|line| {
            line["webhook"] == "docker-registry" && line["image_name"] == image && line["image_tag"] == tag
        })
    };
    daemon.waits("what was there is told", || is_told("db", "1.0.0"));
    daemon.waits("all was looked at", || world.looks("db") > 0 && world.looks("shop") > 0);
    world.is_quiet();
    let (looks, all) = (world.looks("db"), world.looks("shop"));
    let pushed = Instant::now();
    world.push("1.1.0");
    daemon.waits("it is written", || stands_at(&config, "1.1.0"));
    eprintln!("1.1.0 was on the git server {} ms after its push", pushed.elapsed().as_millis());
    let updater = world.api.wait_for(UPDATERS, ARGO_CD, "all", |updater| {
        updater["status"]["recentUpdates"][0]["newVersion"] == "1.1.0"
    });
    assert_eq!(updater["status"]["recentUpdates"][0]["alias"], "web");
    assert_eq!(updater["status"]["recentUpdates"][0]["applicationsUpdated"], 1);
    daemon.waits("an Event says so", || {
        world.api.list("events").iter().any(|event| {
            let of = &event["involvedObject"];
            (&of["kind"], &of["name"]) == (&json!("Application"), &json!("shop"))
                && event["reason"] == "ImagesUpdated"
                && event["metadata"]["annotations"].to_string().contains("new-tag\":\"1.1.0\"")
        })
    });
    world.is_quiet();
    assert_eq!(world.looks("db"), looks, "only the image concerned is looked at");
    assert!(world.looks("shop") > all);
    assert_eq!(config.subjects("main").len(), 2);
}
