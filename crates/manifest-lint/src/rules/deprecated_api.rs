//! Versions of kinds that are served for the last time.

use findings::{Rule, Severity};

use super::Check;
use super::removed_api::{End, Versions};
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT010",
        name: "deprecated-api",
        meaning: "The cluster still serves the version of the kind, but one of the next versions of Kubernetes does not.",
    },
    fix: "write it in the version that stays",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    let mut versions = Versions::default();
    for (at, target, object) in index.objects() {
        let minor = versions.of(index, target);
        let Some(End::Deprecated { removed, replacement }) = versions.end(minor, object) else { continue };
        let what = format!("{}, kind {}", object.api_version(), object.kind());
        let draft = FindingBuilder::new(index, at, object, Severity::Warning)
            .message(format!("{what} is deprecated in Kubernetes 1.{minor} and removed in 1.{removed}"));
        drafts.push(match replacement {
            "" => draft.hint("it has no replacement"),
            version => draft.hint(format!("use `apiVersion: {version}`")),
        });
    }
}
