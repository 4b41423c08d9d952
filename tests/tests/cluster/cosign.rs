//! An image that must be signed is written only if a key of a Secret signed it.

use testkit::Pushed;
use testkit::cosign::CosignKey;

use super::*;

impl World {
    fn push_signed(&self, tag: &str, key: &CosignKey) {
        let image = self.registry.push_image("shop", tag, "linux/amd64", CREATED);
        self.sign(&image, key);
    }

    fn sign(&self, image: &Pushed, key: &CosignKey) {
        let tag = format!("{}.sig", image.digest.replace(':', "-"));
        self.registry.push_signatures("shop", &tag, &[key.simple_signing(&image.digest)]);
    }

    fn put_key(&self, key: &CosignKey) {
        self.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "signers"},
            "stringData": {"cosign.pub": key.public_pem()},
        }));
    }

    /// An ImageUpdater that wants images to be signed.
    fn put_wary(&self) {
        let mut updater = self.updater("all", "shop");
        updater["spec"]["imagesVerification"] =
            json!({"enabled": true, "cosignKey": {"secretName": "signers", "key": "cosign.pub"}});
        self.api.put(&updater);
    }

    fn trouble(&self) -> String {
        let error = self.condition(UPDATERS, "all", "Error");
        if error["status"] == "True" { error["message"].to_string() } else { String::new() }
    }
}

#[test]
fn only_what_is_signed_is_written() {
    let (world, key) = (World::new(), CosignKey::new());
    world.deploy("shop");
    world.put_key(&key);
    world.put_wary();
    world.push_signed("1.1.0", &key);
    let daemon = world.start(&[]);
    world.runs(&daemon, "shop", "1.1.0");
    let unsigned = world.registry.push_image("shop", "1.2.0", "linux/amd64", CREATED);
    daemon.waits("it is told", || world.trouble().contains("is not signed"));
    assert!(world.trouble().contains(&unsigned.digest), "{}", world.trouble());
    // By somebody else it is not signed either.
    world.sign(&unsigned, &CosignKey::new());
    daemon.waits("it is told", || world.trouble().contains("with another key"));
    assert_eq!(world.images("shop"), json!([format!("{}:1.1.0", world.image())]));
    world.sign(&unsigned, &key);
    world.runs(&daemon, "shop", "1.2.0");
    daemon.waits("all is well", || world.trouble().is_empty());
}

#[test]
fn a_key_that_is_missing_or_malformed_lets_nothing_through() {
    let (world, key) = (World::new(), CosignKey::new());
    world.deploy("shop");
    world.put_wary();
    world.push_signed("1.1.0", &key);
    // It would look again in an hour: it is the Secret that has it look.
    let daemon = world.start(&["--interval", "1h"]);
    daemon.waits("it is told", || world.trouble().contains("argocd/signers"));
    let put = |text: &str| {
        world.api.put(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": ARGO_CD, "name": "signers"},
            "stringData": {"cosign.pub": text},
        }))
    };
    let before = world.trouble();
    put("-----BEGIN PUBLIC KEY-----\nc3VycHJpc2U=\n-----END PUBLIC KEY-----\n");
    daemon.waits("it is told", || world.trouble() != before && !world.trouble().is_empty());
    assert!(!world.trouble().contains("c3VycHJpc2U"), "{}", world.trouble());
    put(&CosignKey::new().public_pem());
    daemon.waits("it is told", || world.trouble().contains("with another key"));
    assert_eq!(world.images("shop"), Value::Null);
    world.put_key(&key);
    world.runs(&daemon, "shop", "1.1.0");
}
