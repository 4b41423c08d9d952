//! The HTTP endpoints of the daemon: health and metrics on one address, webhooks on the other.

use diagnostic::{Error, Result};
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
use crate::forge::is_same_repository;
use crate::gate::{Gate, Hold};
use crate::webhook::{News, Outcome, Push, Received, Receiver, Refusal};

/// The webhook response of Argo CD Image Updater.
const RECEIVED: &str = "Webhook received and processing";

/// The webhook endpoint.
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
    /// If there are no threads.
    pub(super) fn new() -> Result<Self> {
        let server = Server::start().map_err(|error| refused("start a thread", &error))?;
        Ok(Self { server, operations: None, webhooks: None })
    }

    /// Answers on an address how the daemon does.
    ///
    /// # Errors
    /// If nobody can be listened to there.
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
    /// If nobody can be listened to there.
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
                    Unread::TooSlow => (Outcome::Malformed, "it was not received in time"),
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
        } else if self.gate.is_held_for(Hold::Standby) || self.gate.is_stopped() {
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
            News::Push(Push { addresses, branch, default_branch, commit }) => {
                let is_meant = |url: &str, own: Option<&str>| {
                    own.or(default_branch.as_deref()).is_none_or(|own| own == branch)
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

/// Returns what a sender hears. Whoever has proven nothing hears nothing.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use http::{HeaderValue, Request};

    use super::*;
    use crate::daemon::bell::{Bell, Interest};
    use crate::webhook::KINDS;

    const IMAGE: &str = "registry.test/shop/web";

    struct World {
        hearing: Hearing,
        bell: Bell,
    }

    fn world(per_hour: u32) -> World {
        let (gate, secret) = (Gate::default(), |_: &str| Some("s3cret".to_owned()));
        let switchboard = Switchboard::new(&gate);
        let bell = switchboard.connect("r");
        let repository = ("https://git.test/shop/config.git".to_owned(), Some("main".to_owned()));
        bell.attend_to(Interest {
            images: BTreeSet::from([IMAGE.to_owned()]),
            repositories: BTreeSet::from([repository]),
        });
        let receiver = Receiver::new(&[], true, per_hour, secret).unwrap();
        World { hearing: Hearing { receiver, switchboard, metrics: Arc::new(Metrics::new()), gate }, bell }
    }

    impl World {
        fn head(kind: &str, secret: &str) -> Parts {
            let address = format!("/webhook?type={kind}");
            let (mut head, ()) = Request::post(address).body(()).unwrap().into_parts();
            let bearer = HeaderValue::try_from(format!("Bearer {secret}")).unwrap();
            head.headers.insert("authorization", bearer);
            head.headers.insert("x-gitlab-token", HeaderValue::try_from(secret).unwrap());
            head
        }

        fn post(&self, kind: &str, secret: &str, body: &str) -> Page {
            let head = Self::head(kind, secret);
            let refused = self.hearing.on_head(&head);
            refused.unwrap_or_else(|| self.hearing.on_body(&head, Ok(body.to_owned().into())))
        }

        fn tell(&self, image: &str) -> u16 {
            let body = format!("{{\"image\": \"{image}\", \"tag\": \"1.2.0\"}}");
            self.post("generic", "s3cret", &body).status
        }

        fn count(&self, kind: &str, outcome: &str) -> u64 {
            let start =
                format!("image_updater_webhook_requests_total{{type=\"{kind}\",outcome=\"{outcome}\"}} ");
            let page = self.hearing.metrics.page().body;
            page.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |count| count.parse().unwrap())
        }
    }

    #[test]
    fn a_thousand_are_one_look_at_the_images_concerned() {
        let world = world(0);
        for _ in 0..1000 {
            assert_eq!(world.tell(IMAGE), 200);
        }
        assert_eq!((world.count("generic", "received"), world.count("generic", "folded")), (1, 999));
        let news = world.bell.take();
        assert!(news.images == BTreeSet::from([IMAGE.to_owned()]) && news.files.is_empty() && !news.is_other);
        assert_eq!(world.tell("registry.test/shop/other"), 200);
        assert_eq!((world.count("generic", "ignored"), world.bell.is_rung(false)), (1, false));
        assert_eq!(world.post("generic", "s3cret", "{\"image\": \"registry.test/shop/web\"}").body, RECEIVED);
    }

    #[test]
    fn who_is_not_known_hears_nothing_and_is_counted() {
        let world = world(0);
        let answer = |kind: &str, secret: &str| {
            let page = world.post(kind, secret, "{}");
            (page.status, page.body)
        };
        assert_eq!(answer("generic", "wrong"), (401, String::new()));
        assert_eq!(answer("nobody", "s3cret"), (404, String::new()));
        assert_eq!((world.count("generic", "unauthorized"), world.count("unknown", "unknown")), (1, 1));
        assert_eq!(answer("generic", "s3cret").0, 400);
        assert_eq!(world.count("generic", "malformed"), 1);
        assert!(!world.bell.is_rung(false));
    }

    #[test]
    fn what_is_too_long_is_refused_whatever_kind_it_is_of() {
        let world = world(0);
        for kind in KINDS {
            let head = World::head(kind.name(), "s3cret");
            assert_eq!(world.hearing.on_body(&head, Err(Unread::TooLarge)).status, 413);
            assert_eq!(world.count(kind.name(), "too_large"), 1);
            assert_eq!(world.hearing.on_body(&head, Err(Unread::TooSlow)).status, 400);
        }
    }

    #[test]
    fn what_an_hour_does_not_allow_is_not_rung_for() {
        let world = world(1);
        assert_eq!((world.tell(IMAGE), world.tell(IMAGE)), (200, 429));
        assert_eq!(world.count("generic", "rate_limited"), 1);
    }

    #[test]
    fn nothing_is_taken_that_another_replica_would_have_to_do() {
        let world = world(0);
        world.hearing.gate.hold(Hold::Standby);
        assert_eq!((world.tell(IMAGE), world.bell.is_rung(false)), (503, false));
        world.hearing.gate.open(Hold::Standby);
        // What is rung for while the API server is silent is done once it speaks again.
        world.hearing.gate.hold(Hold::Silence);
        assert_eq!((world.tell(IMAGE), world.bell.is_rung(false)), (200, true));
        assert_eq!(world.count("generic", "unavailable"), 1);
    }

    #[test]
    fn a_push_rings_for_the_branch_of_that_repository() {
        let world = world(0);
        let push = |branch: &str, path: &str| {
            let body = format!(
                "{{\"object_kind\": \"push\", \"ref\": \"refs/heads/{branch}\", \"after\": \"c0ffee\", \
                 \"project\": {{\"git_ssh_url\": \"git@git.test:{path}.git\"}}}}"
            );
            assert_eq!(world.post("gitlab", "s3cret", &body).status, 200);
            world.bell.take().files.len()
        };
        assert_eq!(
            [push("main", "shop/config"), push("topic", "shop/config"), push("main", "shop/other")],
            [1, 0, 0]
        );
        assert_eq!((world.count("gitlab", "received"), world.count("gitlab", "ignored")), (1, 2));
    }

    #[test]
    fn nothing_of_one_address_is_on_the_other() {
        let world = world(0);
        let asked = |method: &str, path: &str| {
            Request::builder().method(method).uri(path).body(()).unwrap().into_parts().0
        };
        for path in ["/healthz", "/readyz", "/metrics"] {
            assert_eq!(world.hearing.on_head(&asked("GET", path)).unwrap().status, 404);
        }
        let (health, metrics) = (Arc::new(Health::new(Instant::now())), Arc::new(Metrics::new()));
        let operations = Operations { health, metrics, gate: Gate::default() };
        let status = |method: &str, path: &str| operations.on_head(&asked(method, path)).unwrap().status;
        assert_eq!(
            [status("GET", "/healthz?verbose"), status("HEAD", "/readyz"), status("GET", "/metrics")],
            [200, 503, 200]
        );
        assert_eq!([status("POST", "/healthz"), status("GET", "/webhook?type=generic")], [405, 404]);
    }
}
