//! The server as its clients see it, with a generator whose applications say themselves what becomes of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod wire;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cmp_server::{
    Announcement, Cached, Failure, Generated, Generator, Limits, Options, Record, Request, Server, probe,
};
use tar::EntryType;
use tempfile::TempDir;
use tokio::sync::oneshot;
use vfs::Files;

use client::{Call, archive, archive_of, bomb, checksum, piece};

/// gRPC's numbers.
const OK: Option<i32> = Some(0);
const INVALID_ARGUMENT: Option<i32> = Some(3);
const DEADLINE_EXCEEDED: Option<i32> = Some(4);
const RESOURCE_EXHAUSTED: Option<i32> = Some(8);
const UNIMPLEMENTED: Option<i32> = Some(12);
const INTERNAL: Option<i32> = Some(13);

/// Does what the file `do` of an application says; without one, it gives the application's files.
struct Obedient;

impl Generator for Obedient {
    fn version(&self) -> &str {
        "1.2.3"
    }

    fn generate(&self, request: &Request<'_>, files: &dyn Files) -> Result<Generated, Failure> {
        let order = read(files, &request.path().join("do"));
        let (verb, rest) = order.split_once(' ').unwrap_or((&order, ""));
        let number = rest.trim().parse().unwrap_or(0);
        let manifests = match verb {
            "fail" => return Err(Failure::input(rest)),
            "panic" => panic!("a fault"),
            "nothing" => Vec::new(),
            "large" => vec!["x".repeat(number)],
            "sleep" => {
                thread::sleep(Duration::from_millis(number as u64));
                vec!["late".to_owned()]
            }
            "revision" => vec![request.variable("ARGOCD_APP_REVISION").unwrap_or("none").to_owned()],
            "base" => vec![read(files, &request.path().join(rest))],
            _ => {
                let names = files.list(request.path()).unwrap();
                names
                    .iter()
                    .map(|name| format!("{name}:{}", read(files, &request.path().join(name))))
                    .collect()
            }
        };
        Ok(Generated {
            manifests,
            source_type: "Obedient".to_owned(),
            is_reproducible: true,
            may_be_empty: request.variable("ARGOCD_ENV_ALLOW_EMPTY").is_some(),
        })
    }

    fn supports(&self, request: &Request<'_>, files: &dyn Files) -> Result<bool, Failure> {
        Ok(files.resolve(&request.path().join("do")).is_ok())
    }

    fn parameters(&self, _request: &Request<'_>, _files: &dyn Files) -> Result<Vec<Announcement>, Failure> {
        Ok(vec![Announcement { name: "replicas".to_owned(), ..Announcement::default() }])
    }
}

fn read(files: &dyn Files, path: &std::path::Path) -> String {
    let Ok((real, _)) = files.resolve(path) else { return String::new() };
    files.read(&real).map_or_else(|_| String::new(), |bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

/// A server on a socket of its own, until it is dropped.
struct Running {
    _folder: TempDir,
    socket: PathBuf,
    records: Arc<Mutex<Vec<Record>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("renderer.sock");
        let mut options = Options {
            socket: socket.clone(),
            max_memory: 256 << 20,
            limits: Limits::default(),
            jobs: 2,
            grace: Duration::from_millis(50),
        };
        change(&mut options);
        let server = Server::bind(options).unwrap();
        let records = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel();
        let observed = Arc::clone(&records);
        let observe = move |record: &Record| observed.lock().unwrap().push(record.clone());
        let until = async {
            let _ = stopped.await;
        };
        let thread = thread::spawn(move || server.run(Arc::new(Obedient), observe, Some(until)).unwrap());
        Self { _folder: folder, socket, records, stop: Some(stop), thread: Some(thread) }
    }

    fn new() -> Self {
        Self::with(|_| {})
    }

    fn last(&self) -> Record {
        self.records.lock().unwrap().last().unwrap().clone()
    }

    /// Returns whether the tree and the result of the last request were at hand.
    fn hits(&self) -> (Option<Cached>, Option<Cached>) {
        let last = self.last();
        (last.tree, last.result)
    }

    fn is_well(&self) -> bool {
        probe(&self.socket, Duration::from_secs(10)).is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

/// Bytes that do not compress: what repeats is too far apart.
fn noise(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    let block: Vec<u8> = std::iter::repeat_with(next).take(64 << 10).collect();
    block.into_iter().cycle().take(length).collect()
}

#[tokio::test]
async fn an_unchanged_application_is_at_hand() {
    let server = Running::new();
    let first = archive(&[("app/a.yaml", b"1"), ("other/b.yaml", b"1")]);
    let call = Call::generate("app").with("ARGOCD_APP_NAME", "web").with("ARGOCD_APP_REVISION", "r1");
    assert_eq!(call.send(&server.socket, &first).await.manifests(), ["a.yaml:1"]);
    assert_eq!(server.hits(), (Some(Cached::Miss), Some(Cached::Miss)));
    assert_eq!(call.send(&server.socket, &first).await.manifests(), ["a.yaml:1"]);
    assert_eq!(server.hits(), (Some(Cached::Hit), Some(Cached::Hit)));
    let record = server.last();
    assert_eq!((record.application.as_deref(), record.path.as_str(), record.files), (Some("web"), "app", 2));

    // Another commit, which changes nothing that was read.
    let call = Call::generate("app").with("ARGOCD_APP_NAME", "web").with("ARGOCD_APP_REVISION", "r2");
    let unrelated = archive(&[("app/a.yaml", b"1"), ("other/b.yaml", b"2"), ("other/c.yaml", b"")]);
    assert_eq!(call.send(&server.socket, &unrelated).await.manifests(), ["a.yaml:1"]);
    assert_eq!(server.hits(), (Some(Cached::Miss), Some(Cached::Hit)));

    // A file that is read changes, one appears beside it, and the environment differs.
    let changed = archive(&[("app/a.yaml", b"2"), ("other/b.yaml", b"1")]);
    assert_eq!(call.send(&server.socket, &changed).await.manifests(), ["a.yaml:2"]);
    let added = archive(&[("app/a.yaml", b"1"), ("app/b.yaml", b"1"), ("other/b.yaml", b"1")]);
    assert_eq!(call.send(&server.socket, &added).await.manifests(), ["a.yaml:1", "b.yaml:1"]);
    assert_eq!(server.hits(), (Some(Cached::Miss), Some(Cached::Miss)));
    Call::generate("app").with("ARGOCD_APP_NAME", "api").send(&server.socket, &first).await;
    assert_eq!(server.hits(), (Some(Cached::Hit), Some(Cached::Miss)));
    // What was made first is still there.
    call.send(&server.socket, &first).await;
    assert_eq!(server.hits(), (Some(Cached::Hit), Some(Cached::Hit)));
}

#[tokio::test]
async fn a_file_that_was_missing_and_a_link_are_part_of_what_was_read() {
    let server = Running::new();
    let with = |entries: &[(EntryType, &str, &str, &[u8])]| {
        let app = (EntryType::Regular, "app/do", "", &b"base ../base/x"[..]);
        archive_of(entries.iter().copied().chain([app]))
    };
    let call = Call::generate("app");
    let none = call.send(&server.socket, &with(&[])).await;
    assert_eq!(none.manifests(), [""]);
    let there = with(&[(EntryType::Regular, "base/x", "", b"1")]);
    assert_eq!(call.send(&server.socket, &there).await.manifests(), ["1"]);
    let linked = |target| {
        let files: [(EntryType, &str, &str, &[u8]); 3] = [
            (EntryType::Symlink, "base", target, b""),
            (EntryType::Regular, "one/x", "", b"1"),
            (EntryType::Regular, "two/x", "", b"2"),
        ];
        with(&files)
    };
    assert_eq!(call.send(&server.socket, &linked("one")).await.manifests(), ["1"]);
    assert_eq!(call.send(&server.socket, &linked("two")).await.manifests(), ["2"]);
    assert_eq!(server.hits().1, Some(Cached::Miss));
}

#[tokio::test]
async fn the_revision_counts_where_it_is_asked_for() {
    let server = Running::new();
    let archive = archive(&[("app/do", b"revision")]);
    for (revision, result) in [("r1", Cached::Miss), ("r2", Cached::Miss), ("r1", Cached::Hit)] {
        let call = Call::generate("app").with("ARGOCD_APP_REVISION", revision);
        assert_eq!(call.send(&server.socket, &archive).await.manifests(), [revision]);
        assert_eq!(server.hits().1, Some(result), "{revision}");
    }
}

#[tokio::test]
async fn errors_are_told_and_not_kept() {
    let server = Running::new();
    for (order, code, message) in [
        ("fail apps/web/a.yaml:3:1: wrong", INVALID_ARGUMENT, "apps/web/a.yaml:3:1: wrong"),
        ("panic", INTERNAL, "the renderer has a fault"),
        ("nothing", INVALID_ARGUMENT, "app: no manifests were rendered"),
    ] {
        let archive = archive(&[("app/do", order.as_bytes())]);
        for _ in 0..2 {
            let reply = Call::generate("app").send(&server.socket, &archive).await;
            assert_eq!((reply.code, reply.message.contains(message)), (code, true), "{reply:?}");
            assert_eq!(server.hits().1, Some(Cached::Miss));
        }
    }
    let empty = archive(&[("app/do", b"nothing")]);
    let call = Call::generate("app").with("ARGOCD_ENV_ALLOW_EMPTY", "true");
    assert_eq!(call.send(&server.socket, &empty).await.manifests(), [""; 0]);
}

#[tokio::test]
async fn streams_out_of_order_are_refused_when_they_have_ended() {
    let server = Running::new();
    let archive = archive(&[("app/a.yaml", b"1"), ("noise", &noise(300_000, 1))]);
    let call = Call::generate("app");
    let metadata = call.metadata(&checksum(&archive), archive.len());
    let pieces: Vec<u8> = archive.chunks(1024).flat_map(piece).collect();
    let cases = [
        ("the first message", vec![pieces.clone()]),
        ("only the first message", vec![metadata.clone(), pieces.clone(), metadata.clone(), pieces.clone()]),
        ("no archive", vec![metadata.clone()]),
        ("another checksum", vec![call.metadata(&"00".repeat(32), 1), pieces.clone()]),
        ("hexadecimal", vec![call.metadata("", 1), pieces.clone()]),
        ("the first message", vec![]),
    ];
    for (want, messages) in cases {
        let mut open = call.open(&server.socket).await;
        for message in messages {
            assert!(open.send(message).await, "{want}: the stream is read to its end");
        }
        assert!(open.is_silent().await, "{want}: an answer came before the end");
        let reply = open.end().await;
        assert_eq!(reply.code, INVALID_ARGUMENT, "{want}: {reply:?}");
        assert!(reply.message.contains(want), "{want}: {}", reply.message);
    }
    assert!(!call.send(&server.socket, &archive).await.manifests().is_empty());
}

#[tokio::test]
async fn hostile_archives_are_refused() {
    let server = Running::with(|options| options.limits.files = 100);
    let many: Vec<String> = (0..101).map(|number| format!("app/{number}")).collect();
    let cases = [
        (INVALID_ARGUMENT, "leads out of it", archive(&[("../escape", b"")])),
        (INVALID_ARGUMENT, "leads out of it", archive(&[("/etc/escape", b"")])),
        (
            INVALID_ARGUMENT,
            "leads out of the repo",
            archive_of([(EntryType::Symlink, "l", "../../etc", &b""[..])]),
        ),
        (
            INVALID_ARGUMENT,
            "leads out of the repo",
            archive_of([(EntryType::Symlink, "l", "/etc", &b""[..])]),
        ),
        (RESOURCE_EXHAUSTED, "times its size", bomb("app/bomb", 5 << 20)),
        (
            RESOURCE_EXHAUSTED,
            "more than 100",
            archive(&many.iter().map(|n| (n.as_str(), &b""[..])).collect::<Vec<_>>()),
        ),
        (INVALID_ARGUMENT, "damaged", b"no archive at all".to_vec()),
    ];
    for (code, want, archive) in cases {
        let reply = Call::generate("app").send(&server.socket, &archive).await;
        assert_eq!((reply.code, reply.message.contains(want)), (code, true), "{want}: {reply:?}");
    }
    let good = archive(&[("app/a.yaml", b"1")]);
    for app in ["../app", "/app", "app/../../x", "none", "app/a.yaml"] {
        let reply = Call::generate(app).send(&server.socket, &good).await;
        assert_eq!(reply.code, INVALID_ARGUMENT, "{app}: {reply:?}");
    }
    assert!(server.is_well());
}

#[tokio::test]
async fn a_reset_in_mid_stream_frees_everything() {
    // Each of them would have a third of the memory for ever.
    let server = Running::with(|options| options.max_memory = 6 << 20);
    let archive = archive(&[("app/a.yaml", b"1"), ("noise", &noise(1 << 20, 7))]);
    let call = Call::generate("app");
    for _ in 0..10 {
        let mut open = call.open(&server.socket).await;
        open.send(call.metadata(&checksum(&archive), archive.len() / 8)).await;
        open.send(archive[..600_000].chunks(1024).flat_map(piece).collect()).await;
        open.stream.send_reset(h2::Reason::CANCEL);
    }
    let reply = call.send(&server.socket, &archive).await;
    assert_eq!(reply.manifests(), ["a.yaml:1"]);
    let records = server.records.lock().unwrap();
    assert_eq!(records.iter().filter(|record| record.code == cmp_server::Code::Ok).count(), 1);
}

#[tokio::test]
async fn a_client_is_told_before_its_patience_ends() {
    let server = Running::new();
    let archive = archive(&[("app/do", b"sleep 300")]);
    let late = Call { timeout: Some("50m"), ..Call::generate("app") };
    let reply = late.send(&server.socket, &archive).await;
    assert_eq!(reply.code, DEADLINE_EXCEEDED, "{reply:?}");
    assert!(reply.message.starts_with("no manifests within 25 ms: "), "{}", reply.message);
    // It went on, and is at hand.
    let patient = Call::generate("app");
    assert_eq!(patient.send(&server.socket, &archive).await.manifests(), ["late"]);
    assert_eq!(patient.send(&server.socket, &archive).await.manifests(), ["late"]);
    assert_eq!(server.hits().1, Some(Cached::Hit));
    // A client that stops sending is no different.
    let mut open = late.open(&server.socket).await;
    open.send(late.metadata(&"00".repeat(32), 1)).await;
    tokio::time::sleep(Duration::from_millis(60)).await;
    let reply = open.end().await;
    assert_eq!(reply.code, DEADLINE_EXCEEDED, "{reply:?}");
}

#[tokio::test]
async fn a_response_has_up_to_a_hundred_mebibytes() {
    let server = Running::with(|options| options.max_memory = 512 << 20);
    // The response is a field of one text, and the source's kind.
    let largest = (100 << 20) - 5 - 10;
    let order = |size: usize| archive(&[("app/do", format!("large {size}").as_bytes())]);
    let reply = Call::generate("app").send(&server.socket, &order(largest)).await;
    assert_eq!((reply.code, reply.body.len()), (OK, 5 + (100 << 20)), "{}", reply.message);
    let reply = Call::generate("app").send(&server.socket, &order(largest + 1)).await;
    assert_eq!(reply.code, RESOURCE_EXHAUSTED);
    assert!(reply.message.contains("Argo CD takes 100 MiB"), "{}", reply.message);
}

#[tokio::test]
async fn many_streams_wait_for_memory() {
    let server = Running::with(|options| options.max_memory = 4 << 20);
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let socket = server.socket.clone();
            tokio::spawn(async move {
                let archive = archive(&[("app/a.yaml", b"1"), ("noise", &noise(256 << 10, number))]);
                Call::generate("app").send(&socket, &archive).await
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().manifests(), ["a.yaml:1"]);
    }
    let reply = Call::generate("app").send(&server.socket, &archive(&[("noise", &noise(5 << 20, 99))])).await;
    assert_eq!(reply.code, RESOURCE_EXHAUSTED, "{reply:?}");
    assert!(server.is_well());
}

#[tokio::test]
async fn what_has_begun_is_ended_when_the_server_stops() {
    let mut server = Running::with(|options| options.grace = Duration::from_secs(60));
    let archive = archive(&[("app/do", b"sleep 200")]);
    let call = Call::generate("app");
    let mut open = call.open(&server.socket).await;
    open.send(call.metadata(&checksum(&archive), archive.len())).await;
    assert!(server.is_well());
    drop(server.stop.take());
    while server.socket.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(tokio::net::UnixStream::connect(&server.socket).await.is_err());
    open.send(piece(&archive)).await;
    assert_eq!(open.end().await.manifests(), ["late"]);
}

#[tokio::test]
async fn what_does_not_end_is_given_up() {
    let mut server = Running::new();
    let open = Call::generate("app").open(&server.socket).await;
    assert!(server.is_well());
    drop(server.stop.take());
    server.thread.take().unwrap().join().unwrap();
    server.thread = Some(thread::spawn(|| {}));
    assert_eq!(open.end().await.code, None);
}

#[tokio::test]
async fn the_other_methods_are_answered() {
    let server = Running::new();
    let archive = archive(&[("app/do", b"x"), ("other/a", b"")]);
    let ask = |method, app| Call { method, ..Call::generate(app) };
    // `isSupported`, and not `isDiscoveryEnabled`.
    let supported = ask("MatchRepository", "app").send(&server.socket, &archive).await;
    assert_eq!((supported.code, &supported.body[5..]), (OK, &b"\x08\x01"[..]));
    let other = ask("MatchRepository", "other").send(&server.socket, &archive).await;
    assert_eq!((other.code, &other.body[5..]), (OK, &b""[..]));
    let parameters = ask("GetParametersAnnouncement", "app").send(&server.socket, &archive).await;
    assert_eq!(&parameters.body[5..], b"\x0a\x0a\x0a\x08replicas");

    let mut client = client::connect(&server.socket).await;
    for (path, want) in [
        ("/plugin.ConfigManagementPluginService/CheckPluginConfiguration", &b""[..]),
        ("/grpc.health.v1.Health/Check", b"\x08\x01"),
        ("/version.VersionService/Version", b"\x0a\x051.2.3"),
    ] {
        let mut open = client::open(&mut client, path, None).await;
        open.send(vec![0; 5]).await;
        let reply = open.end().await;
        assert_eq!((reply.code, &reply.body[5..]), (OK, want), "{path}");
    }
    let unknown = client::open(&mut client, "/plugin.Other/Method", None).await.end().await;
    assert_eq!(unknown.code, UNIMPLEMENTED);
}
