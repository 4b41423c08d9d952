//! The server's connections: HTTP/1.1, plain or with TLS.

use std::convert::Infallible;
use std::fmt;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc as blocking;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::http::response::Builder as ResponseBuilder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::cluster::{Answer, Reply};
use super::failure::Failure;
use super::shared::{Request, Shared};
use super::watch::{News, Viewer, Watch};

/// Of a body, as the real server takes it.
const MOST_BYTES: usize = 3 << 20;

/// A port that is listened on; it is closed, with all its connections, when this is dropped.
#[derive(Debug)]
pub(super) struct Listening {
    stop: Option<oneshot::Sender<()>>,
    stopped: blocking::Receiver<()>,
}

impl Listening {
    /// Listens on a port of loopback.
    pub(super) fn start(
        runtime: &tokio::runtime::Handle,
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        shared: Arc<Shared>,
    ) -> Self {
        listener.set_nonblocking(true).expect("a socket can be");
        let (stop, stopping) = oneshot::channel();
        let (ended, stopped) = blocking::channel();
        runtime.spawn(async move {
            tokio::select! {
                () = accept(listener, tls, shared) => {}
                _ = stopping => {}
            }
            // The socket is closed by now, as what used it is dropped.
            let _ = ended.send(());
        });
        Self { stop: Some(stop), stopped }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let _ = self.stopped.recv();
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
    // Dropped with this, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (tls, shared) = (tls.clone(), Arc::clone(&shared));
        connections.spawn(async move {
            let _ = stream.set_nodelay(true);
            match tls {
                None => connect(stream, shared).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        connect(stream, shared).await;
                    }
                }
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn connect(stream: impl AsyncRead + AsyncWrite + Unpin, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(serve(shared, request).await) }
    });
    // A client that hangs up is no fault of the server's.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn serve(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> hyper::Response<Lines> {
    let (head, body) = request.into_parts();
    let mut request = Request {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        accept: text(&head.headers, header::ACCEPT),
        content_type: text(&head.headers, header::CONTENT_TYPE),
        agent: text(&head.headers, header::USER_AGENT),
        authorization: text(&head.headers, header::AUTHORIZATION),
        body: Vec::new(),
    };
    let body = read(body).await;
    shared.note(&request);
    shared.open().await;
    let delay = shared.delay();
    if delay > Duration::ZERO {
        tokio::time::sleep(delay).await;
    }
    let answer = body.and_then(|body| {
        request.body = body;
        shared.answer(&request)
    });
    match answer {
        Ok(Answer::Object(reply)) => whole(&reply),
        Ok(Answer::Watch(watch)) => {
            let (lines, body) = mpsc::channel(16);
            tokio::spawn(stream(shared, *watch, lines));
            response(200).body(Lines::Stream(body)).expect("its head is valid")
        }
        Err(failure) => refusal(&failure),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> String {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

async fn read(body: Incoming) -> Result<Vec<u8>, Failure> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame =
            frame.map_err(|error| Failure::bad_request(format!("unable to read the body: {error}")))?;
        bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
        if bytes.len() > MOST_BYTES {
            return Err(Failure::too_large(format!("Request entity too large: limit is {MOST_BYTES}")));
        }
    }
    Ok(bytes)
}

fn response(code: u16) -> ResponseBuilder {
    hyper::Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CACHE_CONTROL, "no-cache, private")
}

fn whole(reply: &Reply) -> hyper::Response<Lines> {
    let mut response = response(reply.code);
    for warning in &reply.warnings {
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        response = response.header(header::WARNING, format!("299 - \"{text}\""));
    }
    response.body(Lines::once(&reply.value)).expect("its head is valid")
}

fn refusal(failure: &Failure) -> hyper::Response<Lines> {
    if failure.plain {
        let text = Bytes::from(format!("{}\n", failure.message));
        let response = hyper::Response::builder().status(failure.code);
        let response = response.header(header::CONTENT_TYPE, "text/plain; charset=utf-8");
        return response.body(Lines::Once(Some(text))).expect("its head is valid");
    }
    let mut response = response(failure.code);
    if let Some(seconds) = failure.seconds_to_wait() {
        response = response.header(header::RETRY_AFTER, seconds.to_string());
    }
    response.body(Lines::once(&failure.status())).expect("its head is valid")
}

/// Says what has changed until the watch is over, or nobody listens.
async fn stream(shared: Arc<Shared>, watch: Watch, lines: mpsc::Sender<Result<Bytes, Cut>>) {
    let mut revisions = shared.revisions.subscribe();
    let mut cuts = shared.cuts.subscribe();
    let mut end = pin!(tokio::time::sleep(watch.timeout()));
    let mut ticks = tokio::time::interval(shared.bookmark_interval);
    ticks.reset();
    let (mut viewer, first) = shared.with(|cluster| Viewer::begin(watch, cluster));
    // There may be news since the revision that it begins at.
    revisions.mark_changed();
    if say(&lines, first).await.is_err() {
        return;
    }
    loop {
        shared.open().await;
        let news = tokio::select! {
            _ = cuts.changed() => {
                let _ = lines.send(Err(Cut)).await;
                return;
            }
            () = lines.closed() => return,
            () = &mut end => {
                let _ = say(&lines, viewer.bookmark().into_iter().collect()).await;
                return;
            }
            _ = ticks.tick() => News::Lines(viewer.bookmark().into_iter().collect()),
            _ = revisions.changed() => shared.with(|cluster| viewer.look(cluster)),
        };
        match news {
            News::Lines(news) => {
                if say(&lines, news).await.is_err() {
                    return;
                }
            }
            News::End(line) => {
                let _ = say(&lines, vec![line]).await;
                return;
            }
        }
    }
}

async fn say(lines: &mpsc::Sender<Result<Bytes, Cut>>, values: Vec<Value>) -> Result<(), Cut> {
    for value in values {
        lines.send(Ok(Bytes::from(format!("{value}\n")))).await.map_err(|_| Cut)?;
    }
    Ok(())
}

/// The body of an answer.
enum Lines {
    Once(Option<Bytes>),
    Stream(mpsc::Receiver<Result<Bytes, Cut>>),
}

/// The connection is cut in the middle of an answer.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the watch is cut off")
    }
}

impl std::error::Error for Cut {}

impl Lines {
    fn once(value: &Value) -> Self {
        Self::Once(Some(Bytes::from(format!("{value}\n"))))
    }
}

impl Body for Lines {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            Self::Once(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(lines) => {
                lines.poll_recv(context).map(|line| line.map(|line| line.map(Frame::data)))
            }
        }
    }
}
