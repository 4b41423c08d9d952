//! Somebody else pushes between our fetch and our push.

use super::{VALUES, World};

/// Has somebody else push these files while the server looks at our push.
fn race(world: &World, files: &[(&str, &str)]) {
    let rival = world.config.prepare_rival(files);
    world.config.hook("update", &format!("rm -f hooks/update\ngit update-ref refs/heads/main {rival}"));
}

#[test]
fn both_changes_stay() {
    let world = World::usual();
    world.configure("");
    race(&world, &[("README.md", "rival\n")]);
    world.update(&["--push"]);
    assert_eq!(world.config.read("main", "README.md").as_deref(), Some("rival"));
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(world.config.subjects("main").len(), 3);
    world.config.check();
}

#[test]
fn on_our_own_line_the_newer_version_stays() {
    let world = World::usual();
    world.configure("");
    race(&world, &[("app/values.yaml", &VALUES.replace("1.0.0", "1.5.0"))]);
    let outcome = world.update(&["--push"]);
    assert!(!outcome.stderr.contains("pushed"), "{}", outcome.stderr);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.5.0"));
    // An older one is brought up to date.
    let world = World::usual();
    world.configure("");
    race(&world, &[("app/values.yaml", &VALUES.replace("1.0.0", "1.0.5"))]);
    world.update(&["--push"]);
    assert_eq!(world.values("main"), VALUES.replace("1.0.0", "1.1.0"));
}

#[test]
fn of_two_pipelines_the_one_with_the_higher_version_wins() {
    for (theirs, wanted) in [("2.0.0", "2.0.0"), ("1.2.0", "1.3.0")] {
        let world = World::usual();
        world.configure("");
        race(&world, &[("app/values.yaml", &VALUES.replace("1.0.0", theirs))]);
        let image = format!("{}:1.3.0", world.registry.image("app"));
        let outcome = world.run(&[
            "set",
            &image,
            "--push",
            "--config",
            "image-updater.yaml",
            "--target",
            "helmvalues:app/values.yaml",
            "--tag-path",
            "image.tag",
        ]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(world.values("main"), VALUES.replace("1.0.0", wanted));
        assert_eq!(outcome.stderr.contains("kept `2.0.0`"), theirs == "2.0.0", "{}", outcome.stderr);
    }
}
