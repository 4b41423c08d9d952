//! GitLab. Projects are known by their whole path; a draft is a title that says so; reviewers are numbers.

use diagnostic::{Error, ErrorKind, Result};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Forge, MergeMethod, NewRequest, Repository, Request, State, Update};

/// As many as a page has.
const PAGE: usize = 100;

/// A thousand open requests of one branch: enough to find ours among, which are the newest.
const MAX_PAGES: usize = 10;

/// gitlab.com and hosts that run the same.
#[derive(Debug)]
pub(super) struct GitLab;

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    web_url: String,
    title: String,
    description: Option<String>,
    state: String,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    merge_when_pipeline_succeeds: bool,
    source_branch: String,
    source_project_id: Option<u64>,
    target_project_id: u64,
}

#[derive(Deserialize)]
struct User {
    id: u64,
}

impl From<MergeRequest> for Request {
    fn from(merge: MergeRequest) -> Self {
        let state = match merge.state.as_str() {
            // A request is locked while it is being merged.
            "opened" | "locked" => State::Open,
            "merged" => State::Merged,
            _ => State::Closed,
        };
        Self {
            number: merge.iid,
            id: String::new(),
            url: merge.web_url,
            title: merge.title,
            body: merge.description.unwrap_or_default(),
            labels: merge.labels,
            head: merge.source_branch,
            draft: merge.draft,
            auto_merge: Some(merge.merge_when_pipeline_succeeds),
            is_own_branch: merge.source_project_id == Some(merge.target_project_id),
            state,
        }
    }
}

/// A path below the merge requests of a project.
fn path<'p>(at: &Repository<'p>, rest: &[&'p str]) -> Vec<&'p str> {
    ["projects", at.path, "merge_requests"].into_iter().chain(rest.iter().copied()).collect()
}

impl GitLab {
    fn page(at: &Repository<'_>, query: &[(&str, &str)]) -> Result<Vec<MergeRequest>> {
        at.api.ask(at.api.get("list merge requests", &path(at, &[]), query))
    }

    fn put(at: &Repository<'_>, number: u64, body: Value) -> Result<()> {
        let number = number.to_string();
        at.api.tell(at.api.write("change a merge request", Method::PUT, &path(at, &[&number]), body))
    }
}

impl Forge for GitLab {
    fn name(&self) -> &'static str {
        "GitLab"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["gitlab.com"]
    }

    fn words(&self) -> &'static [&'static str] {
        &["gitlab"]
    }

    fn api(&self, host: &str) -> String {
        format!("https://{host}/api/v4")
    }

    fn headers(&self, token: &str) -> Vec<(&'static str, String)> {
        // Tokens of people, projects and groups are taken this way, and those of OAuth only this way.
        vec![("authorization", format!("Bearer {token}"))]
    }

    fn says_duplicate(&self, status: StatusCode, _: &[u8]) -> bool {
        status == StatusCode::CONFLICT
    }

    fn draft_mark(&self) -> Option<&'static str> {
        Some("Draft: ")
    }

    fn reference(&self, number: u64) -> String {
        format!("!{number}")
    }

    fn compare(&self, web: &str, old: &str, new: &str) -> String {
        format!("{web}/-/compare/{old}...{new}")
    }

    fn commit(&self, web: &str, revision: &str) -> String {
        format!("{web}/-/commit/{revision}")
    }

    fn find(&self, at: &Repository<'_>, head: &str, base: &str) -> Result<Option<Request>> {
        let query =
            [("source_branch", head), ("target_branch", base), ("order_by", "created_at"), ("sort", "desc")];
        let found = Self::page(at, &query)?.into_iter().map(Request::from);
        // Forks have branches of the same name.
        Ok(super::latest(found.filter(|request| request.is_own_branch)))
    }

    fn list(&self, at: &Repository<'_>, base: &str) -> Result<Vec<Request>> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let (size, page) = (PAGE.to_string(), page.to_string());
            let query = [
                ("state", "opened"),
                ("target_branch", base),
                ("per_page", size.as_str()),
                ("page", page.as_str()),
            ];
            let found = Self::page(at, &query)?;
            let is_last = found.len() < PAGE;
            all.extend(found.into_iter().map(Request::from));
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    fn create(&self, at: &Repository<'_>, new: &NewRequest<'_>) -> Result<Request> {
        let NewRequest { head, base, title, body, .. } = new;
        let body = json!({"source_branch": head, "target_branch": base, "title": title, "description": body});
        let call = at.api.write("open a merge request", Method::POST, &path(at, &[]), body);
        at.api.ask::<MergeRequest>(call).map(Request::from)
    }

    fn update(&self, at: &Repository<'_>, number: u64, update: &Update<'_>) -> Result<()> {
        let mut body = json!({});
        if let Some(title) = update.title {
            body["title"] = title.into();
        }
        if let Some(text) = update.body {
            body["description"] = text.into();
        }
        if update.close {
            body["state_event"] = "close".into();
        }
        Self::put(at, number, body)
    }

    fn label(&self, at: &Repository<'_>, number: u64, labels: &[&str]) -> Result<()> {
        Self::put(at, number, json!({"add_labels": labels.join(",")}))
    }

    fn ask_reviewers(&self, at: &Repository<'_>, number: u64, reviewers: &[String]) -> Result<()> {
        let mut ids = Vec::new();
        for name in reviewers {
            let found: Vec<User> =
                at.api.ask(at.api.get("look for a reviewer", &["users"], &[("username", name)]))?;
            let Some(user) = found.first() else {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("GitLab knows no user `{name}` to review"),
                ));
            };
            ids.push(user.id);
        }
        Self::put(at, number, json!({"reviewer_ids": ids}))
    }

    fn merge_when_ready(&self, at: &Repository<'_>, request: &Request, method: MergeMethod) -> Result<()> {
        let number = request.number.to_string();
        // The second is the name before 17.11. Whether commits are rebased is set for a project.
        let squash = method == MergeMethod::Squash;
        let body = json!({"auto_merge": true, "merge_when_pipeline_succeeds": true, "squash": squash});
        at.api.tell(at.api.write(
            "have a merge request merged",
            Method::PUT,
            &path(at, &[&number, "merge"]),
            body,
        ))
    }

    fn comment(&self, at: &Repository<'_>, number: u64, text: &str) -> Result<()> {
        let number = number.to_string();
        let path = path(at, &[&number, "notes"]);
        at.api.tell(at.api.write("comment on a merge request", Method::POST, &path, json!({"body": text})))
    }
}
