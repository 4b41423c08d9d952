//! Lists content that refers to a digest, such as signatures. Input: a repository and a digest. Output: the referrers
//! that the registry lists, or those that clients keep under a tag. Rejects lists that loop, lead to another host or
//! do not end.
//!
//! A list is not asked for by a type: a registry takes but one, and not every registry heeds it. It is nothing to rely
//! on either, for whoever may push to the repository may write to it.

use std::collections::HashSet;

use diagnostic::{Error, ErrorKind, Result};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, LINK};

use crate::client::Client;
use crate::digest::Digest;
use crate::endpoint::{Call, Endpoint, Read};
use crate::link;
use crate::manifest::{Content, Descriptor, MAX_MANIFEST, Manifest};
use crate::problem::Subject;
use crate::reference::Repository;

/// Media type of a page of referrers, and of the list that clients keep.
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A page may be as large as a manifest, which is thousands of entries.
const MAX_PAGES: usize = 32;

/// Nothing has as many signatures; a list that goes on is made to be endless.
const MAX_REFERRERS: usize = 5_000;

/// Maximum length of the algorithm's name and of the digits in a tag, by OCI's specification.
const MAX_TAG_PARTS: (usize, usize) = (32, 64);

impl Client {
    /// Returns the referrers of a digest, such as signatures: from the registry's list, or from the tag that clients keep
    /// where the registry has no lists.
    ///
    /// # Errors
    /// If any part of the list cannot be read. An empty list is not an error.
    pub fn referrers(&self, repository: &Repository, digest: &Digest) -> Result<Vec<Descriptor>> {
        let endpoint = self.endpoint(repository)?;
        let mut list = Referrers { endpoint: &endpoint, repository, digest, found: Vec::new() };
        let first = endpoint.url(repository, &format!("referrers/{digest}"));
        match list.page(&first) {
            Ok(Some(next)) => list.rest(&first, next)?,
            Ok(None) => {}
            Err(error) if has_no_lists(error.kind()) => return noted(self, repository, digest),
            Err(error) => return Err(error),
        }
        Ok(list.found)
    }
}

/// A list in the making.
struct Referrers<'r> {
    endpoint: &'r Endpoint,
    repository: &'r Repository,
    digest: &'r Digest,
    found: Vec<Descriptor>,
}

impl Referrers<'_> {
    /// Reads a page, and gives the link to the next one.
    fn page(&mut self, url: &Url) -> Result<Option<String>> {
        let mut call = Call::get(url.clone(), self.repository, Subject::Manifest(self.digest.as_str()));
        call.accept = Some(INDEX);
        let read = self.endpoint.fetch(&call, MAX_MANIFEST)?;
        if !is_index(&read) {
            return Err(self.refused(ErrorKind::Protocol, "it is not an index"));
        }
        let links = read.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        let next = link::next(links).map(str::to_owned);
        self.found.extend(entries(read.body, || self.refused(ErrorKind::Protocol, "it is not an index"))?);
        if self.found.len() > MAX_REFERRERS {
            return Err(self.refused(ErrorKind::Limit, &format!("it has more than {MAX_REFERRERS} entries")));
        }
        Ok(next)
    }

    fn rest(&mut self, first: &Url, mut next: String) -> Result<()> {
        let mut visited = HashSet::from([first.to_string()]);
        let mut url = first.clone();
        loop {
            url = self.endpoint.follow(&url, &next)?;
            if !visited.insert(url.to_string()) {
                return Err(self.refused(ErrorKind::Protocol, "its pages lead in a circle"));
            }
            if visited.len() > MAX_PAGES {
                return Err(self.refused(ErrorKind::Limit, &format!("it has more than {MAX_PAGES} pages")));
            }
            let Some(after) = self.page(&url)? else { return Ok(()) };
            next = after;
        }
    }

    fn refused(&self, kind: ErrorKind, reason: &str) -> Error {
        let (repository, digest) = (self.repository, self.digest);
        Error::new(kind, format!("invalid list of referrers of `{repository}@{digest}`: {reason}"))
    }
}

/// Returns what clients have noted where the registry keeps no lists: an index under a tag that is made of the digest.
fn noted(client: &Client, repository: &Repository, digest: &Digest) -> Result<Vec<Descriptor>> {
    let reference = repository.with_tag(&tag(digest))?;
    let manifest = match client.manifest(&reference) {
        Ok(manifest) => manifest,
        Err(error) if error.kind() == ErrorKind::ManifestUnknown => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    entries(manifest.bytes, || {
        Error::new(ErrorKind::Protocol, format!("`{reference}` is not a referrers index"))
    })
}

/// The tag that stands for what refers to a digest.
fn tag(digest: &Digest) -> String {
    let (algorithm, hex) = (digest.algorithm(), digest.hex());
    let (longest_algorithm, longest_hex) = MAX_TAG_PARTS;
    format!("{}-{}", &algorithm[..algorithm.len().min(longest_algorithm)], &hex[..hex.len().min(longest_hex)])
}

/// The entries of an index.
fn entries(bytes: Vec<u8>, refused: impl FnOnce() -> Error) -> Result<Vec<Descriptor>> {
    let page = Manifest { digest: Digest::of(&bytes), bytes };
    match page.content() {
        Ok(Content::Index(index)) => Ok(index.manifests),
        _ => Err(refused()),
    }
}

/// Returns true if a registry is one without such lists: it does not know the address, or takes it for something else. One that
/// is out of order or does not let in who asks may well have a list.
fn has_no_lists(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ManifestUnknown | ErrorKind::NameUnknown | ErrorKind::Protocol)
}

/// Some servers answer whatever they are asked with a page for people.
fn is_index(read: &Read) -> bool {
    let stated = read.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    stated.split(';').next().is_some_and(|stated| stated.trim().eq_ignore_ascii_case(INDEX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By OCI's distribution specification 1.1, "Referrers Tag Schema".
    #[test]
    fn the_tag_is_made_of_the_digest_and_cut_where_it_is_long() {
        let hex = "0123456789abcdef".repeat(4);
        let short: Digest = format!("sha256:{hex}").parse().unwrap();
        assert_eq!(tag(&short), format!("sha256-{hex}"));
        let long: Digest = format!("sha512:{hex}{hex}").parse().unwrap();
        assert_eq!(tag(&long), format!("sha512-{hex}"));
    }
}
