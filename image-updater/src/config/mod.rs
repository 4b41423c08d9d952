//! `image-updater.yaml`: what there is to do, as its author writes it.
//!
//! In: the text of a file. Out: registries, keys and batches of work, all checked: policies as they will choose, places
//! as they will be written. Refused, with line and column: unknown fields, criteria that a policy does not use, images
//! without a place, places outside of the repository. Files and variables that it names are not read here.

mod file;
mod registries_conf;
pub(crate) mod yaml;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use registry::Reference;
use schemars::schema_for;

use crate::change::Named;
use crate::choose::Rules;
use crate::criteria::{Age, Criteria, Order};
use crate::edit::{Options, Parts, TARGETS};
use crate::error::{Error, Result};
use crate::input;
use crate::work::{self, Batch, Delivery, Files, Spot, SpotPaths};
pub use file::{Credentials, Registry, SignatureFormat, SigningKey};
pub(crate) use registries_conf::{NamedSource, RegistriesConf};
use yaml::{Placed, Text};

/// A configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is particular to some registries.
    pub registries: Vec<Registry>,
    /// Keys that commits are signed with.
    pub signing_keys: Vec<SigningKey>,
    /// Where the credentials for the repository are kept.
    pub git_credentials: Option<Credentials>,
    /// What there is to do.
    pub batch: Batch,
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

    /// Reads a configuration. `path` is what errors name, and `folder` where the files are that are changed if no
    /// repository is named.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn parse(text: &str, path: &str, folder: PathBuf) -> Result<Self> {
        let text = Text::new(path, text);
        Self::check(text.read()?, &text, folder)
    }

    /// Reads the configurations of a text, as `import` prints them: each document is one.
    ///
    /// # Errors
    /// If anything in one of them is wrong.
    pub fn parse_all(text: &str, path: &str, folder: &Path) -> Result<Vec<Self>> {
        let text = Text::new(path, text);
        let read = |root| Self::check(text.read_node(root)?, &text, folder.to_owned());
        text.documents()?.iter().map(read).collect()
    }

    fn check(file: file::File, text: &Text, folder: PathBuf) -> Result<Self> {
        let checker = Checker { text };
        checker.registries(&file.registries)?;
        let registries = file.registries.into_iter().map(|registry| registry.value.within(&folder)).collect();
        let signing_keys: Vec<_> = file.signing_keys.into_iter().map(|key| key.within(&folder)).collect();
        let mut git = file.git;
        let credentials = git.as_mut().and_then(|git| git.value.credentials.take());
        let git_credentials = credentials.map(|credentials| credentials.within(&folder));
        let (files, delivery) = checker.git(git.as_ref(), folder, &signing_keys)?;
        let updates = checker.updates(&file.updates)?;
        let batch = Batch { files, delivery, updates };
        Ok(Self { registries, signing_keys, git_credentials, batch })
    }
}

/// The JSON schema of the file.
#[must_use]
pub fn schema() -> serde_json::Value {
    schema_for!(file::File).to_value()
}

/// Checks what a type alone cannot, and tells where it is wrong.
#[derive(Clone, Copy)]
struct Checker<'t> {
    text: &'t Text,
}

impl Checker<'_> {
    fn at(self, start: u32) -> impl Fn(Error) -> Error {
        move |error| error.at(self.text.place(start))
    }

    fn registries(self, registries: &[Placed<Registry>]) -> Result<()> {
        let mut prefixes = HashSet::new();
        for Placed { value, start } in registries {
            let refuse = |why: &str| Err(self.at(*start)(Error::input(why)));
            if value.prefix.is_empty() || value.prefix.contains(char::is_whitespace) {
                return refuse("a registry needs a prefix: its host, and a path if need be");
            }
            if !prefixes.insert(value.prefix.as_str()) {
                return refuse("another registry has the same prefix");
            }
            if value.rate_limit.is_some_and(|limit| !(limit > 0.0 && limit.is_finite())) {
                return refuse("`rateLimit` is a number of requests in a second, above 0");
            }
            if value.concurrency == Some(0) {
                return refuse("`concurrency` is at least 1");
            }
            if value
                .credentials
                .as_ref()
                .is_some_and(|credentials| *credentials == Credentials::Command(vec![]))
            {
                return refuse("`command` names a program");
            }
        }
        Ok(())
    }

    fn git(
        self,
        git: Option<&Placed<file::Git>>,
        folder: PathBuf,
        keys: &[SigningKey],
    ) -> Result<(Files, Delivery)> {
        let Some(Placed { value: git, start }) = git else {
            return Ok((Files::Folder(folder), Delivery::default()));
        };
        if git.url.is_none() && git.branch.is_some() {
            let error = Error::input("`branch` is read from a repository, and no `url` names one");
            return Err(self.at(*start)(error));
        }
        if let Some(Placed { value: name, start }) = &git.signing_key
            && !keys.iter().any(|key| key.name == *name)
        {
            return Err(self.at(*start)(Error::input(format!("`signingKeys` has no key `{name}`"))));
        }
        if let Some(request) = &git.pull_request {
            self.pull_request(request)?;
        }
        let files = match &git.url {
            Some(url) => Files::Remote { url: url.clone(), branch: git.branch.clone() },
            None => Files::Folder(folder),
        };
        Ok((files, delivery(git)))
    }

    fn pull_request(self, request: &file::PullRequest) -> Result<()> {
        let Some(Placed { value: name, start }) = &request.forge else { return Ok(()) };
        let known = file::forge_names();
        if known.contains(name) {
            return Ok(());
        }
        let error = Error::input(format!("there is no forge `{name}`"));
        Err(self.at(*start)(error.hint(format!("there are {}", known.join(", ")))))
    }

    fn updates(self, updates: &[Placed<file::Update>]) -> Result<Vec<work::Update>> {
        let (mut work, mut names) = (Vec::new(), HashSet::new());
        for Placed { value: update, start } in updates {
            if update.images.is_empty() {
                return Err(self.at(*start)(Error::input("there are no images to update")));
            }
            let interval = update.interval.as_ref().map(|interval| self.interval(interval)).transpose()?;
            for image in &update.images {
                // Two resources may call images of one Application alike.
                let named =
                    update.application.as_ref().map(|application| (application, &image.value.image.value));
                let name = image.value.name.as_ref().map(|name| (named, name));
                if name.is_some_and(|name| !names.insert(name)) {
                    return Err(self.at(image.start)(Error::input("another image has the same name")));
                }
                work.push(self.image(update, image, interval)?);
            }
        }
        Ok(work)
    }

    fn interval(self, interval: &Placed<String>) -> Result<Duration> {
        let age: Age = interval.value.parse().map_err(self.at(interval.start))?;
        match Duration::try_from(age.span()) {
            Ok(span) if !span.is_zero() => Ok(span),
            _ => Err(self.at(interval.start)(Error::input("an interval is longer than nothing"))),
        }
    }

    fn image(
        self,
        update: &file::Update,
        image: &Placed<file::Image>,
        interval: Option<Duration>,
    ) -> Result<work::Update> {
        let Placed { value, start } = image;
        let Placed { value: text, start: image_start } = &value.image;
        let reference: Reference = text.parse().map_err(|error| self.at(*image_start)(Error::from(error)))?;
        if reference.digest().is_some() {
            let error = Error::input(format!("`{text}` has a digest, which no update could change"));
            return Err(self.at(*image_start)(error));
        }
        let criteria = match value.policy.as_ref().or(update.policy.as_ref()) {
            Some(policy) => self.criteria(policy, reference.tag())?,
            None => Criteria::default(),
        };
        let targets = value.targets.as_deref().unwrap_or(&update.targets);
        if targets.is_empty() {
            let error = Error::input(format!("`{text}` is written nowhere"));
            return Err(self.at(*start)(error.hint("give it or its update `targets`")));
        }
        let name = Parts::split(text).name;
        Ok(work::Update {
            name: value.name.clone().unwrap_or_else(|| name.to_owned()),
            image: name.to_owned(),
            watched: reference.tag().map(str::to_owned),
            criteria,
            pins_digest: value.pin_digest,
            spots: targets.iter().map(|target| self.spot(target)).collect::<Result<_>>()?,
            application: update.application.as_deref().map(named),
            interval,
            suspended: update.suspend,
            place: self.text.place(*start),
        })
    }

    fn criteria(self, policy: &Placed<file::Policy>, tag: Option<&str>) -> Result<Criteria> {
        let place = self.at(policy.start);
        let criteria = criteria(&policy.value).map_err(&place)?;
        Rules::new(&criteria).map_err(&place)?;
        if criteria.strategy == "digest" && tag.is_none() {
            let error = Error::input("`digest` watches a tag, and the image is named without one");
            return Err(place(error.hint("name the image with its tag: `IMAGE:TAG`")));
        }
        Ok(criteria)
    }

    fn spot(self, target: &Placed<file::Target>) -> Result<Spot> {
        let refuse = |why: String| self.at(target.start)(Error::input(why));
        let value = &target.value;
        let spot = spot(value);
        let Some(kind) = TARGETS.iter().find(|kind| kind.name == value.kind) else {
            let known = TARGETS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
            return Err(
                refuse(format!("there is no target `{}`", value.kind)).hint(format!("there are {known}"))
            );
        };
        let has_paths = spot.paths != SpotPaths::default();
        match kind.options {
            Options::Paths if !has_paths => {
                return Err(refuse(format!("`{}` needs `tagPath` or another path", kind.name)));
            }
            Options::None | Options::Policy if has_paths => {
                return Err(refuse(format!("`{}` has no paths within the file", kind.name)));
            }
            Options::Policy if spot.policy.is_none() => {
                return Err(refuse(format!("`{}` needs a `policy`, as `NAMESPACE:NAME`", kind.name)));
            }
            _ => {}
        }
        if spot.policy.is_some() && kind.options != Options::Policy {
            return Err(refuse(format!("`policy` is not for the target `{}`", kind.name)));
        }
        let leads_out = |path: &str| path.starts_with('/') || path.split('/').any(|part| part == "..");
        if spot.image_name.is_some() && (!kind.renames || has_paths) {
            return Err(refuse("`imageName` is for the images of Kustomize".to_owned()));
        }
        if spot.path.is_empty() || leads_out(&spot.path) {
            return Err(refuse(format!("`{}` is no path within the repository", spot.path)));
        }
        Ok(spot)
    }
}

fn delivery(git: &file::Git) -> Delivery {
    Delivery {
        branch: git.push_branch.clone(),
        message: git.message.clone(),
        words: match git.templates {
            file::Words::ArgoCd => work::Words::ArgoCd,
            file::Words::Flux => work::Words::Flux,
        },
        values: git.template_values.clone(),
        automation: git.automation.as_deref().map(named),
        author: git.author.as_ref().map(|author| (author.name.clone(), author.email.clone())),
        sign_off: git.sign_off,
        signing_key: git.signing_key.as_ref().map(|key| key.value.clone()),
        options: git.push_options.clone(),
        commit_per_application: git.commit_per_application,
        pull_request: git.pull_request.as_ref().map(|request| work::PullRequest {
            forge: request.forge.as_ref().map(|forge| forge.value.clone()),
            title: request.title.clone(),
            labels: request.labels.clone(),
            reviewers: request.reviewers.clone(),
            draft: request.draft,
        }),
    }
}

/// Reads `NAMESPACE/NAME`, or a name alone.
fn named(text: &str) -> Named {
    let (namespace, name) = text.split_once('/').unwrap_or(("", text));
    Named { namespace: namespace.to_owned(), name: name.to_owned() }
}

fn criteria(policy: &file::Policy) -> Result<Criteria> {
    let policy = policy.clone();
    let order = |order| match order {
        file::Order::Asc => Order::Ascending,
        file::Order::Desc => Order::Descending,
    };
    let default = Criteria::default();
    Ok(Criteria {
        strategy: policy.strategy.unwrap_or(default.strategy),
        semver_constraint: policy.semver_constraint,
        calver_format: policy.calver_format,
        order: policy.order.map(order),
        keep_suffix: policy.keep_suffix,
        prerelease: policy.prerelease,
        strict_versions: policy.strict_versions,
        allow_tags: policy.allow_tags,
        ignore_tags: policy.ignore_tags,
        filter_tags: policy.filter_tags,
        extract: policy.extract,
        min_age: policy.min_age.map(|age| age.parse()).transpose()?,
        platforms: policy
            .platforms
            .iter()
            .map(|platform| platform.parse().map_err(Error::from))
            .collect::<Result<_>>()?,
        allow_downgrade: policy.allow_downgrade,
    })
}

fn spot(target: &file::Target) -> Spot {
    let target = target.clone();
    Spot {
        path: target.path,
        kind: target.kind,
        paths: SpotPaths {
            tag: target.tag_path,
            name: target.name_path,
            registry: target.registry_path,
            spec: target.spec_path,
            digest: target.digest_path,
        },
        policy: target.policy,
        image_name: target.image_name,
        creates: target.create,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(delivery.pull_request.unwrap().forge.as_deref(), Some("gitea"));
        let names: Vec<&str> = updates.iter().map(|update| update.name.as_str()).collect();
        assert_eq!(names, ["registry.example.com/shop/web", "worker", "nginx"]);
        assert_eq!(updates[0].criteria.semver_constraint.as_deref(), Some("1.20"));
        assert_eq!(updates[0].interval, Some(Duration::from_secs(300)));
        assert_eq!(updates[0].place.to_string(), "image-updater.yaml:41:5");
        assert_eq!(updates[1].criteria.strategy, "digest");
        assert_eq!(updates[1].watched.as_deref(), Some("main"));
        assert!(updates[1].pins_digest && updates[2].suspended);
        assert_eq!(updates[1].spots[0].paths.digest.as_deref(), Some("worker.image.digest"));
        assert_eq!(updates[2].spots[0].policy.as_deref(), Some("flux-system:nginx"));
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
        for (text, place, message) in [
            (format!("{head}{update}extra: 1\n"), "7:1", "unknown field `extra`"),
            (head.to_owned(), "1:1", "missing field `updates`"),
            (format!("{head}updates: [{{images: []}}]\n"), "3:11", "no images"),
            (one("{image: nginx}"), "5:5", "`nginx` is written nowhere"),
            (one("{image: 'a b', targets: []}"), "5:13", "a b"),
            (target("{kind: helm, path: a}"), "5:30", "there is no target `helm`"),
            (target("{kind: helmvalues, path: a}"), "5:30", "needs `tagPath`"),
            (target("{kind: manifest, path: a, tagPath: b}"), "5:30", "has no paths"),
            (target("{kind: flux, path: a}"), "5:30", "needs a `policy`"),
            (target("{kind: manifest, path: a, policy: 'b:c'}"), "5:30", "`policy` is not for"),
            (target("{kind: manifest, path: a, imageName: b}"), "5:30", "`imageName` is for"),
            (target("{kind: manifest, path: ../a}"), "5:30", "no path within the repository"),
            (target("{kind: manifest, path: /a}"), "5:30", "no path within the repository"),
            (policy("strategy: newest"), "5:66", "there is no strategy `newest`"),
            (policy("strategy: digest"), "5:66", "watches a tag"),
            (policy("semverConstraint: '>>1'"), "5:66", "no constraint"),
            (policy("strategy: digest, order: asc"), "5:66", "does not use `order`"),
            (policy("minAge: 3"), "5:66", "a unit is missing"),
            (policy("order: up"), "5:74", "unknown variant `up`"),
            (format!("{head}git: {{branch: main}}\n{update}"), "3:6", "no `url`"),
            (format!("{head}git: {{signingKey: x}}\n{update}"), "3:19", "no key `x`"),
            (format!("{head}git: {{pullRequest: {{forge: x}}}}\n{update}"), "3:28", "no forge `x`"),
            (format!("{head}registries: [{{prefix: a, rateLimit: 0}}]\n{update}"), "3:14", "above 0"),
            (format!("{head}registries: [{{prefix: a}}, {{prefix: a}}]\n{update}"), "3:27", "same prefix"),
            (
                format!("{head}registries: [{{prefix: a, credentials: {{command: []}}}}]\n{update}"),
                "3:14",
                "names a program",
            ),
            (
                format!("{head}registries: [{{prefix: a, credentials: {{password: x}}}}]\n{update}"),
                "3:40",
                "unknown variant `password`",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            let found = error.place().map(ToString::to_string).unwrap_or_default();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(found, format!("image-updater.yaml:{place}"), "{text}: {error}");
        }
    }
}
