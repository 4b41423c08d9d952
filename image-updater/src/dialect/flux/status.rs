//! The `status` of Flux' image objects.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::super::status::{Condition, Time};

/// The status of an ImageRepository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ImageRepositoryStatus {
    /// The conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    /// The generation of the object that was worked off last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// The image with all that its name leaves to be understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) canonical_image_name: Option<String>,
    /// The result of the last scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_scan_result: Option<ScanResult>,
    /// The expressions that it has left out tags by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) observed_exclusion_list: Vec<String>,
    /// The annotation `reconcile.fluxcd.io/requestedAt` that was last heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_handled_reconcile_at: Option<String>,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScanResult {
    /// A hash of the tags, which is another when they are.
    #[serde(default)]
    pub(crate) revision: String,
    /// Number of tags.
    #[schemars(schema_with = "integer")]
    pub(crate) tag_count: u64,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scan_time: Option<Time>,
    /// The last ten tags by the alphabet, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) latest_tags: Vec<String>,
}

/// The status of an ImagePolicy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ImagePolicyStatus {
    /// The image that is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latest_ref: Option<ImageReference>,
    /// The one that was chosen before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_previous_ref: Option<ImageReference>,
    /// The generation of the object that was worked off last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// The conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    /// The annotation `reconcile.fluxcd.io/requestedAt` that was last heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_handled_reconcile_at: Option<String>,
}

/// An image with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ImageReference {
    /// Its name alone.
    pub(crate) name: String,
    /// Its tag.
    pub(crate) tag: String,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
}

/// The status of an ImageUpdateAutomation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ImageUpdateAutomationStatus {
    /// When it was last worked off to its end, whether that changed anything or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_automation_run_time: Option<Time>,
    /// The last commit that was pushed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_push_commit: Option<String>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_push_time: Option<Time>,
    /// The generation of the object that was worked off last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
    /// The conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conditions: Vec<Condition>,
    /// The policies that were looked at, by name, with what each has chosen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) observed_policies: BTreeMap<String, ImageReference>,
    /// The revision of the source that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed_source_revision: Option<String>,
    /// The annotation `reconcile.fluxcd.io/requestedAt` that was last heard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_handled_reconcile_at: Option<String>,
}

/// A number without bounds, as the original has it.
fn integer(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer" })
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn again<T: Serialize + DeserializeOwned>(value: Value) -> Value {
        serde_json::to_value(serde_json::from_value::<T>(value).unwrap()).unwrap()
    }

    #[test]
    fn what_was_written_is_read() {
        let (name, tag, digest) = ("ghcr.io/acme/web", "1.2.3", "sha256:aa");
        let time = "2026-11-30T18:00:00Z";
        let conditions = json!([{
            "type": "Ready", "status": "False", "reason": "ReadOperationFailed", "message": "no", "observedGeneration": 2,
            "lastTransitionTime": time,
        }]);
        let repository = json!({
            "canonicalImageName": "index.docker.io/library/alpine", "observedExclusionList": ["^.*\\.sig$"],
            "lastScanResult": { "revision": "1", "tagCount": 2, "scanTime": time, "latestTags": ["b", "a"] },
            "observedGeneration": -1, "lastHandledReconcileAt": "now", "conditions": conditions,
        });
        assert_eq!(again::<ImageRepositoryStatus>(repository.clone()), repository);
        let policy = json!({
            "latestRef": { "name": name, "tag": tag, "digest": digest },
            "observedPreviousRef": { "name": name, "tag": tag }, "observedGeneration": 2, "conditions": conditions,
        });
        assert_eq!(again::<ImagePolicyStatus>(policy.clone()), policy);
        let automation = json!({
            "lastAutomationRunTime": time, "lastPushCommit": "abc", "lastPushTime": time, "observedGeneration": 1,
            "observedPolicies": { "web": { "name": name, "tag": tag, "digest": digest } },
            "observedSourceRevision": "main@sha1:abc",
        });
        assert_eq!(again::<ImageUpdateAutomationStatus>(automation.clone()), automation);
    }

    /// Go writes a time that is none as null.
    #[test]
    fn a_scan_without_a_time_is_read() {
        let result = again::<ScanResult>(json!({ "revision": "", "tagCount": 0, "scanTime": null }));
        assert_eq!(result, json!({ "revision": "", "tagCount": 0 }));
    }
}
