//! One registry as this client sees it: its address, its limits, and who asks. In: what is asked. Out: the answer that
//! is of use, after tokens were got, waits waited and passing failures passed; or why there is none.

use std::sync::Arc;
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, StatusCode, Url};

use crate::auth::{Authenticator, Identity, MAX_CREDENTIALS};
use crate::challenge;
use crate::limit::{Limiter, Permit};
use crate::problem::{self, Subject};
use crate::reference::{DOCKER_HUB, Repository};
use crate::retry::{Failure, is_passing, retry_after, with_retries};
use crate::settings::{Options, RegistrySettings, Retry};
use crate::traffic::{Counter, Traffic};
use crate::web::{Answer, Request, Web, Webs};

/// The URL of Docker Hub's API.
const HUB_API: &str = "https://registry-1.docker.io";

#[derive(Debug)]
pub(crate) struct Endpoint {
    registry: String,
    base: Url,
    default_namespace: Option<String>,
    pub(crate) foreign_links: bool,
    web: Arc<Web>,
    limiter: Arc<Limiter>,
    authenticator: Authenticator,
    retry: Retry,
    counter: Counter,
}

/// A request.
pub(crate) struct Call<'c> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) repository: Option<&'c Repository>,
    pub(crate) subject: Subject<'c>,
    pub(crate) accept: Option<&'static str>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// An answer that was read whole.
pub(crate) struct Read {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Endpoint {
    /// For a registry, by those of the settings that are for it.
    pub(crate) fn new(registry: &str, options: &Options, place: Option<usize>, webs: &Webs) -> Result<Self> {
        let settings = place.map(|place| &options.registries[place]);
        let base = base(registry, settings)?;
        let source = settings.and_then(|settings| settings.credentials.as_ref());
        let source = source.or(options.credentials.as_ref()).map(Arc::clone);
        let is_plain = base.scheme() == "http";
        Ok(Self {
            registry: registry.to_owned(),
            web: webs.get(options, place, &base)?,
            base,
            default_namespace: settings.and_then(|settings| settings.default_namespace.clone()),
            foreign_links: settings.is_some_and(|settings| settings.foreign_links),
            limiter: options.limits.of(registry, settings),
            authenticator: Authenticator::new(registry, is_plain, source, &options.user_agent, options.retry),
            retry: options.retry,
            counter: Counter::default(),
        })
    }

    /// The address of something below `/v2/`.
    pub(crate) fn url(&self, repository: &Repository, rest: &str) -> Url {
        self.below(&format!("{}/{rest}", self.full_name(repository)))
    }

    /// The name as the registry has it.
    fn full_name(&self, repository: &Repository) -> String {
        let name = repository.name();
        match &self.default_namespace {
            Some(namespace) if !name.contains('/') => format!("{namespace}/{name}"),
            _ => name.to_owned(),
        }
    }

    /// The address that tells whether one is let in.
    pub(crate) fn root(&self) -> Url {
        self.below("")
    }

    fn below(&self, rest: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/v2/{rest}", self.base.path().trim_end_matches('/')));
        url
    }

    /// The address that a page's link leads to, on this registry.
    pub(crate) fn follow(&self, from: &Url, link: &str) -> Result<Url> {
        let refused = |reason: &str| {
            Error::new(
                ErrorKind::Protocol,
                format!("the next page of a list of `{}` {reason}", self.registry),
            )
        };
        let target = from.join(link).map_err(|_| refused("has an empty URL"))?;
        let same_host = target.host_str() == from.host_str();
        // Behind a proxy a registry may not know that it is spoken to over TLS, or on which port.
        let same_port = target.port() == from.port();
        if !(self.foreign_links || same_host && same_port) {
            return Err(
                refused("is on another host").hint("allow it for this registry, if it is its other name")
            );
        }
        let mut url = self.base.clone();
        let prefix = self.base.path().trim_end_matches('/');
        if !prefix.is_empty() && target.path().starts_with("/v2/") {
            url.set_path(&format!("{prefix}{}", target.path()));
        } else {
            url.set_path(target.path());
        }
        url.set_query(target.query());
        Ok(url)
    }

    /// Asks, and reads the whole answer.
    pub(crate) fn fetch(&self, call: &Call<'_>, limit: u64) -> Result<Read> {
        self.exchange(|| {
            self.attempt(call, |answer| {
                let (status, headers) = (answer.status, answer.headers.clone());
                Ok(Read { status, headers, body: answer.body(limit)? })
            })
        })
        .map_err(|error| self.name(error, call))
    }

    /// Does an exchange that may need several attempts.
    pub(crate) fn exchange<T>(&self, attempt: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        with_retries(self.retry, attempt)
    }

    /// Asks, and again where the registry wants to know who asks, for each that one may be.
    pub(crate) fn attempt<T>(
        &self,
        call: &Call<'_>,
        receive: impl FnOnce(Answer) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let repository = &self.asked_for(call);
        let mut identity = self.authenticator.identity(repository, &self.web)?;
        // As anybody, with what was known, and with each credential.
        for _ in 0..MAX_CREDENTIALS + 2 {
            let shown = match &identity {
                Identity::Known(shown) => Some(shown),
                Identity::Anybody | Identity::Refused => None,
            };
            let (permit, answer) = self.ask(call, shown.map(|shown| &shown.header))?;
            let other = shown.filter(|shown| self.authenticator.has_other(repository, shown));
            let has_more = is_challenge(&answer) || is_denial(&answer) && other.is_some();
            if !has_more {
                let outcome = self.judge(call, answer, receive);
                drop(permit);
                return outcome;
            }
            // A token may come from the same host, which must not wait for this.
            drop(permit);
            let values = answer.headers.get_all(WWW_AUTHENTICATE).iter();
            let challenges = challenge::parse(values.filter_map(|value| value.to_str().ok()));
            self.authenticator.challenged(repository, &challenges)?;
            if shown.is_some_and(|shown| !self.authenticator.refused(repository, shown)) {
                return Err(self.unauthorized(call, answer).into());
            }
            match self.authenticator.identity(repository, &self.web)? {
                next @ Identity::Known(_) => identity = next,
                Identity::Anybody | Identity::Refused => return Err(self.unauthorized(call, answer).into()),
            }
        }
        Err(self.endless().into())
    }

    /// The repository that one must be let in to, if it is one.
    fn asked_for(&self, call: &Call<'_>) -> String {
        call.repository.map(|repository| self.full_name(repository)).unwrap_or_default()
    }

    fn ask(&self, call: &Call<'_>, header: Option<&HeaderValue>) -> Result<(Permit<'_>, Answer), Failure> {
        let permit = self.limiter.enter(self.retry.patience).map_err(|wait| self.paused(wait))?;
        self.counter.request();
        let answer = self.web.send(call.request(header)).inspect_err(|_| self.counter.failure())?;
        Ok((permit, answer))
    }

    fn judge<T>(
        &self,
        call: &Call<'_>,
        answer: Answer,
        receive: impl FnOnce(Answer) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let status = answer.status;
        if status == StatusCode::NOT_MODIFIED {
            self.counter.unchanged();
        }
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            return receive(answer);
        }
        self.counter.failure();
        let wait = retry_after(&answer.headers);
        let error = problem::error(&self.registry, call.repository, call.subject, answer);
        if error.kind() == ErrorKind::RateLimited || is_passing(status) {
            if let Some(wait) = wait {
                self.limiter.pause(wait);
            }
            return Err(Failure::Passing { error, wait });
        }
        Err(error.into())
    }

    fn paused(&self, wait: Duration) -> Error {
        let message = format!("`{}` is rate limited for another {} s", self.registry, wait.as_secs() + 1);
        Error::new(ErrorKind::RateLimited, message).with_retry_after(Some(wait))
    }

    /// Returns what it was shown was got anew each time.
    fn endless(&self) -> Error {
        self.counter.failure();
        let message = format!("`{}` rejected all credentials", self.registry);
        Error::new(ErrorKind::Unauthorized, message)
            .hint(format!("check the credentials for `{}`, and what they may read", self.registry))
    }

    fn unauthorized(&self, call: &Call<'_>, answer: Answer) -> Error {
        self.counter.failure();
        let has_credential = self.authenticator.has_credential(&self.asked_for(call));
        let error = problem::error(&self.registry, call.repository, call.subject, answer);
        if error.kind() != ErrorKind::Unauthorized {
            return error;
        }
        if has_credential {
            error.hint(format!("check the credentials for `{}`, and what they may read", self.registry))
        } else {
            error.hint(format!("no credentials for `{}`: log in, or check the name", self.registry))
        }
    }

    /// Something was known without asking.
    pub(crate) fn saving(&self) {
        self.counter.saving();
    }

    /// Returns what was asked so far.
    pub(crate) fn traffic(&self) -> Traffic {
        self.counter.traffic()
    }

    /// Says what was asked for where an error does not.
    pub(crate) fn name(&self, error: Error, call: &Call<'_>) -> Error {
        let asked = call.repository.map_or_else(|| self.registry.clone(), Repository::to_string);
        if error.message().contains(&asked) { error } else { error.prefix(format!("`{asked}`")) }
    }
}

impl<'c> Call<'c> {
    pub(crate) fn get(url: Url, repository: &'c Repository, subject: Subject<'c>) -> Self {
        let (method, repository) = (Method::GET, Some(repository));
        Self { method, url, repository, subject, accept: None, headers: Vec::new() }
    }

    fn request<'r>(&self, authorization: Option<&'r HeaderValue>) -> Request<'r> {
        let mut headers = self.headers.clone();
        headers.extend(self.accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
        Request {
            method: self.method.clone(),
            url: self.url.clone(),
            headers,
            authorization,
            body: None,
            stays: false,
        }
    }
}

/// Returns what another host asks for is none of the registry's credentials.
fn is_challenge(answer: &Answer) -> bool {
    answer.status == StatusCode::UNAUTHORIZED && !answer.is_foreign
}

/// It knows who asks, and says no.
fn is_denial(answer: &Answer) -> bool {
    answer.status == StatusCode::FORBIDDEN && !answer.is_foreign
}

fn base(registry: &str, settings: Option<&RegistrySettings>) -> Result<Url> {
    let is_plain = settings.is_some_and(|settings| settings.plain_http);
    let text = match settings.and_then(|settings| settings.api.as_deref()) {
        Some(api) if api.contains("://") => api.to_owned(),
        Some(api) => format!("{}://{api}", if is_plain { "http" } else { "https" }),
        None if registry == DOCKER_HUB => HUB_API.to_owned(),
        None => format!("{}://{registry}", if is_plain { "http" } else { "https" }),
    };
    let base = Url::parse(&text).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        is_web && url.username().is_empty() && url.password().is_none() && url.query().is_none()
    });
    base.ok_or_else(|| {
        let reason = format!("invalid API URL of the registry `{registry}`");
        Error::new(ErrorKind::Invalid, reason).hint("write it as `https://host` or `https://host/path`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(settings: &RegistrySettings) -> Endpoint {
        let options = Options { registries: vec![settings.clone()], ..Options::default() };
        Endpoint::new("r.example", &options, Some(0), &Webs::default()).expect("they are valid")
    }

    #[test]
    fn the_api_may_be_elsewhere_and_below_a_path() {
        let repository: Repository = "r.example/app".parse().unwrap();
        let api = |api: &str, namespace: Option<&str>| {
            let default_namespace = namespace.map(str::to_owned);
            let settings =
                RegistrySettings { api: Some(api.to_owned()), default_namespace, ..Default::default() };
            endpoint(&settings).url(&repository, "tags/list").to_string()
        };
        assert_eq!(api("mirror.example:5000", None), "https://mirror.example:5000/v2/app/tags/list");
        assert_eq!(
            api("http://m/api/docker/x/", Some("team")),
            "http://m/api/docker/x/v2/team/app/tags/list"
        );
        for wrong in ["ftp://h", "https://", "https://me:pw@h", "https://h?x=1"] {
            let settings = RegistrySettings { api: Some(wrong.to_owned()), ..Default::default() };
            assert!(base("r.example", Some(&settings)).is_err(), "{wrong}");
        }
        assert_eq!(base("docker.io", None).unwrap().as_str(), "https://registry-1.docker.io/");
    }

    #[test]
    fn links_lead_to_the_same_host_or_nowhere() {
        let settings =
            RegistrySettings { api: Some("https://r.example/base".to_owned()), ..Default::default() };
        let from = Url::parse("https://r.example/base/v2/a/tags/list").unwrap();
        let strict = endpoint(&settings);
        let leads = |link: &str| strict.follow(&from, link).map(String::from).ok();
        let page = "https://r.example/base/v2/a/tags/list?last=x";
        let next = Some(page.to_owned());
        assert_eq!(leads("?last=x"), next);
        assert_eq!(leads("/v2/a/tags/list?last=x"), next);
        assert_eq!(leads("https://r.example/base/v2/a/tags/list?last=x"), next);
        assert_eq!(leads("http://r.example/v2/a/tags/list?last=x"), next);
        assert_eq!(leads("https://evil.example/v2/a/tags/list"), None);
        assert_eq!(leads("https://r.example:8443/v2/a/tags/list"), None);
        assert_eq!(leads("//evil.example/v2/"), None);
        let relaxed = endpoint(&RegistrySettings { foreign_links: true, ..settings });
        assert_eq!(
            relaxed.follow(&from, "http://internal:8081/v2/a/tags/list?last=x").unwrap().to_string(),
            page
        );
    }
}
