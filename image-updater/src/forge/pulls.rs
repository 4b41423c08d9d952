//! The common part of the GitHub and Gitea APIs: pull requests are also issues, which have the labels and comments.

use diagnostic::Result;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{NewRequest, Repository, Request, Update, people_and_teams};

/// A path below a repository.
pub(super) fn path<'p>(at: &Repository<'p>, rest: &[&'p str]) -> Vec<&'p str> {
    ["repos"].into_iter().chain(at.path.split('/')).chain(rest.iter().copied()).collect()
}

/// Opens a request, of which the answer is one of a forge's own; more is what else is said of it.
pub(super) fn create<T: DeserializeOwned + Into<Request>>(
    at: &Repository<'_>,
    new: &NewRequest<'_>,
    more: &[(&str, Value)],
) -> Result<Request> {
    let NewRequest { head, base, title, body, .. } = new;
    let mut body = json!({"head": head, "base": base, "title": title, "body": body});
    for (key, value) in more {
        body[*key] = value.clone();
    }
    let call = at.api.write("open a pull request", Method::POST, &path(at, &["pulls"]), body);
    at.api.ask::<T>(call).map(T::into)
}

/// Changes what a request says.
pub(super) fn update(at: &Repository<'_>, number: u64, update: &Update<'_>) -> Result<()> {
    let mut body = json!({});
    if let Some(title) = update.title {
        body["title"] = title.into();
    }
    if let Some(text) = update.body {
        body["body"] = text.into();
    }
    if update.close {
        body["state"] = "closed".into();
    }
    tell(at, "change a pull request", Method::PATCH, &["pulls", &number.to_string()], body)
}

/// Gives a request labels, by what the forge knows them by.
pub(super) fn label(at: &Repository<'_>, number: u64, labels: &Value) -> Result<()> {
    let path = ["issues", &number.to_string(), "labels"];
    tell(at, "label a pull request", Method::POST, &path, json!({"labels": labels}))
}

/// Asks people and teams to look at a request.
pub(super) fn ask_reviewers(at: &Repository<'_>, number: u64, reviewers: &[String]) -> Result<()> {
    let (people, teams) = people_and_teams(reviewers);
    let path = ["pulls", &number.to_string(), "requested_reviewers"];
    let body = json!({"reviewers": people, "team_reviewers": teams});
    tell(at, "request a review", Method::POST, &path, body)
}

/// Writes a comment.
pub(super) fn comment(at: &Repository<'_>, number: u64, text: &str) -> Result<()> {
    let path = ["issues", &number.to_string(), "comments"];
    tell(at, "comment on a pull request", Method::POST, &path, json!({"body": text}))
}

fn tell(at: &Repository<'_>, doing: &str, method: Method, rest: &[&str], body: Value) -> Result<()> {
    at.api.tell(at.api.write(doing, method, &path(at, rest), body))
}
