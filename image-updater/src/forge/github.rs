//! GitHub, and GitHub Enterprise. Pull requests are issues too, and labels and comments belong to those; merging them
//! when they are ready is a matter of its GraphQL API.

use diagnostic::{Error, ErrorKind, Result};
use reqwest::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::pulls::{self, path};
use super::{Forge, MergeMethod, NewRequest, Repository, Request, State, Update};

/// As many as a page has.
const PAGE: usize = 100;

/// A thousand open requests of one branch: enough to find ours among, which are the newest.
const MAX_PAGES: usize = 10;

const MERGE: &str = "mutation($id: ID!, $method: PullRequestMergeMethod!) \
    { enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method}) { clientMutationId } }";

/// github.com and hosts that run the same.
#[derive(Debug)]
pub(super) struct GitHub;

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    #[serde(default)]
    node_id: String,
    html_url: String,
    title: String,
    body: Option<String>,
    state: String,
    merged_at: Option<String>,
    #[serde(default)]
    draft: bool,
    /// The auto-merge settings, if enabled.
    auto_merge: Option<IgnoredAny>,
    #[serde(default)]
    labels: Vec<Label>,
    head: Branch,
    base: Branch,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
struct Branch {
    #[serde(rename = "ref")]
    name: String,
    /// A fork may be gone.
    repo: Option<Id>,
}

#[derive(Deserialize, PartialEq, Eq)]
struct Id {
    id: u64,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    errors: Vec<GraphError>,
}

#[derive(Deserialize)]
struct GraphError {
    #[serde(default)]
    message: String,
}

impl From<PullRequest> for Request {
    fn from(pull: PullRequest) -> Self {
        let state = match (pull.state.as_str(), pull.merged_at) {
            ("open", _) => State::Open,
            (_, None) => State::Closed,
            (_, Some(_)) => State::Merged,
        };
        Self {
            number: pull.number,
            id: pull.node_id,
            url: pull.html_url,
            title: pull.title,
            body: pull.body.unwrap_or_default(),
            labels: pull.labels.into_iter().map(|label| label.name).collect(),
            is_own_branch: pull.head.repo.is_some() && pull.head.repo == pull.base.repo,
            head: pull.head.name,
            draft: pull.draft,
            auto_merge: Some(pull.auto_merge.is_some()),
            state,
        }
    }
}

impl Forge for GitHub {
    fn name(&self) -> &'static str {
        "GitHub"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["github.com", "www.github.com"]
    }

    fn words(&self) -> &'static [&'static str] {
        &["github", "ghe"]
    }

    fn api(&self, host: &str) -> String {
        if self.hosts().contains(&host) {
            "https://api.github.com".to_owned()
        } else {
            format!("https://{host}/api/v3")
        }
    }

    fn headers(&self, token: &str) -> Vec<(&'static str, String)> {
        vec![
            ("authorization", format!("Bearer {token}")),
            ("accept", "application/vnd.github+json".to_owned()),
            ("x-github-api-version", "2022-11-28".to_owned()),
        ]
    }

    fn says_duplicate(&self, status: StatusCode, body: &[u8]) -> bool {
        // The status is that of all that cannot be; only the text says which.
        status == StatusCode::UNPROCESSABLE_ENTITY
            && memchr::memmem::find(body, b"A pull request already exists").is_some()
    }

    fn draft_mark(&self) -> Option<&'static str> {
        None
    }

    fn reference(&self, number: u64) -> String {
        format!("#{number}")
    }

    fn compare(&self, web: &str, old: &str, new: &str) -> String {
        format!("{web}/compare/{old}...{new}")
    }

    fn commit(&self, web: &str, revision: &str) -> String {
        format!("{web}/commit/{revision}")
    }

    fn find(&self, at: &Repository<'_>, head: &str, base: &str) -> Result<Option<Request>> {
        let owner = at.path.split('/').next().unwrap_or_default();
        let head = format!("{owner}:{head}");
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("base", base),
            ("sort", "created"),
            ("direction", "desc"),
        ];
        let found: Vec<PullRequest> =
            at.api.ask(at.api.get("look for a pull request", &path(at, &["pulls"]), &query))?;
        Ok(super::latest(found.into_iter().map(Request::from)))
    }

    fn list(&self, at: &Repository<'_>, base: &str) -> Result<Vec<Request>> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let (size, page) = (PAGE.to_string(), page.to_string());
            let query =
                [("state", "open"), ("base", base), ("per_page", size.as_str()), ("page", page.as_str())];
            let found: Vec<PullRequest> =
                at.api.ask(at.api.get("list pull requests", &path(at, &["pulls"]), &query))?;
            let is_last = found.len() < PAGE;
            all.extend(found.into_iter().map(Request::from));
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    fn create(&self, at: &Repository<'_>, new: &NewRequest<'_>) -> Result<Request> {
        pulls::create::<PullRequest>(at, new, &[("draft", new.draft.into())])
    }

    fn update(&self, at: &Repository<'_>, number: u64, update: &Update<'_>) -> Result<()> {
        pulls::update(at, number, update)
    }

    fn label(&self, at: &Repository<'_>, number: u64, labels: &[&str]) -> Result<()> {
        pulls::label(at, number, &json!(labels))
    }

    fn ask_reviewers(&self, at: &Repository<'_>, number: u64, reviewers: &[String]) -> Result<()> {
        pulls::ask_reviewers(at, number, reviewers)
    }

    fn merge_when_ready(&self, at: &Repository<'_>, request: &Request, method: MergeMethod) -> Result<()> {
        let method = match method {
            MergeMethod::Merge => "MERGE",
            MergeMethod::Squash => "SQUASH",
            MergeMethod::Rebase => "REBASE",
        };
        let body = json!({"query": MERGE, "variables": {"id": request.id, "method": method}});
        let call = at.api.write_beside("have a pull request merged", "graphql", body);
        let answer: Answer = at.api.ask(call)?;
        match answer.errors.into_iter().next() {
            None => Ok(()),
            // It is an answer like others as far as HTTP goes.
            Some(GraphError { message }) => {
                let message: String =
                    message.chars().filter(|character| !character.is_control()).take(300).collect();
                let wrong = format!("GitHub cannot have a pull request merged: {message}");
                Err(Error::new(ErrorKind::Invalid, wrong).hint("the repository has to allow auto-merge"))
            }
        }
    }

    fn comment(&self, at: &Repository<'_>, number: u64, text: &str) -> Result<()> {
        pulls::comment(at, number, text)
    }
}
