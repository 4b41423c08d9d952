//! Objects that a sync deletes, or leaves behind.

use yamltree::Node;

use super::{Difference, of_target};
use crate::input::ApplyOptions;
use crate::model::{Finding, Level, ObjectId, Rule, Summary, TargetReview, TargetStatus};
use crate::pair::without_hash;

/// Kinds with which more goes than the object.
const WITH_CONTENT: &[(&str, &str, &str)] = &[
    ("", "Namespace", "with everything in it"),
    ("", "PersistentVolumeClaim", "perhaps with the data of its volume"),
    ("", "PersistentVolume", "perhaps with its data"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "with all objects of its kind"),
    ("argoproj.io", "Application", "and, if it has the finalizer, everything that it deployed"),
    ("argoproj.io", "ApplicationSet", "with its Applications"),
];

/// Annotations that keep an object where it is, and what they say then.
const KEEPS: &[(&str, &str)] = &[
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ("helm.sh/resource-policy", "keep"),
];

pub(super) fn look(difference: &Difference<'_>, summary: &mut Summary) {
    let is_gone = difference.head.is_none() || difference.was.is_some_and(|was| was.is_renamed);
    // Nobody keeps track of hooks.
    let Some(base) = difference.base.filter(|_| is_gone && !difference.is_hook) else { return };
    let id = difference.was.map_or(difference.id, |was| &was.id);
    let is_deleted = match difference.target_status {
        TargetStatus::Removed => difference.apply.cascade,
        _ => difference.apply.prune,
    };
    if let Some(owner) = difference.owner {
        // Whether it is kept depends on which of them is synced first.
        let owner = format!("{} {}", owner.kind.as_str(), owner.name);
        let finding = if is_deleted {
            let message = format!("moves to {owner}: deleted and made anew unless that is synced first");
            difference.finding(Rule::ObjectDeleted, Level::Warning, message)
        } else {
            difference.finding(Rule::ObjectOrphaned, Level::Note, format!("moves to {owner}"))
        };
        summary.findings.push(Finding { object: Some(id.clone()), ..finding });
        return;
    }
    let finding = match keeper(base) {
        None if is_deleted => {
            let content =
                WITH_CONTENT.iter().find(|(group, kind, _)| *group == id.group() && *kind == id.kind);
            let (level, message) = match (content, difference.target_status) {
                (Some((_, _, with)), _) => (Level::Error, format!("deleted, {with}")),
                // With a target goes what it has: that is said once.
                (None, TargetStatus::Removed) => return,
                (None, _) if is_regenerated(difference) => {
                    (Level::Note, "deleted: there is one with another hash".to_owned())
                }
                (None, _) => (Level::Warning, "deleted".to_owned()),
            };
            difference.finding(Rule::ObjectDeleted, level, message)
        }
        None if difference.target_status == TargetStatus::Removed => return,
        None => {
            let message = "stays in the cluster: nothing prunes it".to_owned();
            difference.finding(Rule::ObjectOrphaned, Level::Note, message)
        }
        Some((annotation, value)) => {
            let message = format!("stays in the cluster: it says `{annotation}: {value}`");
            difference.finding(Rule::ObjectOrphaned, Level::Note, message)
        }
    };
    let object: ObjectId = id.clone();
    summary.findings.push(Finding { object: Some(object), ..finding });
}

/// The objects that are deleted, or left behind, with a target.
pub(super) fn look_at_target(target: &TargetReview, apply: &ApplyOptions, summary: &mut Summary) {
    if target.status != TargetStatus::Removed || target.objects.is_empty() {
        return;
    }
    let count = target.objects.len();
    let objects = if count == 1 { "its one object".to_owned() } else { format!("its {count} objects") };
    let (rule, level, message) = if apply.cascade {
        (Rule::ObjectDeleted, Level::Warning, format!("deleted, with {objects}"))
    } else {
        (Rule::ObjectOrphaned, Level::Note, format!("goes, and leaves {objects} in the cluster"))
    };
    summary.findings.push(of_target(rule, level, target.to_string(), message));
}

/// Returns true if an object only has a name with another hash of its content.
fn is_regenerated(difference: &Difference<'_>) -> bool {
    difference.was.is_some_and(|was| {
        let name = without_hash(&was.id.name);
        name.is_some() && name == without_hash(&difference.id.name)
    })
}

fn keeper(object: &Node) -> Option<(&'static str, &'static str)> {
    let annotations = object.lookup(&["metadata", "annotations"])?;
    KEEPS.iter().copied().find(|(annotation, value)| {
        let given = annotations.get(annotation).and_then(Node::text).unwrap_or_default();
        given.split(',').any(|option| option.trim() == *value)
    })
}

#[cfg(test)]
mod tests {
    use crate::input::ApplyOptions;
    use crate::summary::testing::summary;

    fn findings(base: &str, prune: bool) -> Vec<String> {
        let apply = ApplyOptions { prune, ..ApplyOptions::default() };
        let findings = summary(base, "", &apply).findings;
        findings.into_iter().map(|it| format!("{:?} {}", it.level, it.message)).collect()
    }

    #[test]
    fn objects_are_deleted_if_something_prunes_them() {
        let object = |kind: &str, metadata: &str| {
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: a, {metadata}}}\n")
        };
        let service = object("Service", "namespace: shop");
        assert_eq!(findings(&service, true), ["Warning deleted"]);
        assert_eq!(findings(&service, false), ["Note stays in the cluster: nothing prunes it"]);
        assert_eq!(
            findings(
                &object(
                    "Service",
                    "annotations: {argocd.argoproj.io/sync-options: 'Replace=true, Prune=false'}"
                ),
                true
            ),
            ["Note stays in the cluster: it says `argocd.argoproj.io/sync-options: Prune=false`"]
        );
        assert_eq!(findings(&object("Namespace", ""), true), ["Error deleted, with everything in it"]);
        assert!(findings(&object("Pod", "annotations: {argocd.argoproj.io/hook: PreSync}"), true).is_empty());
    }
}
