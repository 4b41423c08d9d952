//! gRPC over HTTP/2, where tonic leaves it to us: the deadline of a request, and a response that is not copied.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use prost::Message;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::codec::{DecodeBuf, Decoder};
use tonic::{Code, Status};

use crate::results::Made;

/// No message is larger, either way: what the repo-server takes and sends unless it is told otherwise.
pub(crate) const MAX_MESSAGE: u64 = 100 << 20;

/// So long before a client gives up it is told why, as Argo CD's own server does.
const MARGIN: Duration = Duration::from_millis(100);

const TIMEOUT: &str = "grpc-timeout";

/// The flag and the length in front of a message.
const HEAD: usize = 5;

/// When a request is to be answered at the latest, and how long that is from now; nothing where its client waits for
/// ever, or says what is no time.
pub(crate) fn deadline(headers: &HeaderMap) -> Option<(Instant, Duration)> {
    let timeout = timeout(headers.get(TIMEOUT)?.to_str().ok()?)?;
    // Half of a time that is hardly longer than the margin is still of use.
    let patience = timeout - MARGIN.min(timeout / 2);
    Some((Instant::now().checked_add(patience)?, patience))
}

/// At most eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if number.len() > 8 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// Reads messages of one kind.
pub(crate) struct Messages<M>(PhantomData<fn() -> M>);

impl<M> Messages<M> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<M: Message + Default> Decoder for Messages<M> {
    type Item = M;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<M>, Status> {
        let decoded = M::decode(source);
        decoded
            .map(Some)
            .map_err(|error| Status::new(Code::InvalidArgument, format!("no such message: {error}")))
    }
}

/// The response. The bytes of a cached result are shared with it.
pub(crate) enum Answer {
    Message(Bytes),
    Made(Arc<Made>),
}

impl Answer {
    pub(crate) fn of(message: &impl Message) -> Self {
        Self::Message(message.encode_to_vec().into())
    }
}

/// A response with one message.
pub(crate) fn response(answer: Answer) -> Response<Body> {
    let (message, made) = match answer {
        Answer::Message(message) => (message, None),
        Answer::Made(made) => (made.response.clone(), Some(made)),
    };
    let mut head = BytesMut::with_capacity(HEAD);
    head.put_u8(0);
    head.put_u32(message.len() as u32);
    let parts = Parts { head: Some(head.freeze()), message: Some(message), is_ended: false, made };
    let mut response = Response::new(Body::new(parts));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

/// The parts of a response: a message's head, its bytes, and that all went well.
struct Parts {
    head: Option<Bytes>,
    message: Option<Bytes>,
    is_ended: bool,
    /// Holds on to the result, and so to the memory that is counted for it.
    made: Option<Arc<Made>>,
}

impl http_body::Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(head) = self.head.take() {
            return Poll::Ready(Some(Ok(Frame::data(head))));
        }
        if let Some(message) = self.message.take().filter(|message| !message.is_empty()) {
            return Poll::Ready(Some(Ok(Frame::data(message))));
        }
        if self.is_ended {
            self.made = None;
            return Poll::Ready(None);
        }
        self.is_ended = true;
        let mut trailers = HeaderMap::with_capacity(1);
        trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_eight_digits_and_a_unit() {
        for (text, want) in [
            ("50m", Some(Duration::from_millis(50))),
            ("1S", Some(Duration::from_secs(1))),
            ("2M", Some(Duration::from_secs(120))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3600))),
            ("59900000u", Some(Duration::from_millis(59_900))),
            ("7n", Some(Duration::from_nanos(7))),
            ("123456789S", None),
            ("S", None),
            ("", None),
            ("5", None),
            ("-5S", None),
            ("5ä", None),
        ] {
            assert_eq!(timeout(text), want, "{text}");
        }
    }

    #[test]
    fn an_answer_is_due_before_the_client_gives_up() {
        let patience = |text| {
            let headers = HeaderMap::from_iter([(TIMEOUT.parse().unwrap(), HeaderValue::from_static(text))]);
            deadline(&headers).map(|(_, patience)| patience)
        };
        assert_eq!(patience("60S"), Some(Duration::from_millis(59_900)));
        assert_eq!(patience("50m"), Some(Duration::from_millis(25)));
        assert_eq!(patience("soon"), None);
        assert_eq!(deadline(&HeaderMap::new()), None);
    }
}
