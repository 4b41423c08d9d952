//! Few, trusted findings over rendered objects: what will not work, or surely is not meant.
//!
//! In: a [`Manifests`] of targets with their objects, and what is index of Applications, projects and API versions. Out:
//! findings, without those that are suppressed ([`manifest_lint`]). The rules are the table [`RULES`]; each says in its file what
//! it leaves alone, because a finding that is wrong costs more than one that is missing. Values of Secrets are in no
//! finding.

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
