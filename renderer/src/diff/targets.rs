//! From what was rendered to what a review compares.

use std::collections::{BTreeMap, HashMap};

use argocd::application::Application;
use argocd::diffing::Normalizer;
use argocd::objects::{ARGOCD_NAMESPACE, Key, Object};
use manifest_diff::{RenderOutcome, Target, TargetKind, VolatileField};
use yamltree::{JsonOptions, Kind, Node};

use super::plan;
use crate::argocd::Member;

/// Deletes the objects with the Application.
const CASCADE: &str = "resources-finalizer.argocd.argoproj.io";

/// An Application; with the same one before the change, also in which order it is applied.
pub(super) fn of_application(
    member: &Member,
    before: Option<Option<&Member>>,
    settings: &BTreeMap<String, String>,
) -> Option<Target> {
    let outcome = member.outcome.as_ref()?;
    let application = &member.application;
    let namespace =
        if application.namespace.is_empty() { ARGOCD_NAMESPACE } else { application.namespace.as_str() };
    let name = format!("{namespace}/{}", application.name.value);
    let kind = TargetKind::Application;
    let mut target = match &outcome.rendered {
        Ok(rendered) => Target::rendered(kind, name, rendered.objects.clone()),
        Err(error) => Target::failed(kind, name, error.to_string()),
    };
    target.origin = application.place(application.name.span);
    target.warnings = outcome.warnings.sentences();
    target.apply.objects_in_files = true;
    target.apply.prune = application.sync_policy.automated.is_some_and(|automated| automated.prune);
    target.apply.cascade = has_finalizer(member.object());
    target.apply.normalizer = normalizer(application, settings);
    if let (Some(before), Ok(rendered)) = (before, &outcome.rendered) {
        let old = before.and_then(|before| before.outcome.as_ref()?.rendered.as_ref().ok());
        let old = old.map_or(&[][..], |rendered| &rendered.objects);
        target.plan = Some(plan::of(application, &rendered.objects, old));
    }
    Some(target)
}

fn has_finalizer(object: &Object) -> bool {
    let finalizers = object.node().lookup(&["metadata", "finalizers"]).and_then(Node::items);
    finalizers.into_iter().flatten().any(|name| name.text().is_some_and(|name| name.starts_with(CASCADE)))
}

/// Returns what is wrong in the settings was said when the Application was rendered.
fn normalizer(application: &Application, settings: &BTreeMap<String, String>) -> Option<Normalizer> {
    Normalizer::new(&application.ignore_differences, settings).ok()
}

/// Marks the fields that a second rendering has otherwise.
pub(super) fn mark_unstable(target: &mut Target, again: &[Object]) {
    let RenderOutcome::Rendered(objects) = &target.outcome else { return };
    let second: HashMap<Key, &Object> = again.iter().map(|object| (object.key(), object)).collect();
    let mut found = Vec::new();
    for object in objects {
        let key = object.key();
        let Some(other) = second.get(&key) else { continue };
        let mut pointers = Vec::new();
        differing(object.node(), other.node(), &mut String::new(), &mut pointers);
        found.extend(pointers.into_iter().map(|pointer| VolatileField { object: key.clone(), pointer }));
    }
    target.volatile = found;
}

/// The JSON pointers at which two nodes differ, as deep as can be.
fn differing(one: &Node, other: &Node, path: &mut String, found: &mut Vec<String>) {
    let length = path.len();
    match (&one.kind, &other.kind) {
        (Kind::Mapping(entries), Kind::Mapping(others)) if entries.len() == others.len() => {
            for entry in entries {
                let key = entry.key.text().unwrap_or_default();
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                match other.get(key) {
                    Some(other) => differing(&entry.value, other, path, found),
                    None => found.push(path.clone()),
                }
                path.truncate(length);
            }
        }
        (Kind::Sequence(items), Kind::Sequence(others)) if items.len() == others.len() => {
            for (number, (item, other)) in items.iter().zip(others).enumerate() {
                path.push_str(&format!("/{number}"));
                differing(item, other, path, found);
                path.truncate(length);
            }
        }
        _ if json(one) != json(other) => found.push(path.clone()),
        _ => {}
    }
}

fn json(node: &Node) -> Option<String> {
    let mut text = String::new();
    yamltree::to_json(node, JsonOptions::SIGS, &mut text).ok().map(|()| text)
}
