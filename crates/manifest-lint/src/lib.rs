//! Lint rules for rendered Kubernetes objects: few findings, and those reliable.
//!
//! Input: [`Manifests`], which are targets with their objects, and what is known of Applications, projects and API versions.
//! Output: findings, without those that a comment or an annotation suppresses. The rules are the table [`RULES`]; the file
//! of each rule lists what it does not report, because a wrong finding costs more than a missing one. No finding contains
//! the value of a Secret. Each finding names its object and field, and has the location of the field if that is known.

mod builder;
mod index;
mod input;
mod pods;
mod rules;
mod suppression;

use findings::Finding;

pub use input::{Deployment, Manifests, Options, Target};
pub use rules::{Check, RULES, find};

/// Returns the findings for a set of manifests, sorted by target and rule.
#[must_use]
pub fn lint(set: &Manifests, is_enabled: impl Fn(&Check) -> bool) -> Vec<Finding> {
    let index = index::Index::of(set);
    let mut suppressions = suppression::Suppressions::of(set);
    let mut found = Vec::new();
    for check in RULES.iter().filter(|check| is_enabled(check)) {
        let mut drafts = Vec::new();
        (check.run)(&index, &mut drafts);
        let kept = drafts.into_iter().filter(|draft| !suppressions.cover(check, draft));
        found.extend(kept.map(|draft| (draft.target, draft.finding(check.rule, check.fix))));
    }
    if is_enabled(&rules::UNUSED_SUPPRESSION) {
        found.extend(suppressions.unused(&is_enabled));
    }
    found.sort_by_key(|(target, _)| *target);
    found.into_iter().map(|(_, finding)| finding).collect()
}
