//! `pullRequest`: a set for each open pull request that the context's fixtures have
//! (applicationset/generators/pull_request.go, services/pull_request/utils.go).
//!
//! The fixtures are what the provider answers, so that the generator's own filters come after them.

use diagnostic::Result;
use gotemplate::Value;

use super::scm_provider::short;
use super::{Depth, REQUEUE, Run, TEMPLATE, VALUES};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, pointer};
use crate::appset::slug::{BRANCH_SLUG, slug};
use crate::appset::tree::Tree;
use crate::appset::{faults, filters};
use crate::context::PullRequest;

const FILTER: Shape = Shape::Object(&[
    pointer("branchMatch", Shape::Text),
    pointer("targetBranchMatch", Shape::Text),
    pointer("titleMatch", Shape::Text),
]);

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        pointer("github", Shape::Any),
        pointer("gitlab", Shape::Any),
        pointer("gitea", Shape::Any),
        pointer("bitbucketServer", Shape::Any),
        optional("filters", Shape::List(&FILTER)),
        REQUEUE,
        TEMPLATE,
        pointer("bitbucket", Shape::Any),
        pointer("azuredevops", Shape::Any),
        VALUES,
        optional("continueOnRepoNotFoundError", Shape::Bool),
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let fixtures = run.world.context.fixtures.pull_request.as_ref();
    let fixtures = fixtures.ok_or_else(|| faults::no_fixtures("pullRequest", "pull requests"))?;
    let mut filters = Vec::new();
    for tree in config.items_of("filters") {
        let expression = |key| filters::expression(run, tree, key);
        filters.push([
            expression("branchMatch")?,
            expression("targetBranchMatch")?,
            expression("titleMatch")?,
        ]);
    }
    let is_chosen = |pull: &&PullRequest| {
        let texts = [&pull.branch, &pull.target_branch, &pull.title];
        let holds = |(regex, text): (&Option<goregex::Regex>, &&String)| {
            regex.as_ref().is_none_or(|regex| regex.is_match(text.as_str()))
        };
        filters.is_empty() || filters.iter().any(|filter| filter.iter().zip(&texts).all(holds))
    };
    let mut sets = Vec::new();
    for pull in fixtures.iter().filter(is_chosen) {
        let params = parameters(pull, run.language.is_go());
        run.add_values(config, &params)?;
        sets.push(params);
    }
    Ok(sets)
}

fn parameters(pull: &PullRequest, with_labels: bool) -> Params {
    // Underscores are dashes in branches, and only there.
    let branch_slug =
        |branch: &str| slug(&branch.trim().replace('_', "-"), BRANCH_SLUG, true).unwrap_or_default();
    let params = Params::default();
    for (key, text) in [
        ("number", pull.number.to_string().as_str()),
        ("title", &pull.title),
        ("branch", &pull.branch),
        ("branch_slug", &branch_slug(&pull.branch)),
        ("target_branch", &pull.target_branch),
        ("target_branch_slug", &branch_slug(&pull.target_branch)),
        ("head_sha", &pull.head_sha),
        ("head_short_sha", short(&pull.head_sha, 8)),
        ("head_short_sha_7", short(&pull.head_sha, 7)),
        ("author", &pull.author),
    ] {
        params.insert(key, text.into());
    }
    if with_labels {
        params.insert("labels", Value::strings(pull.labels.iter().map(String::as_str)));
    }
    params
}
