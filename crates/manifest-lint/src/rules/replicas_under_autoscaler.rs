//! Replicas in Git of what something else scales.
//!
//! Left alone: workloads without `replicas`, and those with `replicas: 0`, by which an autoscaler is turned off; and
//! Applications that ignore the field and leave it as it is when they sync.

use std::collections::HashMap;

use argocd::objects::{Object, Sources};
use findings::{Rule, Severity};
use yamltree::{Entry, Node};

use super::Check;
use crate::builder::{FindingBuilder, titled};
use crate::index::Index;
use crate::input::Deployment;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT001",
        name: "replicas-under-autoscaler",
        meaning: "An autoscaler sets the replicas of a workload, and every sync sets them back to what Git has: pods \
                  are stopped and started for nothing, under load at the worst time.",
    },
    fix: "remove `replicas` from the manifest, or ignore `/spec/replicas` in `ignoreDifferences` of the Application \
          with the sync option `RespectIgnoreDifferences=true`",
    run,
};

const RESPECTED: &str = "RespectIgnoreDifferences=true";

/// Group, kind, namespace and name of what is scaled.
type Scaled<'o> = (&'o str, &'o str, &'o str, &'o str);

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target) in index.set.targets.iter().enumerate() {
        let scalers: HashMap<Scaled<'_>, &Object> =
            target.objects.iter().filter_map(|object| Some((scaled_by(object)?, object))).collect();
        if scalers.is_empty() {
            continue;
        }
        for object in &target.objects {
            let key = (object.group(), object.kind(), object.namespace(), object.name());
            let Some(scaler) = scalers.get(&key) else { continue };
            let Some(replicas) = object.node().lookup(&["spec", "replicas"]) else { continue };
            if matches!(replicas.text(), None | Some("" | "null" | "~" | "0")) {
                continue;
            }
            let ignored = target.deployment.as_deref().map(|deployment| standing(deployment, object));
            let draft =
                FindingBuilder::new(index, at, object, Severity::Warning).field("spec.replicas", replicas);
            let scaler = titled(scaler);
            drafts.extend(match ignored {
                Some(Ignored::Kept) => None,
                Some(Ignored::Written) => Some(
                    draft
                        .message(format!(
                            "{scaler} scales this, and though the Application ignores the difference, every sync writes it"
                        ))
                        .hint(format!("add the sync option `{RESPECTED}`")),
                ),
                Some(Ignored::Not) | None => Some(draft.message(format!("{scaler} scales this workload, and each sync resets `replicas` to the value in Git"))),
            });
        }
    }
}

/// Returns the workload that an autoscaler scales.
fn scaled_by(object: &Object) -> Option<Scaled<'_>> {
    let (path, api_version, kind) = match (object.group(), object.kind()) {
        ("autoscaling", "HorizontalPodAutoscaler") => ("scaleTargetRef", "", ""),
        // Without a kind KEDA takes a Deployment.
        ("keda.sh", "ScaledObject") => ("scaleTargetRef", "apps/v1", "Deployment"),
        // A Rollout takes over the pods of a Deployment, if it is told to.
        ("argoproj.io", "Rollout")
            if matches!(
                object.text_at(&["spec", "workloadRef", "scaleDown"]),
                "onsuccess" | "progressively"
            ) =>
        {
            ("workloadRef", "", "")
        }
        _ => return None,
    };
    let text = |field: &str| object.text_at(&["spec", path, field]);
    let api_version = if text("apiVersion").is_empty() { api_version } else { text("apiVersion") };
    let kind = if text("kind").is_empty() { kind } else { text("kind") };
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some((group, kind, object.namespace(), text("name")))
}

/// The handling of a workload's replicas by an Application.
enum Ignored {
    /// It compares them.
    Not,
    /// It does not compare them, but writes them.
    Written,
    /// It leaves them as they are.
    Kept,
}

fn standing(deployment: &Deployment, object: &Object) -> Ignored {
    if !ignores_replicas(deployment, object) {
        return Ignored::Not;
    }
    let options = &deployment.application.sync_policy.sync_options;
    let of_object = object.annotation_list("argocd.argoproj.io/sync-options");
    let is_kept = options.iter().any(|option| option == RESPECTED) || of_object.contains(&RESPECTED);
    if is_kept { Ignored::Kept } else { Ignored::Written }
}

/// Returns what is left of an object's replicas in a comparison says it; what only jq or a cluster knows is believed.
fn ignores_replicas(deployment: &Deployment, object: &Object) -> bool {
    let not_done = deployment.ignored.not_done(object);
    // Expressions begin with a dot, managers of fields do not.
    if not_done.iter().any(|word| word.contains("replicas") || !word.starts_with('.')) {
        return true;
    }
    let text = |key: &str, text: &str| Entry::new(key, Node::string(text));
    let node = Node::mapping(vec![
        text("apiVersion", object.api_version()),
        text("kind", object.kind()),
        Entry::new(
            "metadata",
            Node::mapping(vec![text("name", object.name()), text("namespace", object.namespace())]),
        ),
        Entry::new("spec", Node::mapping(vec![Entry::new("replicas", Node::plain("1"))])),
    ]);
    let Ok(mut probe) = Object::new(&node, &Sources::from(Vec::new())) else { return false };
    deployment.ignored.normalize(&mut probe);
    probe.node().lookup(&["spec", "replicas"]).is_none()
}
