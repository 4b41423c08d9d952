//! The CustomResourceDefinitions that `image-updater crds` prints, as an API server takes them.

use super::*;

/// Expected values: what a server does not take of a schema it drops without a word, so nothing may be lost on the way.
#[test]
fn the_api_server_takes_them_as_they_are() {
    let folder = Folder::with(&[]);
    let api = ApiServer::start();
    let definitions = definitions(&folder);
    assert_eq!(definitions.len(), 4);
    for definition in definitions {
        let taken = api.put(&definition);
        assert_eq!(taken["spec"]["versions"], definition["spec"]["versions"]);
        for version in definition["spec"]["versions"].as_array().expect("there are some") {
            assert!(version["subresources"]["status"].is_object(), "{}", definition["metadata"]["name"]);
        }
    }
}

/// The server refuses what the schema can say, by the field that somebody has to mend.
#[test]
fn what_a_schema_can_refuse_is_refused_at_once() {
    let world = World::new();
    let updater = world.updater("all", "*");
    world.api.put(&updater);
    let outcome = |change: fn(&mut Value)| {
        let mut updater = world.updater("other", "*");
        change(&mut updater);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.api.put(&updater))).is_err()
    };
    assert!(outcome(|updater| updater["spec"]["applicationRefs"] = json!([])));
    assert!(outcome(|updater| updater["spec"]["applicationRefs"][0]["images"][0]["alias"] = json!("-bad")));
    assert!(outcome(|updater| updater["spec"]["writeBackConfig"] = json!({"method": "svn"})));
    assert!(!outcome(
        |updater| updater["spec"]["commonUpdateSettings"] = json!({"updateStrategy": "alphabetical"})
    ));
}
