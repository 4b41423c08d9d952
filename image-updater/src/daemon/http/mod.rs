//! The one HTTP server: an address each for what is asked of the daemon and for what it is told, each with its routes.
//!
//! In: listeners, and who answers behind them. Out: pages. HTTP/1.1 and HTTP/2, with TLS where there are certificates.
//! Refused: heads that are long, bodies over [`MAX_BODY`], and whoever is slow at asking or at listening. There are as
//! many connections as a listener has places for, and the next one waits until one is free: nobody can make it hold
//! more than a few megabytes, nor for longer than a few seconds.

mod connection;
mod page;
mod tls;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

pub(crate) use page::Page;
pub(crate) use tls::{Certificates, MinVersion};

/// The longest body: what a registry tells of a push has a few kilobytes.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// Threads for all listeners. What is done in them is short.
const THREADS: usize = 2;

/// Time to wait where the system has no connections left to give.
const PAUSE: Duration = Duration::from_millis(200);

/// The limits of an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Number of connections at once.
    pub(super) connections: usize,
    /// Number of bodies that are being read.
    pub(super) bodies: usize,
    /// Time a client may take for anything.
    pub(super) patience: Duration,
}

impl Limits {
    /// Two probes, and some that collect numbers.
    pub(super) const OPERATIONS: Self = Self { connections: 16, bodies: 1, patience: Duration::from_secs(5) };

    /// All registries of a company at once.
    pub(super) const WEBHOOKS: Self =
        Self { connections: 256, bodies: 32, patience: Duration::from_secs(10) };
}

/// Why a body could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is longer than [`MAX_BODY`].
    TooLarge,
    /// It took too long.
    TooSlow,
    /// It broke off.
    Broken,
}

/// Handles requests.
pub(crate) trait Routes: Send + Sync {
    /// The answer to a head, where that says enough.
    fn on_head(&self, head: &Parts) -> Option<Page>;

    /// The answer to a head that did not say enough, with its body.
    fn on_body(&self, head: &Parts, body: Result<Bytes, Unread>) -> Page;
}

/// Answers behind listeners, until it is dropped.
#[derive(Debug)]
pub(super) struct Server(Option<Runtime>);

/// A listener that is open, until this is dropped. Who is being answered then still is.
#[derive(Debug)]
pub(super) struct Listening {
    _end: watch::Sender<()>,
}

/// A listener with its routes.
struct Door {
    routes: Arc<dyn Routes>,
    certificates: Option<Certificates>,
    limits: Limits,
    bodies: Semaphore,
}

impl Server {
    /// Nobody is listened to yet.
    ///
    /// # Errors
    /// If there are no threads.
    pub(super) fn start() -> io::Result<Self> {
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(THREADS).thread_name("http").enable_all();
        runtime.build().map(Some).map(Self)
    }

    /// Answers behind a listener.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(super) fn listen(
        &self,
        listener: TcpListener,
        routes: Arc<dyn Routes>,
        certificates: Option<Certificates>,
        limits: Limits,
    ) -> io::Result<Listening> {
        let runtime = self.0.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let _inside = runtime.enter();
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let door = Door { routes, certificates, limits, bodies: Semaphore::new(limits.bodies) };
        let (end, closed) = watch::channel(());
        runtime.spawn(accept(listener, Arc::new(door), closed));
        Ok(Listening { _end: end })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, door: Arc<Door>, mut closed: watch::Receiver<()>) {
    let places = Arc::new(Semaphore::new(door.limits.connections));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = closed.changed() => return,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let (door, closed) = (Arc::clone(&door), closed.clone());
        tokio::spawn(async move {
            let _place = place;
            connection::converse(stream, door, closed).await;
        });
    }
}

#[cfg(test)]
mod tests;
