//! The `status` of ImageUpdater resources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::status::{Condition, Time};

/// The status of an ImageUpdater.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ImageUpdaterStatus {
    /// The generation of the resource that was worked off last.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0))]
    pub(crate) observed_generation: i64,
    /// When registries were last asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_checked_at: Option<Time>,
    /// When an image was last brought up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_updated_at: Option<Time>,
    /// Number of Applications the resource is for.
    #[schemars(range(min = 0))]
    pub(crate) applications_matched: i32,
    /// Number of managed images.
    #[schemars(range(min = 0))]
    pub(crate) images_managed: i32,
    /// The changes of the last reconcile that made any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(crate) recent_updates: Vec<RecentUpdate>,
    /// The conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub(crate) conditions: Vec<Condition>,
}

/// An image that was brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecentUpdate {
    /// The alias of the image.
    pub(crate) alias: String,
    /// The image, in full.
    pub(crate) image: String,
    /// The tag or digest that it is at now.
    pub(crate) new_version: String,
    /// In how many Applications.
    #[schemars(range(min = 0))]
    pub(crate) applications_updated: i32,
    /// When.
    pub(crate) updated_at: Time,
    /// A message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As kubectl's columns and dashboards look at them, the numbers are there when they are 0.
    #[test]
    fn numbers_are_always_there() {
        let value = serde_json::to_value(ImageUpdaterStatus::default()).unwrap();
        assert_eq!(value, json!({ "applicationsMatched": 0, "imagesManaged": 0 }));
    }

    #[test]
    fn what_was_written_is_read_and_what_is_not_known_passed_over() {
        let written = json!({
            "observedGeneration": 4, "lastCheckedAt": "2026-11-30T18:00:00Z", "lastUpdatedAt": null,
            "applicationsMatched": 2, "imagesManaged": 3, "fromTheFuture": true,
            "recentUpdates": [{
                "alias": "web", "image": "ghcr.io/acme/web:1.2", "newVersion": "1.2", "applicationsUpdated": 1,
                "updatedAt": "2026-11-30T18:00:00Z",
            }],
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "ReconcileSucceeded", "message": "",
                "lastTransitionTime": "2026-11-30T18:00:00Z",
            }],
        });
        let status: ImageUpdaterStatus = serde_json::from_value(written.clone()).unwrap();
        let mut wanted = written;
        wanted.as_object_mut().unwrap().retain(|key, _| !matches!(&**key, "lastUpdatedAt" | "fromTheFuture"));
        assert_eq!(serde_json::to_value(status).unwrap(), wanted);
    }
}
