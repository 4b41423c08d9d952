//! The fields of ImageUpdater resources, to which annotations are converted.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::labels::LabelSelector;
use yamlserde::Spanned;

/// Which Applications an ImageUpdater is for, and which images of these it keeps up to date.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImageUpdater {
    /// The default update settings.
    pub(super) common_update_settings: Option<Settings>,
    /// The default write-back settings.
    pub(super) write_back_config: Option<WriteBack>,
    /// The Applications, in the namespace of this resource. One that several references match is worked off by the most
    /// specific one of these alone.
    #[schemars(
        length(min = 1),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["namePattern"])
    )]
    pub(super) application_refs: Vec<Spanned<ApplicationRef>>,
    /// The default signature verification.
    pub(super) images_verification: Option<Spanned<Verification>>,
    /// Was there before 1.2.
    #[schemars(skip)]
    pub(super) namespace: Option<Spanned<String>>,
}

/// Applications, and what is done for them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!(has(self.useAnnotations) && self.useAnnotations == true) ? (has(self.images) && size(self.images) > 0) : true",
    "message": "Either useAnnotations must be true, or images must be provided with at least one item",
}]))]
pub(super) struct ApplicationRef {
    /// The name of an Application, or a glob that names match.
    pub(super) name_pattern: Spanned<String>,
    /// The label selector of Applications.
    pub(super) label_selectors: Option<LabelSelector>,
    /// Images and settings are those of the Application's annotations; of this reference only `namePattern`,
    /// `labelSelectors` and `imagesVerification` count.
    #[serde(default)]
    #[schemars(extend("x-default" = false))]
    pub(super) use_annotations: bool,
    /// The default signature verification of its images.
    pub(super) images_verification: Option<Spanned<Verification>>,
    /// The default update settings of its images.
    pub(super) common_update_settings: Option<Settings>,
    /// The write-back settings.
    pub(super) write_back_config: Option<WriteBack>,
    /// The images that are kept up to date.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["alias"]))]
    pub(super) images: Vec<Spanned<Image>>,
}

/// The update settings. Missing fields are inherited from the more general settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Settings {
    /// The order of tags, of which the last is chosen: `semver`, which is the default, `newest-build`, `digest` or
    /// `alphabetical`.
    pub(super) update_strategy: Option<Spanned<String>>,
    /// The image is kept up to date though nothing that runs has it.
    pub(super) force_update: Option<Spanned<bool>>,
    /// The tags that count: `any`, or `regexp:` and an expression.
    pub(super) allow_tags: Option<Spanned<String>>,
    /// The tags that do not count, as globs.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(super) ignore_tags: Option<Spanned<Vec<String>>>,
    /// The credentials source for the registry: `pullsecret:NAMESPACE/NAME`, `secret:NAMESPACE/NAME#KEY`,
    /// `env:VARIABLE` or `ext:PROGRAM`.
    pub(super) pull_secret: Option<Spanned<String>>,
    /// The platforms that an image has to be there for, as `OS/ARCHITECTURE[/VARIANT]`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(super) platforms: Option<Spanned<Vec<String>>>,
}

/// The write-back settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct WriteBack {
    /// `argocd`, which is the default, writes to the Application; `git` to its repository, with the credentials that Argo
    /// CD has for it or those of `git:secret:NAMESPACE/NAME`.
    #[schemars(extend("pattern" = "^(argocd|git|git:[a-zA-Z0-9][a-zA-Z0-9-._/:]*)$"))]
    pub(super) method: Option<Spanned<String>>,
    /// The git settings of the write-back method.
    #[serde(default)]
    pub(super) git_config: GitConfig,
}

/// The git settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct GitConfig {
    /// The address of the repository; that of the Application's source where this does not say.
    pub(super) repository: Option<Spanned<String>>,
    /// The branch that is read, and after a colon a template for the one that is pushed.
    pub(super) branch: Option<Spanned<String>>,
    /// The file that is written: `kustomization[:PATH]`, `helmvalues[:PATH]` or a file of overrides.
    pub(super) write_back_target: Option<Spanned<String>>,
    /// A pull request is opened for what is pushed.
    pub(super) pull_request: Option<Spanned<PullRequest>>,
}

/// A pull request, and where it is opened.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "(has(self.github) ? 1 : 0) + (has(self.gitlab) ? 1 : 0) == 1",
    "message": "Exactly one of github or gitlab must be set",
}]))]
pub(super) struct PullRequest {
    /// On GitHub.
    pub(super) github: Option<Empty>,
    /// On GitLab.
    pub(super) gitlab: Option<Empty>,
    /// Its labels.
    #[serde(default)]
    #[schemars(
        length(max = 100),
        inner(length(min = 1, max = 255)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub(super) labels: Vec<Spanned<String>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

/// An image that is kept up to date.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Image {
    /// The alias.
    #[schemars(extend("pattern" = "^[a-zA-Z0-9][a-zA-Z0-9-._]*$"))]
    pub(super) alias: Spanned<String>,
    /// The image, and after a colon the versions that are allowed, or the tag that `digest` watches.
    pub(super) image_name: Spanned<String>,
    /// The update settings.
    #[serde(default)]
    pub(super) common_update_settings: Settings,
    /// The position of the image in the manifests.
    pub(super) manifest_targets: Option<Spanned<ManifestTarget>>,
    /// The signature verification.
    pub(super) images_verification: Option<Spanned<Verification>>,
}

/// The position of an image in the manifests of an Application.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "(has(self.helm) ? 1 : 0) + (has(self.kustomize) ? 1 : 0) + (has(self.plugin) ? 1 : 0) == 1",
    "message": "Exactly one of helm, kustomize, or plugin must be specified within manifestTargets if the block is present.",
}]))]
pub(super) struct ManifestTarget {
    /// In the values of a chart.
    pub(super) helm: Option<Parts>,
    /// Among the images of a kustomization.
    pub(super) kustomize: Option<KustomizeTarget>,
    /// In the environment of a plugin.
    pub(super) plugin: Option<Spanned<PluginTarget>>,
}

/// The values that a name and a tag, or both in one, stand in.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    /// The path of the name [default: `image.name`].
    pub(super) name: Option<String>,
    /// The path of the tag [default: `image.tag`].
    pub(super) tag: Option<String>,
    /// The path of the whole reference; `name` and `tag` are then ignored.
    pub(super) spec: Option<String>,
}

/// An image of a kustomization.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KustomizeTarget {
    /// The name of the image in the manifests.
    pub(super) name: String,
}

/// The variables that a name and a tag, or both in one, stand in.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.spec) || has(self.name)",
    "message": "At least one of spec or name must be specified in plugin target.",
}]))]
pub(super) struct PluginTarget {
    /// The variable with the name.
    #[schemars(length(min = 1, max = 253))]
    pub(super) name: Option<Spanned<String>>,
    /// The variable with the tag.
    #[schemars(length(min = 1, max = 253))]
    pub(super) tag: Option<Spanned<String>>,
    /// The variable with the whole reference; `name` and `tag` do not count then.
    #[schemars(length(min = 1, max = 253))]
    pub(super) spec: Option<Spanned<String>>,
}

/// The signature verification of images.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "self.enabled == false || has(self.cosignKey)",
    "message": "at least one verification method (cosignKey) is required when verification is enabled",
}]))]
pub(super) struct Verification {
    /// True if signatures are asked for; `false` takes back what is said where it is more general.
    #[schemars(extend("x-default" = true))]
    pub(super) enabled: Option<bool>,
    /// The public key of who signs with Cosign, in PEM.
    pub(super) cosign_key: Option<SecretKey>,
}

/// A key of a Secret in the namespace of the resource.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SecretKey {
    /// The name of the Secret.
    pub(super) secret_name: String,
    /// The key in it.
    pub(super) key: String,
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
