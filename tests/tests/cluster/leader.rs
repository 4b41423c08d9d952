//! A replica that leads no more, with work of a cluster at hand.

use std::thread;
use std::time::Duration;

use super::*;

const LEASES: &str = "leases.coordination.k8s.io";

/// Returns the holder of the Lease, if any.
fn holder(world: &World) -> Option<String> {
    let lease = world.api.list(LEASES).into_iter().next()?;
    lease["spec"]["holderIdentity"].as_str().filter(|holder| !holder.is_empty()).map(str::to_owned)
}

/// Takes the Lease, or keeps it, as another replica does.
fn hold(world: &World, holder: &str) {
    let lease = world.api.list(LEASES).remove(0);
    let name = lease["metadata"]["name"].as_str().expect("it has one").to_owned();
    let now = jiff::Timestamp::now();
    world.api.change(LEASES, ARGO_CD, &name, |lease| {
        lease["spec"]["holderIdentity"] = json!(holder);
        lease["spec"]["renewTime"] = json!(format!("{now:.6}"));
    });
}

/// A push that is under way cannot be called back, and does no harm; after it there is none.
#[test]
fn who_loses_the_lease_during_a_push_pushes_no_more() {
    let world = World::new();
    let (_server, config) = world.deploy_by_git();
    config.hook("pre-receive", "[ -e ../../begun ] && exit 0\ntouch ../../begun\nsleep 8");
    world.push("1.1.0");
    let daemon = world.start(&[]);
    daemon.waits("it pushes", || world.folder.path("begun").exists());
    hold(&world, "other");
    world.push("1.2.0");
    for _ in 0..14 {
        hold(&world, "other");
        thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(holder(&world).as_deref(), Some("other"));
    assert!(!stands_at(&config, "1.2.0"));
    assert_eq!(daemon.get("/healthz").0, 200);
    // The other one gives it back.
    hold(&world, "");
    daemon.waits("it leads again", || stands_at(&config, "1.2.0"));
}
