//! Who answers on the daemon's addresses: how it does on one, what it is told on the other, and nothing of one on the other.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::Method;
use http::header::{ALLOW, RETRY_AFTER};
use http::request::Parts;

use super::bell::{Rung, Switchboard};
use super::health::Health;
use super::http::{Certificates, Limits, Listening, Page, Routes, Server, Unread};
use super::logs;
use super::metrics::Metrics;
use super::refused;
use crate::error::{Error, Result};
use crate::forge::is_same_repository;
use crate::gate::{Gate, Hold};
use crate::webhook::{News, Outcome, Push, Received, Receiver, Refusal};

/// What Argo CD Image Updater answers.
const RECEIVED: &str = "Webhook received and processing";

/// Where it is told what happens elsewhere.
#[derive(Debug)]
pub(crate) struct Webhooks {
    pub(crate) listen: SocketAddr,
    pub(crate) certificates: Option<Certificates>,
    pub(crate) receiver: Receiver,
}

/// Answers how the daemon does.
pub(super) struct Operations {
    pub(super) health: Arc<Health>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) gate: Gate,
}

/// Hears what happens elsewhere, and rings for whom it is.
pub(super) struct Hearing {
    pub(super) receiver: Receiver,
    pub(super) switchboard: Switchboard,
    pub(super) metrics: Arc<Metrics>,
    pub(super) gate: Gate,
}

/// The addresses that are open.
#[derive(Debug)]
pub(super) struct Doors {
    server: Server,
    operations: Option<Listening>,
    webhooks: Option<Listening>,
}

impl Doors {
    /// None is open yet.
    ///
    /// # Errors
    /// Where there are no threads.
    pub(super) fn new() -> Result<Self> {
        let server = Server::start().map_err(|error| refused("start a thread", &error))?;
        Ok(Self { server, operations: None, webhooks: None })
    }

    /// Answers on an address how the daemon does.
    ///
    /// # Errors
    /// Where nobody can be listened to there.
    pub(super) fn open_operations(&mut self, address: SocketAddr, routes: Operations) -> Result<()> {
        let (listener, address) = bind(address)?;
        logs::listening(address);
        let listening = self.server.listen(listener, Arc::new(routes), None, Limits::OPERATIONS);
        self.operations = Some(listening.map_err(|error| cannot_listen(address, &error))?);
        Ok(())
    }

    /// Hears on an address what happens elsewhere.
    ///
    /// # Errors
    /// Where nobody can be listened to there.
    pub(super) fn open_webhooks(
        &mut self,
        address: SocketAddr,
        certificates: Option<Certificates>,
        routes: Hearing,
    ) -> Result<()> {
        let (listener, address) = bind(address)?;
        logs::hearing(address, certificates.is_some(), routes.receiver.kinds());
        let listening = self.server.listen(listener, Arc::new(routes), certificates, Limits::WEBHOOKS);
        self.webhooks = Some(listening.map_err(|error| cannot_listen(address, &error))?);
        Ok(())
    }

    /// Hears nothing more. How the daemon does can be asked as before.
    pub(super) fn close_webhooks(&mut self) {
        self.webhooks = None;
    }
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, &error))?;
    let bound = listener.local_addr().unwrap_or(address);
    Ok((listener, bound))
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> Error {
    refused(&format!("listen on {address}"), error)
}

impl Routes for Operations {
    fn on_head(&self, head: &Parts) -> Option<Page> {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Some(Page::text(405, "only GET and HEAD are answered\n").with(ALLOW, "GET, HEAD"));
        }
        Some(match head.uri.path() {
            "/healthz" => self.health.alive(Instant::now()),
            "/readyz" => self.health.ready(),
            "/metrics" => {
                self.metrics.leads(!self.gate.is_held_for(Hold::Standby));
                self.metrics.page()
            }
            _ => Page::text(404, "there are /healthz, /readyz and /metrics\n"),
        })
    }

    fn on_body(&self, head: &Parts, _: Result<Bytes, Unread>) -> Page {
        // No head leaves anything open.
        self.on_head(head).unwrap_or_else(|| Page::text(404, ""))
    }
}

impl Routes for Hearing {
    fn on_head(&self, head: &Parts) -> Option<Page> {
        self.receiver.refuse_by_head(head).map(|refusal| self.refuse(refusal))
    }

    fn on_body(&self, head: &Parts, body: Result<Bytes, Unread>) -> Page {
        let received = match body {
            Ok(body) => self.receiver.receive(head, &body),
            Err(unread) => {
                let (outcome, reason) = match unread {
                    Unread::TooLarge => (Outcome::TooLarge, "it is longer than 1 MiB"),
                    Unread::TooSlow => (Outcome::Malformed, "it did not come to its end in time"),
                    Unread::Broken => (Outcome::Malformed, "it broke off"),
                };
                Err(Refusal { kind: self.receiver.kind_of(head), outcome, reason: Some(reason) })
            }
        };
        match received {
            Ok(received) => self.hear(&received),
            Err(refusal) => self.refuse(refusal),
        }
    }
}

impl Hearing {
    /// Rings for whom it is, which takes no time: they look later.
    fn hear(&self, received: &Received) -> Page {
        let now = Instant::now();
        let outcome = if self.receiver.is_repeated(received, now) {
            Outcome::Folded
        } else if received.news == News::Nothing {
            Outcome::Ignored
        } else if self.gate.is_held() || self.gate.is_stopped() {
            Outcome::Unavailable
        } else if !self.receiver.take(received, now) {
            Outcome::RateLimited
        } else {
            match self.ring(&received.news) {
                Rung::Nobody => Outcome::Ignored,
                Rung::Again => Outcome::Folded,
                Rung::Anew => Outcome::Received,
            }
        };
        self.metrics.told(Some(received.kind), outcome.as_str());
        logs::told(received, outcome.as_str());
        page(outcome)
    }

    fn ring(&self, news: &News) -> Rung {
        match news {
            News::Nothing => Rung::Nobody,
            News::Images(images) => {
                let rung = images.iter().map(|image| self.switchboard.ring_for_image(&image.repository));
                rung.max().unwrap_or(Rung::Nobody)
            }
            News::Push(Push { addresses, branch, commit }) => {
                let is_meant = |url: &str, own: Option<&str>| {
                    own.is_none_or(|own| own == branch)
                        && addresses.iter().any(|address| is_same_repository(address, url))
                };
                self.switchboard.ring_for_push(is_meant, commit.as_deref())
            }
        }
    }

    fn refuse(&self, refusal: Refusal) -> Page {
        self.metrics.told(refusal.kind, refusal.outcome.as_str());
        logs::not_told(&refusal);
        page(refusal.outcome)
    }
}

/// What a sender hears. Whoever has proven nothing hears nothing.
fn page(outcome: Outcome) -> Page {
    match outcome {
        Outcome::Received | Outcome::Folded => Page::text(200, RECEIVED),
        Outcome::Ignored => Page::text(200, "Webhook received, and nothing to do"),
        Outcome::Unauthorized => Page::text(401, ""),
        Outcome::Unknown => Page::text(404, ""),
        Outcome::TooLarge => Page::text(413, "request body too large\n"),
        Outcome::Malformed => Page::text(400, "malformed\n"),
        Outcome::RateLimited => Page::text(429, "too many requests\n").with(RETRY_AFTER, "60"),
        Outcome::Unavailable => Page::text(503, "another replica leads\n").with(RETRY_AFTER, "10"),
    }
}
