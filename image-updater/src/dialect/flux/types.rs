//! The fields of Flux' objects. The versions v1, v1beta2 and v1beta1 differ in missing fields, not in meaning.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::labels::LabelSelector;
use yamlserde::Spanned;

/// A span of time as Go writes it.
const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";

/// The same without hours, which no registry is given.
const TIMEOUT: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$";

/// The longest name of a ServiceAccount.
pub(super) const MAX_NAME: usize = 253;

/// The most expressions that leave out tags.
pub(super) const MAX_EXCLUSIONS: usize = 25;

/// Which image is looked for, and how its registry is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageRepository {
    /// The image, without a tag.
    pub(super) image: Spanned<String>,
    /// The scan interval.
    #[schemars(extend("pattern" = DURATION))]
    pub(super) interval: Spanned<String>,
    /// The time limit of a scan [default: the interval].
    #[schemars(extend("pattern" = TIMEOUT))]
    pub(super) timeout: Option<Spanned<String>>,
    /// The Secret with the credentials for the registry, of the type `kubernetes.io/dockerconfigjson`.
    pub(super) secret_ref: Option<Spanned<LocalReference>>,
    /// The Secret with the address of a proxy and the credentials for it.
    pub(super) proxy_secret_ref: Option<Spanned<LocalReference>>,
    /// The ServiceAccount whose pull secrets count too.
    #[schemars(length(max = MAX_NAME))]
    pub(super) service_account_name: Option<Spanned<String>>,
    /// The Secret with the authorities to trust, as `ca.crt`, and the client's certificate, as `tls.crt` and `tls.key`.
    pub(super) cert_secret_ref: Option<Spanned<LocalReference>>,
    /// The registry is not asked for now.
    #[serde(default)]
    pub(super) suspend: bool,
    /// From which other namespaces policies may refer to this object.
    pub(super) access_from: Option<AccessFrom>,
    /// Expressions: a tag that one of them matches does not count.
    #[schemars(length(max = MAX_EXCLUSIONS), extend("x-default" = ["^.*\\.sig$"]))]
    pub(super) exclusion_list: Option<Spanned<Vec<String>>>,
    /// The cloud whose own credentials the registry takes; `generic` for none.
    #[schemars(extend("x-default" = "generic"))]
    pub(super) provider: Option<Spanned<Provider>>,
    /// The registry does not speak TLS.
    #[serde(default)]
    pub(super) insecure: bool,
}

/// An object in the same namespace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalReference {
    /// Its name.
    pub(super) name: String,
}

/// From which other namespaces an object may be referred to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AccessFrom {
    /// Selectors of namespaces, of which one is enough.
    pub(super) namespace_selectors: Vec<NamespaceSelector>,
}

/// A selector of namespaces. An empty one selects all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct NamespaceSelector {
    /// The labels that a namespace has.
    #[serde(default)]
    pub(super) match_labels: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    Generic,
    Aws,
    Azure,
    Gcp,
}

/// Which tag of an image is chosen.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.interval) || (has(self.digestReflectionPolicy) && self.digestReflectionPolicy == 'Always')",
        "message": "spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'",
    },
    {
        "rule": "has(self.interval) || !has(self.digestReflectionPolicy) || self.digestReflectionPolicy != 'Always'",
        "message": "spec.interval must be set when spec.digestReflectionPolicy is set to 'Always'",
    },
]))]
pub(super) struct ImagePolicy {
    /// The ImageRepository with the tags.
    pub(super) image_repository_ref: Spanned<Reference>,
    /// The order of tags, of which the last is chosen.
    pub(super) policy: Spanned<Choice>,
    /// Which tags count, and what of them.
    pub(super) filter_tags: Option<TagFilter>,
    /// Tells whether the digest of the tag is written too: `Never`; `IfNotPresent`, and it stays as long as the tag does; or
    /// `Always`, also when the tag is pushed again.
    #[schemars(extend("x-default" = "Never"))]
    pub(super) digest_reflection_policy: Option<Spanned<Reflection>>,
    /// The interval at which the digest of the tag is polled, with `Always`.
    #[schemars(extend("pattern" = DURATION))]
    pub(super) interval: Option<Spanned<String>>,
    /// Nothing is chosen for now.
    #[serde(default)]
    pub(super) suspend: bool,
}

/// An object, in the same namespace unless one is named.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    /// Its name.
    pub(super) name: String,
    /// Its namespace.
    pub(super) namespace: Option<String>,
}

/// An order of tags: one of these.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    /// By versions.
    pub(super) semver: Option<Range>,
    /// By the alphabet.
    pub(super) alphabetical: Option<Ordered>,
    /// By numbers.
    pub(super) numerical: Option<Ordered>,
}

/// An order by versions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    /// The versions that are allowed.
    pub(super) range: String,
}

/// An order, and its direction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ordered {
    /// `asc` for the last tag, `desc` for the first.
    #[serde(default)]
    #[schemars(extend("x-default" = "asc"))]
    pub(super) order: Order,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    #[default]
    Asc,
    Desc,
}

/// Which tags count, and what of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TagFilter {
    /// An expression that tags match.
    #[serde(default)]
    pub(super) pattern: String,
    /// The part of the match that is ordered, such as a group by its name [default: the whole tag].
    #[serde(default)]
    pub(super) extract: String,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
pub(super) enum Reflection {
    Always,
    IfNotPresent,
    Never,
}

/// Which files of which repository are kept up to date, and how that is committed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageUpdateAutomation {
    /// The repository.
    pub(super) source_ref: Spanned<SourceReference>,
    /// The git settings.
    pub(super) git: Option<Git>,
    /// Interval.
    #[schemars(extend("pattern" = DURATION))]
    pub(super) interval: Spanned<String>,
    /// The label selector of ImagePolicies [default: all of the namespace].
    pub(super) policy_selector: Option<LabelSelector>,
    /// The update strategy.
    #[schemars(extend("x-default" = { "strategy": "Setters" }))]
    pub(super) update: Option<Spanned<UpdateStrategy>>,
    /// Nothing is done for now.
    #[serde(default)]
    pub(super) suspend: bool,
}

/// A GitRepository, in the same namespace unless one is named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
// What the API server fills in is required all the same.
#[schemars(extend("required" = ["kind", "name"]))]
pub(super) struct SourceReference {
    /// The version of its API.
    #[serde(rename = "apiVersion")]
    pub(super) _api_version: Option<String>,
    /// Its kind.
    #[serde(default = "git_repository")]
    #[schemars(extend("enum" = ["GitRepository"], "x-default" = "GitRepository"))]
    pub(super) kind: String,
    /// Its name.
    pub(super) name: String,
    /// Its namespace.
    pub(super) namespace: Option<String>,
}

/// The git settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Git {
    /// The checkout [default: that of the GitRepository].
    pub(super) checkout: Option<Checkout>,
    /// The commit settings.
    pub(super) commit: Commit,
    /// The push settings [default: the branch that is checked out].
    pub(super) push: Option<Push>,
}

/// The checkout settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkout {
    /// A branch, as nothing else can be pushed to.
    #[serde(rename = "ref")]
    pub(super) reference: Spanned<GitReference>,
}

/// The checked out revision: the last of these that is set, in this order.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GitReference {
    /// A branch.
    pub(super) branch: Option<String>,
    /// A tag.
    pub(super) tag: Option<String>,
    /// The last tag in a range of versions.
    pub(super) semver: Option<String>,
    /// A reference by its whole name, such as `refs/heads/main`.
    pub(super) name: Option<String>,
    /// A commit.
    pub(super) commit: Option<String>,
}

/// The commit settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Commit {
    /// The author.
    pub(super) author: Author,
    /// The signing key.
    pub(super) signing_key: Option<Spanned<SigningKey>>,
    /// Their message, as a template.
    pub(super) message_template: Option<Spanned<String>>,
    /// The value of `.Values` in the template.
    #[serde(default)]
    pub(super) message_template_values: BTreeMap<String, String>,
}

/// The author of commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Author {
    /// A name.
    pub(super) name: Option<String>,
    /// An address.
    pub(super) email: String,
}

/// The signing key of commits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SigningKey {
    /// The Secret with the key: `git.asc` and `passphrase` for `gpg`, `identity` and `password` for `ssh`.
    pub(super) secret_ref: LocalReference,
    /// The type of key [default: `gpg`].
    #[serde(default)]
    pub(super) r#type: SigningKeyType,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SigningKeyType {
    #[default]
    Gpg,
    Ssh,
}

/// The push settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Push {
    /// The branch, which is made from the one that is read where it is not there.
    pub(super) branch: Option<Spanned<String>>,
    /// A refspec that is pushed too.
    pub(super) refspec: Option<Spanned<String>>,
    /// Push options for the server.
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
}

/// The update strategy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateStrategy {
    /// The fields that have markers.
    #[serde(default, rename = "strategy")]
    #[schemars(extend("x-default" = "Setters"))]
    pub(super) _strategy: Strategy,
    /// The folder whose files are looked at; all of the repository where this does not say.
    #[serde(default)]
    pub(super) path: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) enum Strategy {
    #[default]
    Setters,
}

/// Of a GitRepository only what says where it is: the rest is for who deploys from it.
#[derive(Debug, Deserialize)]
pub(super) struct GitRepository {
    pub(super) url: Spanned<String>,
    #[serde(rename = "ref")]
    pub(super) reference: Option<Spanned<GitReference>>,
    #[serde(rename = "secretRef")]
    pub(super) secret_ref: Option<Spanned<LocalReference>>,
    #[serde(rename = "proxySecretRef")]
    pub(super) proxy_secret_ref: Option<Spanned<LocalReference>>,
    /// `github` where the Secret is of a GitHub App.
    pub(super) provider: Option<String>,
}

fn git_repository() -> String {
    "GitRepository".to_owned()
}
