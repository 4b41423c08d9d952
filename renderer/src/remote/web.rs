//! Plain files over `http(s)`, within bounds.

use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gitremote::innermost;
use gitremote::web::{client_builder, explain, permit, refusal};
use reqwest::blocking::{Client, Response};
use reqwest::header::{ETAG, IF_NONE_MATCH};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{StatusCode, Url};
use vfs::MAX_FILE_SIZE;

use super::AGENT;

/// Time getting a file may take; its address has no place for a timeout of its own.
const TIMEOUT: Duration = Duration::from_secs(27);

/// As many as browsers follow.
const MAX_REDIRECTS: usize = 10;

/// Gets files.
#[derive(Debug, Default)]
pub(super) struct Files(OnceLock<Result<Client>>);

/// The response for a file.
pub(super) enum Answer {
    /// The file, and the tag by which the server knows this version of it.
    Content { body: Vec<u8>, tag: Option<String> },
    /// It is as it was.
    Unchanged,
}

impl Files {
    /// Gets a file, unless it still is the version with the tag.
    pub(super) fn get(&self, url: &str, known_tag: Option<&str>) -> Result<Answer> {
        let client = self.0.get_or_init(|| {
            let builder = client_builder(AGENT, TIMEOUT).redirect(Policy::custom(follow));
            builder.build().map_err(|error| explain(&error, TIMEOUT))
        });
        let url = Url::parse(url).map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))?;
        permit(&url)?;
        let mut request = client.as_ref().map_err(Clone::clone)?.get(url);
        if let Some(tag) = known_tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        let response = request.send().map_err(|error| explain(&error, TIMEOUT))?;
        match response.status() {
            StatusCode::NOT_MODIFIED if known_tag.is_some() => Ok(Answer::Unchanged),
            status if status.is_success() => content(response),
            status => Err(refusal(status)),
        }
    }
}

fn content(response: Response) -> Result<Answer> {
    let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
    Ok(Answer::Content { body: read_all(response, MAX_FILE_SIZE)?, tag })
}

/// Reads what comes, up to a limit.
pub(super) fn read_all(from: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    from.take(limit + 1).read_to_end(&mut body).map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("the connection broke: {}", innermost(&error)))
    })?;
    if body.len() as u64 > limit {
        return Err(Error::new(ErrorKind::Limit, format!("the file is larger than {} MiB", limit >> 20)));
    }
    Ok(body)
}

/// Rejects redirects from TLS to plain http.
pub(super) fn follow(attempt: Attempt<'_>) -> Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error("there are too many redirects");
    }
    let was_safe = attempt.previous().last().is_some_and(|url| url.scheme() == "https");
    if was_safe && attempt.url().scheme() != "https" {
        return attempt.error("a redirect leads from https to an address without TLS");
    }
    if let Err(error) = permit(attempt.url()) {
        return attempt.error(error.message().to_owned());
    }
    attempt.follow()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_not_read_to_its_end() {
        let failure = read_all(std::io::repeat(b'a'), 1 << 20).unwrap_err();
        assert_eq!(failure.kind(), ErrorKind::Limit);
        assert_eq!(read_all(&b"abc"[..], 3).unwrap(), b"abc");
    }
}
