//! The server on loopback, with clients that behave and clients that do not.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;

use super::*;

/// Answers with the length of what it got, unless the head says `refuse`.
#[derive(Default)]
struct Echo(AtomicUsize);

impl Routes for Echo {
    fn on_head(&self, head: &Parts) -> Option<Page> {
        match head.uri.path() {
            "/refuse" => Some(Page::text(401, "")),
            _ if head.method == Method::POST => None,
            _ => Some(Page::text(200, "ok\n")),
        }
    }

    fn on_body(&self, _: &Parts, body: Result<Bytes, Unread>) -> Page {
        self.0.fetch_add(1, Ordering::Relaxed);
        match body {
            Ok(body) => Page::text(200, &body.len().to_string()),
            Err(Unread::TooLarge) => Page::text(413, ""),
            Err(Unread::TooSlow | Unread::Broken) => Page::text(400, "unread"),
        }
    }
}

const SHORT: Limits = Limits { connections: 4, bodies: 2, patience: Duration::from_millis(300) };

const LONG: Limits = Limits { patience: Duration::from_secs(600), ..SHORT };

struct World {
    _server: Server,
    listening: Option<Listening>,
    address: SocketAddr,
    echo: Arc<Echo>,
}

fn world(limits: Limits) -> World {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (server, echo) = (Server::start().unwrap(), Arc::new(Echo::default()));
    let listening = server.listen(listener, Arc::clone(&echo) as _, None, limits).unwrap();
    World { _server: server, listening: Some(listening), address, echo }
}

impl World {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// All that comes back until the other side hangs up.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        // Where it is closed already, there is nothing to write to.
        let _ = stream.write_all(request.as_bytes());
        all(&mut stream)
    }
}

fn all(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

#[test]
fn heads_and_bodies_are_answered() {
    let world = world(LONG);
    let answer = world.ask(GET);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok\n"), "{answer}");
    let answer = world.ask(&GET.replace("GET", "HEAD"));
    assert!(answer.contains("content-length: 3\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
    let post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde";
    assert!(world.ask(post).ends_with("\r\n\r\n5"));
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
    assert!(world.ask(chunked).ends_with("\r\n\r\n4"));
}

#[test]
fn one_connection_has_many_requests() {
    let world = world(LONG);
    let mut stream = world.connect();
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"ok\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let world = world(LONG);
    assert_eq!(status(&world.ask("GET  / HTTP/1.1\r\nHost: a\r\n\r\n")), "400");
    assert_eq!(status(&world.ask("\u{16}\u{3}\u{1} / x\r\n\r\n")), "400");
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(64 << 10));
    assert_eq!(status(&world.ask(&long)), "431");
    // What two servers could take for two different requests.
    let both = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd";
    assert_eq!(status(&world.ask(both)), "400");
}

#[test]
fn a_body_has_an_end() {
    let world = world(LONG);
    let post = |length: usize| {
        let head =
            format!("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        world.ask(&(head + &"a".repeat(length)))
    };
    assert!(post(MAX_BODY).ends_with(&format!("\r\n\r\n{MAX_BODY}")));
    assert_eq!(status(&post(MAX_BODY + 1)), "413");
    let chunk = format!("{:x}\r\n{}\r\n", MAX_BODY, "a".repeat(MAX_BODY));
    let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(status(&world.ask(&format!("{head}{chunk}1\r\na\r\n0\r\n\r\n"))), "413");
    // What says beforehand that it is too long need not be sent.
    let mut stream = world.connect();
    stream
        .write_all(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n")
        .unwrap();
    assert_eq!(status(&all(&mut stream)), "413");
}

#[test]
fn a_head_that_says_enough_has_no_body_read() {
    let world = world(LONG);
    let head = "POST /refuse HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2000000\r\n\r\n";
    assert_eq!(status(&world.ask(&(head.to_owned() + &"a".repeat(2_000_000)))), "401");
    assert_eq!(world.echo.0.load(Ordering::Relaxed), 0);
}

#[test]
fn whoever_is_slow_is_not_waited_for() {
    let world = world(SHORT);
    for slow in [
        "",
        "GET / HT",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
    ] {
        // It is over, whatever is said.
        world.ask(slow);
    }
    let answer = world.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
    assert!(answer.is_empty() || status(&answer) == "400", "{answer}");
}

#[test]
fn a_connection_too_many_waits_until_there_is_a_place() {
    let world = world(LONG);
    let silent: Vec<TcpStream> = (0..SHORT.connections).map(|_| world.connect()).collect();
    let mut waiting = world.connect();
    waiting.write_all(GET.as_bytes()).unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(waiting.read(&mut [0]).is_err(), "all places are taken");
    drop(silent);
    waiting.set_read_timeout(None).unwrap();
    assert!(all(&mut waiting).ends_with("\r\n\r\nok\n"));
}

#[test]
fn silence_does_not_keep_a_place() {
    let world = world(SHORT);
    let _silent: Vec<TcpStream> = (0..SHORT.connections).map(|_| world.connect()).collect();
    assert!(world.ask(GET).ends_with("\r\n\r\nok\n"));
}

#[test]
fn nothing_is_answered_once_it_is_closed() {
    let mut world = world(LONG);
    assert!(world.ask(GET).ends_with("ok\n"));
    let mut open = world.connect();
    world.listening = None;
    // The one that was there is let go of, and there are no others.
    assert_eq!(all(&mut open), "");
    let refused = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        TcpStream::connect(world.address).is_err()
    });
    assert!(refused);
}

/// A certificate and its key, in a folder as cert-manager mounts it.
fn certify(folder: &std::path::Path) -> reqwest::Certificate {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    std::fs::write(folder.join("tls.crt"), certificate.pem()).unwrap();
    std::fs::write(folder.join("tls.key"), key.serialize_pem()).unwrap();
    reqwest::Certificate::from_pem(certificate.pem().as_bytes()).unwrap()
}

struct Secured {
    folder: tempfile::TempDir,
    port: u16,
    trusted: reqwest::Certificate,
    _server: (Server, Listening),
}

fn secured(oldest: MinVersion) -> Secured {
    // Another test may have done so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let trusted = certify(folder.path());
    let at = |name: &str| folder.path().join(name);
    let certificates = Certificates::load(&at("tls.crt"), &at("tls.key"), oldest).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (server, port) = (Server::start().unwrap(), listener.local_addr().unwrap().port());
    let listening = server.listen(listener, Arc::new(Echo::default()), Some(certificates), LONG).unwrap();
    Secured { folder, port, trusted, _server: (server, listening) }
}

impl Secured {
    /// The version of HTTP that is spoken with who trusts a certificate, if any is.
    fn ask(
        &self,
        trusted: &reqwest::Certificate,
        habits: fn(reqwest::blocking::ClientBuilder) -> reqwest::blocking::ClientBuilder,
    ) -> Option<http::Version> {
        let client = reqwest::blocking::Client::builder().no_proxy().tls_certs_only([trusted.clone()]);
        let answer =
            habits(client).build().unwrap().get(format!("https://localhost:{}/", self.port)).send().ok()?;
        assert_eq!(answer.status(), 200);
        Some(answer.version())
    }
}

#[test]
fn a_newer_certificate_counts_for_the_next_connection() {
    let mut world = secured(MinVersion::Tls13);
    assert_eq!(world.ask(&world.trusted, |client| client), Some(http::Version::HTTP_2));
    assert_eq!(
        world.ask(&world.trusted, reqwest::blocking::ClientBuilder::http1_only),
        Some(http::Version::HTTP_11)
    );
    let newer = certify(world.folder.path());
    let older = std::mem::replace(&mut world.trusted, newer);
    assert_eq!(world.ask(&world.trusted, |client| client), Some(http::Version::HTTP_2));
    assert_eq!(world.ask(&older, |client| client), None);
    // What is broken changes nothing.
    std::fs::write(world.folder.path().join("tls.crt"), "").unwrap();
    assert!(world.ask(&world.trusted, |client| client).is_some());
}

#[test]
fn no_older_tls_is_spoken_than_is_said() {
    let old =
        |client: reqwest::blocking::ClientBuilder| client.tls_version_max(reqwest::tls::Version::TLS_1_2);
    for (oldest, is_answered) in [(MinVersion::Tls13, false), (MinVersion::Tls12, true)] {
        let world = secured(oldest);
        assert_eq!(world.ask(&world.trusted, old).is_some(), is_answered, "{oldest:?}");
        assert!(world.ask(&world.trusted, |client| client).is_some());
    }
}

#[test]
fn who_speaks_no_tls_is_not_answered() {
    let world = secured(MinVersion::Tls12);
    let mut stream = TcpStream::connect(("127.0.0.1", world.port)).unwrap();
    stream.write_all(GET.as_bytes()).unwrap();
    assert!(!all(&mut stream).contains("200"));
}
