//! The client: what can be asked of registries. Threads share it, and with it tokens, limits and connections.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use diagnostic::{Error, ErrorKind, Result};
use reqwest::Method;

use crate::blob;
use crate::cache::Cache;
use crate::digest::Digest;
use crate::endpoint::{Call, Endpoint, Read};
use crate::manifest::{ACCEPT, Descriptor, MAX_MANIFEST, Manifest};
use crate::problem::Subject;
use crate::reference::{Reference, Repository};
use crate::settings::Options;
use crate::tags::{self, TagList};
use crate::traffic::Traffic;
use crate::web::{Webs, size};

/// Maximum size of a registry's root answer.
const MAX_ROOT: u64 = 64 << 10;

/// By what registries say which manifest a tag is.
const CONTENT_DIGEST: &str = "docker-content-digest";

/// A registry's host, and which of the settings are for it.
type Site = (String, Option<usize>);

/// Asks registries.
#[derive(Debug)]
pub struct Client {
    options: Options,
    cache: Option<Cache>,
    endpoints: Mutex<HashMap<Site, Arc<Endpoint>>>,
    /// By the addresses of lists. One is read by one thread, for which others that want it wait.
    listed: Mutex<HashMap<String, Arc<Mutex<Option<Listed>>>>>,
    webs: Webs,
}

/// A list of tags that was read.
#[derive(Debug)]
struct Listed {
    when: Instant,
    /// Only where no cache has it.
    list: Option<TagList>,
}

impl Client {
    /// A client; it speaks to nobody yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let cache = options.cache.clone().map(Cache::new);
        Self { options, cache, endpoints: Mutex::default(), listed: Mutex::default(), webs: Webs::default() }
    }

    /// Returns whether a registry lets in who asks.
    ///
    /// # Errors
    /// If it does not, or cannot be asked.
    pub fn check(&self, registry: &str) -> Result<()> {
        // Only for the settings of the host.
        let repository = Repository::new(registry, "x")?;
        let endpoint = self.endpoint(&repository)?;
        let call = Call {
            method: Method::GET,
            url: endpoint.root(),
            repository: None,
            subject: Subject::Registry,
            accept: None,
            headers: Vec::new(),
        };
        endpoint.fetch(&call, MAX_ROOT).map(|_| ())
    }

    /// All tags of a repository. With a cache, only pages that changed are read again.
    ///
    /// # Errors
    /// If any part of them cannot be had.
    pub fn tags(&self, repository: &Repository) -> Result<TagList> {
        let endpoint = self.endpoint(repository)?;
        let url = endpoint.url(repository, "tags/list").to_string();
        if self.options.fresh_for.is_zero() {
            return self.read_tags(repository, &url);
        }
        let shared = {
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(listed.entry(url.clone()).or_default())
        };
        let mut listed = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = listed.as_ref().filter(|listed| listed.when.elapsed() < self.options.fresh_for);
        let cached = || self.cache.as_ref().and_then(|cache| cache.tags(&url));
        if let Some(list) = fresh.and_then(|listed| listed.list.clone().or_else(cached)) {
            endpoint.saving();
            return Ok(list);
        }
        let list = self.read_tags(repository, &url)?;
        *listed = Some(Listed { when: Instant::now(), list: self.cache.is_none().then(|| list.clone()) });
        Ok(list)
    }

    /// Has the list of tags of a repository asked for anew, however short ago it was: there is news of it.
    pub fn forget_tags(&self, repository: &Repository) {
        let Ok(endpoint) = self.endpoint(repository) else { return };
        let url = endpoint.url(repository, "tags/list").to_string();
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).remove(&url);
    }

    fn read_tags(&self, repository: &Repository, url: &str) -> Result<TagList> {
        let Some(cache) = &self.cache else { return self.tags_since(repository, &TagList::default()) };
        let known = cache.tags(url).unwrap_or_default();
        let list = self.tags_since(repository, &known)?;
        if list != known {
            cache.put_tags(url, &list)?;
        }
        Ok(list)
    }

    /// All tags of a repository, by what was listed before: pages that did not change are not read again.
    ///
    /// # Errors
    /// If any part of them cannot be had.
    pub fn tags_since(&self, repository: &Repository, known: &TagList) -> Result<TagList> {
        tags::list(&*self.endpoint(repository)?, repository, known)
    }

    /// The digest of what a reference names, which does not count as a download.
    ///
    /// # Errors
    /// If it does not exist, or the registry cannot be asked.
    pub fn digest(&self, reference: &Reference) -> Result<Digest> {
        let endpoint = self.endpoint(reference.repository())?;
        let head = endpoint.fetch(&call(&endpoint, reference, Method::HEAD), MAX_MANIFEST);
        let stated = match &head {
            Ok(read) => stated_digest(read, reference)?,
            Err(error) if may_say_more(error.kind()) => None,
            Err(error) => return Err(error.clone()),
        };
        match stated {
            Some(digest) => Ok(digest),
            None => self.download(&endpoint, reference).map(|manifest| manifest.digest),
        }
    }

    /// Returns what a reference named when its manifest was read last, by the cache alone; nobody is asked, and it may have moved.
    ///
    /// # Errors
    /// If the settings of its registry cannot be used.
    pub fn last_digest(&self, reference: &Reference) -> Result<Option<Digest>> {
        let Some(cache) = self.cache.as_ref().filter(|_| reference.digest().is_none()) else {
            return Ok(None);
        };
        let endpoint = self.endpoint(reference.repository())?;
        Ok(cache.digest(&manifest_url(&endpoint, reference)))
    }

    /// A manifest. With a cache, one that is there is not read again.
    ///
    /// # Errors
    /// If it does not exist, is not what its digest says, or the registry cannot be asked.
    pub fn manifest(&self, reference: &Reference) -> Result<Manifest> {
        let endpoint = self.endpoint(reference.repository())?;
        let Some(cache) = &self.cache else { return self.download(&endpoint, reference) };
        let cached = |digest: Digest| cache.content(&digest).map(|bytes| Manifest { digest, bytes });
        if let Some(digest) = reference.digest() {
            if let Some(manifest) = cached(digest.clone()) {
                endpoint.saving();
                return Ok(manifest);
            }
            let manifest = self.download(&endpoint, reference)?;
            cache.put_content(&manifest.digest, &manifest.bytes)?;
            return Ok(manifest);
        }
        let url = manifest_url(&endpoint, reference);
        // To ask for the digest costs less than a download, but only pays where that is likely to be spared.
        if let Some(manifest) = cache.digest(&url).and_then(cached)
            && self.digest(reference)? == manifest.digest
        {
            return Ok(manifest);
        }
        let manifest = self.download(&endpoint, reference)?;
        cache.put_content(&manifest.digest, &manifest.bytes)?;
        cache.put_digest(&url, &manifest.digest)?;
        Ok(manifest)
    }

    /// Hands content on to a writer while it comes. Where this fails, what was written is of no use.
    ///
    /// # Errors
    /// If it is larger than the limit, does not exist, is not what its digest says, or cannot be written.
    pub fn blob(
        &self,
        repository: &Repository,
        descriptor: &Descriptor,
        limit: u64,
        writer: &mut dyn Write,
    ) -> Result<()> {
        if descriptor.size > limit {
            let name = format!("{repository}@{}", descriptor.digest);
            let message = format!("`{name}` is larger than {}", size(limit));
            return Err(Error::new(ErrorKind::Limit, message));
        }
        blob::download(&*self.endpoint(repository)?, repository, descriptor, writer)
    }

    /// Small content. With a cache, what is there is not read again.
    ///
    /// # Errors
    /// As for [`Client::blob`].
    pub fn content(&self, repository: &Repository, descriptor: &Descriptor, limit: u64) -> Result<Vec<u8>> {
        if let Some(bytes) = self.cache.as_ref().and_then(|cache| cache.content(&descriptor.digest)) {
            self.endpoint(repository)?.saving();
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        self.blob(repository, descriptor, limit, &mut bytes)?;
        if let Some(cache) = &self.cache {
            cache.put_content(&descriptor.digest, &bytes)?;
        }
        Ok(bytes)
    }

    fn download(&self, endpoint: &Endpoint, reference: &Reference) -> Result<Manifest> {
        let read = endpoint.fetch(&call(endpoint, reference, Method::GET), MAX_MANIFEST)?;
        let named = reference.digest().cloned();
        let stated = if named.is_some() { named } else { stated_digest(&read, reference)? };
        let digest = stated.unwrap_or_else(|| Digest::of(&read.body));
        if !digest.matches(&read.body) {
            let message = format!("the manifest of `{reference}` does not match its digest");
            return Err(Error::new(ErrorKind::DigestMismatch, message)
                .hint("the registry, or something on the way, changed it"));
        }
        Ok(Manifest { digest, bytes: read.body })
    }

    /// Returns what registries were asked so far, by their hosts.
    #[must_use]
    pub fn traffic(&self) -> BTreeMap<String, Traffic> {
        let endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let mut traffic: BTreeMap<String, Traffic> = BTreeMap::new();
        for ((registry, _), endpoint) in endpoints.iter() {
            *traffic.entry(registry.clone()).or_default() += endpoint.traffic();
        }
        traffic
    }

    pub(crate) fn endpoint(&self, repository: &Repository) -> Result<Arc<Endpoint>> {
        let place = self.options.settings_for(repository);
        let site = (repository.registry().to_owned(), place);
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = endpoints.get(&site) {
            return Ok(Arc::clone(endpoint));
        }
        let endpoint = Arc::new(Endpoint::new(&site.0, &self.options, place, &self.webs)?);
        endpoints.insert(site, Arc::clone(&endpoint));
        Ok(endpoint)
    }
}

/// Returns true if to download what cannot be asked for by HEAD: not every registry knows that, and no answer to it has a body
/// that tells a missing repository from a missing tag.
fn may_say_more(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Protocol | ErrorKind::ManifestUnknown)
}

fn manifest_url(endpoint: &Endpoint, reference: &Reference) -> String {
    endpoint.url(reference.repository(), &format!("manifests/{}", reference.selector())).into()
}

fn call<'c>(endpoint: &Endpoint, reference: &'c Reference, method: Method) -> Call<'c> {
    let url = endpoint.url(reference.repository(), &format!("manifests/{}", reference.selector()));
    let call = Call::get(url, reference.repository(), Subject::Manifest(reference.selector()));
    Call { method, accept: Some(ACCEPT), ..call }
}

fn stated_digest(read: &Read, reference: &Reference) -> Result<Option<Digest>> {
    let Some(stated) = read.headers.get(CONTENT_DIGEST) else { return Ok(None) };
    let digest = stated.to_str().ok().and_then(|text| text.parse().ok());
    digest.map(Some).ok_or_else(|| {
        Error::new(
            ErrorKind::Protocol,
            format!("the registry gives no digest for `{reference}` that can be used"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_may_share_a_client() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<Client>();
    }
}
