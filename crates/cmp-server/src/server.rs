//! The server: a socket, its clients, and its end.
//!
//! In: [`Options`] and a [`Generator`]. Out: answers, until it is told to stop; then what has begun is ended, within a
//! time of grace, and nothing new begins.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::archive::Limits;
use crate::connection::Connection;
use crate::generator::Generator;
use crate::record::Record;
use crate::service::Service;
use crate::socket::{Socket, SocketError};
use crate::store::Store;
use crate::workers::Workers;

/// The repo-server opens a connection for each request.
const MAX_CONNECTIONS: usize = 1024;

/// And asks three things of it at most, one after the other.
const MAX_STREAMS: u32 = 64;

/// Flow control window of a stream, and of all streams of a connection: a socket has no latency to hide.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 512 << 10;

/// Threads that answer clients; what takes long is done on others.
const ANSWERING_THREADS: usize = 2;

/// Threads that unpack; they mostly wait for clients.
const UNPACKING_THREADS: usize = 64;

/// Time to wait where no client can be accepted, as there are no more files to be opened.
const PAUSE: Duration = Duration::from_millis(100);

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the socket.
    pub socket: PathBuf,
    /// Memory limit of trees and results, in bytes.
    pub max_memory: u64,
    /// The limits of a repository.
    pub limits: Limits,
    /// Number of applications to render concurrently.
    pub jobs: usize,
    /// Time what has begun may go on when the server is to stop.
    pub grace: Duration,
}

/// A server that listens. Dropped, it removes its socket.
#[derive(Debug)]
pub struct Server {
    options: Options,
    socket: Socket,
}

impl Server {
    /// Listens on the socket.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn bind(options: Options) -> Result<Self, SocketError> {
        let socket = Socket::bind(&options.socket)?;
        Ok(Self { options, socket })
    }

    /// Answers clients until `stop` ends or, where it is nothing, until the process is asked to terminate.
    ///
    /// # Errors
    /// Threads and signals that the system does not give.
    pub fn run(
        self,
        generator: Arc<dyn Generator>,
        observe: impl Fn(&Record) + Send + Sync + 'static,
        stop: Option<impl Future<Output = ()>>,
    ) -> io::Result<()> {
        let Self { options, socket } = self;
        let service = Arc::new(Service {
            generator,
            store: Arc::new(Store::new(options.max_memory)),
            workers: Workers::start(options.jobs.max(1))?,
            limits: options.limits,
            observe: Arc::new(observe),
            is_stopping: AtomicBool::new(false),
        });
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            match stop {
                Some(stop) => serve(socket, &service, options.grace, stop).await,
                None => serve(socket, &service, options.grace, terminated()?).await,
            }
        });
        // Who still unpacks or renders has had its time.
        runtime.shutdown_background();
        served
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(ANSWERING_THREADS)
        .max_blocking_threads(UNPACKING_THREADS)
        .thread_name("serve")
        .enable_io()
        .enable_time()
        .build()
}

/// Ends when the process is asked to.
fn terminated() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn serve(
    socket: Socket,
    service: &Arc<Service>,
    grace: Duration,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = UnixListener::from_std(socket.listener()?)?;
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut stop = pin!(stop);
    loop {
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            () = &mut stop => break,
            (accepted, place) = accept => match accepted {
                Ok((stream, _)) => {
                    let serving = answer(stream, Arc::clone(service), stopped.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                Err(_) => sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    // Nobody finds it from now on; who has found it is served.
    drop((listener, socket));
    service.is_stopping.store(true, Ordering::Relaxed);
    stopping.send_replace(true);
    let _ = timeout(grace, async { while connections.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Answers a client until it goes, or until all that has begun is ended where the server is to stop.
async fn answer(stream: UnixStream, service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    let answering = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
    });
    // It sends its settings at once, for which clients wait before they say anything. Pings are answered, however many.
    let serving = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_connection(TokioIo::new(Connection::new(stream)), answering);
    let mut serving = pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = serving.await;
}
