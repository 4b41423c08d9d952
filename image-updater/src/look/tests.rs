//! Looks at a registry of a few lines that writes down what it is asked.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

use jiff::Timestamp;
use oci_registry::{Options, RegistrySettings, Retry};
use serde_json::json;

use super::*;
use crate::criteria::Criteria;
use crate::tags::from_json;

/// A registry with one repository, `team/app`; what it does not have is not found.
struct Server {
    host: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// By the last part of the path: an answer's status and body.
    answers: BTreeMap<String, (u16, String)>,
    asked: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Server {
    fn start(answers: impl IntoIterator<Item = (String, (u16, String))>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("localhost:{}", listener.local_addr().unwrap().port());
        let shared = Arc::new(Shared { answers: answers.into_iter().collect(), ..Shared::default() });
        let served = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for connection in listener.incoming().map_while(io::Result::ok) {
                if served.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let served = Arc::clone(&served);
                thread::spawn(move || served.answer(connection));
            }
        });
        Self { host, shared, thread: Some(thread) }
    }

    fn repository(&self) -> Repository {
        format!("{}/team/app", self.host).parse().unwrap()
    }

    fn client(&self) -> Client {
        self.client_with(None)
    }

    fn client_with(&self, cache: Option<PathBuf>) -> Client {
        let settings = RegistrySettings {
            plain_http: true,
            rate_limit: Some(100_000.0),
            ..RegistrySettings::for_host(&self.host)
        };
        let retry = Retry { attempts: 1, ..Retry::default() };
        Client::new(Options { registries: vec![settings], retry, cache, ..Options::default() })
    }

    /// Returns what was asked since it was last asked this, without the address of the repository.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.asked))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(&*self.host);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn answer(&self, connection: TcpStream) {
        let mut reader = BufReader::new(connection);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let mut header = String::new();
        while reader.read_line(&mut header).is_ok() && header.len() > 2 {
            header.clear();
        }
        let (request, _) = line.rsplit_once(' ').unwrap_or_default();
        let asked = request.replace("/v2/team/app/", "");
        let wanted =
            asked.split_once('/').filter(|_| !asked.contains("/v2/")).map_or("", |(_, wanted)| wanted);
        let (status, body) = self.answers.get(wanted).cloned().unwrap_or((404, String::new()));
        let digest = Digest::of(body.as_bytes());
        lock(&self.asked).push(asked);
        let text = if request.starts_with("HEAD") { "" } else { &*body };
        let head =
            format!("Docker-Content-Digest: {digest}\r\nContent-Length: {}\r\nConnection: close", body.len());
        let _ = write!(reader.into_inner(), "HTTP/1.1 {status} Status\r\n{head}\r\n\r\n{text}");
    }
}

fn list(tags: &[&str]) -> (String, (u16, String)) {
    ("list".to_owned(), (200, json!({ "tags": tags }).to_string()))
}

/// A tag with an index for some platforms.
fn index(tag: &str, platforms: &[&str], created: &str) -> (String, (u16, String)) {
    let entry = |platform: &&str| {
        let (os, architecture) = platform.split_once('/').unwrap();
        let platform = json!({ "os": os, "architecture": architecture });
        json!({ "digest": Digest::of(tag.as_bytes()).to_string(), "size": 1, "platform": platform })
    };
    let manifests: Vec<_> = platforms.iter().map(entry).collect();
    let annotations = match created {
        "" => json!({ "of": tag }),
        created => json!({ "of": tag, "org.opencontainers.image.created": created }),
    };
    let media_type = "application/vnd.oci.image.index.v1+json";
    let index = json!({ "schemaVersion": 2, "mediaType": media_type, "manifests": manifests, "annotations": annotations });
    (tag.to_owned(), (200, index.to_string()))
}

fn rules(criteria: &Criteria) -> Rules {
    Rules::new(criteria).unwrap()
}

fn for_arm() -> Criteria {
    Criteria { platforms: vec!["linux/arm64".parse().unwrap()], ..Criteria::default() }
}

/// The question of an image that runs a tag, on a day.
fn question<'q>(current: Option<&'q str>) -> Question<'q> {
    Question {
        image: "app",
        tag: current,
        current,
        now: "2024-06-10T00:00:00Z".parse::<Timestamp>().unwrap(),
    }
}

#[track_caller]
fn chosen(decision: Result<Decision>) -> Option<String> {
    decision.unwrap().chosen
}

const BOTH: &[&str] = &["linux/amd64", "linux/arm64"];

#[test]
fn the_registry_is_asked_about_the_best_candidates_until_one_suits() {
    let server = Server::start([
        list(&["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "latest"]),
        index("1.4.0", &["linux/amd64"], ""),
        index("1.3.0", &[], ""),
        index("1.2.0", BOTH, ""),
    ]);
    let client = server.client();
    let look = Look::new(&client);
    let decision = look.decide(&server.repository(), &rules(&for_arm()), &question(Some("1.0.0"))).unwrap();
    assert_eq!(decision.chosen.as_deref(), Some("1.2.0"));
    assert!(decision.digest.is_some(), "it was told with the platforms");
    assert_eq!(
        server.asked(),
        ["GET tags/list", "GET manifests/1.4.0", "GET manifests/1.3.0", "GET manifests/1.2.0"]
    );
    let reason = |tag: &str| {
        let verdict = decision.decisions.iter().find(|verdict| verdict.tag == tag).unwrap();
        (verdict.verdict.as_str(), verdict.reason.as_str())
    };
    assert_eq!(reason("1.4.0"), ("dropped", "lacks the platform `linux/arm64`"));
    let unasked = "lower than `1.2.0`, and the registry was not asked more about it";
    assert_eq!(reason("1.1.0"), ("kept", unasked));

    // Whoever else is for these platforms is served by the same answers.
    let older = Criteria { semver_constraint: Some("<1.4".to_owned()), ..for_arm() };
    assert_eq!(
        chosen(look.decide(&server.repository(), &rules(&older), &question(None))).as_deref(),
        Some("1.2.0")
    );
    assert!(server.asked().is_empty());
}

/// Expected values: what runs and did suit is not asked about again, nor is what has to wait; who shall have it is told what it is now.
#[test]
fn a_round_in_which_nothing_happens_costs_the_list() {
    let server = Server::start([
        list(&["1.0.0", "1.1.0", "1.2.0"]),
        index("1.2.0", BOTH, "2024-06-09T00:00:00Z"),
        index("1.1.0", BOTH, "2024-06-01T00:00:00Z"),
        index("1.0.0", BOTH, "2024-05-01T00:00:00Z"),
    ]);
    let cache = tempfile::tempdir().unwrap();
    let client = server.client_with(Some(cache.path().to_owned()));
    let criteria = Criteria { min_age: Some("3d".parse().unwrap()), ..for_arm() };
    let at = |criteria: &Criteria, question: Question<'_>| {
        let decision = Look::new(&client).sparing().decide(&server.repository(), &rules(criteria), &question);
        (chosen(decision).unwrap_or_default(), server.asked())
    };
    let list = "GET tags/list";
    let strings = |asked: &[&str]| asked.iter().map(ToString::to_string).collect::<Vec<_>>();
    let runs = |tag| question(Some(tag));
    let later = |tag| Question { now: "2024-06-20T00:00:00Z".parse().unwrap(), ..runs(tag) };
    let downgrade = Criteria { allow_downgrade: true, ..for_arm() };
    for (criteria, question, tag, asked) in [
        (&criteria, runs("1.0.0"), "1.1.0", &[list, "GET manifests/1.2.0", "GET manifests/1.1.0"][..]),
        // It may have been moved before it was written.
        (&criteria, runs("1.0.0"), "1.1.0", &[list, "HEAD manifests/1.1.0"]),
        (&criteria, runs("1.1.0"), "1.1.0", &[list]),
        (&criteria, later("1.1.0"), "1.2.0", &[list, "HEAD manifests/1.2.0"]),
        (&criteria, later("1.2.0"), "1.2.0", &[list]),
        (&for_arm(), runs("1.2.0"), "1.2.0", &[list]),
        // A lower one might take the place of what no longer suits.
        (&downgrade, runs("1.2.0"), "1.2.0", &[list, "HEAD manifests/1.2.0"]),
    ] {
        assert_eq!(at(criteria, question), (tag.to_owned(), strings(asked)), "{criteria:?}");
    }
}

/// Neither how old a tag is that lacks a platform, nor anything about those below the first that suits.
#[test]
fn platforms_and_age_of_a_candidate_cost_one_request() {
    let server = Server::start([
        list(&["1.0.0", "1.1.0", "1.2.0", "1.3.0"]),
        index("1.3.0", &["linux/amd64"], ""),
        index("1.2.0", BOTH, "2024-06-09T00:00:00Z"),
        index("1.1.0", BOTH, "2024-06-01T00:00:00Z"),
    ]);
    let client = server.client();
    let criteria = Criteria { min_age: Some("3d".parse().unwrap()), ..for_arm() };
    let decision = Look::new(&client).decide(&server.repository(), &rules(&criteria), &question(None));
    assert_eq!(chosen(decision).as_deref(), Some("1.1.0"));
    assert_eq!(
        server.asked(),
        ["GET tags/list", "GET manifests/1.3.0", "GET manifests/1.2.0", "GET manifests/1.1.0"]
    );
}

/// A lower tag is no answer where the one above it could not be looked at.
#[test]
fn an_answer_that_is_needed_and_missing_is_no_decision() {
    let server = Server::start([
        list(&["1.0.0", "1.1.0", "1.2.0"]),
        index("1.2.0", &["linux/amd64"], ""),
        ("1.1.0".to_owned(), (500, String::new())),
        index("1.0.0", BOTH, ""),
    ]);
    let client = server.client();
    let error =
        Look::new(&client).decide(&server.repository(), &rules(&for_arm()), &question(None)).unwrap_err();
    assert!(error.message().contains("1.1.0"), "{error}");
    assert_eq!(server.asked(), ["GET tags/list", "GET manifests/1.2.0", "GET manifests/1.1.0"]);
}

#[test]
fn what_the_registry_does_not_know_is_asked_once_and_named() {
    let (tag, (status, body)) = index("1.1.0", &[], "");
    let server = Server::start([
        list(&["1.0.0", "1.1.0"]),
        (tag, (status, body)),
        index("1.0.0", BOTH, "2024-01-01T00:00:00Z"),
    ]);
    let client = server.client();
    let look = Look::new(&client);
    let criteria = Criteria { min_age: Some("3d".parse().unwrap()), ..Criteria::default() };
    for _ in 0..2 {
        let error = look.decide(&server.repository(), &rules(&criteria), &question(None)).unwrap_err();
        assert!(error.message().contains("the time of creation is not known of `1.1.0`"), "{error}");
        assert!(!error.message().contains("1.0.0"), "{error}");
    }
    assert_eq!(server.asked(), ["GET tags/list", "GET manifests/1.1.0"]);
}

#[test]
fn an_order_that_is_made_of_times_needs_all_of_them() {
    let server = Server::start([
        list(&["a", "b", "c"]),
        index("a", BOTH, "2024-01-01T00:00:00Z"),
        index("b", BOTH, "2024-03-01T00:00:00Z"),
        index("c", BOTH, "2024-02-01T00:00:00Z"),
    ]);
    let client = server.client();
    let criteria = Criteria { strategy: "newest-build".to_owned(), ..Criteria::default() };
    let decision = Look::new(&client).decide(&server.repository(), &rules(&criteria), &question(None));
    assert_eq!(chosen(decision).as_deref(), Some("b"));
    let mut asked = server.asked();
    asked.sort();
    assert_eq!(asked, ["GET manifests/a", "GET manifests/b", "GET manifests/c", "GET tags/list"]);
}

#[test]
fn images_that_share_a_repository_share_its_list() {
    let server = Server::start([list(&["1.0.0", "1.1.0", "2.0.0"])]);
    let client = server.client();
    let look = Look::new(&client);
    let decide = |constraint: &str| {
        let criteria = Criteria { semver_constraint: Some(constraint.to_owned()), ..Criteria::default() };
        chosen(look.decide(&server.repository(), &rules(&criteria), &question(None)))
    };
    thread::scope(|scope| {
        let threads = ["1.x", "2.x", "*"].map(|constraint| scope.spawn(move || decide(constraint)));
        let chosen = threads.map(|thread| thread.join().unwrap().unwrap());
        assert_eq!(chosen, ["1.1.0", "2.0.0", "2.0.0"]);
    });
    assert_eq!(server.asked(), ["GET tags/list"]);
}

/// Also that there is no list is said to all of them after one request.
#[test]
fn a_registry_that_says_no_is_not_asked_for_each_image() {
    let server = Server::start([("list".to_owned(), (403, String::new()))]);
    let client = server.client();
    let look = Look::new(&client);
    for constraint in ["1.x", "2.x"] {
        let criteria = Criteria { semver_constraint: Some(constraint.to_owned()), ..Criteria::default() };
        let error = look.decide(&server.repository(), &rules(&criteria), &question(None)).unwrap_err();
        assert!(error.message().contains("denies access"), "{error}");
    }
    assert_eq!(server.asked(), ["GET tags/list"]);
}

#[test]
fn a_watched_tag_is_asked_for_alone() {
    let server = Server::start([list(&["dev", "prod"]), index("dev", BOTH, ""), index("prod", BOTH, "")]);
    let client = server.client();
    let look = Look::new(&client);
    let criteria = Criteria { strategy: "digest".to_owned(), ..Criteria::default() };
    let digest = |tag| {
        let decision = look.decide(&server.repository(), &rules(&criteria), &question(Some(tag))).unwrap();
        assert_eq!(decision.chosen.as_deref(), Some(tag));
        decision.digest.unwrap()
    };
    assert_ne!(
        digest("dev"),
        digest("prod"),
        "two tags of one repository have nothing to do with each other"
    );
    assert_eq!(server.asked(), ["HEAD manifests/dev", "HEAD manifests/prod"]);
}

/// A registry may answer alike for a repository that is not there; so the list has to say that the tag is gone.
#[test]
fn a_watched_tag_is_gone_when_the_list_says_so_too() {
    let watch = |server: &Server| {
        let criteria = Criteria { strategy: "digest".to_owned(), ..Criteria::default() };
        let client = server.client();
        Look::new(&client).decide(&server.repository(), &rules(&criteria), &question(Some("dev")))
    };
    assert_eq!(chosen(watch(&Server::start([list(&["prod"])]))), None);
    for (answers, message) in
        [(vec![], "no such repository"), (vec![list(&["dev"])], "no such tag or manifest")]
    {
        let error = watch(&Server::start(answers)).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn what_was_recorded_is_all_there_is() {
    let tags =
        from_json(r#"[{"tag": "1.0.0", "platforms": ["linux/arm64"]}, "1.1.0"]"#, "tags.json").unwrap();
    let repository: Repository = "r.test/app".parse().unwrap();
    let look = Look::recorded(HashMap::from([(repository.clone(), tags)]));
    let decide = |criteria: &Criteria| look.decide(&repository, &rules(criteria), &question(None));
    assert_eq!(chosen(decide(&Criteria::default())).as_deref(), Some("1.1.0"));
    let error = decide(&for_arm()).unwrap_err();
    assert!(error.message().contains("the platforms are not known of `1.1.0`"), "{error}");
    let error = look.digest(&repository, "1.0.0").unwrap_err();
    assert!(error.message().contains("no digest of `r.test/app:1.0.0` is recorded"), "{error}");
    let other: Repository = "r.test/other".parse().unwrap();
    let error = look.decide(&other, &rules(&Criteria::default()), &question(None)).unwrap_err();
    assert!(error.message().contains("no tags of `r.test/other` are recorded"), "{error}");
}

#[test]
fn a_digest_that_is_written_beside_a_tag_is_asked_for_once() {
    let server = Server::start([index("1.0.0", BOTH, "")]);
    let client = server.client();
    let look = Look::new(&client);
    let digests = [(); 2].map(|()| look.digest(&server.repository(), "1.0.0").unwrap());
    assert_eq!(digests[0], digests[1]);
    assert_eq!(server.asked(), ["HEAD manifests/1.0.0"]);
}

#[test]
fn who_listens_hears_of_decisions_alone() {
    let server = Server::start([list(&["1.0.0"])]);
    let client = server.client();
    let heard = Mutex::new(Vec::new());
    let listener = |decision: &Decision| lock(&heard).push(decision.chosen.clone());
    let look = Look::new(&client).heard_by(&listener);
    let decide =
        |name: &str| look.decide(&name.parse().unwrap(), &rules(&Criteria::default()), &question(None));
    assert!(decide(&format!("{}/team/app", server.host)).is_ok());
    assert!(decide(&format!("{}/team/gone", server.host)).is_err());
    assert_eq!(*lock(&heard), [Some("1.0.0".to_owned())]);
}
