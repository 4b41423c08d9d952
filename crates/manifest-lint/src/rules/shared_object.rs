//! Objects that two Applications have.
//!
//! Left alone: hooks, which are not tracked, and objects whose names the cluster makes. Overlays and charts that nobody
//! says are for one cluster may have the same objects.

use std::collections::HashMap;

use argocd::objects::Key;
use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT008",
        name: "shared-object",
        meaning: "An object that two Applications have belongs to whichever was synced last: both are never in sync at \
                  once, and the one that is deleted takes the object along.",
    },
    fix: "keep the object in one of the Applications only",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    let mut first: HashMap<(&str, Key), usize> = HashMap::new();
    for (at, target, object) in index.objects() {
        let is_hook =
            ["argocd.argoproj.io/hook", "helm.sh/hook"].iter().any(|key| object.annotation(key).is_some());
        if target.deployment.is_none() || is_hook || object.name().is_empty() {
            continue;
        }
        let owner = *first.entry((target.cluster(), object.key())).or_insert(at);
        if owner != at {
            let owner = &index.set.targets[owner].name;
            drafts.push(
                FindingBuilder::new(index, at, object, Severity::Warning).message(format!(
                    "the Application `{owner}` also deploys this object to the same cluster"
                )),
            );
        }
    }
}
