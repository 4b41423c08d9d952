//! Versions that a person reverted are not set again, and are listed.

use super::*;

#[test]
fn what_a_person_set_back_is_held_until_there_is_another_version() {
    let world = World::new();
    world.push("1.1.0");
    let first = world.run(&["run", "--once"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(world.stands_at("1.1.0"));
    let none = world.run(&["holds", "-o", "json"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), "[]\n"), "{}", none.stderr);

    world.config.rival("main", &[(FILE, &kustomization(&world.registry, "1.0.0"))]);
    let round = world.run(&["run", "--once"]);
    assert_eq!(round.code, Some(0));
    assert!(round.stderr.contains("held image_name=\"shop\""), "{}", round.stderr);
    assert!(world.stands_at("1.0.0"));
    let held = world.run(&["holds", "-o", "json"]);
    let list: serde_json::Value = serde_json::from_str(&held.stdout).expect("it is JSON");
    assert_eq!((held.code, list.as_array().map(Vec::len)), (Some(0), Some(1)), "{}", held.stdout);
    assert_eq!((&list[0]["name"], &list[0]["outcome"]), (&"web".into(), &"held".into()));
    assert_eq!((&list[0]["from"], &list[0]["to"]), (&"1.0.0".into(), &"1.1.0".into()));
    assert!(world.run(&["holds"]).stdout.contains("web   held     1.0.0  1.1.0"));

    world.push("1.2.0");
    let first = world.run(&["run", "--once"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(world.stands_at("1.2.0"));
    assert_eq!(world.run(&["holds"]).stdout, "");
}
