//! What stands in Flux's objects. The versions v1, v1beta2 and v1beta1 differ in what they lack, not in what a field means.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::labels::LabelSelector;
use yamlserde::Placed;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageRepository {
    pub(super) image: Placed<String>,
    pub(super) interval: Placed<String>,
    pub(super) timeout: Option<Placed<String>>,
    pub(super) secret_ref: Option<Placed<LocalReference>>,
    pub(super) proxy_secret_ref: Option<Placed<LocalReference>>,
    pub(super) service_account_name: Option<Placed<String>>,
    pub(super) cert_secret_ref: Option<Placed<LocalReference>>,
    #[serde(default)]
    pub(super) suspend: bool,
    pub(super) access_from: Option<AccessFrom>,
    pub(super) exclusion_list: Option<Placed<Vec<String>>>,
    pub(super) provider: Option<Placed<Provider>>,
    #[serde(default)]
    pub(super) insecure: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalReference {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AccessFrom {
    pub(super) namespace_selectors: Vec<NamespaceSelector>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct NamespaceSelector {
    #[serde(default)]
    pub(super) match_labels: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    Generic,
    Aws,
    Azure,
    Gcp,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImagePolicy {
    pub(super) image_repository_ref: Placed<Reference>,
    pub(super) policy: Placed<Choice>,
    pub(super) filter_tags: Option<TagFilter>,
    pub(super) digest_reflection_policy: Option<Placed<Reflection>>,
    pub(super) interval: Option<Placed<String>>,
    #[serde(default)]
    pub(super) suspend: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub(super) semver: Option<Range>,
    pub(super) alphabetical: Option<Ordered>,
    pub(super) numerical: Option<Ordered>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    pub(super) range: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ordered {
    #[serde(default)]
    pub(super) order: Order,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    #[default]
    Asc,
    Desc,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TagFilter {
    pub(super) pattern: String,
    #[serde(default)]
    pub(super) extract: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(super) enum Reflection {
    Always,
    IfNotPresent,
    Never,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageUpdateAutomation {
    pub(super) source_ref: Placed<SourceReference>,
    pub(super) git: Option<Git>,
    pub(super) interval: Placed<String>,
    pub(super) policy_selector: Option<LabelSelector>,
    pub(super) update: Option<Placed<UpdateStrategy>>,
    #[serde(default)]
    pub(super) suspend: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SourceReference {
    #[serde(rename = "apiVersion")]
    pub(super) _api_version: Option<String>,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Git {
    pub(super) checkout: Option<Checkout>,
    pub(super) commit: Commit,
    pub(super) push: Option<Push>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkout {
    #[serde(rename = "ref")]
    pub(super) reference: Placed<GitReference>,
}

/// What is checked out: the last of these that is there, in this order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GitReference {
    pub(super) branch: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) semver: Option<String>,
    pub(super) name: Option<String>,
    pub(super) commit: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Commit {
    pub(super) author: Author,
    pub(super) signing_key: Option<Placed<SigningKey>>,
    pub(super) message_template: Option<Placed<String>>,
    #[serde(default)]
    pub(super) message_template_values: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Author {
    pub(super) name: Option<String>,
    pub(super) email: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SigningKey {
    pub(super) secret_ref: LocalReference,
    #[serde(default)]
    pub(super) r#type: SigningKeyType,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SigningKeyType {
    #[default]
    Gpg,
    Ssh,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    pub(super) branch: Option<Placed<String>>,
    pub(super) refspec: Option<Placed<String>>,
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateStrategy {
    #[serde(default, rename = "strategy")]
    pub(super) _strategy: Strategy,
    #[serde(default)]
    pub(super) path: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) enum Strategy {
    #[default]
    Setters,
}

/// Of a GitRepository only what says where it is: the rest is for who deploys from it.
#[derive(Debug, Deserialize)]
pub(super) struct GitRepository {
    pub(super) url: Placed<String>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<Placed<GitReference>>,
    #[serde(rename = "secretRef")]
    pub(super) secret_ref: Option<Placed<LocalReference>>,
    /// `github` where the Secret is of a GitHub App.
    pub(super) provider: Option<String>,
}
