//! Webhooks, in place of polling. The interval is an hour.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use super::*;

/// The secret of all senders except the registry.
const SECRET: &str = "wh1sper";

/// An address of this machine that nobody else has: who is told has to be known before who tells.
fn address() -> SocketAddr {
    static COUNT: AtomicU8 = AtomicU8::new(1);
    let [.., first, second] = std::process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(127, first, second, COUNT.fetch_add(1, Ordering::Relaxed)), 8082))
}

impl World {
    /// Starts the daemon where it is told, and waits until it has nothing to do.
    fn start_hearing(&self, address: SocketAddr) -> Daemon {
        self.folder.write("registry-token", DockerRegistry::TOKEN);
        self.folder.write("secret", &format!("{SECRET}\n"));
        let address = address.to_string();
        let daemon = self.start(&[
            "--interval",
            "1h",
            "--webhook-listen",
            &address,
            "--webhook-secret",
            "docker-registry=file:registry-token",
            "--webhook-secret",
            "generic=file:secret",
            "--webhook-secret",
            "gitlab=file:secret",
        ]);
        daemon.waits("it is ready", || daemon.get("/readyz").0 == 200);
        daemon
    }
}

/// Returns what it answers to what it is told.
fn tell(stream: &mut TcpStream, kind: &str, header: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let request = format!(
        "POST /webhook?type={kind} HTTP/1.1\r\nHost: x\r\n{header}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    // In one piece: what follows a piece waits until that is acknowledged.
    stream.write_all(request.as_bytes()).expect("it reads");
    let (mut head, mut byte) = (String::new(), [0]);
    while !head.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).expect("it answers");
        head.push(char::from(byte[0]));
    }
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("it says how much");
    let mut body = vec![0; length.parse().expect("it is a number")];
    stream.read_exact(&mut body).expect("it answers");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("it is HTTP");
    (status, String::from_utf8(body).expect("it is text"))
}

fn told(kind: &str, outcome: &str, count: usize) -> String {
    format!("image_updater_webhook_requests_total{{type=\"{kind}\",outcome=\"{outcome}\"}} {count}")
}

/// The sum of the numbers whose lines begin so.
fn sum(daemon: &Daemon, start: &str) -> usize {
    let page = daemon.get("/metrics").1;
    let lines = page.lines().filter(|line| line.starts_with(start));
    let count = |line: &str| line.rsplit(' ').next().and_then(|count| count.parse::<usize>().ok());
    lines.map(|line| count(line).expect("it is a number")).sum()
}

#[test]
fn a_push_to_a_registry_is_a_commit() {
    let address = address();
    let world = World::telling(Some(address));
    let daemon = world.start_hearing(address);
    let is_told =
        |tag: &str| daemon.log().iter().any(|line| line["image_tag"] == tag && line["webhook"].is_string());
    // The registry has tried to tell of this before anybody heard it, and tries again.
    daemon.waits("what was there is told", || is_told("1.0.0"));
    for tag in ["1.1.0", "1.2.0"] {
        let pushed = Instant::now();
        world.push(tag);
        daemon.waits("it is written", || world.stands_at(tag));
        eprintln!("{tag} was on the server {} ms after its push", pushed.elapsed().as_millis());
    }
    assert_eq!(world.commits(), 3);
    // Layers and what we read ourselves are told, too, and are nothing.
    daemon.waits("others are told", || {
        sum(&daemon, "image_updater_webhook_requests_total{type=\"docker-registry\",outcome=\"ignored\"}") > 0
    });
    let log = daemon.log();
    let is_first =
        |line: &&serde_json::Value| line["webhook"] == "docker-registry" && line["image_tag"] == "1.1.0";
    let line = log.iter().find(is_first).expect("it is logged");
    assert_eq!((&line["image_name"], &line["message"]), (&"shop".into(), &"received".into()), "{line}");
    // What is of other repositories, nobody looks at.
    let is_over = |line: &serde_json::Value| {
        line["message"].as_str().is_some_and(|message| message.contains("images_updated=1"))
    };
    daemon.waits("the rounds are over", || daemon.log().into_iter().filter(is_over).count() == 2);
    let looks = sum(&daemon, "image_updater_rounds_total");
    world.registry.push_image("other", "9.0.0", "linux/amd64", CREATED);
    daemon.waits("it is told", || daemon.log().iter().any(|line| line["image_name"] == "other"));
    assert_eq!(sum(&daemon, "image_updater_rounds_total"), looks);
    nothing_is_given_away(&world);
}

#[test]
fn a_thousand_are_a_few_looks() {
    let address = address();
    let world = World::new();
    let daemon = world.start_hearing(address);
    world.push("1.1.0");
    let body = format!("{{\"image\": \"{}\", \"tag\": \"1.1.0\"}}", world.image());
    let started = Instant::now();
    let mut stream = TcpStream::connect(address).expect("it listens");
    for _ in 0..1000 {
        let answer = tell(&mut stream, "generic", &format!("Authorization: Bearer {SECRET}"), &body);
        assert_eq!(answer, (200, "Webhook received and processing".to_owned()));
    }
    daemon.waits("it is written", || world.stands_at("1.1.0"));
    let received =
        sum(&daemon, "image_updater_webhook_requests_total{type=\"generic\",outcome=\"received\"}");
    let folded = sum(&daemon, "image_updater_webhook_requests_total{type=\"generic\",outcome=\"folded\"}");
    assert_eq!(received + folded, 1000);
    // The first at the start, one at once, and then one in each half of a second that it took to tell.
    let looks = sum(&daemon, "image_updater_rounds_total");
    let most = 2 + usize::try_from(started.elapsed().as_millis()).unwrap() / 500 + 1;
    assert!(looks <= most, "{looks} looks, and {most} at most");
    eprintln!("1000 were told in {} ms, and looked at {} times", started.elapsed().as_millis(), looks - 1);
}

#[test]
fn who_proves_nothing_hears_nothing() {
    let address = address();
    let world = World::new();
    let mut daemon = world.start_hearing(address);
    world.push("1.1.0");
    let body = format!("{{\"image\": \"{}\", \"tag\": \"1.1.0\"}}", world.image());
    let mut stream = TcpStream::connect(address).expect("it listens");
    let nothing = String::new();
    for (kind, header, status) in [
        ("generic", "X-Nothing: 1", 401),
        ("generic", "Authorization: Bearer wrong", 401),
        ("gitlab", "X-Gitlab-Token: wrong", 401),
        ("docker.io", "X-Nothing: 1", 404),
        ("nobody", "X-Nothing: 1", 404),
    ] {
        assert_eq!(tell(&mut stream, kind, header, &body), (status, nothing.clone()), "{kind}");
    }
    assert!(daemon.counts(&told("generic", "unauthorized", 2)));
    assert!(daemon.counts(&told("unknown", "unknown", 2)));
    let right = format!("Authorization: Bearer {SECRET}");
    assert_eq!(tell(&mut stream, "generic", &right, "{").0, 400);
    assert_eq!(tell(&mut stream, "generic", &right, &" ".repeat((1 << 20) + 1)).0, 413);
    assert!(
        daemon.counts(&told("generic", "too_large", 1)) && daemon.counts(&told("generic", "malformed", 1))
    );
    assert!(world.stands_at("1.0.0"));
    // How it does is asked elsewhere, and nothing is told there.
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert_eq!(daemon.get("/webhook?type=generic").0, 404);
    // Another secret counts as soon as it is there.
    world.folder.write("secret", "an0ther");
    let mut stream = TcpStream::connect(address).expect("it listens");
    assert_eq!(tell(&mut stream, "generic", &right, &body).0, 401);
    assert_eq!(tell(&mut stream, "generic", "Authorization: Bearer an0ther", &body).0, 200);
    daemon.waits("it is written", || world.stands_at("1.1.0"));
    daemon.signal("TERM");
    assert_eq!(daemon.ends().code(), Some(0));
    let log = world.folder.read("log").expect("it is there");
    assert!(!log.contains(SECRET) && !log.contains("an0ther"));
}

#[test]
fn a_push_to_the_repository_has_its_policies_read_anew() {
    let address = address();
    let world = World::new();
    world.push("1.1.0");
    world.push("2.0.0");
    let said = [("clusters/prod/flux.yaml", &*world.flux("1.x")), ("apps/pod.yaml", &*world.marked("1.0.0"))];
    world.config.rival("main", &said);
    world.discover();
    let daemon = world.start_hearing(address);
    let stands_at = |tag: &str| {
        world.config.read("main", "apps/pod.yaml").is_some_and(|text| text + "\n" == world.marked(tag))
    };
    daemon.waits("it is written", || stands_at("1.1.0"));
    world.config.rival("main", &[("clusters/prod/flux.yaml", &world.flux("2.x"))]);
    let push = |branch: &str| {
        let after = world.config.git(&["rev-parse", "main"]);
        let url = world.server.url("/git/config.git");
        let body = format!(
            "{{\"object_kind\": \"push\", \"ref\": \"refs/heads/{branch}\", \"after\": \"{after}\", \
             \"project\": {{\"git_http_url\": \"{url}\", \"default_branch\": \"main\"}}}}"
        );
        let mut stream = TcpStream::connect(address).expect("it listens");
        tell(&mut stream, "gitlab", &format!("X-Gitlab-Token: {SECRET}"), &body)
    };
    assert_eq!(push("topic").1, "Webhook received, and nothing to do");
    assert_eq!(push("main").0, 200);
    daemon.waits("the new policy counts", || stands_at("2.0.0"));
    assert!(daemon.counts(&told("gitlab", "received", 1)) && daemon.counts(&told("gitlab", "ignored", 1)));
}

#[test]
fn what_nobody_could_prove_is_said_at_once() {
    let world = World::new();
    for (arguments, code, message) in [
        (&["--webhook-listen", "127.0.0.1:0"][..], 1, "cannot serve webhooks without a secret"),
        (&["--webhook-secret", "generic=file:missing"], 1, "`missing`"),
        (
            &["--webhook-secret", "generic=env:NOT_SET_HERE"],
            1,
            "the variable `NOT_SET_HERE` is empty: expected a secret",
        ),
        (&["--webhook-secret", "nobody=file:secret"], 2, "unknown webhook type `nobody`"),
        (&["--webhook-secret", "generic=s3cret"], 2, "`env:NAME` or `file:PATH`"),
        (&["--tls-cert", "tls.crt"], 2, "--tls-key"),
    ] {
        let outcome = world.run(&[&["run", "--once"], arguments].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("s3cret"), "what may be a secret is not shown: {}", outcome.stderr);
    }
}
