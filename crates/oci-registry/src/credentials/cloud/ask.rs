//! One question to a service of a cloud, or to the metadata server of a machine. In: who is asked, for what. Out: the body
//! of the answer. It refuses services without TLS, redirects, and answers without an end.

use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::surroundings::Surroundings;
use crate::retry::{Failure, is_passing, retry_after, with_retries};
use crate::settings::{Options, Retry};
use crate::web::{self, Body, FORM, Request, Webs, authority};

/// Answers hold a token or two.
const MAX_ANSWER: u64 = 1 << 20;

/// Maximum length of error codes.
const MAX_CODE: usize = 64;

/// A service is on another continent at most.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(20);

/// A metadata server is on the same machine, or is not there at all.
const METADATA_TIMEOUT: Duration = Duration::from_secs(4);

/// By which the metadata of containers and machines are known, beside addresses of the link.
const METADATA_HOSTS: [&str; 3] = ["metadata.google.internal", "[fd00:ec2::254]", "[fd00:ec2::23]"];

/// Connections to the services of a cloud.
pub(in crate::credentials) struct Session {
    services: (Options, Webs),
    metadata: (Options, Webs),
}

/// A question.
pub(in crate::credentials) struct Ask<'a> {
    /// The name of the service, for messages.
    service: &'a str,
    url: Url,
    method: Method,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<Body>,
    is_metadata: bool,
}

impl Session {
    pub(in crate::credentials) fn new(surroundings: &Surroundings) -> Self {
        let options = |timeout| {
            let retry =
                Retry { attempts: 3, pause: Duration::from_millis(200), patience: Duration::from_secs(10) };
            let user_agent = surroundings.user_agent.clone();
            (Options { user_agent, timeout, retry, ..Options::default() }, Webs::default())
        };
        Self { services: options(SERVICE_TIMEOUT), metadata: options(METADATA_TIMEOUT) }
    }

    /// The answer as JSON.
    pub(in crate::credentials) fn json<T: DeserializeOwned>(&self, ask: &Ask<'_>) -> Result<T> {
        let body = self.text(ask)?;
        // What serde says may repeat a value.
        serde_json::from_str(&body).map_err(|_| unreadable(ask.service))
    }

    /// The answer as text.
    pub(in crate::credentials) fn text(&self, ask: &Ask<'_>) -> Result<String> {
        let (options, webs) = if ask.is_metadata { &self.metadata } else { &self.services };
        let web = webs.get(options, None, &ask.url)?;
        let body = with_retries(options.retry, || {
            let answer = web.send(ask.request())?;
            let (status, wait) = (answer.status, retry_after(&answer.headers));
            let body = answer.body(MAX_ANSWER);
            if status.is_success() {
                return body;
            }
            let error = ask.refused(status, &body.unwrap_or_default());
            Err(if is_passing(status) { Failure::Passing { error, wait } } else { error.into() })
        });
        let body = body.map_err(|error| match error.message().contains(ask.service) {
            true => error,
            false => error.prefix(format!("{} gives no credentials", ask.service)),
        })?;
        String::from_utf8(body).map_err(|_| unreadable(ask.service))
    }
}

impl<'a> Ask<'a> {
    /// A question to a service, which must use TLS unless it is on this machine.
    pub(in crate::credentials) fn service(service: &'a str, address: &str) -> Result<Self> {
        Self::new(service, address, false)
    }

    /// A question to a metadata server, which nobody but this machine can reach.
    pub(in crate::credentials) fn metadata(service: &'a str, address: &str) -> Result<Self> {
        Self::new(service, address, true)
    }

    fn new(service: &'a str, address: &str, is_metadata: bool) -> Result<Self> {
        let url =
            Url::parse(address).ok().filter(|url| url.username().is_empty() && url.password().is_none());
        let url =
            url.ok_or_else(|| Error::new(ErrorKind::Credentials, format!("{service} has an invalid URL")))?;
        if !is_safe(&url, is_metadata) {
            let message = format!("{service} is not asked at `{}`: it does not use TLS", authority(&url));
            return Err(Error::new(ErrorKind::Credentials, message));
        }
        Ok(Self { service, url, method: Method::GET, headers: Vec::new(), body: None, is_metadata })
    }

    /// Returns the name of the service.
    pub(in crate::credentials) fn name(&self) -> &'a str {
        self.service
    }

    /// Returns where it goes.
    pub(in crate::credentials) fn host(&self) -> String {
        authority(&self.url)
    }

    /// That, without a port.
    pub(in crate::credentials) fn host_name(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(in crate::credentials) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(in crate::credentials) fn is_loopback(&self) -> bool {
        web::is_loopback(self.host_name())
    }

    pub(in crate::credentials) fn put(mut self) -> Self {
        self.method = Method::PUT;
        self
    }

    /// With pairs behind the question mark.
    pub(in crate::credentials) fn query(mut self, pairs: &[(&str, &str)]) -> Self {
        self.url.query_pairs_mut().extend_pairs(pairs);
        self
    }

    /// With a form as its body.
    pub(in crate::credentials) fn form(self, pairs: &[(&str, &str)]) -> Self {
        let mut encoder = self.url.clone();
        encoder.set_query(None);
        // Only to have something that encodes forms.
        encoder.query_pairs_mut().extend_pairs(pairs);
        let content = encoder.query().unwrap_or_default().to_owned();
        self.body(FORM, content)
    }

    pub(in crate::credentials) fn body(mut self, kind: &'static str, content: String) -> Self {
        self.method = Method::POST;
        self.body = Some(Body { kind, content });
        self
    }

    /// With a header, which is not printed.
    pub(in crate::credentials) fn header(mut self, name: &'static str, value: &str) -> Result<Self> {
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            let message = format!("{} cannot be asked: `{name}` holds what cannot be sent", self.service);
            Error::new(ErrorKind::Credentials, message)
        })?;
        value.set_sensitive(true);
        self.headers.push((HeaderName::from_static(name), value));
        Ok(self)
    }

    fn request(&self) -> Request<'_> {
        let body = self.body.as_ref();
        Request {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            authorization: None,
            body: body.map(|body| Body { kind: body.kind, content: body.content.clone() }),
            stays: true,
        }
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> Error {
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST => ErrorKind::Unauthorized,
            StatusCode::FORBIDDEN => ErrorKind::Denied,
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
            _ if is_passing(status) => ErrorKind::Unavailable,
            _ => ErrorKind::Credentials,
        };
        let code = code_of(body).map_or_else(String::new, |code| format!(" ({code})"));
        let (service, host) = (self.service, self.host());
        Error::new(kind, format!("{service} at `{host}` answers `{status}`{code}"))
    }
}

fn unreadable(service: &str) -> Error {
    Error::new(ErrorKind::Credentials, format!("the answer of {service} cannot be read"))
}

fn is_safe(url: &Url, is_metadata: bool) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_metadata_host = || web::is_near(host) || METADATA_HOSTS.contains(&host);
    match url.scheme() {
        "https" => true,
        "http" => web::is_loopback(host) || is_metadata && is_metadata_host(),
        _ => false,
    }
}

/// The code in the answer of a service that refuses, which is all of it that is fit to be shown: texts may repeat what
/// was sent.
pub(in crate::credentials) fn code_of(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let code = match serde_json::from_str::<Value>(text) {
        Ok(value) => json_code(&value)?,
        Err(_) => text.split_once("<Code>")?.1.split_once("</Code>")?.0.to_owned(),
    };
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-:".contains(&byte);
    (!code.is_empty() && code.len() <= MAX_CODE && code.bytes().all(is_code)).then_some(code)
}

fn json_code(value: &Value) -> Option<String> {
    let texts = ["/__type", "/error/status", "/code", "/Code", "/errors/0/code", "/error"];
    let code = texts.iter().find_map(|pointer| value.pointer(pointer)?.as_str())?;
    // `com.amazonaws.ecr#ExpiredToken`
    let code = code.rsplit('#').next().unwrap_or(code);
    // Azure says in its text which of its many reasons it is: `AADSTS70021: …`.
    let reason = value.get("error_description").and_then(Value::as_str);
    let reason = reason.and_then(|text| text.split_once(':')).map(|(reason, _)| reason);
    Some(reason.filter(|reason| reason.starts_with("AADSTS")).unwrap_or(code).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_shown_and_texts_are_not() {
        let code = |body: &str| code_of(body.as_bytes());
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(
            code(r#"{"__type": "com.amazonaws.ecr#ExpiredToken", "message": "s3cret"}"#),
            is("ExpiredToken")
        );
        assert_eq!(
            code("<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>s3cret</Message>"),
            is("InvalidIdentityToken")
        );
        assert_eq!(
            code(r#"{"error": "invalid_client", "error_description": "AADSTS70021: s3cret"}"#),
            is("AADSTS70021")
        );
        assert_eq!(
            code(r#"{"error": {"status": "PERMISSION_DENIED", "code": 403}}"#),
            is("PERMISSION_DENIED")
        );
        assert_eq!(code(r#"{"errors": [{"code": "UNAUTHORIZED"}]}"#), is("UNAUTHORIZED"));
        for none in ["", "<html>", r#"{"error": "a text"}"#, r#"{"code": 7}"#, "[]"] {
            assert_eq!(code(none), None, "{none}");
        }
        assert_eq!(code(&format!(r#"{{"code": "{}"}}"#, "a".repeat(65))), None);
    }

    #[test]
    fn services_use_tls_and_metadata_servers_are_near() {
        let safe = |address: &str, is_metadata| is_safe(&Url::parse(address).unwrap(), is_metadata);
        for address in ["https://sts.example", "http://localhost:1", "http://[::1]:1"] {
            assert!(safe(address, false) && safe(address, true), "{address}");
        }
        for address in
            ["http://169.254.169.254", "http://[fd00:ec2::254]/x", "http://metadata.google.internal"]
        {
            assert!(safe(address, true) && !safe(address, false), "{address}");
        }
        for address in
            ["http://sts.example", "http://10.0.0.1", "ftp://localhost", "http://metadata.google.internal.x"]
        {
            assert!(!safe(address, false) && !safe(address, true), "{address}");
        }
        assert!(Ask::service("STS", "https://me:s3cret@h").is_err());
    }
}
