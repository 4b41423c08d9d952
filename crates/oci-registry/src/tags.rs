//! The tags of a repository: all pages, or none. In: what was listed before, with its validators. Out: the tags, page by
//! page with their validators. It refuses pages that lead in a circle or to another host, lists without an end, and tags
//! that cannot be ones.

use std::collections::HashSet;

use diagnostic::{Error, ErrorKind, Result};
use reqwest::header::{
    ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LINK,
};
use reqwest::{StatusCode, Url};
use serde::{Deserialize, Serialize};

use crate::endpoint::{Call, Endpoint};
use crate::link;
use crate::problem::Subject;
use crate::reference::{Repository, is_tag};
use crate::web::size;

/// The largest page that is read; a hundred thousand long tags.
const MAX_PAGE: u64 = 16 << 20;

/// The most that all pages may have.
const MAX_BYTES: u64 = 64 << 20;

/// With the smallest pages that registries make, 50 tags, as many tags as any repository has.
const MAX_PAGES: usize = 5_000;

/// All tags of a repository as they were at one time, and by what to ask whether they still are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagList {
    pages: Vec<Page>,
}

/// A page has validators of its own: that the first one is as before says nothing of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Page {
    url: String,
    etag: Option<String>,
    last_modified: Option<String>,
    next: Option<String>,
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Body {
    tags: Option<Vec<String>>,
}

impl TagList {
    /// The tags in the registry's order, which may be any; each once.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let mut seen = HashSet::new();
        let tags = self.pages.iter().flat_map(|page| &page.tags);
        tags.map(String::as_str).filter(move |tag| seen.insert(*tag))
    }

    fn page(&self, url: &Url) -> Option<&Page> {
        self.pages.iter().find(|page| page.url == url.as_str())
    }
}

/// Lists all tags, asking only whether the pages that are known have changed.
pub(crate) fn list(endpoint: &Endpoint, repository: &Repository, known: &TagList) -> Result<TagList> {
    let refused = |reason: String| {
        Error::new(ErrorKind::Protocol, format!("invalid list of tags of `{repository}`: {reason}"))
    };
    let mut list = TagList::default();
    let mut visited = HashSet::new();
    let mut left = MAX_BYTES;
    // No page size: some registries refuse those that others need.
    let mut url = endpoint.url(repository, "tags/list");
    loop {
        if !visited.insert(url.to_string()) {
            return Err(refused("its pages lead in a circle".to_owned()));
        }
        if visited.len() > MAX_PAGES {
            return Err(refused(format!("it has more than {MAX_PAGES} pages")));
        }
        let page = read_page(endpoint, repository, &url, known.page(&url))?;
        let bytes: usize = page.tags.iter().map(|tag| tag.len() + 1).sum();
        left = left.checked_sub(bytes as u64).ok_or_else(|| {
            Error::new(
                ErrorKind::Limit,
                format!("the tags of `{repository}` are more than {}", size(MAX_BYTES)),
            )
        })?;
        let next = page.next.clone();
        list.pages.push(page);
        let Some(next) = next else { return Ok(list) };
        url = endpoint.follow(&url, &next)?;
    }
}

fn read_page(endpoint: &Endpoint, repository: &Repository, url: &Url, known: Option<&Page>) -> Result<Page> {
    let mut call = Call::get(url.clone(), repository, Subject::Tags);
    call.accept = Some("application/json");
    call.headers = known.map(conditions).unwrap_or_default();
    let read = endpoint.fetch(&call, MAX_PAGE)?;
    if read.status == StatusCode::NOT_MODIFIED
        && let Some(known) = known
    {
        return Ok(known.clone());
    }
    let unreadable = |reason: &str| {
        Error::new(
            ErrorKind::Protocol,
            format!("the list of tags of `{repository}` cannot be read: {reason}"),
        )
    };
    let body: Body =
        serde_json::from_slice(&read.body).map_err(|_| unreadable("it is not a JSON list of tags"))?;
    let tags = body.tags.unwrap_or_default();
    if let Some(wrong) = tags.iter().find(|tag| !is_tag(tag)) {
        let shown: String = wrong.escape_debug().take(40).collect();
        return Err(unreadable(&format!("it contains the invalid tag `{shown}`")));
    }
    let text = |name: HeaderName| Some(read.headers.get(name)?.to_str().ok()?.to_owned());
    Ok(Page {
        url: url.to_string(),
        etag: text(ETAG),
        last_modified: text(LAST_MODIFIED),
        next: next(&read.headers).map(str::to_owned),
        tags,
    })
}

fn conditions(known: &Page) -> Vec<(HeaderName, HeaderValue)> {
    let header = |name: HeaderName, value: &Option<String>| {
        Some((name, HeaderValue::from_str(value.as_deref()?).ok()?))
    };
    // A date is no more exact than a second, so it counts only where there is no tag.
    let etag = header(IF_NONE_MATCH, &known.etag);
    etag.or_else(|| header(IF_MODIFIED_SINCE, &known.last_modified)).into_iter().collect()
}

fn next(headers: &HeaderMap) -> Option<&str> {
    link::next(headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()))
}
