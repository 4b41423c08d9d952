//! The response of a chart server to one request.
//!
//! In: an address and by what to ask. Out: what is behind it, up to a limit. Refused: other protocols, and every answer
//! but a success.

use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result, redact};
use gitremote::web::{explain, permit};
use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use reqwest::{StatusCode, Url};

use super::super::slots::Slots;
use super::super::web::{self, Answer};
use super::access::{Access, Tls};

/// As long as Helm waits.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// Asks servers, with one client for each set of certificates.
#[derive(Debug)]
pub(super) struct Http {
    clients: Slots<Tls, reqwest::blocking::Client>,
    pub(super) timeout: Duration,
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'r> {
    pub(super) address: &'r Url,
    /// The repository that the account is for.
    pub(super) repository: &'r Url,
    pub(super) access: &'r Access,
    pub(super) accept: &'r str,
    /// The tag of what is known already.
    pub(super) tag: Option<&'r str>,
    /// No answer is larger.
    pub(super) limit: u64,
}

impl Http {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { clients: Slots::default(), timeout }
    }

    pub(super) fn get(&self, request: &Request<'_>) -> Result<Answer> {
        let Request { address, repository, access, .. } = *request;
        if !matches!(address.scheme(), "http" | "https") {
            let reason = format!("could not find protocol handler for: {}", address.scheme());
            return Err(Error::new(ErrorKind::Invalid, reason));
        }
        permit(address)?;
        let client = self.clients.get(&access.tls, Duration::ZERO, || access.tls.client(self.timeout))?;
        let mut asking = client.get(address.clone()).header(ACCEPT, request.accept);
        if let Some(account) = access.account_for(address, repository) {
            asking = asking.basic_auth(&account.user, Some(account.password.expose()));
        }
        if let Some(tag) = request.tag {
            asking = asking.header(IF_NONE_MATCH, tag);
        }
        let response = asking.send().map_err(|error| {
            explain(&error, self.timeout).prefix(format_args!("cannot get `{}`", redact(address.as_str())))
        })?;
        match response.status() {
            StatusCode::NOT_MODIFIED if request.tag.is_some() => Ok(Answer::Unchanged),
            StatusCode::OK => {
                let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
                let body = web::read_all(response, request.limit).map_err(|failure| {
                    failure.prefix(format_args!("cannot get `{}`", redact(address.as_str())))
                })?;
                Ok(Answer::Content { body, tag })
            }
            status => Err(refusal(address, status)),
        }
    }
}

/// In Helm's words.
fn refusal(address: &Url, status: StatusCode) -> Error {
    let kind = gitremote::web::refusal(status).kind();
    let failure = Error::new(kind, format!("failed to fetch {} : {status}", redact(address.as_str())));
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return failure.hint("give --username and --password, or add the repository with them");
    }
    failure
}
