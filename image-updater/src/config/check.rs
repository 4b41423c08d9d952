//! Checks what a type alone cannot, and makes work of it.
//!
//! In: what a file says, with its places. Out: registries that can be told apart, how changes are delivered, and updates
//! with their rules. Refused, each where it is written: what no round could work off.

use diagnostic::{Error, Location, Result};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oci_registry::Reference;

use super::credentials::Credentials;
use super::file::{self, Registry, SigningKey};
use crate::change::Named;
use crate::choose::Rules;
use crate::criteria::{Age, Criteria, Order, Scope, TagPattern, UpdateFrom, as_in_files};
use crate::dialect;
use crate::edit::{Options, Parts, TARGETS};
use crate::forge::{BodyTemplate, MergeMethod};
use crate::input;
use crate::message::{BranchTemplate, MessageTemplate};
use crate::work::{self, Delivery, Files, Spot, SpotPaths, Verification};
use yamlserde::{Spanned, YamlFile};

/// Checks what a type alone cannot, and tells where it is wrong.
#[derive(Clone, Copy)]
pub(super) struct Checker<'t> {
    pub(super) text: &'t YamlFile,
}

impl Checker<'_> {
    pub(super) fn at(self, start: u32) -> impl Fn(Error) -> Error {
        move |error| error.at(self.text.location(start))
    }

    pub(super) fn registries(self, registries: &[Spanned<Registry>]) -> Result<()> {
        let mut prefixes = HashSet::new();
        for Spanned { value, start } in registries {
            let refuse = |why: &str| Err(self.at(*start)(Error::invalid(why)));
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
            if matches!(&value.credentials, Some(Credentials::Command(command)) if command.is_empty()) {
                return refuse("`command` names a program");
            }
        }
        Ok(())
    }

    /// Returns the paths with resources of other tools, from the root of the repository; the root itself is the empty
    /// path.
    pub(super) fn discover(self, paths: &[Spanned<String>]) -> Result<Vec<String>> {
        let path = |path: &Spanned<String>| {
            dialect::within("", path.value.trim_start_matches('/'))
                .filter(|_| !path.value.is_empty())
                .ok_or_else(|| {
                    let message = format!("`{}` is not a path in the repository", path.value);
                    self.at(path.start)(Error::invalid(message))
                })
        };
        paths.iter().map(path).collect()
    }

    pub(super) fn git(
        self,
        git: Option<&Spanned<file::Git>>,
        folder: PathBuf,
        keys: &[SigningKey],
    ) -> Result<(Files, Delivery)> {
        let Some(Spanned { value: git, start }) = git else {
            return Ok((Files::Folder(folder), Delivery::default()));
        };
        if git.url.is_none() && git.branch.is_some() {
            let error = Error::invalid("`branch` is read from a repository, and no `url` names one");
            return Err(self.at(*start)(error));
        }
        if let Some(Spanned { value: app, start }) = &git.github_app {
            let refuse = |why: &str| Err(self.at(*start)(Error::invalid(why)));
            if git.credentials.is_some() {
                return refuse(
                    "the repository is written with `credentials` or by a `githubApp`, and not by both",
                );
            }
            if app.id.trim().is_empty() || app.installation == 0 {
                return refuse("a GitHub App has an `id`, and a number of its `installation`");
            }
            if git.url.is_none() {
                return refuse("`githubApp` is for a repository, and no `url` names one");
            }
        }
        if let Some(Spanned { value: name, start }) = &git.signing_key
            && !keys.iter().any(|key| key.name == *name)
        {
            return Err(self.at(*start)(Error::invalid(format!(
                "unknown key `{name}`: not in `signingKeys`"
            ))));
        }
        if let Some(Spanned { value: text, start }) = &git.push_branch {
            BranchTemplate::parse("pushBranch", text).map_err(|error| self.within(*start, error))?;
        }
        let values = &git.template_values;
        self.message("message", git.message.as_ref(), values)?;
        let request = git.pull_request.as_ref();
        let request = request.map(|request| self.pull_request(request, values)).transpose()?;
        let files = match &git.url {
            Some(url) => Files::Remote { url: url.clone(), branch: git.branch.clone() },
            None => Files::Folder(folder),
        };
        Ok((files, Delivery { pull_request: request, ..delivery(git) }))
    }

    fn pull_request(
        self,
        request: &file::PullRequest,
        values: &BTreeMap<String, String>,
    ) -> Result<work::PullRequest> {
        if let Some(Spanned { value: name, start }) = &request.forge {
            let known = file::forge_names();
            if !known.contains(name) {
                let error = Error::invalid(format!("unknown forge `{name}`"));
                return Err(self.at(*start)(error.hint(format!("there are {}", known.join(", ")))));
            }
        }
        self.message("title", request.title.as_ref(), values)?;
        let body = request.body.as_ref().map(|body| self.body(body)).transpose()?;
        let file::PullRequest { labels, reviewers, draft, auto_merge, api, .. } = request;
        Ok(work::PullRequest {
            forge: request.forge.as_ref().map(|forge| forge.value.clone()),
            api: api.clone(),
            title: request.title.as_ref().map(|title| title.value.clone()),
            body,
            labels: labels.clone(),
            reviewers: reviewers.clone(),
            draft: *draft,
            auto_merge: auto_merge.map(|method| match method {
                file::MergeMethod::Merge => MergeMethod::Merge,
                file::MergeMethod::Squash => MergeMethod::Squash,
                file::MergeMethod::Rebase => MergeMethod::Rebase,
            }),
        })
    }

    fn message(
        self,
        field: &str,
        template: Option<&Spanned<String>>,
        values: &BTreeMap<String, String>,
    ) -> Result<()> {
        let Some(Spanned { value: text, start }) = template else { return Ok(()) };
        let parsed = MessageTemplate::parse(field, text, values);
        parsed.map(drop).map_err(|error| self.within(*start, error))
    }

    /// The template in a file, which errors name.
    fn body(self, Spanned { value: path, start }: &Spanned<String>) -> Result<String> {
        let (text, name) = input::read_text(Path::new(path)).map_err(self.at(*start))?;
        BodyTemplate::parse(&name, &text)?;
        Ok(text)
    }

    /// A fault within a text of the file: the place is the text's, and the words say where in it.
    fn within(self, start: u32, error: Error) -> Error {
        let error = match error.location().map(Location::line_column) {
            Some((line, column)) => error.prefix(format!("line {line}, column {column}")),
            None => error,
        };
        error.moved_to(self.text.location(start))
    }

    pub(super) fn updates(
        self,
        updates: &[Spanned<file::Update>],
        everywhere: Option<&Verification>,
    ) -> Result<Vec<work::Update>> {
        let (mut work, mut names) = (Vec::new(), HashSet::new());
        for Spanned { value: update, start } in updates {
            if update.images.is_empty() {
                return Err(self.at(*start)(Error::invalid("no images to update")));
            }
            let interval = update.interval.as_ref().map(|interval| self.interval(interval)).transpose()?;
            for image in &update.images {
                // Two resources may call images of one Application alike.
                let named =
                    update.application.as_ref().map(|application| (application, &image.value.image.value));
                let name = image.value.name.as_ref().map(|name| (named, name));
                if name.is_some_and(|name| !names.insert(name)) {
                    return Err(self.at(image.start)(Error::invalid("another image has the same name")));
                }
                let verification = self.nearest(update, &image.value, everywhere)?;
                work.push(work::Update { verification, ..self.image(update, image, interval)? });
            }
        }
        Ok(work)
    }

    fn interval(self, interval: &Spanned<String>) -> Result<Duration> {
        let age: Age = interval.value.parse().map_err(self.at(interval.start))?;
        match Duration::try_from(age.span()) {
            Ok(span) if !span.is_zero() => Ok(span),
            _ => Err(self.at(interval.start)(Error::invalid("an interval is longer than nothing"))),
        }
    }

    fn image(
        self,
        update: &file::Update,
        image: &Spanned<file::Image>,
        interval: Option<Duration>,
    ) -> Result<work::Update> {
        let Spanned { value, start } = image;
        let Spanned { value: text, start: image_start } = &value.image;
        let reference: Reference = text.parse().map_err(|error| self.at(*image_start)(error))?;
        if reference.digest().is_some() {
            let error =
                Error::invalid(format!("`{text}` is pinned by digest, and no update changes a digest"));
            return Err(self.at(*image_start)(error));
        }
        let criteria = match value.policy.as_ref().or(update.policy.as_ref()) {
            Some(policy) => self.criteria(policy, reference.tag())?,
            None => Criteria::default(),
        };
        let targets = value.targets.as_deref().unwrap_or(&update.targets);
        if targets.is_empty() {
            let error = Error::invalid(format!("`{text}` has no target to write to"));
            return Err(self.at(*start)(error.hint("give it or its update `targets`")));
        }
        if value.keep_digest && !value.pin_digest {
            let error = Error::invalid("`keepDigest` requires `pinDigest`");
            return Err(self.at(*start)(error));
        }
        if value.keep_digest && criteria.strategy == "digest" {
            let error = Error::invalid("`digest` follows a tag, and `keepDigest` would keep it from that");
            return Err(self.at(*start)(error));
        }
        let name = Parts::split(text).name;
        Ok(work::Update {
            name: value.name.clone().unwrap_or_else(|| name.to_owned()),
            image: name.to_owned(),
            watched: reference.tag().map(str::to_owned),
            criteria,
            pins_digest: value.pin_digest,
            keeps_digest: value.keep_digest,
            spots: targets.iter().map(|target| self.spot(target)).collect::<Result<_>>()?,
            application: update.application.as_deref().map(named),
            interval,
            suspended: update.suspend,
            verification: None,
            running: work::Running::Any,
            requested: None,
            owners: Vec::new(),
            place: self.text.location(*start),
        })
    }

    fn criteria(self, policy: &Spanned<file::Policy>, tag: Option<&str>) -> Result<Criteria> {
        let place = self.at(policy.start);
        let criteria = criteria(&policy.value).map_err(&place)?;
        Rules::new(&criteria).map_err(as_in_files).map_err(&place)?;
        if criteria.strategy == "digest" && tag.is_none() {
            let error = Error::invalid("`digest` watches a tag, and the image is named without one");
            return Err(place(error.hint("name the image with its tag: `IMAGE:TAG`")));
        }
        Ok(criteria)
    }

    fn spot(self, target: &Spanned<file::Target>) -> Result<Spot> {
        let refuse = |why: String| self.at(target.start)(Error::invalid(why));
        let value = &target.value;
        let spot = spot(value);
        let Some(kind) = TARGETS.iter().find(|kind| kind.name == value.kind) else {
            let known = TARGETS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
            return Err(refuse(format!("unknown target `{}`", value.kind)).hint(format!("there are {known}")));
        };
        let has_paths = spot.paths != SpotPaths::default();
        match kind.options {
            Options::Paths if !has_paths => {
                return Err(refuse(format!("`{}` needs `tagPath` or another path", kind.name)));
            }
            Options::None | Options::Policy if has_paths => {
                return Err(refuse(format!("`{}` does not take paths within the file", kind.name)));
            }
            Options::Policy if spot.policy.is_none() => {
                return Err(refuse(format!("`{}` needs a `policy`, as `NAMESPACE:NAME`", kind.name)));
            }
            _ => {}
        }
        if spot.policy.is_some() && kind.options != Options::Policy {
            return Err(refuse(format!("`policy` is not for the target `{}`", kind.name)));
        }
        if spot.image_name.is_some() && (!kind.renames || has_paths) {
            return Err(refuse("`imageName` is for the images of Kustomize".to_owned()));
        }
        let leads_out = |path: &str| path.starts_with('/') || path.split('/').any(|part| part == "..");
        if spot.path.is_empty() || leads_out(&spot.path) {
            return Err(refuse(format!("`{}` is not a path in the repository", spot.path)));
        }
        Ok(spot)
    }
}

fn delivery(git: &file::Git) -> Delivery {
    Delivery {
        branch: git.push_branch.as_ref().map(|branch| branch.value.clone()),
        message: git.message.as_ref().map(|message| message.value.clone()),
        words: match git.templates {
            file::Words::ArgoCd => work::Words::ArgoCd,
            file::Words::Flux => work::Words::Flux,
        },
        values: git.template_values.clone(),
        automation: git.automation.as_deref().map(named),
        author: git.author.as_ref().map(|author| (author.name.clone(), author.email.clone())),
        sign_off: git.sign_off,
        signing_key: git.signing_key.as_ref().map(|key| key.value.clone()),
        signing_secret: None,
        account: None,
        options: git.push_options.clone(),
        commit_per_application: git.commit_per_application,
        pull_request: None,
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
    let scope = |scope| match scope {
        file::Scope::Patch => Scope::Patch,
        file::Scope::Minor => Scope::Minor,
        file::Scope::Major => Scope::Major,
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
        update_scope: policy.update_scope.map(scope),
        natural_order: policy.natural_order,
        update_from: policy.update_from.iter().map(|text| UpdateFrom::read(text)).collect(),
        allow_tags: policy.allow_tags,
        ignore_tags: policy.ignore_tags.iter().map(|text| TagPattern::read(text)).collect(),
        filter_tags: policy.filter_tags,
        extract: policy.extract,
        min_age: policy.min_age.map(|age| age.parse()).transpose()?,
        platforms: policy.platforms.iter().map(|platform| platform.parse()).collect::<Result<_>>()?,
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
