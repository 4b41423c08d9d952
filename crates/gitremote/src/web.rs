//! Common parts of `http(s)`: TLS by rustls with the system's certificates, and error messages.

use std::error::Error as _;
use std::io;
use std::sync::{Arc, Once};
use std::time::Duration;

use diagnostic::{Error, ErrorKind};
use reqwest::StatusCode;
use reqwest::blocking::ClientBuilder;

use crate::error::innermost;
use crate::guard::Guard;
pub use crate::guard::permit;

/// A client that gives up after some time, and asks no metadata service by a name.
pub fn client_builder(agent: &str, timeout: Duration) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // A program that uses this library may have chosen one already.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    ClientBuilder::new().timeout(timeout).user_agent(agent).dns_resolver(Arc::new(Guard))
}

/// Why there was no answer.
#[must_use]
pub fn explain(error: &reqwest::Error, timeout: Duration) -> Error {
    if error.is_timeout() {
        return crate::error::timed_out(timeout);
    }
    let kind = if error.is_builder() { ErrorKind::Invalid } else { ErrorKind::Unavailable };
    let explained = Error::new(kind, innermost(error));
    if is_untrusted(error) { explained.hint(UNTRUSTED) } else { explained }
}

/// Many servers of one's own show the very certificate that is to be trusted.
const UNTRUSTED: &str = "trust the certificate authority that signed the server's certificate; a self-signed certificate is accepted only with `CA:FALSE`";

fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return matches!(error, rustls::Error::InvalidCertificate(_));
        }
        // What an error of io wraps is not among its sources.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

/// Why there was no answer that is of use.
#[must_use]
pub fn refusal(status: StatusCode) -> Error {
    let kind = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorKind::NotFound,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => ErrorKind::Unavailable,
        status if status.is_client_error() => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("the server answers `{status}`"))
}
