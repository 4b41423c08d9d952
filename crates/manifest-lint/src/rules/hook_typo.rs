//! Hooks, waves and delete policies that Argo CD does not know and passes over in silence.

use argocd::Code;
use argocd::sync;
use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT003",
        name: "hook-typo",
        meaning: "Argo CD says nothing of a hook, wave or delete policy that it does not know: a hook with a typo is \
                  never applied at all.",
    },
    fix: "see the phases and waves with `renderer plan`",
    run,
};

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, _, object) in index.objects() {
        for warning in sync::annotation_warnings(object) {
            let severity =
                if warning.code == Code::NeverApplied { Severity::Error } else { Severity::Warning };
            let draft = FindingBuilder::new(index, at, object, severity)
                .message(warning.message)
                .at(warning.location);
            drafts.push(match warning.hint {
                Some(hint) => draft.hint(hint),
                None => draft,
            });
        }
    }
}
