//! Applications of production that follow a branch.
//!
//! A mutable revision in production. The name of the project tells whether it is for production; see
//! `Options::PRODUCTION`. `HEAD` is a warning; a branch, as far as its name shows it, and a range of chart versions
//! are notes. Ignored: what a hydrator promotes.

use findings::{Rule, Severity};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT006",
        name: "mutable-revision",
        meaning: "An Application of production that follows a branch changes with each merge, tested or not, and cannot \
                  be taken back without another commit.",
    },
    fix: "set `targetRevision` to a tag or a commit",
    run,
};

const BRANCHES: &[&str] = &["main", "master", "trunk", "develop", "development", "dev", "staging"];

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target) in index.set.targets.iter().enumerate() {
        let Some(deployment) = target.deployment.as_deref() else { continue };
        let application = &deployment.application;
        let project = &application.project.value;
        if application.hydrator.is_some() || !index.set.options.production.is_match(project) {
            continue;
        }
        for source in &application.sources {
            let revision = source.target_revision.value.as_str();
            let is_chart = !source.chart.value.is_empty();
            let (severity, what) = match revision {
                "" | "HEAD" if !is_chart => (Severity::Warning, "follows the default branch"),
                _ if is_chart && is_range(revision) => (Severity::Note, "takes the newest chart in a range"),
                _ if !is_chart && is_branch(revision) => (Severity::Note, "follows a branch"),
                _ => continue,
            };
            let span = if source.target_revision.span.is_some() {
                source.target_revision.span
            } else {
                source.repo_url.span
            };
            let shown = if revision.is_empty() { "HEAD" } else { revision };
            let mut draft = FindingBuilder::new(index, at, &deployment.object, severity)
                .message(format!("the project `{project}` is production, and `{shown}` {what}"))
                .at(application.place(span));
            draft.field = Some("targetRevision".to_owned());
            drafts.push(draft);
        }
    }
}

fn is_branch(revision: &str) -> bool {
    revision.starts_with("refs/heads/") || BRANCHES.contains(&revision)
}

fn is_range(version: &str) -> bool {
    version.is_empty()
        || version.contains(['*', '^', '~', '>', '<', '|', ' '])
        || version.split('.').any(|part| part.eq_ignore_ascii_case("x"))
}
