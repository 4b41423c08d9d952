//! From a request to news: who it is from, whether that is so, and what it says.

use diagnostic::Result;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::Method;
use http::request::Parts;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::letter::{single_header, single_parameter};
use super::pace::Pace;
use super::proof::{check_head, check_whole};
use super::repeats::{Mark, Repeats};
use super::secrets::{SecretPlace, SecretSource};
use super::{KINDS, Kind, Letter, Malformed, News};

/// The path of webhooks, as with Argo CD Image Updater.
const PATH: &str = "/webhook";

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There is news.
    Received,
    /// Nothing that matters here.
    Ignored,
    /// It was told before, and what came of that is not over.
    Folded,
    /// The sender has not proven that it knows the secret.
    Unauthorized,
    /// There is no such kind, or no such address.
    Unknown,
    /// The body is too long.
    TooLarge,
    /// The body is not what this kind of sender writes.
    Malformed,
    /// There was too much in this hour.
    RateLimited,
    /// Another replica leads.
    Unavailable,
}

impl Outcome {
    /// As it is counted.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Ignored => "ignored",
            Self::Folded => "folded",
            Self::Unauthorized => "unauthorized",
            Self::Unknown => "unknown",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The kind of sender; `None` if unknown.
    pub(crate) kind: Option<&'static str>,
    pub(crate) outcome: Outcome,
    /// The error in the body.
    pub(crate) reason: Option<&'static str>,
}

/// A request that was taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) kind: &'static str,
    pub(crate) news: News,
    marks: Vec<Mark>,
}

/// Takes what senders tell.
pub(crate) struct Receiver {
    served: Vec<Served>,
    repeats: Mutex<Repeats>,
    pace: Option<Mutex<Pace>>,
}

/// A kind that is served.
#[derive(Debug)]
struct Served {
    kind: &'static Kind,
    /// Nothing where everybody is believed.
    secret: Option<SecretSource>,
}

impl Receiver {
    /// Serves the kinds that there are secrets for: where one is said, else in the variable of the environment that is
    /// for it. The others are served without proof, or are not there.
    ///
    /// # Errors
    /// If a secret that is said is not there.
    pub(crate) fn new(
        places: &[(&'static Kind, SecretPlace)],
        requires_secret: bool,
        per_hour: u32,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let mut served = Vec::new();
        for &kind in KINDS {
            let said =
                places.iter().find(|(known, _)| known.name() == kind.name()).map(|(_, place)| place.clone());
            let set = || variable(kind.variable).is_some_and(|value| !value.is_empty());
            let place = said.or_else(|| set().then(|| SecretPlace::Variable(kind.variable.to_owned())));
            let secret = place.map(|place| place.open(&variable)).transpose()?;
            if secret.is_some() || !requires_secret {
                served.push(Served { kind, secret });
            }
        }
        let pace = Pace::per_hour(per_hour, Instant::now()).map(Mutex::new);
        Ok(Self { served, repeats: Mutex::default(), pace })
    }

    /// The names of the kinds that are served, and whether each has to prove itself.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.served.iter().map(|served| (served.kind.name(), served.secret.is_some()))
    }

    /// The name of the kind that a head names.
    pub(crate) fn kind_of(&self, head: &Parts) -> Option<&'static str> {
        self.served(head).map(|served| served.kind.name())
    }

    /// Returns whether the head alone tells that it is not taken.
    pub(crate) fn refuse_by_head(&self, head: &Parts) -> Option<Refusal> {
        self.admit(head, None).err()
    }

    /// Returns what a request says. Its sender has proven itself before anything of the body is looked at.
    ///
    /// # Errors
    /// If it is not taken.
    pub(crate) fn receive(&self, head: &Parts, body: &[u8]) -> Result<Received, Refusal> {
        let kind = self.admit(head, Some(body))?;
        let malformed = |Malformed(reason)| Refusal {
            kind: Some(kind.name()),
            outcome: Outcome::Malformed,
            reason: Some(reason),
        };
        let value: Value =
            serde_json::from_slice(body).map_err(|_| malformed(Malformed("it is not JSON")))?;
        let news = kind.read(&Letter::new(head, &value)).map_err(malformed)?;
        Ok(Received { kind: kind.name(), news, marks: marks(kind, head, body) })
    }

    /// Returns true if the same was taken before.
    pub(crate) fn is_repeated(&self, received: &Received, now: Instant) -> bool {
        lock(&self.repeats).knows(&received.marks, now)
    }

    /// Takes it, unless that was too much in this hour.
    pub(crate) fn take(&self, received: &Received, now: Instant) -> bool {
        let is_taken = self.pace.as_ref().is_none_or(|pace| lock(pace).take(now));
        if is_taken {
            lock(&self.repeats).note(&received.marks, now);
        }
        is_taken
    }

    fn admit(&self, head: &Parts, body: Option<&[u8]>) -> Result<&'static Kind, Refusal> {
        let refusal = |kind, outcome| Refusal { kind, outcome, reason: None };
        let served = self.served(head).ok_or(refusal(None, Outcome::Unknown))?;
        let name = Some(served.kind.name());
        if head.method != Method::POST {
            return Err(refusal(name, Outcome::Unknown));
        }
        let Some(source) = &served.secret else { return Ok(served.kind) };
        let unauthorized = refusal(name, Outcome::Unauthorized);
        let secret = source.read().ok_or(unauthorized)?;
        let (proofs, secret) = (served.kind.proofs, secret.expose());
        let proven = match body {
            None => check_head(proofs, head, secret),
            Some(body) => check_whole(proofs, head, body, secret),
        };
        proven.map(|()| served.kind).map_err(|_| unauthorized)
    }

    /// The kind that the address names, or the header of Argo CD Image Updater.
    fn served(&self, head: &Parts) -> Option<&Served> {
        if head.uri.path() != PATH {
            return None;
        }
        let query = head.uri.query().unwrap_or_default();
        let header = || single_header(&head.headers, "x-registry-type")?.to_str().ok().map(Into::into);
        let name = single_parameter(query, "type").or_else(header)?;
        self.served.iter().find(|served| served.kind.names.contains(&&*name))
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds()).finish()
    }
}

/// By what a delivery is known. A name that is not signed may be forged, so that the body counts, too, where it can.
fn marks(kind: &Kind, head: &Parts, body: &[u8]) -> Vec<Mark> {
    let mark = |what: &[u8], text: &[u8]| -> Mark {
        let digest = Sha256::new().chain_update(kind.name()).chain_update([0]).chain_update(what);
        digest.chain_update([0]).chain_update(text).finalize().into()
    };
    let delivery = kind.delivery.and_then(|name| single_header(&head.headers, name));
    let delivery = delivery.map(|name| mark(b"delivery", name.as_bytes()));
    let query = head.uri.query().unwrap_or_default();
    let body = kind.is_unique.then(|| mark(query.as_bytes(), body));
    delivery.into_iter().chain(body).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
