//! One forge's REST API. In: a method, a path, JSON. Out: JSON of the type that is wanted, or why there is none.
//!
//! The token goes to the configured host and to no other: redirects are followed within it and refused beyond. Answers
//! and waiting have limits. Nothing is tried twice, for who calls knows what else there is to do meanwhile.

use diagnostic::{Error, ErrorKind, Result};
use std::io::Read;
use std::sync::Once;
use std::time::{Duration, SystemTime};

use oci_registry::Secret;
use reqwest::blocking::{Client, Response};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Method, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Forge;

/// A page of requests, each with a long text.
const MAX_ANSWER: u64 = 32 << 20;

/// An error says what is wrong in some lines.
const MAX_REFUSAL: u64 = 64 << 10;

/// Maximum length of a forge's error text in a message.
const MAX_REASON: usize = 300;

/// Forges answer within a second, or are out of order.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A repository that was renamed, and perhaps its owner too.
const MAX_REDIRECTS: usize = 3;

const USER_AGENT: &str = concat!("image-updater/", env!("CARGO_PKG_VERSION"));

/// A forge that can be asked.
#[derive(Debug)]
pub struct Api {
    client: Client,
    forge: &'static dyn Forge,
    base: Url,
    token: Secret<String>,
}

/// One thing to ask.
#[derive(Debug)]
pub(super) struct Call<'a> {
    method: Method,
    url: Url,
    body: Option<Value>,
    doing: &'a str,
}

/// An error response of a forge.
#[derive(Deserialize)]
struct Refusal {
    message: Option<Value>,
    error: Option<Value>,
    #[serde(default)]
    errors: Vec<Value>,
}

impl Api {
    /// Prepares to ask; certificates are authorities in PEM that are trusted beside the machine's.
    pub(super) fn new(
        forge: &'static dyn Forge,
        base: Url,
        token: Secret<String>,
        certificates: Option<&[u8]>,
    ) -> Result<Self> {
        static PROVIDER: Once = Once::new();
        // A program that uses this library may have chosen one already.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let invalid =
            |why: String| Error::new(ErrorKind::Invalid, format!("{} cannot be asked: {why}", forge.name()));
        let mut builder = Client::builder().timeout(TIMEOUT).user_agent(USER_AGENT).redirect(Policy::none());
        if let Some(pem) = certificates {
            let authorities =
                Certificate::from_pem_bundle(pem).map_err(|error| invalid(innermost(&error)))?;
            // Text that is no PEM at all is a bundle of none.
            if authorities.is_empty() {
                return Err(invalid("the file of trusted certificates does not contain any".to_owned()));
            }
            builder = builder.tls_certs_merge(authorities);
        }
        let client = builder.build().map_err(|error| invalid(innermost(&error)))?;
        Ok(Self { client, forge, base, token })
    }

    /// To read what is at a path.
    pub(super) fn get<'a>(&self, doing: &'a str, path: &[&str], query: &[(&str, &str)]) -> Call<'a> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Call { method: Method::GET, url, body: None, doing }
    }

    /// To write something to a path.
    pub(super) fn write<'a>(&self, doing: &'a str, method: Method, path: &[&str], body: Value) -> Call<'a> {
        Call { method, url: self.url(path), body: Some(body), doing }
    }

    /// To write something to what is beside the last part of the base, where it has a version: GitHub's GraphQL.
    pub(super) fn write_beside<'a>(&self, doing: &'a str, name: &str, body: Value) -> Call<'a> {
        let mut url = self.base.clone();
        let has_version = url.path().trim_end_matches('/').ends_with("/v3");
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop_if_empty();
            if has_version {
                parts.pop();
            }
            parts.push(name);
        }
        Call { method: Method::POST, url, body: Some(body), doing }
    }

    /// A path below the base; a `/` within a part is encoded.
    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop_if_empty().extend(path);
        }
        url
    }

    /// Asks, and reads the answer.
    ///
    /// # Errors
    /// If there is no answer of this type.
    pub(super) fn ask<T: DeserializeOwned>(&self, call: Call<'_>) -> Result<T> {
        let doing = format!("{} cannot {}", self.forge.name(), call.doing);
        let response = self.exchange(call, &doing)?;
        let status = response.status();
        let headers = response.headers().clone();
        if !status.is_success() {
            let body = read(response, MAX_REFUSAL).unwrap_or_default();
            return Err(self.refusal(status, &headers, &body, &doing));
        }
        let body = read(response, MAX_ANSWER)
            .map_err(|reason| Error::new(ErrorKind::Protocol, format!("{doing}: {reason}")))?;
        serde_json::from_slice(&body).map_err(|error| {
            let wrong = format!("{doing}: the answer is not what its API promises: {error}");
            Error::new(ErrorKind::Protocol, wrong)
                .hint("the address of the API may be one of another program")
        })
    }

    /// Asks where the answer does not matter.
    ///
    /// # Errors
    /// If the forge says no.
    pub(super) fn tell(&self, call: Call<'_>) -> Result<()> {
        self.ask::<serde::de::IgnoredAny>(call).map(drop)
    }

    /// Sends, and follows redirects as far as the token may go.
    fn exchange(&self, call: Call<'_>, doing: &str) -> Result<Response> {
        let Call { method, mut url, body, .. } = call;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send(&method, url.clone(), body.as_ref(), doing)?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            let target = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let Some(target) = target.and_then(|target| url.join(target).ok()) else {
                return Err(Error::new(ErrorKind::Protocol, format!("{doing}: a redirect without a target")));
            };
            if target.origin() != url.origin() {
                let host = target.host_str().unwrap_or("another host").to_owned();
                let wrong = format!("{doing}: it redirects to `{host}`, to which the token is not sent");
                return Err(Error::new(ErrorKind::Invalid, wrong)
                    .hint("set the address of the API to where it is now"));
            }
            let keeps_method =
                matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            if method != Method::GET && !keeps_method {
                let wrong =
                    format!("{doing}: it redirects in a way that does not take what is written along");
                return Err(
                    Error::new(ErrorKind::Invalid, wrong).hint("the repository may have another name now")
                );
            }
            url = target;
        }
        Err(Error::new(ErrorKind::Protocol, format!("{doing}: there are too many redirects")))
    }

    fn send(&self, method: &Method, url: Url, body: Option<&Value>, doing: &str) -> Result<Response> {
        let mut request = self.client.request(method.clone(), url).headers(self.headers()?);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        request.send().map_err(|error| {
            let reason =
                if error.is_timeout() { format!("no answer within {TIMEOUT:?}") } else { innermost(&error) };
            Error::new(ErrorKind::Unavailable, self.safe(&format!("{doing}: {reason}")))
        })
    }

    fn headers(&self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.forge.headers(self.token.expose()) {
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                Error::new(
                    ErrorKind::Invalid,
                    format!("the token for {} has characters that none has", self.forge.name()),
                )
                .hint("it may end with the end of a line")
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &[u8], doing: &str) -> Error {
        let reason = self.safe(&reason(body));
        let said = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let wait = wait(headers);
        let limited =
            status == StatusCode::TOO_MANY_REQUESTS || (status == StatusCode::FORBIDDEN && wait.is_some());
        let (kind, hint) = match status {
            _ if limited => (ErrorKind::RateLimited, "it asks to come back later"),
            _ if self.forge.says_duplicate(status, body) => {
                (ErrorKind::AlreadyExists, "there is one already")
            }
            StatusCode::UNAUTHORIZED => {
                (ErrorKind::Unauthorized, "the token is missing, wrong or has expired")
            }
            StatusCode::FORBIDDEN => {
                (ErrorKind::Denied, "the token may not do this: look at its permissions")
            }
            StatusCode::NOT_FOUND => (ErrorKind::NotFound, "no such repository, or the token cannot read it"),
            status if status.is_client_error() => {
                (ErrorKind::Invalid, "look at branches, labels and reviewers")
            }
            _ => (ErrorKind::Unavailable, "the forge may be out of order; the next run tries again"),
        };
        Error::new(kind, format!("{doing}: it answers `{status}`{said}")).hint(hint).with_retry_after(wait)
    }

    /// A text of the forge's as it may be shown.
    fn safe(&self, text: &str) -> String {
        let token = self.token.expose();
        let text = if token.is_empty() { text.to_owned() } else { text.replace(token, "***") };
        text.replace(char::is_control, " ")
    }
}

/// Returns how long to wait, by either of the ways in which forges say it.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &HeaderName| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    if let Some(seconds) = number(&RETRY_AFTER) {
        return Some(Duration::from_secs(seconds));
    }
    let remaining = number(&HeaderName::from_static("x-ratelimit-remaining"))?;
    let reset = Duration::from_secs(number(&HeaderName::from_static("x-ratelimit-reset"))?);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (remaining == 0).then(|| reset.saturating_sub(now))
}

fn reason(body: &[u8]) -> String {
    let Ok(refusal) = serde_json::from_slice::<Refusal>(body) else { return String::new() };
    let texts = refusal.message.iter().chain(&refusal.error).chain(&refusal.errors).map(shown);
    let text = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    text.chars().take(MAX_REASON).collect()
}

fn shown(value: &Value) -> String {
    let text = value.as_str().or_else(|| value.get("message")?.as_str());
    text.map_or_else(|| value.to_string(), str::to_owned)
}

fn read(from: impl Read, limit: u64) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut body)
        .map_err(|error| format!("the connection broke: {}", innermost(&error)))?;
    if body.len() as u64 > limit {
        return Err(format!("the answer is larger than {} MiB", limit >> 20));
    }
    // Nothing is `null`, so that what has no content can be read as what does not matter.
    Ok(if body.iter().all(u8::is_ascii_whitespace) { b"null".to_vec() } else { body })
}

/// The error at the bottom, which says most.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_an_end_is_not_read_to_its_end() {
        assert!(read(std::io::repeat(b'a'), 1 << 20).unwrap_err().contains("1 MiB"));
        assert_eq!(read(&b"[1]"[..], 3).unwrap(), b"[1]");
        assert_eq!(read(&b" "[..], 3).unwrap(), b"null");
    }

    #[test]
    fn what_a_forge_says_is_one_line_of_few_words() {
        let said = |body: &str| reason(body.as_bytes());
        assert_eq!(
            said(r#"{"message":"Validation Failed","errors":[{"message":"x"},"y"]}"#),
            "Validation Failed; x; y"
        );
        assert_eq!(said(r#"{"message":{"title":["is too long"]}}"#), r#"{"title":["is too long"]}"#);
        assert_eq!(said(r#"{"error":"invalid_token"}"#), "invalid_token");
        assert_eq!(said("<html>"), "");
        assert_eq!(said(&format!(r#"{{"message":"{}"}}"#, "a".repeat(1000))).len(), MAX_REASON);
    }

    #[test]
    fn forges_say_in_two_ways_when_to_come_back() {
        let headers = |pairs: &[(&'static str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                .collect()
        };
        let seconds = |pairs| wait(&headers(pairs)).map(|wait| wait.as_secs());
        assert_eq!(seconds(&[("retry-after", "7")]), Some(7));
        assert_eq!(seconds(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")]), Some(0));
        assert_eq!(seconds(&[("x-ratelimit-remaining", "5"), ("x-ratelimit-reset", "1")]), None);
        assert_eq!(seconds(&[("retry-after", "soon")]), None);
    }
}
