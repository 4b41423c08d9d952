//! Gitea, and Forgejo, whose API is the same. Lists cannot be asked for a branch, so they are read; a draft is a title
//! that says so; labels are numbers.

use diagnostic::{ErrorKind, Result};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::pulls::{self, path};
use super::{Forge, MergeMethod, NewRequest, Repository, Request, State, Update};

/// As many as a page has on a Gitea that nobody has configured otherwise.
const PAGE: usize = 50;

/// A thousand requests of one repository: enough to find ours among, which are the newest.
const MAX_PAGES: usize = 20;

/// The colour of labels that we create.
const COLOUR: &str = "#ededed";

/// codeberg.org, gitea.com and hosts that run the same.
#[derive(Debug)]
pub(super) struct Gitea;

#[derive(Deserialize)]
struct PullRequest {
    number: u64,
    html_url: String,
    title: String,
    #[serde(default)]
    body: String,
    state: String,
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    draft: bool,
    labels: Option<Vec<Label>>,
    head: Branch,
    base: Branch,
}

#[derive(Deserialize)]
struct Label {
    id: u64,
    name: String,
}

#[derive(Deserialize)]
struct Branch {
    #[serde(rename = "ref")]
    name: String,
    repo_id: i64,
}

impl From<PullRequest> for Request {
    fn from(pull: PullRequest) -> Self {
        let state = match pull.state.as_str() {
            "open" => State::Open,
            _ if pull.merged => State::Merged,
            _ => State::Closed,
        };
        Self {
            number: pull.number,
            id: String::new(),
            url: pull.html_url,
            title: pull.title,
            body: pull.body,
            labels: pull.labels.unwrap_or_default().into_iter().map(|label| label.name).collect(),
            head: pull.head.name,
            is_own_branch: pull.head.repo_id == pull.base.repo_id,
            draft: pull.draft,
            auto_merge: None,
            state,
        }
    }
}

impl Gitea {
    /// A page of the requests of a repository into a branch, and whether there may be another.
    fn page(at: &Repository<'_>, state: &str, base: &str, page: usize) -> Result<(Vec<Request>, bool)> {
        let (size, page) = (PAGE.to_string(), page.to_string());
        // What is older than 1.24 does not know of the branch.
        let query =
            [("state", state), ("base_branch", base), ("limit", size.as_str()), ("page", page.as_str())];
        let found: Vec<PullRequest> =
            at.api.ask(at.api.get("list pull requests", &path(at, &["pulls"]), &query))?;
        // A page may be smaller than asked for, so that only an empty one is the last.
        let more = !found.is_empty();
        let ours = found.into_iter().filter(|pull| pull.base.name == base);
        Ok((ours.map(Request::from).collect(), more))
    }

    /// The numbers of labels that a repository or its organisation has.
    fn labels(at: &Repository<'_>) -> Result<Vec<Label>> {
        let owner = at.path.split('/').next().unwrap_or_default();
        let mut all = Vec::new();
        for place in [path(at, &["labels"]), vec!["orgs", owner, "labels"]] {
            let size = PAGE.to_string();
            for page in 1..=MAX_PAGES {
                let page = page.to_string();
                let query = [("limit", size.as_str()), ("page", page.as_str())];
                let found: Vec<Label> = match at.api.ask(at.api.get("list labels", &place, &query)) {
                    // The owner is a person.
                    Err(error) if error.kind() == ErrorKind::NotFound && place[0] == "orgs" => break,
                    found => found?,
                };
                if found.is_empty() {
                    break;
                }
                all.extend(found);
            }
        }
        Ok(all)
    }
}

impl Forge for Gitea {
    fn name(&self) -> &'static str {
        "Gitea"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["codeberg.org", "gitea.com", "code.forgejo.org"]
    }

    fn words(&self) -> &'static [&'static str] {
        &["gitea", "forgejo"]
    }

    fn api(&self, host: &str) -> String {
        format!("https://{host}/api/v1")
    }

    fn headers(&self, token: &str) -> Vec<(&'static str, String)> {
        vec![("authorization", format!("token {token}"))]
    }

    fn says_duplicate(&self, status: StatusCode, _: &[u8]) -> bool {
        status == StatusCode::CONFLICT
    }

    fn draft_mark(&self) -> Option<&'static str> {
        Some("WIP: ")
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
        let is_ours = |request: &Request| request.head == head && request.is_own_branch;
        for page in 1..=MAX_PAGES {
            let (found, more) = Self::page(at, "open", base, page)?;
            if let Some(request) = found.into_iter().find(is_ours) {
                return Ok(Some(request));
            }
            if !more {
                break;
            }
        }
        // Of those that are closed only the newest count: what was turned down long ago may be proposed again.
        let (closed, _) = Self::page(at, "closed", base, 1)?;
        Ok(super::latest(closed.into_iter().filter(is_ours)))
    }

    fn list(&self, at: &Repository<'_>, base: &str) -> Result<Vec<Request>> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let (found, more) = Self::page(at, "open", base, page)?;
            all.extend(found);
            if !more {
                break;
            }
        }
        Ok(all)
    }

    fn create(&self, at: &Repository<'_>, new: &NewRequest<'_>) -> Result<Request> {
        pulls::create::<PullRequest>(at, new, &[])
    }

    fn update(&self, at: &Repository<'_>, number: u64, update: &Update<'_>) -> Result<()> {
        pulls::update(at, number, update)
    }

    fn label(&self, at: &Repository<'_>, number: u64, labels: &[&str]) -> Result<()> {
        let known = Self::labels(at)?;
        let mut ids = Vec::new();
        for name in labels {
            let id = match known.iter().find(|label| label.name == *name) {
                Some(label) => label.id,
                None => {
                    let body = json!({"name": name, "color": COLOUR});
                    let call = at.api.write("make a label", Method::POST, &path(at, &["labels"]), body);
                    at.api.ask::<Label>(call)?.id
                }
            };
            ids.push(id);
        }
        pulls::label(at, number, &json!(ids))
    }

    fn ask_reviewers(&self, at: &Repository<'_>, number: u64, reviewers: &[String]) -> Result<()> {
        pulls::ask_reviewers(at, number, reviewers)
    }

    fn merge_when_ready(&self, at: &Repository<'_>, request: &Request, method: MergeMethod) -> Result<()> {
        let number = request.number.to_string();
        let method = match method {
            MergeMethod::Merge => "merge",
            MergeMethod::Squash => "squash",
            MergeMethod::Rebase => "rebase",
        };
        let body = json!({"Do": method, "merge_when_checks_succeed": true});
        let path = path(at, &["pulls", &number, "merge"]);
        at.api.tell(at.api.write("have a pull request merged", Method::POST, &path, body))
    }

    fn comment(&self, at: &Repository<'_>, number: u64, text: &str) -> Result<()> {
        pulls::comment(at, number, text)
    }
}
