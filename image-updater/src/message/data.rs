//! The data of templates: the variables that Argo CD Image Updater and Flux document, so that templates of either
//! work unchanged.
//!
//! Values from registries and repositories are put on one line, so that a label cannot add a paragraph or trailer.

use gotemplate::{List, Map, Str, Type, Value};
use sha2::{Digest as _, Sha256};

use super::record::Record;
use super::{Subject, changed};
use crate::change::{Change, Named, Version};

const MESSAGE_CHANGE: Type = Type::Named("argocd.commitMessageChange", &Type::Struct);
const IMAGE_CHANGE: Type = Type::Named("argocd.imageChange", &Type::Struct);

/// Returns what a commit message is made of.
pub(super) fn of_message(subject: &Subject<'_>) -> Value {
    let changes = subject.changes.iter().map(message_change).collect();
    let values = subject.values.iter().map(|(name, value)| (Str::from(name.as_str()), value.as_str().into()));
    let fields = [
        ("AppName", app_name(subject).into()),
        ("AppChanges", Value::List(List::typed(Type::Slice(&MESSAGE_CHANGE), changes))),
        ("AutomationObject", automation(subject.automation)),
        ("Changed", changed::value(subject.changes)),
        ("Values", Value::Map(Map::typed(Type::STRING_MAP, values.collect()))),
    ];
    Record::new("message.Data", fields).into_value()
}

/// Returns what a branch name is made of.
pub(super) fn of_branch(subject: &Subject<'_>, target_key: &str) -> Value {
    let images = subject.changes.iter().map(image_change).collect();
    let namespace = application(subject).map_or("", |application| application.namespace.as_str());
    let fields = [
        ("AppNamespace", line(namespace).into()),
        ("AppName", app_name(subject).into()),
        ("TargetKey", target_key.into()),
        ("Images", Value::List(List::typed(Type::Slice(&IMAGE_CHANGE), images))),
        ("SHA256", fingerprint(subject.changes).into()),
    ];
    Record::new("message.BranchData", fields).into_value()
}

/// A hash of what is changed to what: two sets of changes have the same only if they are the same.
#[must_use]
pub fn fingerprint(changes: &[Change]) -> String {
    let mut hasher = Sha256::new();
    for change in changes {
        let (old, new) = (change.old.identifier(), change.new.identifier());
        hasher.update(format!("{}-{old}-{new},", change.short_name()));
    }
    hex(&hasher.finalize())
}

/// Eight characters for a branch of a repository and a file or folder of it.
#[must_use]
pub fn target_key(repository: &str, branch: &str, target: &str) -> String {
    let mut key = hex(&Sha256::digest(format!("{repository}|{branch}|{target}")));
    key.truncate(8);
    key
}

/// A text without control characters, on one line.
pub(super) fn line(text: &str) -> String {
    text.replace(
        |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'),
        " ",
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The applications by name, each once. Where no change has one, it is what the caller says.
fn app_name(subject: &Subject<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for application in subject.changes.iter().filter_map(|change| change.application.as_ref()) {
        if !names.contains(&application.name.as_str()) {
            names.push(&application.name);
        }
    }
    if names.is_empty() { line(subject.name) } else { line(&names.join(", ")) }
}

/// The application, if there is but one.
fn application<'s>(subject: &Subject<'s>) -> Option<&'s Named> {
    let mut applications = subject.changes.iter().map(|change| change.application.as_ref());
    let first = applications.next()??;
    applications.all(|application| application == Some(first)).then_some(first)
}

fn message_change(change: &Change) -> Value {
    let labels = change.new.labels.iter().map(|(name, value)| (Str::from(line(name)), line(value).into()));
    let fields = [
        ("Image", line(change.short_name()).into()),
        ("OldTag", line(change.old.identifier()).into()),
        ("NewTag", line(change.new.identifier()).into()),
        ("Labels", Value::Map(Map::typed(Type::STRING_MAP, labels.collect()))),
    ];
    Record::new("argocd.commitMessageChange", fields).into_value()
}

fn image_change(change: &Change) -> Value {
    let alias = change.alias.as_deref().unwrap_or_default();
    let fields = [
        ("Name", line(change.short_name()).into()),
        ("Alias", line(alias).into()),
        ("OldTag", branch_version(&change.old).into()),
        ("NewTag", branch_version(&change.new).into()),
    ];
    Record::new("argocd.imageChange", fields).into_value()
}

/// A digest has a colon, which no branch can have: it is written as in the names of tags that stand for digests.
fn branch_version(version: &Version) -> String {
    line(version.identifier()).replacen(':', "-", 1)
}

/// Prints as Kubernetes prints a name within a namespace.
fn automation(object: Option<&Named>) -> Value {
    let Named { namespace, name } = object.cloned().unwrap_or_default();
    let printed = line(&format!("{namespace}/{name}"));
    let fields = [("Namespace", line(&namespace).into()), ("Name", line(&name).into())];
    Record::new("types.NamespacedName", fields).printed(printed).into_value()
}
