//! Reads error responses of registries: `{"errors":[{"code","message","detail"}]}`, other JSON, or HTML. Only a short
//! text without control characters goes into a message.

use diagnostic::{Error, ErrorKind};
use reqwest::StatusCode;
use serde::Deserialize;

use crate::reference::Repository;
use crate::web::Answer;

/// Error answers are short.
const MAX_BODY: u64 = 64 << 10;

/// Maximum length of a registry's text in a message.
const MAX_SAID: usize = 200;

/// The requested content, for the error's kind and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject<'s> {
    /// The registry itself.
    Registry,
    Tags,
    /// A manifest, by tag or digest.
    Manifest(&'s str),
    Blob(&'s str),
}

#[derive(Default, Deserialize)]
struct Body {
    #[serde(default)]
    errors: Vec<Entry>,
    #[serde(default, alias = "details", alias = "error_description", alias = "error")]
    message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    code: String,
    message: String,
}

/// Returns what an answer says, as the end of a sentence; nothing where it says nothing that helps.
pub(crate) fn said(answer: Answer) -> String {
    let (_, said) = read(answer);
    said
}

/// The error that an answer stands for.
pub(crate) fn error(
    registry: &str,
    repository: Option<&Repository>,
    subject: Subject<'_>,
    answer: Answer,
) -> Error {
    let status = answer.status;
    let (code, said) = read(answer);
    let asked = match (repository, subject) {
        (Some(repository), Subject::Manifest(selector)) if selector.contains(':') => {
            format!("{repository}@{selector}")
        }
        (Some(repository), Subject::Manifest(tag)) => format!("{repository}:{tag}"),
        (Some(repository), Subject::Blob(digest)) => format!("{repository}@{digest}"),
        (Some(repository), _) => repository.to_string(),
        (None, _) => registry.to_owned(),
    };
    let kind = kind(status, &code, subject);
    let reason = match kind {
        ErrorKind::NameUnknown => format!("`{asked}` not found: no such repository at `{registry}`"),
        ErrorKind::ManifestUnknown => format!("`{asked}` not found: no such tag or manifest"),
        ErrorKind::BlobUnknown => format!("`{asked}` not found: no such blob"),
        ErrorKind::Denied => format!("`{registry}` denies access to `{asked}`"),
        ErrorKind::RateLimited => format!("`{registry}` gets too many requests, asked for `{asked}`"),
        _ => format!("`{registry}` answers `{status}` for `{asked}`"),
    };
    let error = Error::new(kind, format!("{reason}{said}"));
    match kind {
        ErrorKind::NameUnknown => error.hint("check the name; some registries hide what one may not read"),
        ErrorKind::Denied => error.hint("check what these credentials may read"),
        ErrorKind::RateLimited => {
            error.hint("ask less often, or with credentials: many registries allow more then")
        }
        _ => error,
    }
}

fn kind(status: StatusCode, code: &str, subject: Subject<'_>) -> ErrorKind {
    match (status.as_u16(), code, subject) {
        (401, "DENIED", _) | (403, ..) => ErrorKind::Denied,
        (401, ..) => ErrorKind::Unauthorized,
        (404, "NAME_UNKNOWN", _) | (404, _, Subject::Tags) => ErrorKind::NameUnknown,
        (404, _, Subject::Manifest(_)) => ErrorKind::ManifestUnknown,
        (404, _, Subject::Blob(_)) => ErrorKind::BlobUnknown,
        (429, ..) | (_, "TOOMANYREQUESTS", _) => ErrorKind::RateLimited,
        (500.., ..) | (408 | 425 | 499, ..) => ErrorKind::Unavailable,
        _ => ErrorKind::Protocol,
    }
}

fn read(answer: Answer) -> (String, String) {
    let body = answer.body(MAX_BODY).unwrap_or_default();
    let Ok(body) = serde_json::from_slice::<Body>(&body) else { return Default::default() };
    let Entry { code, message } = body.errors.into_iter().next().unwrap_or_default();
    let message = if message.is_empty() { body.message.unwrap_or_default() } else { message };
    let shown: String = message.chars().filter(|character| !character.is_control()).take(MAX_SAID).collect();
    let shown = shown.trim();
    (code, if shown.is_empty() { String::new() } else { format!(" (it says: {shown})") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_thing_is_known_by_code_or_by_what_was_asked() {
        let kind = |status: u16, code, subject| kind(StatusCode::from_u16(status).unwrap(), code, subject);
        assert_eq!(kind(404, "NAME_UNKNOWN", Subject::Manifest("1")), ErrorKind::NameUnknown);
        assert_eq!(kind(404, "", Subject::Manifest("1")), ErrorKind::ManifestUnknown);
        assert_eq!(kind(404, "", Subject::Tags), ErrorKind::NameUnknown);
        assert_eq!(kind(404, "", Subject::Registry), ErrorKind::Protocol);
        assert_eq!(kind(401, "DENIED", Subject::Tags), ErrorKind::Denied);
        assert_eq!(kind(403, "", Subject::Tags), ErrorKind::Denied);
        assert_eq!(kind(503, "", Subject::Tags), ErrorKind::Unavailable);
        assert_eq!(kind(400, "TOOMANYREQUESTS", Subject::Tags), ErrorKind::RateLimited);
    }
}
