//! Custom resources of kinds that the cluster may not know.
//!
//! Left alone: kinds that the same sync defines, at any wave, as Argo CD puts the definition first and leaves out the dry
//! run; kinds among the declared API versions; objects with `SkipDryRunOnMissingResource=true`. Where no API versions are
//! declared, nobody can tell, and it is a note. One finding for each kind of a target.

use std::collections::HashSet;

use argocd::objects::Object;
use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::{Index, is_custom};
use crate::input::Target;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT002",
        name: "missing-definition",
        meaning: "Nothing defines the kind of a custom resource: a sync of Argo CD fails at its dry run, before the \
                  first wave, and nothing is applied.",
    },
    fix: "bring the CustomResourceDefinition along, or declare the API version: `apiVersions` of the cluster in the \
          context file, or `--api-versions`",
    run,
};

const SKIPPED: &str = "SkipDryRunOnMissingResource=true";

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target) in index.set.targets.iter().enumerate() {
        let declared = declared(index, target);
        let mut seen = HashSet::new();
        for object in target.objects.iter().filter(|object| is_custom(object.group())) {
            if is_declared(object, &declared) || skips_dry_run(target, object) || is_of_argocd(object) {
                continue;
            }
            if !seen.insert((object.group(), object.kind())) {
                continue;
            }
            let name = format!("{} of {}", object.kind(), object.group());
            let draft = match index.definers(object.group(), object.kind()) {
                // Definitions beside the targets are the cluster's.
                Some(definers) if definers.is_empty() || definers.contains(&at) => continue,
                Some(definers) => {
                    if target.deployment.is_none() {
                        continue;
                    }
                    let definer = &index.set.targets[definers[0]].name;
                    FindingBuilder::new(index, at, object, Severity::Note)
                        .message(format!(
                            "{name} is defined by `{definer}`: on a new cluster this cannot be synced before that has been"
                        ))
                        .hint(format!(
                            "say `{SKIPPED}` in the sync options, or in the annotation `argocd.argoproj.io/sync-options`"
                        ))
                }
                None if declared.is_empty() => FindingBuilder::new(index, at, object, Severity::Note)
                    .message(format!(
                        "nothing here defines {name}, and no API versions of the cluster are declared"
                    )),
                None => FindingBuilder::new(index, at, object, Severity::Warning).message(format!(
                    "nothing here defines {name}, and the cluster is not declared to have {}",
                    object.api_version()
                )),
            };
            drafts.push(draft);
        }
    }
}

/// The API versions that the cluster of a target is said to have.
fn declared<'s>(index: &Index<'s>, target: &'s Target) -> Vec<&'s str> {
    let of_cluster = target.deployment.iter().flat_map(|deployment| &deployment.cluster.api_versions);
    of_cluster.chain(&index.set.options.api_versions).map(String::as_str).collect()
}

fn is_declared(object: &Object, declared: &[&str]) -> bool {
    declared.iter().any(|api| {
        let rest = api.strip_prefix(object.api_version());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('/') == Some(object.kind()))
    })
}

fn skips_dry_run(target: &Target, object: &Object) -> bool {
    let options = target.deployment.iter().flat_map(|it| &it.application.sync_policy.sync_options);
    object.annotation_list("argocd.argoproj.io/sync-options").contains(&SKIPPED)
        || options.into_iter().any(|option| option == SKIPPED)
}

/// Returns true for Argo CD's own kinds, which exist wherever Argo CD runs.
fn is_of_argocd(object: &Object) -> bool {
    object.group() == "argoproj.io"
        && ["Application", "ApplicationSet", "AppProject"].contains(&object.kind())
}
