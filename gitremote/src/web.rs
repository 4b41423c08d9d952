//! What is common to all that goes over `http(s)`: TLS by rustls with the machine's certificates, and why a server could
//! not be asked.

use std::sync::Once;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::blocking::ClientBuilder;

use crate::error::{Error, ErrorKind, innermost};

/// A client that gives up after some time.
pub fn client_builder(agent: &str, timeout: Duration) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // A program that uses this library may have chosen one already.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    ClientBuilder::new().timeout(timeout).user_agent(agent)
}

/// Why there was no answer.
#[must_use]
pub fn explain(error: &reqwest::Error, timeout: Duration) -> Error {
    if error.is_timeout() {
        return Error::timed_out(timeout);
    }
    let kind = if error.is_builder() { ErrorKind::Invalid } else { ErrorKind::Unavailable };
    Error::new(kind, innermost(error))
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
