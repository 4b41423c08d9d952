//! What stands in ImageUpdater resources, which is also what annotations come to.

use serde::Deserialize;

use super::super::labels::LabelSelector;
use yamlserde::Placed;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageUpdater {
    pub(super) common_update_settings: Option<Settings>,
    pub(super) write_back_config: Option<WriteBack>,
    pub(super) application_refs: Vec<Placed<ApplicationRef>>,
    pub(super) images_verification: Option<Placed<Verification>>,
    /// Was there before 1.2.
    pub(super) namespace: Option<Placed<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ApplicationRef {
    pub(super) name_pattern: Placed<String>,
    pub(super) label_selectors: Option<LabelSelector>,
    #[serde(default)]
    pub(super) use_annotations: bool,
    pub(super) images_verification: Option<Placed<Verification>>,
    pub(super) common_update_settings: Option<Settings>,
    pub(super) write_back_config: Option<WriteBack>,
    #[serde(default)]
    pub(super) images: Vec<Placed<Image>>,
}

/// How a tag is chosen. What is absent is taken from where it is more general.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Settings {
    pub(super) update_strategy: Option<Placed<String>>,
    pub(super) force_update: Option<Placed<bool>>,
    pub(super) allow_tags: Option<Placed<String>>,
    pub(super) ignore_tags: Option<Placed<Vec<String>>>,
    pub(super) pull_secret: Option<Placed<String>>,
    pub(super) platforms: Option<Placed<Vec<String>>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct WriteBack {
    pub(super) method: Option<Placed<String>>,
    #[serde(default)]
    pub(super) git_config: GitConfig,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct GitConfig {
    pub(super) repository: Option<Placed<String>>,
    pub(super) branch: Option<Placed<String>>,
    pub(super) write_back_target: Option<Placed<String>>,
    pub(super) pull_request: Option<Placed<PullRequest>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PullRequest {
    pub(super) github: Option<Empty>,
    pub(super) gitlab: Option<Empty>,
    #[serde(default)]
    pub(super) labels: Vec<Placed<String>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) alias: Placed<String>,
    pub(super) image_name: Placed<String>,
    #[serde(default)]
    pub(super) common_update_settings: Settings,
    pub(super) manifest_targets: Option<Placed<ManifestTarget>>,
    pub(super) images_verification: Option<Placed<Verification>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestTarget {
    pub(super) helm: Option<Parts>,
    pub(super) kustomize: Option<KustomizeTarget>,
    pub(super) plugin: Option<Parts>,
}

/// Where a name and a tag, or both in one, stand.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    pub(super) name: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) spec: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KustomizeTarget {
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Verification {
    pub(super) enabled: Option<bool>,
    pub(super) cosign_key: Option<SecretKey>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SecretKey {
    #[serde(rename = "secretName")]
    pub(super) _secret_name: String,
    #[serde(rename = "key")]
    pub(super) _key: String,
}

impl Settings {
    /// These settings, and of more general ones what these lack.
    pub(super) fn over(&self, general: &Self) -> Self {
        fn either<T: Clone>(own: &Option<T>, general: &Option<T>) -> Option<T> {
            own.as_ref().or(general.as_ref()).cloned()
        }
        Self {
            update_strategy: either(&self.update_strategy, &general.update_strategy),
            force_update: either(&self.force_update, &general.force_update),
            allow_tags: either(&self.allow_tags, &general.allow_tags),
            ignore_tags: either(&self.ignore_tags, &general.ignore_tags),
            pull_secret: either(&self.pull_secret, &general.pull_secret),
            platforms: either(&self.platforms, &general.platforms),
        }
    }
}

impl WriteBack {
    /// These settings, and of more general ones what these lack. A pull request replaces another as a whole.
    pub(super) fn over(&self, general: &Self) -> Self {
        let (own, other) = (&self.git_config, &general.git_config);
        Self {
            method: self.method.as_ref().or(general.method.as_ref()).cloned(),
            git_config: GitConfig {
                repository: own.repository.as_ref().or(other.repository.as_ref()).cloned(),
                branch: own.branch.as_ref().or(other.branch.as_ref()).cloned(),
                write_back_target: own
                    .write_back_target
                    .as_ref()
                    .or(other.write_back_target.as_ref())
                    .cloned(),
                pull_request: own.pull_request.as_ref().or(other.pull_request.as_ref()).cloned(),
            },
        }
    }
}
