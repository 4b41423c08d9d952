//! git over `http(s)`: gix's transport, with the session's bounds and the certificates and proxy of git's configuration.

use std::any::Any;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gix::protocol::transport::Protocol;
use gix::protocol::transport::client::TransportWithoutIO;
use gix::protocol::transport::client::blocking_io::http::{
    GetResponse, Http, Options, PostBodyDataKind, PostResponse, Transport, reqwest as backend,
};
use gix::url::Scheme;
use reqwest::{Certificate, Identity, NoProxy, Proxy};

use crate::access::{Access, Authorities, ClientCertificate, Credentials, ProxyServer};
use crate::session::{Bounded, Session};
use crate::web;

/// gix's client of [`reqwest`], within bounds.
pub(crate) struct BoundedHttp {
    inner: backend::Remote,
    session: Arc<Session>,
}

/// Prepares a connection; the first request makes it.
pub(crate) fn connect(
    url: &gix::Url,
    repository: &gix::Repository,
    access: &Access,
    session: &Arc<Session>,
) -> Result<Transport<BoundedHttp>> {
    let unreadable = |error: gix::Error| {
        Error::new(ErrorKind::Unavailable, format!("git's configuration of http cannot be used: {error}"))
    };
    let address = url.to_bstring();
    let configured = repository.transport_options(address.as_slice(), None).map_err(unreadable)?;
    let mut options = match configured {
        Some(configured) => {
            configured.downcast::<Options>().map_or_else(|_| Options::default(), |options| *options)
        }
        None => Options::default(),
    };
    if let Credentials::Bearer(token) = &access.credentials {
        if url.scheme != Scheme::Https {
            return Err(clear_text());
        }
        options.extra_headers.push(format!("Authorization: Bearer {}", token.read()?));
    }
    let settings = Settings::new(&options, repository, access, session.time_left())?;
    options.backend = Some(settings.into_backend());
    let http = BoundedHttp { inner: backend::Remote::default(), session: Arc::clone(session) };
    let mut transport = Transport::new_http(http, url.clone(), Protocol::V2, false);
    transport.configure(&options).map_err(unreadable)?;
    Ok(transport)
}

/// Credentials are not shown to whoever listens.
pub(crate) fn clear_text() -> Error {
    let reason = "the server wants credentials, which are not sent in clear text";
    Error::new(ErrorKind::Denied, reason).hint("use https")
}

/// Settings of git's configuration that gix reads but does not apply.
struct Settings {
    agent: String,
    timeout: Duration,
    certificates: Option<Vec<Certificate>>,
    identity: Option<Identity>,
    proxy: Option<Proxy>,
    is_insecure: bool,
}

impl Settings {
    fn new(
        options: &Options,
        repository: &gix::Repository,
        access: &Access,
        timeout: Duration,
    ) -> Result<Self> {
        let wrong = |key: &str, error: &dyn std::fmt::Display| {
            let reason = format!("git's configuration `{key}` cannot be used: {error}");
            Error::new(ErrorKind::Unavailable, reason)
        };
        let certificates = match (&access.authorities, &options.ssl_ca_info) {
            (Some(authorities), _) => Some(given(authorities)?),
            (None, Some(path)) => {
                Some(certificates_in(path).map_err(|error| wrong("http.sslCAInfo", &error))?)
            }
            (None, None) => None,
        };
        // The proxies in the environment are reqwest's own affair.
        let proxy = match (&access.proxy, repository.config_snapshot().string("http.proxy")) {
            (Some(server), _) => Some(proxy(server)?),
            (None, Some(address)) if !address.is_empty() => {
                Some(Proxy::all(address.to_string()).map_err(|error| wrong("http.proxy", &error))?)
            }
            _ => None,
        };
        let identity = access.certificate.as_ref().map(identity).transpose()?;
        let is_insecure = access.is_insecure;
        Ok(Self { agent: access.agent.clone(), timeout, certificates, identity, proxy, is_insecure })
    }

    fn into_backend(self) -> Arc<Mutex<dyn Any + Send + Sync>> {
        let configure_client = move |_: ::reqwest::blocking::ClientBuilder| {
            let mut builder = web::client_builder(&self.agent, self.timeout);
            if let Some(certificates) = self.certificates.clone() {
                builder = builder.tls_certs_only(certificates);
            }
            if let Some(identity) = self.identity.clone() {
                builder = builder.identity(identity);
            }
            if self.is_insecure {
                builder = builder.tls_danger_accept_invalid_certs(true);
            }
            if let Some(proxy) = self.proxy.clone() {
                builder = builder.proxy(proxy);
            }
            Ok(builder)
        };
        let options = backend::Options {
            configure_client: Some(Box::new(configure_client)),
            ..backend::Options::default()
        };
        Arc::new(Mutex::new(options))
    }
}

fn given(authorities: &Authorities) -> Result<Vec<Certificate>> {
    let (certificates, place) = match authorities {
        Authorities::File(path) => (certificates_in(path), format!(" in `{}`", path.display())),
        Authorities::Given(bundle) => (certificates(bundle), String::new()),
    };
    certificates.map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("the authorities{place} cannot be used: {error}"))
    })
}

/// Returns what the server is shown by TLS. No error has what is in it.
fn identity(certificate: &ClientCertificate) -> Result<Identity> {
    let mut pem = certificate.chain.clone();
    pem.push(b'\n');
    pem.extend(certificate.key.read()?.into_bytes());
    Identity::from_pem(&pem).map_err(|_| {
        Error::new(ErrorKind::Invalid, "the certificate for the server, or its key, cannot be used")
            .hint("both are in PEM")
    })
}

fn proxy(server: &ProxyServer) -> Result<Proxy> {
    let proxy =
        Proxy::all(server.url.read()?).map_err(|_| Error::new(ErrorKind::Invalid, "invalid proxy URL"))?;
    Ok(proxy.no_proxy(server.except.as_deref().and_then(NoProxy::from_string)))
}

fn certificates_in(path: &Path) -> Result<Vec<Certificate>, String> {
    certificates(&fs::read(path).map_err(|error| error.to_string())?)
}

fn certificates(bundle: &[u8]) -> Result<Vec<Certificate>, String> {
    let certificates = Certificate::from_pem_bundle(bundle).map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("it does not contain a certificate".to_owned());
    }
    Ok(certificates)
}

impl Http for BoundedHttp {
    type Headers = <backend::Remote as Http>::Headers;
    type ResponseBody = Bounded<<backend::Remote as Http>::ResponseBody>;
    type PostBody = <backend::Remote as Http>::PostBody;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let GetResponse { headers, body } = self.inner.get(url, base_url, headers)?;
        Ok(GetResponse { headers, body: Bounded::new(body, &self.session) })
    }

    fn post(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        body: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let PostResponse { post_body, headers, body } = self.inner.post(url, base_url, headers, body)?;
        Ok(PostResponse { post_body, headers, body: Bounded::new(body, &self.session) })
    }

    fn configure(&mut self, config: &dyn Any) -> gix::Result<()> {
        self.inner.configure(config)
    }

    fn redirected_base_url(&self) -> Option<String> {
        self.inner.redirected_base_url()
    }
}
