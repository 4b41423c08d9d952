//! Versions of kinds that are served for the last time.

use findings::{Rule, Severity};

use super::Check;
use super::removed_api::{End, Versions};
use crate::draft::Draft;
use crate::known::Known;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT010",
        name: "deprecated-api",
        meaning: "The cluster still serves the version of the kind, but one of the next versions of Kubernetes does not.",
    },
    fix: "write it in the version that stays",
    run,
};

fn run<'s>(known: &Known<'s>, drafts: &mut Vec<Draft<'s>>) {
    let mut versions = Versions::default();
    for (at, target, object) in known.objects() {
        let minor = versions.of(known, target);
        let Some(End::Deprecated { removed, replacement }) = versions.end(minor, object) else { continue };
        let what = format!("{}, kind {}", object.api_version(), object.kind());
        let draft = Draft::new(known, at, object, Severity::Warning)
            .says(format!("{what} is deprecated in Kubernetes 1.{minor}, and gone in 1.{removed}"));
        drafts.push(match replacement {
            "" => draft.hint("it has no replacement"),
            version => draft.hint(format!("write it as `{version}`")),
        });
    }
}
