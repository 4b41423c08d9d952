//! Answers.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;

const TEXT: &str = "text/plain; charset=utf-8";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    /// Additional headers.
    pub(crate) headers: Vec<(HeaderName, &'static str)>,
}

impl Page {
    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self { status, content_type: TEXT, body: body.to_owned(), headers: Vec::new() }
    }

    /// The same, with something more in its head.
    pub(crate) fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// As HTTP has it, with the body where that is wanted.
    pub(super) fn into_response(self, has_body: bool) -> Response<Full<Bytes>> {
        let length = HeaderValue::from(self.body.len());
        let body = if has_body { Bytes::from(self.body) } else { Bytes::new() };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CONTENT_LENGTH, length);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in self.headers {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
