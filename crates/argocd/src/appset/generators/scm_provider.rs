//! `scmProvider`: a set for each branch of repositories that the context's fixtures have
//! (applicationset/generators/scm_provider.go, services/scm_provider/utils.go).
//!
//! The fixtures are what the provider answers, so that the generator's own filters come after them. Which paths a branch
//! has is known where the context has its repository; else what the filters say of paths is taken to hold, with a warning.

use diagnostic::Result;
use goregex::Regex;
use gotemplate::{IntKind, Value};

use super::{Depth, REQUEUE, Run, TEMPLATE, VALUES};
use crate::appset::params::Params;
use crate::appset::schema::{Shape, optional, pointer};
use crate::appset::slug::normalize;
use crate::appset::tree::Tree;
use crate::appset::{faults, filters};
use crate::context::ScmRepository;
use crate::warning::Code;

const FILTER: Shape = Shape::Object(&[
    pointer("repositoryMatch", Shape::Text),
    optional("pathsExist", Shape::TEXTS),
    optional("pathsDoNotExist", Shape::TEXTS),
    pointer("labelMatch", Shape::Text),
    pointer("branchMatch", Shape::Text),
]);

pub(super) fn shape(_: Depth) -> Option<Shape> {
    const SHAPE: Shape = Shape::Object(&[
        pointer("github", Shape::Any),
        pointer("gitlab", Shape::Any),
        pointer("bitbucket", Shape::Any),
        pointer("bitbucketServer", Shape::Any),
        pointer("gitea", Shape::Any),
        pointer("azureDevOps", Shape::Any),
        pointer("awsCodeCommit", Shape::Any),
        optional("filters", Shape::List(&FILTER)),
        optional("cloneProtocol", Shape::Text),
        REQUEUE,
        TEMPLATE,
        VALUES,
    ]);
    Some(SHAPE)
}

pub(super) fn generate(run: &Run<'_>, config: &Tree, _: Depth) -> Result<Vec<Params>> {
    let fixtures = run.world.context.fixtures.scm_provider.as_ref();
    let fixtures = fixtures.ok_or_else(|| faults::no_fixtures("scmProvider", "repositories"))?;
    let filters = Filters::read(run, config)?;
    let mut sets = Vec::new();
    for repository in fixtures.iter().filter(|it| filters.choose(run, it)) {
        let params = parameters(repository);
        run.add_values(config, &params)?;
        sets.push(params);
    }
    Ok(sets)
}

/// The first characters of a commit, of which there may be fewer.
pub(super) fn short(sha: &str, length: usize) -> &str {
    sha.get(..length).unwrap_or(sha)
}

fn parameters(repository: &ScmRepository) -> Params {
    let ScmRepository { organization, repository, repository_id, url, branch, sha, labels } = repository;
    let params = Params::default();
    for (key, text) in [
        ("organization", organization.as_str()),
        ("repository", repository),
        ("url", url),
        ("branch", branch),
        ("sha", sha),
        ("short_sha", short(sha, 8)),
        ("short_sha_7", short(sha, 7)),
        ("labels", &labels.join(",")),
        ("branchNormalized", &normalize(branch)),
    ] {
        params.insert(key, text.into());
    }
    // A number is an int64 to the providers' clients, and so prints without an exponent.
    params.insert(
        "repository_id",
        match repository_id.as_i64() {
            Some(number) => Value::Int(IntKind::Int64, number),
            None => repository_id.as_str().map_or(Value::Nil, Value::from),
        },
    );
    params
}

/// Filters of repositories, and those of branches: of each kind one has to match, if there are any.
struct Filters {
    of_repositories: Vec<Filter>,
    of_branches: Vec<Filter>,
}

struct Filter {
    repository: Option<Regex>,
    branch: Option<Regex>,
    label: Option<Regex>,
    there: Vec<String>,
    absent: Vec<String>,
    tree: Tree,
}

impl Filters {
    fn read(run: &Run<'_>, config: &Tree) -> Result<Self> {
        let mut filters = Self { of_repositories: Vec::new(), of_branches: Vec::new() };
        for tree in config.items_of("filters") {
            let texts =
                |key| tree.items_of(key).iter().filter_map(Tree::text).map(str::to_owned).collect::<Vec<_>>();
            let filter = Filter {
                repository: filters::expression(run, tree, "repositoryMatch")?,
                branch: filters::expression(run, tree, "branchMatch")?,
                label: filters::expression(run, tree, "labelMatch")?,
                there: texts("pathsExist"),
                absent: texts("pathsDoNotExist"),
                tree: tree.clone(),
            };
            let has = |key| tree.get(key).is_some();
            if has("pathsExist") || has("pathsDoNotExist") || has("branchMatch") {
                filters.of_branches.push(filter);
            } else if has("repositoryMatch") || has("labelMatch") {
                filters.of_repositories.push(filter);
            }
        }
        Ok(filters)
    }

    fn choose(&self, run: &Run<'_>, repository: &ScmRepository) -> bool {
        [&self.of_repositories, &self.of_branches]
            .iter()
            .all(|kind| kind.is_empty() || kind.iter().any(|filter| filter.matches(run, repository)))
    }
}

impl Filter {
    fn matches(&self, run: &Run<'_>, repository: &ScmRepository) -> bool {
        let matches =
            |regex: &Option<Regex>, text: &str| regex.as_ref().is_none_or(|regex| regex.is_match(text));
        matches(&self.repository, &repository.repository)
            && matches(&self.branch, &repository.branch)
            && self
                .label
                .as_ref()
                .is_none_or(|regex| repository.labels.iter().any(|label| regex.is_match(label)))
            && self.has_paths(run, repository)
    }

    fn has_paths(&self, run: &Run<'_>, repository: &ScmRepository) -> bool {
        if self.there.is_empty() && self.absent.is_empty() {
            return true;
        }
        let Ok(checkout) = run.world.repositories.find(&repository.url, &repository.branch) else {
            run.warn(
                Code::PathsNotChecked,
                format!(
                    "cannot check the paths of this filter in `{}`; assumed to exist",
                    repository.repository
                ),
                "give the repository in the context, or leave out of the fixtures what the filter would",
                self.tree.span,
            );
            return true;
        };
        let has = |path: &String| {
            let path = path.trim_end_matches('/').trim_start_matches('/');
            run.world.files.resolve(&checkout.folder().join(path)).is_ok()
        };
        self.there.iter().all(has) && !self.absent.iter().any(has)
    }
}
