//! One request over `http(s)` with all its redirects. In: an address, headers, and who asks. Out: the answer of the last
//! server. Who asks is shown to the first server only, never to another one that a redirect leads to; what was asked for
//! over TLS is not taken without; bodies have an end.

use std::collections::HashMap;
use std::error::Error as _;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use diagnostic::{Error, ErrorKind, Result};
use reqwest::blocking::{Client, ClientBuilder, Response};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Identity, Method, StatusCode, Url};

use crate::retry::Failure;
use crate::settings::{Options, RegistrySettings};

/// Content type of forms.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// As many as browsers follow.
const MAX_REDIRECTS: usize = 10;

/// Connecting is quick or does not happen.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Speaks to one registry and to what it leads to.
#[derive(Debug)]
pub(crate) struct Web {
    client: Client,
    timeout: Duration,
}

/// The connections of a client: registries that want nothing particular of TLS share theirs.
#[derive(Debug, Default)]
pub(crate) struct Webs(Mutex<HashMap<Kind, Arc<Web>>>);

/// The settings that distinguish connections.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Kind {
    /// The settings that say how TLS is spoken, and through what.
    settings: Option<usize>,
    is_near: bool,
    is_plain: bool,
}

/// A request.
pub(crate) struct Request<'r> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) authorization: Option<&'r HeaderValue>,
    pub(crate) body: Option<Body>,
    /// It tells what nobody else may hear, so that a redirect is not followed.
    pub(crate) stays: bool,
}

/// A request body.
pub(crate) struct Body {
    pub(crate) kind: &'static str,
    pub(crate) content: String,
}

/// The response of the last server.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The server is not the one that was asked.
    pub(crate) is_foreign: bool,
    response: Response,
    deadline: Instant,
}

impl Webs {
    /// Returns what speaks to an address, by those of the settings that are for it.
    pub(crate) fn get(&self, options: &Options, place: Option<usize>, base: &Url) -> Result<Arc<Web>> {
        let settings = |place: &usize| &options.registries[*place];
        let place = place.filter(|place| settings(place).changes_connections());
        let is_near = is_near(base.host_str().unwrap_or_default());
        let kind = Kind { settings: place, is_near, is_plain: base.scheme() == "http" };
        let mut webs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(web) = webs.get(&kind) {
            return Ok(Arc::clone(web));
        }
        let web = Arc::new(Web::new(options, place.as_ref().map(settings), &kind, base)?);
        webs.insert(kind, Arc::clone(&web));
        Ok(web)
    }
}

impl Web {
    fn new(options: &Options, settings: Option<&RegistrySettings>, kind: &Kind, base: &Url) -> Result<Self> {
        let host = base.host_str().unwrap_or_default();
        let prepare = || {
            let builder = builder(&options.user_agent, options.timeout);
            // As Go's: a proxy is not asked for what is on this machine.
            if kind.is_near { builder.no_proxy() } else { builder }
        };
        let builder = match settings {
            Some(settings) => settings.apply(prepare(), host)?,
            None => prepare(),
        };
        let client = match builder.build() {
            // A machine without authorities can still speak to a registry without TLS.
            Err(_) if kind.is_plain => prepare().tls_certs_only([]).build(),
            outcome => outcome,
        };
        let client = client.map_err(|error| {
            let reason = format!("a connection to `{host}` cannot be prepared: {}", innermost(&error));
            Error::new(ErrorKind::Tls, reason)
        })?;
        Ok(Self { client, timeout: options.timeout })
    }

    /// Asks, and goes where redirects lead.
    pub(crate) fn send(&self, request: Request<'_>) -> Result<Answer, Failure> {
        let deadline = Instant::now() + self.timeout;
        let origin = request.url.origin();
        let mut url = request.url;
        let mut is_foreign = false;
        for _ in 0..=MAX_REDIRECTS {
            let mut outgoing = self.client.request(request.method.clone(), url.clone());
            for (name, value) in &request.headers {
                outgoing = outgoing.header(name, value);
            }
            if let Some(authorization) = request.authorization.filter(|_| !is_foreign) {
                outgoing = outgoing.header(AUTHORIZATION, authorization);
            }
            if let Some(Body { kind, content }) = &request.body {
                outgoing = outgoing.header(CONTENT_TYPE, *kind).body(content.clone());
            }
            let response = outgoing.send().map_err(|error| explain(&error, &url, self.timeout))?;
            let headers = response.headers().clone();
            let status = response.status();
            let Some(target) = redirect(&url, status, &headers)? else {
                return Ok(Answer { status, headers, is_foreign, response, deadline });
            };
            if request.stays {
                return Err(refused(&url, "it redirects what is sent to it").into());
            }
            // Once elsewhere, nobody is trusted to lead back.
            is_foreign |= target.origin() != origin;
            url = target;
        }
        Err(refused(&url, "there are too many redirects").into())
    }
}

impl Answer {
    /// The first value of a header, where it is text.
    pub(crate) fn header(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The whole body.
    pub(crate) fn body(mut self, limit: u64) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        self.copy(limit, |part| {
            body.extend_from_slice(part);
            Ok(())
        })?;
        Ok(body)
    }

    /// Hands the body on in parts, until the deadline of a small one.
    fn copy(&mut self, limit: u64, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<(), Failure> {
        let mut part = vec![0; 16 << 10];
        let mut total = 0_u64;
        loop {
            let count = self.read(&mut part)?;
            if count == 0 {
                return Ok(());
            }
            total += count as u64;
            if total > limit {
                let message = format!("the answer is larger than {}", size(limit));
                return Err(Error::new(ErrorKind::Limit, message).into());
            }
            if Instant::now() > self.deadline {
                let error = Error::new(ErrorKind::Unavailable, "the response did not end in time");
                return Err(Failure::Passing { error, wait: None });
            }
            take(&part[..count])?;
        }
    }

    /// The next part of the body.
    pub(crate) fn read(&mut self, part: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.response.read(part) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let reason = format!("the connection broke: {}", innermost(&error));
                    let error = Error::new(ErrorKind::Unavailable, reason);
                    return Err(Failure::Passing { error, wait: None });
                }
                Ok(count) => return Ok(count),
            }
        }
    }
}

impl RegistrySettings {
    fn changes_connections(&self) -> bool {
        self.insecure_tls
            || self.authorities.is_some()
            || self.client_certificate.is_some()
            || self.proxy.is_some()
    }

    fn apply(&self, mut builder: ClientBuilder, host: &str) -> Result<ClientBuilder> {
        let wrong = |what: &str, error: &reqwest::Error| {
            let reason = format!("the {what} for `{host}` cannot be used: {}", innermost(error));
            Error::new(ErrorKind::Invalid, reason).hint("it must be PEM: `-----BEGIN …`")
        };
        if let Some(pem) = &self.authorities {
            let authorities =
                Certificate::from_pem_bundle(pem).map_err(|error| wrong("certificate authority", &error))?;
            if authorities.is_empty() {
                let reason = format!("the certificate authority for `{host}` holds no certificate");
                return Err(Error::new(ErrorKind::Invalid, reason).hint("it must be PEM: `-----BEGIN …`"));
            }
            builder = builder.tls_certs_merge(authorities);
        }
        if let Some(own) = &self.client_certificate {
            let mut pem = own.certificate.clone();
            pem.push(b'\n');
            pem.extend_from_slice(own.key.expose());
            let identity = Identity::from_pem(&pem).map_err(|error| wrong("client certificate", &error))?;
            builder = builder.identity(identity);
        }
        if let Some(proxy) = &self.proxy {
            let mut chosen = reqwest::Proxy::all(&proxy.address).map_err(|_| {
                Error::new(ErrorKind::Invalid, format!("invalid proxy URL for `{host}`"))
                    .hint("write it as `http://host:port`")
            })?;
            if let Some((user, password)) = &proxy.account {
                chosen = chosen.basic_auth(user, password.expose());
            }
            builder = builder.proxy(chosen);
        }
        Ok(builder.tls_danger_accept_invalid_certs(self.insecure_tls))
    }
}

/// A body's size for people.
pub(crate) fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

/// The error at the bottom, which says most: `connection refused`, not `error sending request`.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn builder(user_agent: &str, timeout: Duration) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // A program that uses this library may have chosen one already.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    ClientBuilder::new()
        .timeout(timeout)
        .connect_timeout(CONNECT_TIMEOUT.min(timeout))
        .user_agent(user_agent)
        // Content is what its digest says as it is sent; unpacked on the way it would be something else.
        .no_gzip()
        .redirect(Policy::none())
}

/// Returns true if a host is this machine, or what answers for it alone on its link.
pub(crate) fn is_near(host: &str) -> bool {
    is_loopback(host) || matches!(address(host), Some(IpAddr::V4(address)) if address.is_link_local())
}

/// Returns true if a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost" || address(host).is_some_and(|address| address.is_loopback())
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Returns where a redirect leads, if the answer is one.
fn redirect(from: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| from.join(location).ok());
    let Some(mut target) = target.filter(|target| matches!(target.scheme(), "http" | "https")) else {
        return Err(refused(from, "it redirects to no address"));
    };
    if from.scheme() == "https" && target.scheme() != "https" {
        return Err(refused(from, "it redirects to an address without TLS"));
    }
    // Such would be shown to the server as credentials.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    Ok(Some(target))
}

fn refused(url: &Url, reason: &str) -> Error {
    let host = url.host_str().unwrap_or_default();
    Error::new(ErrorKind::Protocol, format!("invalid response from `{host}`: {reason}"))
}

/// Why there was no answer.
fn explain(error: &reqwest::Error, url: &Url, timeout: Duration) -> Failure {
    let host = authority(url);
    if error.is_timeout() {
        let error =
            Error::new(ErrorKind::Unavailable, format!("`{host}` does not answer within {timeout:?}"));
        return Failure::Passing { error, wait: None };
    }
    if let Some(tls) = tls_error(error) {
        let message = format!("no secure connection can be made to `{host}`: {tls}");
        let error = Error::new(ErrorKind::Tls, message);
        return Failure::Final(match tls_hint(tls) {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }
    if error.is_builder() {
        return Error::new(ErrorKind::Invalid, format!("`{host}` cannot be asked: {}", innermost(error)))
            .into();
    }
    let error =
        Error::new(ErrorKind::Unavailable, format!("`{host}` cannot be reached: {}", innermost(error)));
    Failure::Passing { error, wait: None }
}

fn tls_hint(error: &rustls::Error) -> Option<&'static str> {
    use rustls::AlertDescription as Alert;
    match error {
        rustls::Error::InvalidCertificate(_) => Some("trust its authority, or let it not be checked"),
        rustls::Error::InvalidMessage(_) => Some("does it speak plain http?"),
        rustls::Error::AlertReceived(
            Alert::CertificateRequired | Alert::BadCertificate | Alert::UnknownCA | Alert::HandshakeFailure,
        ) => Some("does it want a client's certificate, or another one?"),
        _ => None,
    }
}

/// Host and port, as they stand in an address.
pub(crate) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(tls);
        }
        // What an error of io wraps is not among its sources.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_the_web_and_keep_tls() {
        let leads = |from: &str, to: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, to.parse().unwrap());
            redirect(&Url::parse(from).unwrap(), StatusCode::TEMPORARY_REDIRECT, &headers)
        };
        let target = |from, to| leads(from, to).unwrap().unwrap().to_string();
        assert_eq!(target("https://a/v2/x", "/y"), "https://a/y");
        assert_eq!(target("https://a/v2/x", "https://me:pw@b/y"), "https://b/y");
        assert_eq!(target("http://a/", "https://b/"), "https://b/");
        for to in ["http://a/", "file:///etc/passwd", "https://"] {
            assert!(leads("https://a/", to).is_err(), "{to}");
        }
    }

    #[test]
    fn loopback_is_known_by_name_and_address() {
        assert!(["localhost", "127.0.0.1", "127.8.8.8", "[::1]"].into_iter().all(is_loopback));
        assert!(["localhost.example", "10.0.0.1", "example"].into_iter().all(|host| !is_loopback(host)));
        assert!(is_near("169.254.169.254") && is_near("[::1]") && !is_loopback("169.254.169.254"));
    }
}
