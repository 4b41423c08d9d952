//! Applications whose deletion deletes what they have deployed, made by an Application that prunes.
//!
//! Left alone: Applications that pruning passes over (`Prune=false`) or asks about (`Prune=confirm`, `Delete=confirm`).

use argocd::application::is_application;
use argocd::objects::Object;
use findings::{Rule, Severity};
use yamltree::Node;

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT007",
        name: "cascading-applications",
        meaning: "Where an Application of Applications prunes, a file that is moved, renamed or no longer rendered \
                  deletes its Application, and the finalizer of that deletes everything it has deployed.",
    },
    fix: "give the Applications `argocd.argoproj.io/sync-options: Prune=confirm`, or take the finalizer away from them",
    run,
};

const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
const ASKED: [&str; 3] = ["Prune=false", "Prune=confirm", "Delete=confirm"];

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target) in index.set.targets.iter().enumerate() {
        let Some(deployment) = target.deployment.as_deref() else { continue };
        let Some(automated) = deployment.application.sync_policy.automated.filter(|it| it.prune) else {
            continue;
        };
        let children: Vec<&Object> = target.objects.iter().filter(|object| cascades(object)).collect();
        let Some(first) = children.first() else { continue };
        let others = match children.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let empty = if automated.allow_empty { "; by `allowEmpty` all of them may go at once" } else { "" };
        let mut draft =
            FindingBuilder::new(index, at, &deployment.object, Severity::Warning).message(format!(
                "it prunes Applications whose finalizer deletes what they deployed: `{}`{others}{empty}",
                first.name()
            ));
        if let Some(node) = deployment.object.node().lookup(&["spec", "syncPolicy", "automated", "prune"]) {
            draft = draft.field("spec.syncPolicy.automated.prune", node);
        }
        drafts.push(draft);
    }
}

fn cascades(object: &Object) -> bool {
    let finalizers = object.node().lookup(&["metadata", "finalizers"]).and_then(Node::items);
    let deletes =
        |name: &str| name == FINALIZER || name.starts_with("resources-finalizer.argocd.argoproj.io/");
    is_application(object)
        && finalizers.into_iter().flatten().filter_map(Node::text).any(deletes)
        && !object
            .annotation_list("argocd.argoproj.io/sync-options")
            .iter()
            .any(|option| ASKED.contains(option))
}
