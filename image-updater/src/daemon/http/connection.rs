//! One connection: requests one after the other, or side by side in HTTP/2, until nothing comes for a while.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Door, MAX_BODY, Unread};

/// A head with cookies and all that proxies add is shorter; it is also the least that hyper takes.
const MAX_HEAD: usize = 8 << 10;

/// Flow control window of HTTP/2, per body and in total.
const WINDOW: u32 = 64 << 10;

/// Maximum number of requests of HTTP/2 there that are at once.
const STREAMS: u32 = 32;

/// Time an answer that is under way may take once the connection is to end.
const ENDING: Duration = Duration::from_secs(1);

/// Maximum length of an unwanted body that is read: a client that sends it does not listen before its end.
const MAX_WASTE: usize = 4 * MAX_BODY;

/// When something last happened on a connection.
#[derive(Debug)]
struct Activity(Mutex<Instant>);

impl Activity {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers on a connection until it ends.
pub(super) async fn converse(stream: TcpStream, door: Arc<Door>, closed: watch::Receiver<()>) {
    // It only makes answers slower.
    let _ = stream.set_nodelay(true);
    let Some(certificates) = &door.certificates else { return speak(stream, door, closed).await };
    // Who does not finish shaking hands is not told why.
    if let Ok(Ok(stream)) = timeout(door.limits.patience, certificates.acceptor().accept(stream)).await {
        speak(stream, door, closed).await;
    }
}

async fn speak<S>(stream: S, door: Arc<Door>, mut closed: watch::Receiver<()>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let patience = door.limits.patience;
    let activity = Arc::new(Activity(Mutex::new(Instant::now())));
    let noted = Arc::clone(&activity);
    let service = service_fn(move |request| {
        let (door, activity) = (Arc::clone(&door), Arc::clone(&noted));
        async move {
            activity.note();
            let response = respond(request, &door).await;
            activity.note();
            Ok::<_, Infallible>(response)
        }
    });
    let builder = builder(patience);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    loop {
        let end = activity.last() + patience;
        tokio::select! {
            // Who hangs up does not want to know.
            _ = connection.as_mut() => return,
            _ = closed.changed() => break,
            () = sleep_until(end) => if activity.last() + patience <= Instant::now() { break },
        }
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(ENDING, connection).await;
}

fn builder(patience: Duration) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(MAX_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_connection_window_size(WINDOW)
        .initial_stream_window_size(WINDOW)
        .max_header_list_size(MAX_HEAD as u32);
    builder
}

async fn respond(request: Request<Incoming>, door: &Door) -> Response<Full<Bytes>> {
    let (head, mut body) = request.into_parts();
    let page = match door.routes.on_head(&head) {
        Some(page) => {
            waste(&mut body).await;
            page
        }
        None => {
            let read = read(&mut body, door).await;
            if read.is_err() {
                waste(&mut body).await;
            }
            door.routes.on_body(&head, read)
        }
    };
    page.into_response(head.method != Method::HEAD)
}

/// A whole body, if it is short and comes soon.
async fn read(body: &mut Incoming, door: &Door) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(Unread::TooLarge);
    }
    let whole = async {
        let _place = door.bodies.acquire().await;
        Limited::new(body, MAX_BODY).collect().await
    };
    match timeout(door.limits.patience, whole).await {
        Err(_) => Err(Unread::TooSlow),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Unread::TooLarge),
        Ok(Err(_)) => Err(Unread::Broken),
    }
}

/// Reads what nobody wants, as far as it comes soon and has an end.
async fn waste(body: &mut Incoming) {
    let rest = async {
        let mut read = 0;
        while let Some(Ok(frame)) = body.frame().await {
            read += frame.data_ref().map_or(0, Bytes::len);
            if read > MAX_WASTE {
                break;
            }
        }
    };
    let _ = timeout(ENDING, rest).await;
}
