//! An ImageUpdateAutomation: which policies are written, where, and how that is committed and pushed.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::HashSet;

use super::types::{
    Git, GitReference, ImagePolicy, ImageUpdateAutomation, LocalReference, SigningKey, SigningKeyType,
};
use super::{Flux, GitRepository, Missing, Parsed, duration};
use crate::change::Named;
use crate::config::SignatureFormat;
use crate::dialect::labels::LabelSelector;
use crate::dialect::objects::{Object, nearest};
use crate::dialect::{Found, literal, within};
use crate::message::{BranchTemplate, MessageTemplate};
use crate::work::{
    Delivery, Files, GitAccount, Owner, OwnerKind, Running, SigningSecret, Spot, SpotPaths, Update, Words,
};
use yamlserde::Spanned;

/// The files that may have markers.
const MARKED: [&str; 3] = ["**/*.yaml", "**/*.yml", "**/Kustomization"];

/// Flux' own annotation: another value is another request to look at once.
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";

/// The branch of a GitRepository that names none.
const DEFAULT_BRANCH: &str = "master";

impl Flux<'_> {
    /// Adds what an automation writes, and notes the places of its policies.
    pub(super) fn read_automation(
        &self,
        automation: &Parsed<ImageUpdateAutomation>,
        written: &mut HashSet<String>,
        found: &mut Found,
    ) -> Result<()> {
        let Parsed { object, spec } = automation;
        let spec = &spec.value;
        let policies = self.policies_of(automation)?;
        let places = policies.iter().map(|policy| policy.object.place().to_string());
        if !found.is_live() {
            written.extend(places.clone());
        }
        duration(object, &spec.interval)?;
        let path = path_of(automation)?;
        let (files, delivery) = self.delivery(automation, found)?;
        // In a cluster an automation that is left alone, or cannot write, keeps no policy from choosing.
        if found.is_live() {
            if spec.suspend {
                return Ok(());
            }
            written.extend(places);
        }
        if policies.is_empty() {
            let message = format!("{} selects no ImagePolicy", object.title());
            found.warn_once(Error::invalid(message).at(object.place()));
        }
        for policy in policies {
            match self.update(automation, policy, &path, found) {
                Ok(update) => found.add(&files, &delivery, update),
                Err(error) => found.faults.push(error),
            }
        }
        Ok(())
    }

    /// The policies of its namespace that it selects; of those with one name the one that is nearest.
    fn policies_of(&self, automation: &Parsed<ImageUpdateAutomation>) -> Result<Vec<&Parsed<ImagePolicy>>> {
        let object = &automation.object;
        let selector = automation.spec.value.policy_selector.as_ref();
        if let Some((start, why)) = selector.and_then(LabelSelector::fault) {
            return Err(object.refuse(start, why));
        }
        let namespace = &object.id.namespace;
        let first = Named { namespace: namespace.clone(), name: String::new() };
        let of_namespace = self.policies.range(first..).take_while(|(id, _)| id.namespace == *namespace);
        let mut chosen = Vec::new();
        for (_, policies) in of_namespace {
            let is_selected = |policy: &&Parsed<ImagePolicy>| {
                selector.is_none_or(|selector| selector.selects(&policy.object.labels()))
            };
            let candidates = policies.iter().filter(is_selected).map(|policy| (&policy.object, policy));
            let policy = nearest(&object.path, candidates).map_err(|(first, second)| {
                let title = first.title();
                Error::invalid(format!("{title} is declared here and at {}", second.place()))
                    .at(first.place())
            })?;
            chosen.extend(policy);
        }
        Ok(chosen)
    }

    fn update(
        &self,
        automation: &Parsed<ImageUpdateAutomation>,
        policy: &Parsed<ImagePolicy>,
        path: &str,
        found: &mut Found,
    ) -> Result<Update> {
        let id = &policy.object.id;
        if id.namespace.is_empty() {
            let message = format!("{} lacks a namespace, which markers require", policy.object.title());
            return Err(Error::invalid(message).at(policy.object.place()).hint("write `metadata.namespace`"));
        }
        let mut update = self.watch(policy, Some(&automation.object), found)?;
        let spot = |files: &str| Spot {
            path: format!("{path}{files}"),
            kind: "flux".to_owned(),
            paths: SpotPaths::default(),
            policy: Some(format!("{}:{}", id.namespace, id.name)),
            image_name: None,
            creates: false,
        };
        update.spots = MARKED.iter().map(|files| spot(files)).collect();
        update.suspended |= automation.spec.value.suspend;
        Ok(update)
    }

    /// The image of a policy, which is written nowhere.
    pub(super) fn watch(
        &self,
        policy: &Parsed<ImagePolicy>,
        automation: Option<&Object>,
        found: &mut Found,
    ) -> Result<Update> {
        found.noted = None;
        let watched = self.watched(policy, found)?;
        let owner = |kind, object: &Object| Owner { kind, id: object.id.clone() };
        let told = [
            automation.map(|object| owner(OwnerKind::ImageUpdateAutomation, object)),
            Some(owner(OwnerKind::ImagePolicy, &policy.object)),
            Some(owner(OwnerKind::ImageRepository, watched.repository)),
        ];
        let asked = [automation, Some(&policy.object), Some(watched.repository)].into_iter().flatten();
        let requests: Vec<&str> = asked.filter_map(|object| object.annotation(REQUESTED)).collect();
        Ok(Update {
            name: policy.object.id.name.clone(),
            image: watched.image.to_owned(),
            watched: None,
            criteria: watched.criteria,
            pins_digest: watched.pins_digest,
            keeps_digest: watched.keeps_digest,
            spots: Vec::new(),
            application: None,
            interval: Some(watched.interval),
            suspended: watched.suspended,
            verification: None,
            running: Running::Any,
            requested: Some(requests.join(" ")).filter(|requests| !requests.is_empty()),
            owners: if found.is_live() { told.into_iter().flatten().collect() } else { Vec::new() },
            place: policy.object.place(),
        })
    }

    fn delivery(
        &self,
        automation: &Parsed<ImageUpdateAutomation>,
        found: &mut Found,
    ) -> Result<(Files, Delivery)> {
        let object = &automation.object;
        let Some(git) = &automation.spec.value.git else {
            let error = object.refuse(automation.spec.start, "missing `git` with the author of commits");
            return Err(error);
        };
        let source = self.source_of(automation, found)?;
        let branch = match (&git.checkout, source) {
            (Some(checkout), _) => branch_of(&checkout.reference).map_err(at(&automation.object))?,
            (None, Some(source)) => match &source.spec.value.reference {
                Some(reference) => branch_of(reference).map_err(at(&source.object))?,
                None => DEFAULT_BRANCH.to_owned(),
            },
            (None, None) => String::new(),
        };
        let files = match source {
            Some(source) => {
                Files::Remote { url: source.spec.value.url.value.clone(), branch: Some(branch.clone()) }
            }
            None => self.home.clone(),
        };
        let mut delivery = committed(automation, git, &branch, found)?;
        if found.is_live() {
            delivery.account = source.map(account).transpose()?.flatten();
        }
        Ok((files, delivery))
    }

    /// The GitRepository, unless the files do not have it: then they are taken for what it names.
    fn source_of(
        &self,
        automation: &Parsed<ImageUpdateAutomation>,
        found: &mut Found,
    ) -> Result<Option<&Parsed<GitRepository>>> {
        let Spanned { value: reference, start } = &automation.spec.value.source_ref;
        let refuse = |message: String| automation.object.refuse(*start, message);
        if reference.kind != "GitRepository" {
            return Err(refuse(format!("a source is a GitRepository, and no {}", reference.kind)));
        }
        let namespace = reference.namespace.as_deref().filter(|namespace| !namespace.is_empty());
        match automation.find(&self.sources, &reference.name, namespace, *start) {
            Ok(source) => {
                if let Some(secret) = source.spec.value.secret_ref.as_ref().filter(|_| !found.is_live()) {
                    let name = &secret.value.name;
                    let message = format!("`secretRef` (`{name}`) is not carried over: no Secret is read");
                    let warning = source.object.refuse(secret.start, message);
                    let hint = match source.spec.value.provider.as_deref() {
                        Some("github") => "give `git` its `githubApp`",
                        _ => "give `git` its `credentials`",
                    };
                    found.warn_once(warning.hint(hint));
                }
                Ok(Some(source))
            }
            Err(Missing::Several(error)) => Err(*error),
            // In a cluster nothing else can be meant.
            Err(Missing::Absent(id)) if found.is_live() => {
                let message = format!("no GitRepository `{}` found in `{}`", id.name, id.namespace);
                Err(refuse(message).with_kind(ErrorKind::NotFound))
            }
            Err(Missing::Absent(id)) => {
                let message = format!("no file has the GitRepository `{}`", id.name);
                let warning = refuse(message).hint("these files are used as its content");
                found.warn_once(warning);
                Ok(None)
            }
        }
    }
}

/// Returns where the cluster keeps what the server of a GitRepository is shown; nothing where that is nothing.
fn account(source: &Parsed<GitRepository>) -> Result<Option<GitAccount>> {
    let GitRepository { secret_ref, proxy_secret_ref, provider, .. } = &source.spec.value;
    let is_app = match provider.as_deref() {
        None | Some("generic") => false,
        Some("github") => true,
        Some(other) => {
            let message = format!("`provider: {other}` is not supported");
            let error = source.object.refuse(source.spec.start, message);
            return Err(
                error.hint("name what the server is shown with `secretRef`, and leave out `provider`")
            );
        }
    };
    let named = |reference: &Spanned<LocalReference>| Named {
        namespace: source.object.id.namespace.clone(),
        name: reference.value.name.clone(),
    };
    let (secret, proxy) = (secret_ref.as_ref().map(named), proxy_secret_ref.as_ref().map(named));
    let is_any = is_app || secret.is_some() || proxy.is_some();
    Ok(is_any.then_some(GitAccount::Flux { secret, proxy, is_app }))
}

/// Places an error that has its byte.
fn at(object: &Object) -> impl Fn((u32, String)) -> Error {
    move |(start, message)| {
        object.refuse(start, message).hint("name a branch: only to a branch can anything be pushed")
    }
}

/// The branch of a reference to a commit, which others than branches cannot be pushed to.
fn branch_of(reference: &Spanned<GitReference>) -> Result<String, (u32, String)> {
    let Spanned { value, start } = reference;
    let refuse = |what: &str| Err((*start, format!("a {what} is checked out, and no branch")));
    match value {
        GitReference { commit: Some(_), .. } => refuse("commit"),
        GitReference { name: Some(name), .. } => match name.strip_prefix("refs/heads/") {
            Some(branch) => Ok(branch.to_owned()),
            None => refuse(&format!("reference `{name}`")),
        },
        GitReference { semver: Some(_), .. } => refuse("range of versions"),
        GitReference { tag: Some(_), .. } => refuse("tag"),
        GitReference { branch, .. } => Ok(branch.clone().unwrap_or_else(|| DEFAULT_BRANCH.to_owned())),
    }
}

fn committed(
    automation: &Parsed<ImageUpdateAutomation>,
    git: &Git,
    branch: &str,
    found: &mut Found,
) -> Result<Delivery> {
    let object = &automation.object;
    let commit = &git.commit;
    if let Some(template) = &commit.message_template {
        MessageTemplate::parse("messageTemplate", &template.value, &commit.message_template_values)
            .map_err(|error| error.moved_to(object.at(template.start)))?;
    }
    let signing_secret = commit.signing_key.as_ref().and_then(|key| signing_secret(object, key, found));
    let mut delivery = Delivery {
        message: commit.message_template.as_ref().map(|template| template.value.clone()),
        words: Words::Flux,
        values: commit.message_template_values.clone(),
        automation: Some(object.id.clone()),
        signing_secret,
        // Git wants a name, and Flux does not.
        author: Some((
            commit.author.name.clone().unwrap_or_else(|| commit.author.email.clone()),
            commit.author.email.clone(),
        )),
        ..Delivery::default()
    };
    if let Some(push) = &git.push {
        if let Some(pushed) = &push.branch {
            BranchTemplate::parse("branch", &pushed.value)
                .map_err(|error| error.moved_to(object.at(pushed.start)))?;
        }
        let named = push.branch.as_ref().map(|branch| branch.value.as_str());
        let meant = push.refspec.as_ref().map(|refspec| {
            let at = |message: String| object.refuse(refspec.start, message).hint("name a `branch` to push");
            meant(&refspec.value, named.unwrap_or(branch)).map_err(at)
        });
        let meant = meant.transpose()?;
        if let (Some(one), Some(other), Some(refspec)) = (named, &meant, &push.refspec)
            && one != other
        {
            let message = format!("`{one}` and `{other}` are two branches, and one is pushed");
            return Err(object.refuse(refspec.start, message));
        }
        let other = meant.or_else(|| named.map(str::to_owned)).filter(|name| name != branch);
        delivery.branch = other;
        delivery.options = push.options.iter().map(|(key, value)| option(key, value)).collect();
    }
    Ok(delivery)
}

/// The branch that a refspec pushes what was committed to. What is no branch leaves no trace of a push, so that the same
/// would be pushed in every round.
fn meant(refspec: &str, committed: &str) -> Result<String, String> {
    let (from, to) =
        refspec.strip_prefix('+').unwrap_or(refspec).split_once(':').unwrap_or((refspec, refspec));
    if !["HEAD", committed].contains(&from.strip_prefix("refs/heads/").unwrap_or(from)) {
        return Err(format!("`{from}` is not what is committed, which is `HEAD`"));
    }
    let branch = to.strip_prefix("refs/heads/").ok_or_else(|| format!("`{to}` is not a branch"))?;
    Ok(branch.to_owned())
}

/// The key that commits are signed with, where there is a cluster that has it.
fn signing_secret(object: &Object, key: &Spanned<SigningKey>, found: &mut Found) -> Option<SigningSecret> {
    let (format, called) = match key.value.r#type {
        SigningKeyType::Gpg => (SignatureFormat::Openpgp, "openpgp"),
        SigningKeyType::Ssh => (SignatureFormat::Ssh, "ssh"),
    };
    let name = &key.value.secret_ref.name;
    if found.is_live() {
        let secret = Named { namespace: object.id.namespace.clone(), name: name.clone() };
        return Some(SigningSecret { secret, format });
    }
    let message = format!("commits are not signed: no Secret is read, and `{name}` has the key");
    let warning = object.refuse(key.start, message);
    found.warn_once(warning.hint(format!("name a key of the format `{called}` in `signingKeys`")));
    None
}

fn option(key: &str, value: &str) -> String {
    if value.is_empty() { key.to_owned() } else { format!("{key}={value}") }
}

/// The folder whose markers are written, from the root and with a slash behind it.
fn path_of(automation: &Parsed<ImageUpdateAutomation>) -> Result<String> {
    let Some(Spanned { value: update, start }) = &automation.spec.value.update else {
        return Ok(String::new());
    };
    within("", &update.path)
        .map(|path| if path.is_empty() { path } else { format!("{}/", literal(&path)) })
        .ok_or_else(|| {
            automation.object.refuse(*start, format!("`{}` leads out of the repository", update.path))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refspec_to_a_branch_is_that_branch() {
        for (refspec, branch) in [
            ("HEAD:refs/heads/bot", Ok("bot")),
            ("+refs/heads/main:refs/heads/a/b", Ok("a/b")),
            ("refs/heads/main", Ok("main")),
            ("HEAD:refs/for/main", Err("`refs/for/main` is not a branch")),
            (
                "refs/heads/other:refs/heads/x",
                Err("`refs/heads/other` is not what is committed, which is `HEAD`"),
            ),
            ("main", Err("`main` is not a branch")),
        ] {
            let read = meant(refspec, "main");
            assert_eq!(read.as_deref().map_err(String::as_str), branch, "{refspec}");
        }
    }
}
