//! The fields of `image-updater.yaml`. The JSON schema is generated from these types.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::credentials::Credentials;
use crate::change::Named;
use crate::forge::FORGES;
use crate::{edit, policy};
use yamlserde::Spanned;

/// The configuration of image-updater. Files that it names are looked for in its folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "image-updater.yaml")]
pub(super) struct File {
    /// The version of this format.
    #[serde(rename = "apiVersion")]
    pub(super) _api_version: ApiVersion,
    /// Always `Config`.
    #[serde(rename = "kind")]
    pub(super) _kind: Kind,
    /// Settings of single registries.
    #[serde(default)]
    pub(super) registries: Vec<Spanned<Registry>>,
    /// Keys that commits are signed with.
    #[serde(default)]
    pub(super) signing_keys: Vec<SigningKey>,
    /// The repository that is changed; the folder of this file where there is none.
    pub(super) git: Option<Spanned<Git>>,
    /// Files and folders of the repository with what is written for Flux or Argo CD Image Updater, which is done too.
    #[serde(default)]
    pub(super) discover: Vec<Spanned<String>>,
    /// Default signature verification.
    pub(super) verify: Option<Spanned<Verify>>,
    /// Which images are looked at, and where they are written.
    pub(super) updates: Option<Vec<Spanned<Update>>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) enum ApiVersion {
    #[serde(rename = "image-updater/v1alpha1")]
    V1Alpha1,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) enum Kind {
    Config,
}

/// Settings of the registries on a host, or of the repositories below a path on it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Registry {
    /// A host, or a host and a path; the longest one that an image is below counts.
    pub prefix: String,
    /// The address of its API, where that is not on the host.
    pub api: Option<String>,
    /// It does not speak TLS.
    #[serde(default)]
    pub plain_http: bool,
    /// Its certificate is not checked.
    #[serde(default)]
    pub insecure: bool,
    /// A file of authorities to trust beside the machine's, in PEM.
    pub ca_file: Option<String>,
    /// Authorities to trust beside the machine's, in PEM.
    pub ca_data: Option<String>,
    /// The source of its credentials.
    pub credentials: Option<Credentials>,
    /// The namespace of names without a slash.
    pub default_namespace: Option<String>,
    /// Requests in a second.
    pub rate_limit: Option<f64>,
    /// Requests side by side.
    pub concurrency: Option<usize>,
    /// Its lists link to pages under another of its names.
    #[serde(default)]
    pub foreign_links: bool,
    /// Fallback sources of credentials, in order.
    #[serde(skip)]
    pub otherwise: Vec<Credentials>,
    /// It is shown no credentials but those above: a tenant says through what it is spoken to, and may listen there.
    #[serde(skip)]
    pub only_own_credentials: bool,
    /// For how long what a program gave is used again, where that is not as usual.
    #[serde(skip)]
    pub credentials_expire: Option<Duration>,
    /// The Secret that says how TLS is spoken: `ca.crt`, `tls.crt` and `tls.key`.
    #[serde(skip)]
    pub tls_secret: Option<Named>,
    /// The Secret that says which proxy stands before it: `address`, `username` and `password`.
    #[serde(skip)]
    pub proxy_secret: Option<Named>,
}

impl Registry {
    /// With its files looked for in a folder.
    pub(super) fn within(mut self, folder: &Path) -> Self {
        self.ca_file = self.ca_file.map(|path| within(folder, path));
        self.credentials = self.credentials.map(|credentials| credentials.within(folder));
        self
    }
}

impl Verify {
    /// Has its files looked for in a folder.
    pub(super) fn locate(&mut self, folder: &Path) {
        for key in &mut self.cosign_keys {
            if let CosignKey::File(path) = &mut key.value {
                *path = within(folder, std::mem::take(path));
            }
        }
    }
}

impl SigningKey {
    /// With its file looked for in a folder; what GnuPG has is known by name.
    pub(super) fn within(mut self, folder: &Path) -> Self {
        if self.format == SignatureFormat::Ssh {
            self.file = within(folder, self.file);
        }
        self
    }
}

impl Git {
    /// Has its files looked for in a folder.
    pub(super) fn locate(&mut self, folder: &Path) {
        let locate = |path: &mut String| *path = within(folder, std::mem::take(path));
        self.ca_file.iter_mut().for_each(locate);
        self.credentials = self.credentials.take().map(|credentials| credentials.within(folder));
        if let Some(TokenSource::File(path)) =
            self.github_app.as_mut().map(|app| &mut app.value.private_key_from)
        {
            locate(path);
        }
        let Some(request) = &mut self.pull_request else { return };
        request.body.iter_mut().for_each(|body| locate(&mut body.value));
        if let Some(TokenSource::File(path)) = &mut request.token_from {
            locate(path);
        }
    }
}

pub(super) fn within(folder: &Path, path: String) -> String {
    // What is here already keeps the name that it was given.
    if folder == Path::new(".") { path } else { folder.join(path).display().to_string() }
}

/// A key that commits are signed with.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SigningKey {
    /// The name of the key.
    pub name: String,
    /// The signature format.
    pub format: SignatureFormat,
    /// The file that holds it.
    pub file: String,
}

/// A kind of signature.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SignatureFormat {
    /// By a key of SSH.
    Ssh,
    /// By a key of GnuPG and its kin.
    Openpgp,
}

/// The repository that is changed, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Git {
    /// Its address.
    pub(super) url: Option<String>,
    /// The branch that is read.
    pub(super) branch: Option<String>,
    /// The branch that is pushed, as a template; the one that is read where there is none.
    pub(super) push_branch: Option<Spanned<String>>,
    /// Push options for the server.
    #[serde(default)]
    pub(super) push_options: Vec<String>,
    /// The source of the credentials for it.
    pub(super) credentials: Option<Credentials>,
    /// The GitHub App that it is written by, instead of `credentials`; pull requests are its too.
    pub(super) github_app: Option<Spanned<GithubApp>>,
    /// The flavour of templates.
    #[serde(default)]
    pub(super) templates: Words,
    /// The value of `.Values` in templates.
    #[serde(default)]
    pub(super) template_values: BTreeMap<String, String>,
    /// The value of `.AutomationObject` in templates, as `NAMESPACE/NAME`.
    pub(super) automation: Option<String>,
    /// A file of the only authorities to trust for it and its forge, in PEM; the machine's where there is none.
    pub(super) ca_file: Option<String>,
    /// The author of commits.
    pub(super) author: Option<Author>,
    /// The message of commits, as a template.
    pub(super) message: Option<Spanned<String>>,
    /// The committer signs off.
    #[serde(default)]
    pub(super) sign_off: bool,
    /// The name of the key that signs commits.
    pub(super) signing_key: Option<Spanned<String>>,
    /// A commit for each application instead of one for all.
    #[serde(default)]
    pub(super) commit_per_application: bool,
    /// A pull request for what is pushed.
    pub(super) pull_request: Option<PullRequest>,
}

/// The flavour of templates: variables and defaults.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Words {
    /// Those of Argo CD Image Updater.
    #[default]
    ArgoCd,
    /// Those of Flux.
    Flux,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Author {
    pub(super) name: String,
    pub(super) email: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct PullRequest {
    /// The kind of forge, if the URL does not tell.
    #[schemars(schema_with = "forges")]
    pub(super) forge: Option<Spanned<String>>,
    /// The address of its API, where that is not as usual.
    pub(super) api: Option<String>,
    /// The source of its token [default: the password for git, or the variable `GITHUB_TOKEN`, `GITLAB_TOKEN` or
    /// `GITEA_TOKEN`].
    pub(super) token_from: Option<TokenSource>,
    /// Its title, as a template; the first line of the message where there is none.
    pub(super) title: Option<Spanned<String>>,
    /// A file with the template of its text.
    pub(super) body: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) labels: Vec<String>,
    /// The reviewers.
    #[serde(default)]
    pub(super) reviewers: Vec<String>,
    #[serde(default)]
    pub(super) draft: bool,
    /// It is merged in this way as soon as its checks allow it.
    pub(super) auto_merge: Option<MergeMethod>,
}

/// A GitHub App and where it is installed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct GithubApp {
    /// Its number, or its client id.
    pub(super) id: String,
    /// The number of its installation.
    pub(super) installation: u64,
    /// The source of its private key, in PEM.
    pub(super) private_key_from: TokenSource,
    /// The address of GitHub's API, where that is not as usual; that of `pullRequest` where this does not say.
    pub(super) api: Option<String>,
}

/// The source of a token, never the token itself.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum TokenSource {
    /// A variable that holds it.
    Env(String),
    /// A file that holds it.
    File(String),
}

/// The merge method of a request.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum MergeMethod {
    Merge,
    Squash,
    Rebase,
}

/// Images with what they have in common.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Update {
    /// The polling interval, such as `5m`.
    pub(super) interval: Option<Spanned<String>>,
    /// The Application of the images, as `NAMESPACE/NAME`.
    pub(super) application: Option<String>,
    /// They are left alone for now.
    #[serde(default)]
    pub(super) suspend: bool,
    /// The default policy of its images.
    pub(super) policy: Option<Spanned<Policy>>,
    /// The default targets of its images.
    #[serde(default)]
    pub(super) targets: Vec<Spanned<Target>>,
    /// The default signature verification of its images.
    pub(super) verify: Option<Spanned<Verify>>,
    /// The images.
    pub(super) images: Vec<Spanned<Image>>,
}

/// Signature verification before an image is written. The most specific one applies.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Verify {
    /// Set it to false for what cannot be signed.
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    /// Public keys, with one of which Cosign has to have signed.
    #[serde(default)]
    pub(super) cosign_keys: Vec<Spanned<CosignKey>>,
}

/// The source of a public key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum CosignKey {
    /// A file that holds it, in PEM.
    File(String),
    /// It itself, in PEM.
    Pem(String),
    /// A Secret of the cluster, as `NAMESPACE/NAME#KEY`.
    Secret(String),
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Image {
    /// The name in reports [default: the image].
    pub(super) name: Option<String>,
    /// The image, with the tag that the `digest` strategy watches.
    pub(super) image: Spanned<String>,
    /// The policy.
    pub(super) policy: Option<Spanned<Policy>>,
    /// The digest is written behind the tag.
    #[serde(default)]
    pub(super) pin_digest: bool,
    /// With `pinDigest`: a digest stays as long as its tag does, also when that is pushed again.
    #[serde(default)]
    pub(super) keep_digest: bool,
    /// The signature verification.
    pub(super) verify: Option<Spanned<Verify>>,
    /// The targets.
    pub(super) targets: Option<Vec<Spanned<Target>>>,
}

/// A policy that chooses tags.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Policy {
    /// The strategy that orders tags.
    #[schemars(schema_with = "strategies")]
    pub(super) strategy: Option<String>,
    /// semver: the versions that are allowed.
    pub(super) semver_constraint: Option<String>,
    /// calver: what a tag looks like.
    pub(super) calver_format: Option<String>,
    /// alphabetical, numerical: whether the last or the first is wanted.
    pub(super) order: Option<Order>,
    /// semver: what follows the version must be that of the current tag.
    #[serde(default)]
    pub(super) keep_suffix: bool,
    /// semver: pre-releases count.
    #[serde(default)]
    pub(super) prerelease: bool,
    /// semver: a tag has three numbers, whatever the constraint and the current tag have.
    #[serde(default)]
    pub(super) strict_versions: bool,
    /// semver: how far from the current version a tag may be.
    pub(super) update_scope: Option<Scope>,
    /// semver, alphabetical: numbers in words count by their value, so that `rc10` is above `rc9`.
    #[serde(default)]
    pub(super) natural_order: bool,
    /// Current tags that may be updated, as globs, or `regexp:` and an expression, or `semver:` and a constraint; any other
    /// stays.
    #[serde(default)]
    pub(super) update_from: Vec<String>,
    /// Tags that count: `any`, or `regexp:` and an expression.
    pub(super) allow_tags: Option<String>,
    /// Tags that do not count, as globs, or `regexp:` and an expression.
    #[serde(default)]
    pub(super) ignore_tags: Vec<String>,
    /// An expression that tags must match.
    pub(super) filter_tags: Option<String>,
    /// The part of the match that is ordered.
    pub(super) extract: Option<String>,
    /// Time a tag must have been there, such as `3d`.
    pub(super) min_age: Option<String>,
    /// Platforms that must all be there.
    #[serde(default)]
    pub(super) platforms: Vec<String>,
    /// A lower tag than the current one may be chosen.
    #[serde(default)]
    pub(super) allow_downgrade: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    Asc,
    Desc,
}

/// Distance that a tag may have from the current version.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// Another patch version.
    Patch,
    /// Another minor version too.
    Minor,
    /// Any version.
    Major,
}

/// A place that versions are written to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Target {
    /// The kind of target.
    #[schemars(schema_with = "kinds")]
    pub(super) kind: String,
    /// The files, from the root of the repository, as a path or a glob.
    pub(super) path: String,
    /// Values: where the tag is, such as `image.tag`.
    pub(super) tag_path: Option<String>,
    /// Values: where the name is.
    pub(super) name_path: Option<String>,
    /// Values: where the registry is, if the name stands without it.
    pub(super) registry_path: Option<String>,
    /// Values: where the whole reference is.
    pub(super) spec_path: Option<String>,
    /// Values: where the digest is.
    pub(super) digest_path: Option<String>,
    /// Flux: whose markers count, as `NAMESPACE:NAME`.
    pub(super) policy: Option<String>,
    /// Images of Kustomize: what manifests call the image, where that is another name.
    pub(super) image_name: Option<String>,
    /// A file without a place for the image gets one.
    #[serde(default)]
    pub(super) create: bool,
}

fn strategies(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": policy::names().collect::<Vec<_>>(), "default": crate::criteria::DEFAULT_STRATEGY })
}

fn forges(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": forge_names() })
}

/// Returns what the kinds of forge are called here. Forgejo speaks as Gitea does.
pub(super) fn forge_names() -> Vec<String> {
    let names = FORGES.iter().map(|forge| forge.name().to_ascii_lowercase());
    names.chain(["forgejo".to_owned()]).collect()
}

fn kinds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": edit::TARGETS.iter().map(|target| target.name).collect::<Vec<_>>() })
}
