//! Secrets that objects name: used, missed, mended, and never shown.

use super::*;

/// Of the registry; nobody may read it anywhere.
const PULL_PASSWORD: &str = "s3cret";

fn put_pull_secret(world: &World, text: &str) {
    world.api.put(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "pull"},
        "type": "Opaque", "stringData": {".dockerconfigjson": text},
    }));
}

fn with_pull_secret() -> World {
    let world = World::with(RegistryHabits { account: true, ..RegistryHabits::default() });
    world.deploy("shop");
    world.push("1.1.0");
    let mut updater = world.updater("all", "shop");
    updater["spec"]["commonUpdateSettings"] = json!({"pullSecret": "pullsecret:argocd/pull"});
    world.api.put(&updater);
    world
}

fn nothing_is_given_away(world: &World, daemon: &Daemon) {
    let mut texts = vec![daemon.text(), daemon.get("/metrics").1];
    texts.extend(world.api.list(UPDATERS).iter().map(Value::to_string));
    texts.extend(world.api.list("events").iter().map(Value::to_string));
    for text in texts {
        assert!(!text.contains(PULL_PASSWORD), "{text}");
    }
}

#[test]
fn a_secret_that_is_missing_is_told_and_used_as_soon_as_it_is_there() {
    let world = with_pull_secret();
    let daemon = world.start(&[]);
    daemon.waits("it is told", || {
        let error = world.condition(UPDATERS, "all", "Error");
        error["status"] == "True" && error["message"].to_string().contains("pull")
    });
    assert_eq!(world.images("shop"), Value::Null);
    put_pull_secret(&world, &world.registry.docker_config());
    world.runs(&daemon, "shop", "1.1.0");
    daemon.waits("all is well", || world.condition(UPDATERS, "all", "Error")["status"] == "False");
    nothing_is_given_away(&world, &daemon);
}

#[test]
fn a_secret_that_is_malformed_is_told_without_its_content() {
    let world = with_pull_secret();
    // Cut off in the middle.
    let config = world.registry.docker_config();
    put_pull_secret(&world, &format!("{{\"auths\": {{\"x\": \"{PULL_PASSWORD}"));
    let daemon = world.start(&[]);
    daemon.waits("it is told", || {
        let error = world.condition(UPDATERS, "all", "Error");
        error["status"] == "True" && error["message"].to_string().contains("pull")
    });
    nothing_is_given_away(&world, &daemon);
    put_pull_secret(&world, &config);
    world.runs(&daemon, "shop", "1.1.0");
    nothing_is_given_away(&world, &daemon);
}
