//! One archive: from the cache by its digest, or from its server and then into the cache.
//!
//! Refused: an archive with another digest than its repository promises, and what is no archive.

use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result, redact};
use helm_lite::archive::MAX_CHART_SIZE;
use helm_lite::repository::IndexedChart;
use oci_registry::Digest;
use reqwest::Url;

use super::super::web::Answer;
use super::access::Access;
use super::http::Request;
use super::store::{Link, Store};
use super::{ChartRequest, ChartSources, OCI, Pulled, address, offline};

/// The `Accept` header.
const ACCEPT: &str = "application/gzip,application/octet-stream";

/// An archive whose place is known.
pub(super) struct Located<'l> {
    pub(super) address: Url,
    /// That its repository promises.
    pub(super) digest: Option<Digest>,
    /// The repository that the account is for.
    pub(super) repository: Url,
    pub(super) access: &'l Access,
}

impl ChartSources {
    /// A chart that an index has, from the first of its addresses that gives it.
    pub(super) fn indexed(
        &self,
        name: &str,
        chart: &IndexedChart,
        repository: &Url,
        access: &Access,
    ) -> Result<Pulled> {
        let digest = match chart.digest.as_str() {
            "" => None,
            text => Some(promised(text).ok_or_else(|| {
                let reason = format!("{name}: the digest in the index is not SHA-256: {text:?}");
                Error::new(ErrorKind::Invalid, reason)
            })?),
        };
        let mut failed = None;
        for url in &chart.urls {
            let address = address::in_repository(repository, url)?;
            let located = Located { address, digest: digest.clone(), repository: repository.clone(), access };
            match self.archive(&located) {
                Err(failure) if failure.kind() != ErrorKind::Denied => {
                    failed.get_or_insert(failure);
                }
                outcome => return outcome,
            }
        }
        Err(failed
            .unwrap_or_else(|| Error::new(ErrorKind::NotFound, format!("{name} has no downloadable URLs"))))
    }

    /// An archive, once in a run.
    pub(super) fn archive(&self, located: &Located<'_>) -> Result<Pulled> {
        let reference = located.address.as_str();
        if reference.starts_with(OCI) {
            // The account is for the repository's host.
            let account = located.access.account.clone().filter(|_| located.access.pass_credentials);
            let access = Access { account, ..located.access.clone() };
            let request = ChartRequest { reference, repo: None, version: None, access: &access };
            let pulled = self.in_registry(&request)?;
            return refuse_other_digest(located, &pulled.digest).map(|()| pulled);
        }
        let key = (located.address.to_string(), located.access.clone());
        self.pulled.get(&key, Duration::ZERO, || self.cached(located))
    }

    /// An archive from the cache, or from its server by way of it.
    fn cached(&self, located: &Located<'_>) -> Result<Pulled> {
        let file_name = address::file_name(&located.address)?;
        let store = self.cache.as_ref().map(Store);
        let by_digest = || {
            let digest = located.digest.clone()?;
            Some(Pulled::new(store?.archive(&digest)?, digest, &file_name))
        };
        if let Some(pulled) = by_digest() {
            return Ok(pulled);
        }
        if self.offline {
            let recalled = store.and_then(|store| recall(store, located));
            let (link, bytes) = recalled.ok_or_else(|| offline(located.address.as_str()))?;
            return Ok(Pulled::new(bytes, link.digest, &file_name));
        }
        // What two processes want at the same time is fetched by one of them.
        let _lock = store.and_then(|store| store.lock(located.address.as_str()));
        by_digest().map_or_else(|| self.fetched(located, &file_name), Ok)
    }

    /// An archive from its server, unless that has the one which is in the cache.
    fn fetched(&self, located: &Located<'_>, file_name: &str) -> Result<Pulled> {
        let store = self.cache.as_ref().map(Store);
        let recalled = store.and_then(|store| recall(store, located));
        let tag = recalled.as_ref().and_then(|(link, _)| link.tag.as_deref());
        let (bytes, tag) = match (self.ask(located, tag)?, recalled) {
            (Answer::Unchanged, Some((link, bytes))) => (bytes, link.tag),
            (Answer::Unchanged, None) => (Vec::new(), None),
            (Answer::Content { body, tag }, _) => (body, tag),
        };
        let digest = Digest::of(&bytes);
        refuse_other_digest(located, &digest)?;
        refuse_no_archive(&located.address, &bytes)?;
        if let Some(store) = store {
            store.put_archive(&digest, &bytes)?;
            let link = Link { digest: digest.clone(), file_name: file_name.to_owned(), tag };
            store.put_link(located.address.as_str(), &link)?;
        }
        Ok(Pulled::new(bytes, digest, file_name))
    }

    fn ask(&self, located: &Located<'_>, tag: Option<&str>) -> Result<Answer> {
        self.http.get(&Request {
            address: &located.address,
            repository: &located.repository,
            access: located.access,
            accept: ACCEPT,
            tag,
            limit: MAX_CHART_SIZE,
        })
    }
}

/// Returns what an address gave last, if it still is what its repository promises.
fn recall(store: Store<'_>, located: &Located<'_>) -> Option<(Link, Vec<u8>)> {
    let link = store.link(located.address.as_str())?;
    let is_promised = located.digest.as_ref().is_none_or(|digest| *digest == link.digest);
    let bytes = store.archive(&link.digest).filter(|_| is_promised)?;
    Some((link, bytes))
}

fn refuse_other_digest(located: &Located<'_>, digest: &Digest) -> Result<()> {
    let Some(promised) = located.digest.as_ref().filter(|promised| *promised != digest) else {
        return Ok(());
    };
    let reason = format!(
        "`{}` has the digest {digest}, but its repository says {promised}",
        redact(located.address.as_str())
    );
    let hint = "the archive was changed or its index is old: ask who runs the repository before you trust it";
    Err(Error::new(ErrorKind::Denied, reason).hint(hint))
}

/// The digest that an index has, which may lack its algorithm.
fn promised(text: &str) -> Option<Digest> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    format!("sha256:{}", hex.to_ascii_lowercase()).parse().ok()
}

/// A page that says that one has to log in is no archive, and must not be kept as one.
fn refuse_no_archive(address: &Url, bytes: &[u8]) -> Result<()> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(());
    }
    let reason = format!("`{}` is not a chart: it is not a gzipped archive", redact(address.as_str()));
    Err(Error::new(ErrorKind::Invalid, reason))
}
