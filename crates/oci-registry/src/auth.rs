//! Authenticates to a registry: Basic, or a token from its token server (distribution's auth specification).
//!
//! In: what the registry challenged, and where credentials are kept. Out: the header to send. Tokens are kept by
//! credential and scope until nine tenths of their time are over; of many who want the same one asks for it. It refuses
//! a token server without TLS where the registry has TLS.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use diagnostic::{Error, ErrorKind, Result};
use reqwest::header::HeaderValue;
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;

use crate::challenge::Challenge;
use crate::credentials::{Credential, CredentialSource};
use crate::problem;
use crate::retry::{Failure, is_passing, retry_after, with_retries};
use crate::settings::Retry;
use crate::web::{Body, FORM, Request, Web};

/// Tokens are a few thousand bytes.
const MAX_TOKEN: u64 = 1 << 20;

/// Reading needs one scope, or two where tags have one of their own.
const MAX_SCOPES: usize = 8;

/// As many tokens are kept without looking for those that have expired.
const MAX_TOKENS: usize = 1000;

/// Default lifetime of a token, in seconds.
const LIFETIME: u64 = 60;

/// As many credentials are tried for a repository: several pull secrets may name it.
pub(crate) const MAX_CREDENTIALS: usize = 8;

/// For how long credentials are used again before they are looked up again.
const CREDENTIAL_LIFETIME: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Authenticator {
    registry: String,
    is_plain: bool,
    source: Option<Arc<dyn CredentialSource>>,
    client_id: String,
    retry: Retry,
    state: Mutex<State>,
}

/// The `Authorization` header to send.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) header: HeaderValue,
    credential: Option<Credential>,
    /// It was not got for this question, and may be out of date.
    is_kept: bool,
}

/// The known credentials.
#[derive(Debug)]
pub(crate) enum Identity {
    /// One asks as anybody.
    Anybody,
    Known(Shown),
    /// All credentials were refused.
    Refused,
}

#[derive(Debug, Default)]
struct State {
    scheme: Option<Scheme>,
    /// By repository, what its registry asked for beyond reading.
    scopes: HashMap<String, BTreeSet<String>>,
    /// By repository.
    found: HashMap<String, Found>,
    tokens: HashMap<TokenKey, Arc<Mutex<Option<Token>>>>,
    hasher: RandomState,
}

/// The credentials for a repository, those that fit it best first.
#[derive(Debug)]
struct Found {
    since: Instant,
    /// Nothing where they have to be looked up again.
    all: Option<Vec<Credential>>,
    refused: Vec<Credential>,
}

/// A credential, and whether it was known before.
enum Choice {
    Anybody,
    Credential(Credential, bool),
    Refused,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Scheme {
    Basic,
    Bearer { realm: Url, service: Option<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TokenKey {
    credential: u64,
    scopes: Vec<String>,
}

#[derive(Debug)]
struct Token {
    header: HeaderValue,
    until: Instant,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<f64>,
}

impl Authenticator {
    pub(crate) fn new(
        registry: &str,
        is_plain: bool,
        source: Option<Arc<dyn CredentialSource>>,
        user_agent: &str,
        retry: Retry,
    ) -> Self {
        let client_id = user_agent.split('/').next().unwrap_or_default().to_owned();
        Self { registry: registry.to_owned(), is_plain, source, client_id, retry, state: Mutex::default() }
    }

    /// Returns what to send for a repository, by what is known so far; for the registry itself where its name is empty. Where a
    /// token server refuses a credential, the next one is tried.
    pub(crate) fn identity(&self, repository: &str, web: &Web) -> Result<Identity> {
        let scheme = self.lock().scheme.clone();
        let Some(scheme) = scheme else { return Ok(Identity::Anybody) };
        let mut refusal = None;
        for _ in 0..MAX_CREDENTIALS {
            let (credential, was_known) = match self.choose_credential(repository)? {
                Choice::Anybody => (None, false),
                Choice::Credential(credential, was_known) => (Some(credential), was_known),
                Choice::Refused => break,
            };
            match self.show(repository, &scheme, credential.as_ref(), web) {
                Ok(Some((header, was_asked))) => {
                    let is_kept = was_known || !was_asked;
                    return Ok(Identity::Known(Shown { header, credential, is_kept }));
                }
                Ok(None) => return Ok(Identity::Anybody),
                Err(error) if is_refusal(&error) => {
                    let Some(credential) = credential else { return Err(error) };
                    self.refuse_credential(repository, &credential, true);
                    refusal = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        refusal.map_or(Ok(Identity::Refused), Err)
    }

    /// The header for a credential, and whether it holds what was asked for just now.
    fn show(
        &self,
        repository: &str,
        scheme: &Scheme,
        credential: Option<&Credential>,
        web: &Web,
    ) -> Result<Option<(HeaderValue, bool)>> {
        match (scheme, credential) {
            (_, Some(Credential::Bearer(token))) => {
                secret_header(&format!("Bearer {}", token.expose())).map(|header| Some((header, true)))
            }
            (Scheme::Basic, Some(Credential::Basic { user, password })) => {
                basic(user, password.expose()).map(|header| Some((header, true)))
            }
            (Scheme::Basic, _) => Ok(None),
            (Scheme::Bearer { realm, service }, credential) => {
                self.token(repository, realm, service.as_deref(), credential, web).map(Some)
            }
        }
    }

    /// Takes note of a challenge.
    pub(crate) fn challenged(&self, repository: &str, challenges: &[Challenge]) -> Result<()> {
        let Some((scheme, scope)) = self.choose(challenges)? else { return Ok(()) };
        let mut state = self.lock();
        state.scheme = Some(scheme);
        if let Some(scope) = scope.filter(|_| !repository.is_empty()) {
            let scopes = state.scopes.entry(repository.to_owned()).or_default();
            if scopes.len() + scope.len() > MAX_SCOPES {
                scopes.clear();
            }
            scopes.extend(scope);
        }
        Ok(())
    }

    /// Forgets what was sent in vain, and says whether there may be more to send. What was only out of date may be got
    /// anew; anything else is not tried again.
    pub(crate) fn refused(&self, repository: &str, sent: &Shown) -> bool {
        if let Some(credential) = &sent.credential {
            self.refuse_credential(repository, credential, !sent.is_kept);
        }
        let slots: Vec<_> = self.lock().tokens.values().cloned().collect();
        for slot in slots {
            // Another thread may have a new one already.
            let mut token = slot.lock().unwrap_or_else(PoisonError::into_inner);
            *token = token.take().filter(|token| token.header != sent.header);
        }
        sent.credential.is_some() || sent.is_kept
    }

    /// Returns true if there are other credentials than this.
    pub(crate) fn has_other(&self, repository: &str, sent: &Shown) -> bool {
        let state = self.lock();
        let found = state.found.get(repository).and_then(|found| Some((found, found.all.as_ref()?)));
        found.is_some_and(|(found, all)| {
            let other = |known: &&Credential| {
                !found.refused.contains(known) && Some(*known) != sent.credential.as_ref()
            };
            all.iter().any(|known| other(&known))
        })
    }

    /// Returns true if credentials for a repository were found.
    pub(crate) fn has_credential(&self, repository: &str) -> bool {
        let state = self.lock();
        let found = state.found.get(repository);
        found.is_some_and(|found| found.all.as_ref().is_none_or(|all| !all.is_empty()))
    }

    fn choose(&self, challenges: &[Challenge]) -> Result<Option<(Scheme, Option<Vec<String>>)>> {
        let find = |scheme: &str| challenges.iter().find(|challenge| challenge.scheme == scheme);
        if let Some(bearer) = find("bearer")
            && let Some(realm) = bearer.parameter("realm")
        {
            let realm = Url::parse(realm).ok().filter(|realm| matches!(realm.scheme(), "https" | "http"));
            let realm = realm.ok_or_else(|| self.unusable("its token server lacks a URL"))?;
            if realm.scheme() != "https" && !self.is_plain {
                return Err(self.unusable("its token server does not use TLS"));
            }
            let service = bearer.parameter("service").map(str::to_owned);
            let scope = bearer.parameter("scope");
            let scope = scope.map(|scope| scope.split_ascii_whitespace().map(str::to_owned).collect());
            return Ok(Some((Scheme::Bearer { realm, service }, scope)));
        }
        Ok(find("basic").map(|_| (Scheme::Basic, None)))
    }

    fn unusable(&self, reason: &str) -> Error {
        let message = format!("the registry `{}` cannot be shown who asks: {reason}", self.registry);
        Error::new(ErrorKind::Protocol, message)
    }

    /// The first credential that has not been refused. Where all were, the next question begins anew.
    fn choose_credential(&self, repository: &str) -> Result<Choice> {
        let Some(source) = &self.source else { return Ok(Choice::Anybody) };
        let mut refused = Vec::new();
        if let Some(found) = self.lock().found.get_mut(repository)
            && found.since.elapsed() < CREDENTIAL_LIFETIME
        {
            if found.all.is_some() {
                return Ok(found.choose(true));
            }
            refused.append(&mut found.refused);
        }
        let mut all = source.find_all(&self.registry, repository)?;
        all.truncate(MAX_CREDENTIALS);
        let mut found = Found { since: Instant::now(), all: Some(all), refused };
        let choice = found.choose(false);
        self.lock().found.insert(repository.to_owned(), found);
        Ok(choice)
    }

    fn refuse_credential(&self, repository: &str, credential: &Credential, is_final: bool) {
        if let Some(source) = &self.source {
            source.forget(credential);
        }
        if let Some(found) = self.lock().found.get_mut(repository) {
            found.all = None;
            if is_final {
                found.refused.push(credential.clone());
            }
        }
    }

    fn token(
        &self,
        repository: &str,
        realm: &Url,
        service: Option<&str>,
        credential: Option<&Credential>,
        web: &Web,
    ) -> Result<(HeaderValue, bool)> {
        let (scopes, slot) = self.slot(repository, credential);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = slot.as_ref().filter(|token| Instant::now() < token.until) {
            return Ok((token.header.clone(), false));
        }
        let asked = Instant::now();
        let answer = with_retries(self.retry, || {
            let (request, authorization) = self.token_request(realm, service, &scopes, credential)?;
            self.ask_for_token(request, authorization.as_ref(), web)
        })?;
        let token = answer.token.or(answer.access_token).filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| self.unusable("its token server gives no token"))?;
        let header = secret_header(&format!("Bearer {token}"))
            .map_err(|_| self.unusable("the token of its server cannot be sent"))?;
        let lifetime = answer.expires_in.filter(|seconds| *seconds > 0.0).unwrap_or(LIFETIME as f64);
        let lifetime = Duration::try_from_secs_f64(lifetime * 0.9).unwrap_or(CREDENTIAL_LIFETIME);
        let until = asked.checked_add(lifetime).unwrap_or(asked);
        *slot = Some(Token { header: header.clone(), until });
        Ok((header, true))
    }

    fn slot(
        &self,
        repository: &str,
        credential: Option<&Credential>,
    ) -> (Vec<String>, Arc<Mutex<Option<Token>>>) {
        let mut state = self.lock();
        let asked_for = state.scopes.get(repository).into_iter().flatten().cloned();
        let mut scopes: Vec<String> = asked_for.collect();
        if scopes.is_empty() && !repository.is_empty() {
            scopes.push(format!("repository:{repository}:pull"));
        }
        let credential = state.hasher.hash_one(credential);
        if state.tokens.len() >= MAX_TOKENS {
            // One that is being asked for has its lock taken.
            state.tokens.retain(|_, slot| {
                slot.try_lock()
                    .map_or(true, |token| token.as_ref().is_some_and(|token| Instant::now() < token.until))
            });
        }
        let slot = state.tokens.entry(TokenKey { credential, scopes: scopes.clone() }).or_default();
        (scopes, Arc::clone(slot))
    }

    fn token_request(
        &self,
        realm: &Url,
        service: Option<&str>,
        scopes: &[String],
        credential: Option<&Credential>,
    ) -> Result<(Request<'static>, Option<HeaderValue>)> {
        let mut url = realm.clone();
        let mut request = Request {
            method: Method::GET,
            url: realm.clone(),
            headers: Vec::new(),
            authorization: None,
            body: None,
            stays: false,
        };
        if let Some(Credential::Identity(token)) = credential {
            // Only to have something that encodes forms.
            url.set_query(None);
            url.query_pairs_mut()
                .append_pair("grant_type", "refresh_token")
                .append_pair("service", service.unwrap_or_default())
                .append_pair("client_id", &self.client_id)
                .append_pair("scope", &scopes.join(" "))
                .append_pair("refresh_token", token.expose());
            request.method = Method::POST;
            let content = url.query().unwrap_or_default().to_owned();
            request.body = Some(Body { kind: FORM, content });
            request.stays = true;
            return Ok((request, None));
        }
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .extend_pairs(scopes.iter().map(|scope| ("scope", scope)));
        request.url = url;
        let authorization = match credential {
            Some(Credential::Basic { user, password }) => Some(basic(user, password.expose())?),
            _ => None,
        };
        Ok((request, authorization))
    }

    fn ask_for_token(
        &self,
        request: Request<'_>,
        authorization: Option<&HeaderValue>,
        web: &Web,
    ) -> Result<TokenAnswer, Failure> {
        let server = request.url.host_str().unwrap_or_default().to_owned();
        let answer = web.send(Request { authorization, ..request })?;
        let status = answer.status;
        if status.is_success() {
            let body = answer.body(MAX_TOKEN)?;
            let parsed = serde_json::from_slice(&body);
            return Ok(parsed.map_err(|_| self.unusable("the answer of its token server cannot be read"))?);
        }
        let wait = retry_after(&answer.headers);
        let said = problem::said(answer);
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST => ErrorKind::Unauthorized,
            StatusCode::FORBIDDEN => ErrorKind::Denied,
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
            _ if is_passing(status) => ErrorKind::Unavailable,
            _ => ErrorKind::Protocol,
        };
        let message = format!("the token server `{server}` of `{}` answers `{status}`{said}", self.registry);
        let error = Error::new(kind, message);
        if is_passing(status) {
            return Err(Failure::Passing { error, wait });
        }
        Err(match kind {
            ErrorKind::Unauthorized => error.hint(format!("check the credentials for `{}`", self.registry)),
            _ => error,
        }
        .into())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    fn choose(&mut self, was_known: bool) -> Choice {
        let all = self.all.as_deref().unwrap_or_default();
        if all.is_empty() {
            return Choice::Anybody;
        }
        match all.iter().find(|credential| !self.refused.contains(credential)) {
            Some(credential) => Choice::Credential(credential.clone(), was_known),
            None => {
                (self.all, self.refused) = (None, Vec::new());
                Choice::Refused
            }
        }
    }
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Denied)
}

fn basic(user: &str, password: &str) -> Result<HeaderValue> {
    secret_header(&format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
}

/// A header that does not print.
fn secret_header(text: &str) -> Result<HeaderValue> {
    let mut header = HeaderValue::from_str(text).map_err(|_| {
        Error::new(ErrorKind::Credentials, "the credentials hold characters that cannot be sent")
    })?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge;

    fn authenticator(is_plain: bool) -> Authenticator {
        let source = Arc::new(Credential::basic("me", "s3cret"));
        Authenticator::new("r.example", is_plain, Some(source), "tool/1.0", Retry::default())
    }

    #[test]
    fn a_token_server_without_tls_gets_no_credentials_of_a_registry_with_tls() {
        let challenges = challenge::parse([r#"Bearer realm="http://auth.example/token""#]);
        assert!(authenticator(false).challenged("a", &challenges).is_err());
        assert!(authenticator(true).challenged("a", &challenges).is_ok());
        let nowhere = challenge::parse([r#"Bearer realm="ftp://auth.example/token""#]);
        assert!(authenticator(true).challenged("a", &nowhere).is_err());
    }

    #[test]
    fn credentials_are_not_printed() {
        let shown = format!("{:?} {:?}", authenticator(false), basic("me", "s3cret").unwrap());
        assert!(!shown.contains("s3cret") && !shown.contains("bWU6"), "{shown}");
    }
}
