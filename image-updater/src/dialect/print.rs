//! Prints discovered work as `image-updater.yaml`. Reading it gives the same batches and registries; comments name
//! settings that cannot be expressed. One document for each batch.

use diagnostic::{Error, Result};
use std::time::Duration;

use yamledit::{Content, Edits, File};

use super::Found;
use crate::change::Named;
use crate::config::{Credentials, Registry};
use crate::criteria::{Criteria, Order, Scope};
use crate::work::{Batch, Delivery, Files, KeyPlace, PullRequest, Spot, Update, Words};

type Entries = Vec<(String, Content)>;

/// Writes our own configuration.
///
/// # Errors
/// If a text cannot stand in YAML.
pub fn print(found: &Found) -> Result<String> {
    let mut documents = Vec::new();
    for (index, batch) in found.batches.iter().enumerate() {
        let head = if index == 0 { comments(found) } else { String::new() };
        documents.push(document(&head, batch, &found.registries)?);
    }
    Ok(documents.join("---\n"))
}

fn comments(found: &Found) -> String {
    let mut text = String::new();
    for warning in &found.warnings {
        let hint = warning.get_hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        let line: String = format!("{warning}{hint}").chars().map(printable).collect();
        text.push_str(&format!("# {line}\n"));
    }
    text
}

/// A comment is one line, and YAML takes no control characters.
fn printable(character: char) -> char {
    let is_break = matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    if character.is_control() || is_break || character >= '\u{fffe}' { ' ' } else { character }
}

fn document(head: &str, batch: &Batch, registries: &[Registry]) -> Result<String> {
    let mut entries = vec![text("apiVersion", "image-updater/v1alpha1"), text("kind", "Config")];
    put_list(&mut entries, "registries", registries.iter().map(registry).collect());
    let git = git(&batch.files, &batch.delivery);
    if !git.is_empty() {
        entries.push(("git".to_owned(), Content::Mapping(git)));
    }
    entries.push(("updates".to_owned(), Content::Sequence(updates(&batch.updates))));
    let refuse = |error: Error| {
        Error::invalid(format!("what was found cannot be written as YAML: {}", error.message()))
    };
    let file = File::parse(head, 0).map_err(refuse)?;
    let mut edits = Edits::new(&file);
    edits.fill(entries).map_err(refuse)?;
    Ok(edits.apply().map_err(refuse)?.unwrap_or_default())
}

fn registry(registry: &Registry) -> Content {
    let mut entries = vec![text("prefix", &registry.prefix)];
    put_bool(&mut entries, "plainHttp", registry.plain_http);
    let credentials = match &registry.credentials {
        Some(Credentials::Env(name)) => Some(text("env", name)),
        Some(Credentials::File(path)) => Some(text("file", path)),
        Some(Credentials::DockerConfig(path)) => Some(text("dockerConfig", path)),
        Some(Credentials::Command(words)) => Some(("command".to_owned(), strings(words))),
        Some(Credentials::PullSecret(name)) => Some(text("pullSecret", &name.to_string())),
        Some(Credentials::Secret(key)) => Some(text("secret", &key.to_string())),
        Some(Credentials::ServiceAccount(name)) => Some(text("serviceAccount", &name.to_string())),
        Some(Credentials::Provider(provider)) => Some(text("provider", provider.name())),
        None => None,
    };
    if let Some(credentials) = credentials {
        entries.push(("credentials".to_owned(), Content::Mapping(vec![credentials])));
    }
    Content::Mapping(entries)
}

fn git(files: &Files, delivery: &Delivery) -> Entries {
    let mut entries = Entries::new();
    if let Files::Remote { url, branch } = files {
        entries.push(text("url", url));
        put(&mut entries, "branch", branch.as_deref());
    }
    put(&mut entries, "pushBranch", delivery.branch.as_deref());
    put_strings(&mut entries, "pushOptions", &delivery.options);
    if let Some((name, email)) = &delivery.author {
        let author = Content::Mapping(vec![text("name", name), text("email", email)]);
        entries.push(("author".to_owned(), author));
    }
    if delivery.words == Words::Flux {
        entries.push(text("templates", "flux"));
    }
    put(&mut entries, "message", delivery.message.as_deref());
    if !delivery.values.is_empty() {
        let values = delivery.values.iter().map(|(key, value)| text(key, value)).collect();
        entries.push(("templateValues".to_owned(), Content::Mapping(values)));
    }
    put(&mut entries, "automation", delivery.automation.as_ref().map(named).as_deref());
    put_bool(&mut entries, "signOff", delivery.sign_off);
    put_bool(&mut entries, "commitPerApplication", delivery.commit_per_application);
    if let Some(request) = &delivery.pull_request {
        entries.push(("pullRequest".to_owned(), pull_request(request)));
    }
    entries
}

fn pull_request(request: &PullRequest) -> Content {
    let mut entries = Entries::new();
    put(&mut entries, "forge", request.forge.as_deref());
    put(&mut entries, "title", request.title.as_deref());
    put_strings(&mut entries, "labels", &request.labels);
    put_strings(&mut entries, "reviewers", &request.reviewers);
    put_bool(&mut entries, "draft", request.draft);
    Content::Mapping(entries)
}

/// Images that follow each other and have their frame in common stand together.
fn updates(updates: &[Update]) -> Vec<Content> {
    let frame = |update: &Update| (update.interval, update.suspended, update.application.clone());
    let groups = updates.chunk_by(|first, second| frame(first) == frame(second));
    let group = |updates: &[Update]| {
        let mut entries = Entries::new();
        if let Some(first) = updates.first() {
            put(&mut entries, "interval", first.interval.map(span).as_deref());
            put(&mut entries, "application", first.application.as_ref().map(named).as_deref());
            put_bool(&mut entries, "suspend", first.suspended);
        }
        put_list(&mut entries, "images", updates.iter().map(image).collect());
        Content::Mapping(entries)
    };
    groups.map(group).collect()
}

fn image(update: &Update) -> Content {
    let mut entries = Entries::new();
    put(&mut entries, "name", Some(update.name.as_str()).filter(|name| *name != update.image));
    let tag = update.watched.as_ref().map(|tag| format!(":{tag}")).unwrap_or_default();
    entries.push(text("image", &format!("{}{tag}", update.image)));
    let policy = policy(&update.criteria);
    if !policy.is_empty() {
        entries.push(("policy".to_owned(), Content::Mapping(policy)));
    }
    put_bool(&mut entries, "pinDigest", update.pins_digest);
    put_bool(&mut entries, "keepDigest", update.keeps_digest);
    if let Some(verification) = &update.verification {
        let mut keys = Entries::new();
        put_list(&mut keys, "cosignKeys", verification.keys.iter().map(key).collect());
        entries.push(("verify".to_owned(), Content::Mapping(keys)));
    }
    put_list(&mut entries, "targets", update.spots.iter().map(target).collect());
    Content::Mapping(entries)
}

fn key(place: &KeyPlace) -> Content {
    Content::Mapping(vec![match place {
        KeyPlace::Text(pem) => text("pem", pem),
        KeyPlace::File(path) => text("file", &path.display().to_string()),
        KeyPlace::Secret { secret, key } => text("secret", &format!("{}#{key}", named(secret))),
    }])
}

fn policy(criteria: &Criteria) -> Entries {
    let mut entries = Entries::new();
    let strategy = Some(criteria.strategy.as_str()).filter(|name| *name != crate::criteria::DEFAULT_STRATEGY);
    put(&mut entries, "strategy", strategy);
    put(&mut entries, "semverConstraint", criteria.semver_constraint.as_deref());
    put(&mut entries, "calverFormat", criteria.calver_format.as_deref());
    let order = criteria.order.map(|order| match order {
        Order::Ascending => "asc",
        Order::Descending => "desc",
    });
    put(&mut entries, "order", order);
    put_bool(&mut entries, "keepSuffix", criteria.keep_suffix);
    put_bool(&mut entries, "prerelease", criteria.prerelease);
    put_bool(&mut entries, "strictVersions", criteria.strict_versions);
    let scope = criteria.update_scope.map(|scope| match scope {
        Scope::Patch => "patch",
        Scope::Minor => "minor",
        Scope::Major => "major",
    });
    put(&mut entries, "updateScope", scope);
    put_bool(&mut entries, "naturalOrder", criteria.natural_order);
    let updated: Vec<String> = criteria.update_from.iter().map(ToString::to_string).collect();
    put_strings(&mut entries, "updateFrom", &updated);
    put(&mut entries, "allowTags", criteria.allow_tags.as_deref());
    let ignored: Vec<String> = criteria.ignore_tags.iter().map(ToString::to_string).collect();
    put_strings(&mut entries, "ignoreTags", &ignored);
    put(&mut entries, "filterTags", criteria.filter_tags.as_deref());
    put(&mut entries, "extract", criteria.extract.as_deref());
    put(&mut entries, "minAge", criteria.min_age.as_ref().map(ToString::to_string).as_deref());
    let platforms: Vec<String> = criteria.platforms.iter().map(ToString::to_string).collect();
    put_strings(&mut entries, "platforms", &platforms);
    put_bool(&mut entries, "allowDowngrade", criteria.allow_downgrade);
    entries
}

fn target(spot: &Spot) -> Content {
    let mut entries = vec![text("kind", &spot.kind), text("path", &spot.path)];
    let paths = &spot.paths;
    for (key, value) in [
        ("tagPath", &paths.tag),
        ("namePath", &paths.name),
        ("registryPath", &paths.registry),
        ("specPath", &paths.spec),
        ("digestPath", &paths.digest),
        ("policy", &spot.policy),
        ("imageName", &spot.image_name),
    ] {
        put(&mut entries, key, value.as_deref());
    }
    put_bool(&mut entries, "create", spot.creates);
    Content::Mapping(entries)
}

/// A span of time in the units that are read.
fn span(span: Duration) -> String {
    let mut seconds = span.as_secs();
    let mut text = String::new();
    for (unit, length) in [('h', 3_600), ('m', 60), ('s', 1)] {
        if seconds >= length {
            text.push_str(&format!("{}{unit}", seconds / length));
            seconds %= length;
        }
    }
    text
}

fn named(named: &Named) -> String {
    let Named { namespace, name } = named;
    if namespace.is_empty() && !name.contains('/') { name.clone() } else { format!("{namespace}/{name}") }
}

fn text(key: &str, value: &str) -> (String, Content) {
    (key.to_owned(), value.into())
}

fn strings(values: &[String]) -> Content {
    Content::Sequence(values.iter().map(|value| value.as_str().into()).collect())
}

fn put(entries: &mut Entries, key: &str, value: Option<&str>) {
    entries.extend(value.map(|value| text(key, value)));
}

fn put_bool(entries: &mut Entries, key: &str, value: bool) {
    if value {
        entries.push((key.to_owned(), Content::Bool(true)));
    }
}

fn put_strings(entries: &mut Entries, key: &str, values: &[String]) {
    if !values.is_empty() {
        entries.push((key.to_owned(), strings(values)));
    }
}

fn put_list(entries: &mut Entries, key: &str, values: Vec<Content>) {
    if !values.is_empty() {
        entries.push((key.to_owned(), Content::Sequence(values)));
    }
}
