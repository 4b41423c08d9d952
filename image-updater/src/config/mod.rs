//! `image-updater.yaml`: what there is to do, as its author writes it.
//!
//! In: the text of a file. Out: registries, keys and batches of work, all checked: policies as they will choose, places
//! as they will be written, templates as they will be executed. Refused, with line and column: unknown fields, criteria
//! that a policy does not use, images without a place, places outside of the repository. Of the files that it names only
//! the template of requests is read here, and no variable is.

mod check;
mod credentials;
mod file;
mod registries_conf;
mod verification;

use diagnostic::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::schema_for;
use yamlserde::YamlFile;
use yamltree::Node;

use crate::account::GithubApp;
use crate::input;
use crate::registries;
use crate::work::{Batch, Delivery, Files, Verification};
use check::Checker;
pub use credentials::{ClusterName, Credentials, Provider, SecretKey};
pub use file::{Registry, SignatureFormat, SigningKey};
pub(crate) use registries_conf::{NamedSource, RegistriesConf};

/// A configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The settings of single registries.
    pub registries: Vec<Registry>,
    /// Keys that commits are signed with.
    pub signing_keys: Vec<SigningKey>,
    /// The source of the credentials for the repository.
    pub git_credentials: Option<Credentials>,
    /// The GitHub App that the repository is written by.
    pub github_app: Option<Arc<GithubApp>>,
    /// The file of the only authorities to trust for the repository and its forge.
    pub git_authorities: Option<PathBuf>,
    /// The source of the token of the forge.
    pub forge_token: Option<Credentials>,
    /// The default signature verification.
    pub verification: Option<Verification>,
    /// The work.
    pub batch: Batch,
    /// Paths in the repository with resources of other tools.
    pub discover: Vec<String>,
}

impl Config {
    /// Reads the configuration in a file.
    ///
    /// # Errors
    /// If it cannot be read, or anything in it is wrong.
    pub fn load(path: &Path) -> Result<Self> {
        let (text, name) = input::read_text(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self::parse(&text, &name, folder.unwrap_or(Path::new(".")).to_owned())
    }

    /// Reads the configurations in a file: each document is one.
    ///
    /// # Errors
    /// If it cannot be read, or anything in it is wrong.
    pub fn load_all(path: &Path) -> Result<Vec<Self>> {
        let (text, name) = input::read_text(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self::parse_all(&text, &name, folder.unwrap_or(Path::new(".")))
    }

    /// Returns what there is to do by another tool's own files.
    pub(crate) fn of_dialect(batch: Batch, registries: Vec<Registry>) -> Self {
        Self {
            registries,
            signing_keys: Vec::new(),
            forge_token: None,
            git_authorities: None,
            git_credentials: None,
            github_app: None,
            verification: None,
            batch,
            discover: Vec::new(),
        }
    }

    /// Returns what there is to do by what is written for other tools in a branch of a repository.
    pub(crate) fn of_branch(url: String, branch: String, discover: Vec<String>) -> Self {
        let files = Files::Remote { url, branch: Some(branch) };
        let batch = Batch { files, delivery: Delivery::default(), updates: Vec::new() };
        Self { discover, ..Self::of_dialect(batch, Vec::new()) }
    }

    /// Returns what was found in its repository, with what it says besides. What it has for that repository is not shown to
    /// another one.
    pub(crate) fn with_found(&self, mut batch: Batch, found: &[Registry]) -> Self {
        let is_new = |found: &&Registry| !self.registries.iter().any(|own| own.prefix == found.prefix);
        let found = found.iter().filter(is_new).cloned().collect();
        let all = registries::layered(&self.registries, found);
        // Whoever writes to the repository cannot do without what is asked for here.
        for update in &mut batch.updates {
            update.verification = update.verification.take().or_else(|| self.verification.clone());
        }
        if !is_same_server(&batch.files, &self.batch.files) {
            return Self::of_dialect(batch, all);
        }
        batch.delivery.fill_from(&self.batch.delivery);
        Self { registries: all, batch, discover: Vec::new(), ..self.clone() }
    }

    /// Reads a configuration. `path` is what errors name, and `folder` where the files are that are changed if no
    /// repository is named.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn parse(text: &str, path: &str, folder: PathBuf) -> Result<Self> {
        let text = YamlFile::new(path, text);
        Self::check(text.read()?, 0, &text, folder)
    }

    /// Reads the configurations of a text, as `import` prints them: each document is one.
    ///
    /// # Errors
    /// If anything in one of them is wrong.
    pub fn parse_all(text: &str, path: &str, folder: &Path) -> Result<Vec<Self>> {
        let text = YamlFile::new(path, text);
        let read =
            |root: &Node| Self::check(text.read_node(root)?, root.span.start, &text, folder.to_owned());
        text.documents()?.iter().map(read).collect()
    }

    fn check(mut file: file::File, start: u32, text: &YamlFile, folder: PathBuf) -> Result<Self> {
        locate(&mut file, &folder);
        let checker = Checker { text };
        checker.registries(&file.registries)?;
        let git = file.git.as_ref();
        let (files, delivery) = checker.git(git, folder, &file.signing_keys)?;
        let discover = checker.discover(&file.discover)?;
        if file.updates.is_none() && discover.is_empty() {
            let error = Error::invalid("missing field `updates`").at(text.location(start));
            return Err(error.hint("or `discover` what is written for Flux or Argo CD Image Updater"));
        }
        let verification = checker.verification(file.verify.as_ref())?.flatten();
        let updates = checker.updates(file.updates.as_deref().unwrap_or_default(), verification.as_ref())?;
        let git = file.git.map(|git| git.value);
        let request = git.as_ref().and_then(|git| git.pull_request.as_ref());
        Ok(Self {
            registries: file.registries.into_iter().map(|registry| registry.value).collect(),
            signing_keys: file.signing_keys,
            forge_token: request.and_then(|request| request.token_from.clone()).map(kept),
            github_app: git.as_ref().and_then(github_app),
            git_authorities: git.as_ref().and_then(|git| git.ca_file.as_ref()).map(PathBuf::from),
            git_credentials: git.and_then(|git| git.credentials),
            verification,
            batch: Batch { files, delivery, updates },
            discover,
        })
    }
}

/// Returns true if what is for one repository may be shown to the server of another: it is the same, and spoken to alike.
fn is_same_server(one: &Files, other: &Files) -> bool {
    let server = |files: &Files| match files {
        Files::Remote { url, .. } => {
            let url = reqwest::Url::parse(url).ok()?;
            Some((url.scheme().to_owned(), url.host_str()?.to_owned(), url.port_or_known_default()))
        }
        Files::Folder(_) | Files::Applications | Files::Nowhere => None,
    };
    one == other || server(one).is_some_and(|one| server(other) == Some(one))
}

fn github_app(git: &file::Git) -> Option<Arc<GithubApp>> {
    let file::GithubApp { id, installation, private_key_from, api } = git.github_app.as_ref()?.value.clone();
    let api = api.or_else(|| git.pull_request.as_ref()?.api.clone());
    Some(Arc::new(GithubApp::new(id, installation, kept(private_key_from), api)))
}

fn kept(source: file::TokenSource) -> Credentials {
    match source {
        file::TokenSource::Env(name) => Credentials::Env(name),
        file::TokenSource::File(path) => Credentials::File(path),
    }
}

/// Has the files that a configuration names looked for in its folder.
fn locate(file: &mut file::File, folder: &Path) {
    for registry in &mut file.registries {
        registry.value = std::mem::take(&mut registry.value).within(folder);
    }
    for key in &mut file.signing_keys {
        *key = key.clone().within(folder);
    }
    if let Some(git) = &mut file.git {
        git.value.locate(folder);
    }
    let updates = file.updates.iter_mut().flatten().map(|update| &mut update.value);
    let of_updates = updates.flat_map(|update| {
        let images = update.images.iter_mut().filter_map(|image| image.value.verify.as_mut());
        update.verify.as_mut().into_iter().chain(images)
    });
    for verify in file.verify.as_mut().into_iter().chain(of_updates) {
        verify.value.locate(folder);
    }
}

/// The JSON schema of the file.
#[must_use]
pub fn schema() -> serde_json::Value {
    schema_for!(file::File).to_value()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::change::Named;
    use crate::forge::MergeMethod;
    use crate::work::{self, KeyPlace};

    const FULL: &str = include_str!("../../../testdata/image-updater/config/full.yaml");
    const SCHEMA: &str = include_str!("../../schema.json");

    fn parse(text: &str) -> Result<Config> {
        Config::parse(text, "image-updater.yaml", PathBuf::from("."))
    }

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let published: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(published, schema(), "write it anew: `image-updater schema > image-updater/schema.json`");
    }

    #[test]
    fn every_field_is_read() {
        let config = parse(FULL).unwrap();
        assert_eq!(config.registries[0].credentials, Some(Credentials::Env("REGISTRY_LOGIN".to_owned())));
        assert_eq!(
            config.registries[1].credentials,
            Some(Credentials::Command(vec!["ecr-login".to_owned()]))
        );
        assert_eq!(config.signing_keys[0].format, SignatureFormat::Ssh);
        let Batch { files, delivery, updates } = config.batch;
        let url = "https://git.example.com/platform/deploy.git".to_owned();
        assert_eq!(files, Files::Remote { url, branch: Some("main".to_owned()) });
        assert_eq!(delivery.signing_key.as_deref(), Some("bot"));
        let request = delivery.pull_request.unwrap();
        assert_eq!(request.forge.as_deref(), Some("gitea"));
        assert_eq!(request.api.as_deref(), Some("https://git.example.com/forge/api/v1"));
        assert_eq!(request.auto_merge, Some(MergeMethod::Squash));
        assert_eq!(config.forge_token, Some(Credentials::File("forge-token".to_owned())));
        assert_eq!(config.git_authorities, Some(PathBuf::from("certificates/git.pem")));
        assert_eq!(updates[0].application.as_ref().map(|named| named.name.as_str()), Some("shop"));
        let names: Vec<&str> = updates.iter().map(|update| update.name.as_str()).collect();
        assert_eq!(names, ["registry.example.com/shop/web", "worker", "nginx"]);
        assert_eq!(updates[0].criteria.semver_constraint.as_deref(), Some("1.20"));
        assert_eq!(updates[0].interval, Some(Duration::from_secs(300)));
        assert_eq!(updates[0].place.to_string(), "image-updater.yaml:50:5");
        assert_eq!(updates[1].criteria.strategy, "digest");
        assert_eq!(updates[1].watched.as_deref(), Some("main"));
        assert!(updates[1].pins_digest && updates[2].suspended);
        assert_eq!(updates[1].spots[0].paths.digest.as_deref(), Some("worker.image.digest"));
        assert_eq!(updates[2].spots[0].policy.as_deref(), Some("flux-system:nginx"));
    }

    #[test]
    fn the_nearest_verification_counts_and_none_is_one() {
        let keys = |update: &work::Update| update.verification.clone().map(|verification| verification.keys);
        let config = parse(FULL).unwrap();
        let secret = Named { namespace: "signing".to_owned(), name: "cosign".to_owned() };
        let everywhere = vec![
            KeyPlace::File(PathBuf::from("keys/cosign.pub")),
            KeyPlace::Secret { secret, key: "cosign.pub".to_owned() },
        ];
        let updates = &config.batch.updates;
        assert_eq!(keys(&updates[0]), Some(everywhere.clone()));
        assert!(
            matches!(keys(&updates[1]).as_deref(), Some([KeyPlace::Text(pem)]) if pem.contains("BEGIN PUBLIC KEY"))
        );
        assert_eq!(keys(&updates[2]), None);
        // What is found in the repository cannot do without, and may ask for more.
        let batch = Batch {
            updates: vec![updates[2].clone(), updates[1].clone()],
            files: Files::Folder(PathBuf::from("elsewhere")),
            ..config.batch.clone()
        };
        let found = config.with_found(batch, &[]).batch.updates;
        assert_eq!(keys(&found[0]), Some(everywhere));
        assert_eq!(keys(&found[1]), keys(&updates[1]));
        let located = Config::parse(FULL, "c.yaml", PathBuf::from("/conf")).unwrap();
        let first = &located.verification.unwrap().keys[0];
        assert_eq!(*first, KeyPlace::File(PathBuf::from("/conf/keys/cosign.pub")));
    }

    #[test]
    fn files_are_found_from_the_folder_of_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let shown = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(folder.path().join("body.md"), "# {{ name }}\n").unwrap();
        let text = FULL.replace("draft: true", "body: body.md");
        let config = Config::parse(&text, "c.yaml", folder.path().to_owned()).unwrap();
        assert_eq!(config.batch.delivery.pull_request.unwrap().body.as_deref(), Some("# {{ name }}\n"));
        assert_eq!(config.registries[0].ca_file, Some(shown("certificates/registry.pem")));
        assert_eq!(config.git_credentials, Some(Credentials::File(shown("git-login"))));
        assert_eq!(config.signing_keys[0].file, shown("keys/bot"));
        std::fs::write(folder.path().join("body.md"), "a\n{{ gone }}\n").unwrap();
        let error = Config::parse(&text, "c.yaml", folder.path().to_owned()).unwrap_err();
        let place = error.location().map(ToString::to_string).unwrap_or_default();
        assert!(place.starts_with(&format!("{}:2:", shown("body.md"))), "{error}");
    }

    #[test]
    fn files_are_looked_for_in_the_folder_of_the_configuration() {
        let config = Config::parse(FULL, "image-updater.yaml", PathBuf::from("/conf")).unwrap();
        assert_eq!(config.registries[0].ca_file.as_deref(), Some("/conf/certificates/registry.pem"));
        let text = "apiVersion: image-updater/v1alpha1\nkind: Config\nupdates: []\nregistries:\n\
                    - {prefix: a, caFile: ca.pem, credentials: {file: ../login}}\n\
                    - {prefix: b, credentials: {command: [login]}}\n\
                    signingKeys: [{name: a, format: ssh, file: key}, {name: b, format: openpgp, file: ABCD}]\n";
        let config = Config::parse(text, "image-updater.yaml", PathBuf::from("conf")).unwrap();
        assert_eq!(config.registries[0].ca_file.as_deref(), Some("conf/ca.pem"));
        assert_eq!(config.registries[0].credentials, Some(Credentials::File("conf/../login".to_owned())));
        assert_eq!(config.registries[1].credentials, Some(Credentials::Command(vec!["login".to_owned()])));
        let keys: Vec<&str> = config.signing_keys.iter().map(|key| key.file.as_str()).collect();
        assert_eq!(keys, ["conf/key", "ABCD"]);
    }

    #[test]
    fn a_text_may_have_several_configurations() {
        let one = |rest: &str, target: &str| {
            format!(
                "apiVersion: image-updater/v1alpha1\nkind: Config\n{rest}updates:\n- application: argocd/web\n  images:\n  \
                 - {{image: nginx, name: a, targets: [{{{target}}}]}}\n"
            )
        };
        let git = "git: {templates: flux, templateValues: {a: '1'}, automation: flux-system/all}\n";
        let text =
            [one(git, "kind: manifest, path: a"), one("", "kind: kustomization, path: a, imageName: b")];
        let configs = Config::parse_all(&text.join("---\n"), "f", Path::new(".")).unwrap();
        let delivery = &configs[0].batch.delivery;
        let named = |namespace: &str, name: &str| Named { namespace: namespace.into(), name: name.into() };
        assert_eq!(delivery.words, work::Words::Flux);
        assert_eq!(delivery.values.get("a").map(String::as_str), Some("1"));
        assert_eq!(delivery.automation, Some(named("flux-system", "all")));
        let update = &configs[1].batch.updates[0];
        assert_eq!(update.application, Some(named("argocd", "web")));
        assert_eq!(update.spots[0].image_name.as_deref(), Some("b"));
        assert!(parse(&text.join("---\n")).is_err(), "a file has one");
    }

    /// A fault on its own, put into a file that is right without it.
    #[test]
    fn a_fault_has_its_place() {
        let head = "apiVersion: image-updater/v1alpha1\nkind: Config\n";
        let update = "updates:\n- images:\n  - image: nginx\n    targets: [{kind: manifest, path: a.yaml}]\n";
        assert!(parse(&format!("{head}{update}")).is_ok());
        let one = |image: &str| format!("{head}updates:\n- images:\n  - {image}\n");
        let target = |target: &str| one(&format!("{{image: nginx, targets: [{target}]}}"));
        let policy = |policy: &str| {
            one(&format!("{{image: nginx, targets: [{{kind: manifest, path: a}}], policy: {{{policy}}}}}"))
        };
        let verify = |verify: &str| {
            one(&format!("{{image: nginx, targets: [{{kind: manifest, path: a}}], verify: {verify}}}"))
        };
        for (text, place, message) in [
            (format!("{head}{update}extra: 1\n"), "7:1", "unknown field `extra`"),
            (head.to_owned(), "1:1", "missing field `updates`"),
            (format!("{head}discover: [apps, ../x]\n"), "3:18", "is not a path in the repository"),
            (format!("{head}updates: [{{images: []}}]\n"), "3:11", "no images"),
            (one("{image: nginx}"), "5:5", "`nginx` has no target to write to"),
            (one("{image: 'a b', targets: []}"), "5:13", "a b"),
            (target("{kind: helm, path: a}"), "5:30", "unknown target `helm`"),
            (target("{kind: helmvalues, path: a}"), "5:30", "needs `tagPath`"),
            (target("{kind: manifest, path: a, tagPath: b}"), "5:30", "does not take paths"),
            (target("{kind: flux, path: a}"), "5:30", "needs a `policy`"),
            (target("{kind: manifest, path: a, policy: 'b:c'}"), "5:30", "`policy` is not for"),
            (target("{kind: manifest, path: a, imageName: b}"), "5:30", "`imageName` is for"),
            (target("{kind: manifest, path: ../a}"), "5:30", "is not a path in the repository"),
            (target("{kind: manifest, path: /a}"), "5:30", "is not a path in the repository"),
            (policy("strategy: newest"), "5:66", "unknown strategy `newest`"),
            (policy("strategy: digest"), "5:66", "watches a tag"),
            (policy("semverConstraint: '>>1'"), "5:66", "invalid version constraint"),
            (policy("strategy: digest, order: asc"), "5:66", "does not use `order`"),
            (policy("strategy: digest, semverConstraint: 1.x"), "5:66", "does not use `semverConstraint`"),
            (policy("strategy: calver"), "5:66", "`calver` needs a `calverFormat`"),
            (policy("extract: $1"), "5:66", "what `filterTags` matches"),
            (policy("minAge: 3"), "5:66", "a unit is missing"),
            (
                one("{image: nginx, keepDigest: true, targets: [{kind: manifest, path: a}]}"),
                "5:5",
                "`pinDigest`",
            ),
            (verify("{}"), "5:66", "a verification needs `cosignKeys`"),
            (verify("{enabled: true, cosignKeys: []}"), "5:66", "a verification needs `cosignKeys`"),
            (
                verify("{cosignKeys: [{pem: x}]}"),
                "5:80",
                "the key in the configuration does not contain a PEM public key",
            ),
            (verify("{cosignKeys: [{secret: a}]}"), "5:80", "invalid reference `a` to a key of a Secret"),
            (
                verify("{cosignKeys: [{secret: 'a/b'}]}"),
                "5:80",
                "invalid reference `a/b` to a key of a Secret",
            ),
            (
                verify("{cosignKeys: [{secret: 'a/b#'}]}"),
                "5:80",
                "invalid reference `a/b#` to a key of a Secret",
            ),
            (
                verify("{cosignKeys: [{secret: 'a/b/c#d'}]}"),
                "5:80",
                "invalid reference `a/b/c#d` to a key of a Secret",
            ),
            (verify("{cosignKeys: [{url: x}]}"), "5:81", "unknown variant `url`"),
            (policy("order: up"), "5:74", "unknown variant `up`"),
            (format!("{head}git: {{branch: main}}\n{update}"), "3:6", "no `url`"),
            (
                format!(
                    "{head}git: {{url: a, credentials: {{env: A}}, githubApp: {{id: 1, installation: 2, privateKeyFrom: {{env: B}}}}}}\n{update}"
                ),
                "3:49",
                "not by both",
            ),
            (
                format!(
                    "{head}git: {{url: a, githubApp: {{id: 1, installation: 0, privateKeyFrom: {{env: B}}}}}}\n{update}"
                ),
                "3:26",
                "`installation`",
            ),
            (
                format!(
                    "{head}git: {{url: a, githubApp: {{id: 1, installation: 2, privateKey: x}}}}\n{update}"
                ),
                "3:51",
                "unknown field `privateKey`",
            ),
            (format!("{head}git: {{signingKey: x}}\n{update}"), "3:19", "unknown key `x`"),
            (format!("{head}git: {{pullRequest: {{forge: x}}}}\n{update}"), "3:28", "unknown forge `x`"),
            (format!("{head}git: {{message: '{{{{ .Gone }}}}'}}\n{update}"), "3:16", "line 1, column 4: "),
            (
                format!("{head}git: {{pushBranch: 'a..b'}}\n{update}"),
                "3:19",
                "cannot be the name of a branch",
            ),
            (format!("{head}git: {{pullRequest: {{title: '{{{{'}}}}\n{update}"), "3:28", "line 1"),
            (format!("{head}git: {{pullRequest: {{body: gone.md}}}}\n{update}"), "3:27", "cannot read"),
            (format!("{head}git: {{pullRequest: {{autoMerge: fast}}}}\n{update}"), "3:32", "`fast`"),
            (format!("{head}git: {{pullRequest: {{tokenFrom: {{token: x}}}}}}\n{update}"), "3:33", "`token`"),
            (
                format!("{head}registries: [{{prefix: a, credentials: {{command: []}}}}]\n{update}"),
                "3:14",
                "names a program",
            ),
            (format!("{head}registries: [{{prefix: a, rateLimit: 0}}]\n{update}"), "3:14", "above 0"),
            (format!("{head}registries: [{{prefix: a}}, {{prefix: a}}]\n{update}"), "3:27", "same prefix"),
            (
                format!("{head}registries: [{{prefix: a, credentials: {{password: x}}}}]\n{update}"),
                "3:40",
                "unknown variant `password`",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            let found = error.location().map(ToString::to_string).unwrap_or_default();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(found, format!("image-updater.yaml:{place}"), "{text}: {error}");
        }
    }
}
