//! Registry behaviour beyond the plain case, with a stand-in that counts requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use diagnostic::ErrorKind;
use oci_registry::{
    Client, Credential, Descriptor, Digest, DockerConfig, Options, PullSecretKind, PullSecrets, Reference,
    RegistrySettings, Repository, Retry, TagList, Wanted,
};
use testkit::{Folder, Reply, Request, StandIn};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

fn settings(server: &StandIn) -> RegistrySettings {
    RegistrySettings { plain_http: true, rate_limit: Some(1e6), ..RegistrySettings::for_host(&server.host()) }
}

fn options(server: &StandIn) -> Options {
    let retry = Retry { attempts: 4, pause: Duration::from_millis(1), patience: Duration::from_secs(10) };
    let timeout = Duration::from_secs(10);
    Options { registries: vec![settings(server)], retry, timeout, ..Options::default() }
}

fn client(server: &StandIn) -> Client {
    Client::new(options(server))
}

fn client_of(server: &StandIn, credential: Credential) -> Client {
    Client::new(Options { credentials: Some(Arc::new(credential)), ..options(server) })
}

fn repository(server: &StandIn) -> Repository {
    Repository::new(&server.host(), "team/app").expect("it is well-formed")
}

fn tagged(server: &StandIn, tag: &str) -> Reference {
    repository(server).with_tag(tag).expect("it is well-formed")
}

fn tags(list: &TagList) -> Vec<&str> {
    list.tags().collect()
}

fn descriptor(content: &[u8]) -> Descriptor {
    let text = format!(r#"{{"digest": "{}", "size": {}}}"#, Digest::of(content), content.len());
    serde_json::from_str(&text).expect("it is well-formed")
}

/// Answers with a page of tags for each query.
fn pages(pages: &'static [(&'static str, &'static str, &'static str)]) -> impl Fn(&Request) -> Reply {
    move |request| {
        let Some((_, tags, link)) = pages.iter().find(|(query, ..)| *query == request.query) else {
            return Reply::new(404);
        };
        let reply = Reply::new(200).body(format!(r#"{{"name": "team/app", "tags": {tags}}}"#));
        if link.is_empty() { reply } else { reply.header(format!("Link: {link}")) }
    }
}

#[test]
fn all_pages_are_read_by_their_links_and_no_size_is_asked_for() {
    let server = StandIn::start(pages(&[
        ("", r#"["b", "a"]"#, r#"</v2/team/app/tags/list?last=a>; rel="next""#),
        ("last=a", r#"["c", "a"]"#, r#"<?next_page=gAAAA%3D>; rel=next"#),
        ("next_page=gAAAA%3D", "null", ""),
    ]));
    assert_eq!(tags(&client(&server).tags(&repository(&server)).unwrap()), ["b", "a", "c"]);
    assert_eq!(
        server.requests(),
        [
            "GET /v2/team/app/tags/list",
            "GET /v2/team/app/tags/list?last=a",
            "GET /v2/team/app/tags/list?next_page=gAAAA%3D",
        ]
    );
}

#[test]
fn an_absolute_link_is_followed_on_the_same_host_only() {
    let other = StandIn::start(|_| Reply::new(200).body("{}"));
    let foreign = format!("http://{}/v2/team/app/tags/list?last=a", other.host());
    let server = StandIn::start(move |request| {
        let own = format!("http://{}/v2/team/app/tags/list?last=a", request.header("host").unwrap());
        let reply = Reply::new(200).body(r#"{"tags": ["a"]}"#);
        match request.query.as_str() {
            "" => reply.header(format!("Link: <{own}>; rel=\"next\"")),
            "last=a" => reply.header(format!("Link: <{foreign}>; rel=\"next\"")),
            _ => reply,
        }
    });
    let error = client(&server).tags(&repository(&server)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("is on another host"), "{error}");
    assert_eq!(server.requests().len(), 2);
    assert!(other.requests().is_empty());
}

#[test]
fn pages_in_a_circle_are_no_list() {
    let server = StandIn::start(pages(&[
        ("", r#"["a"]"#, "<?last=a>; rel=next"),
        ("last=a", r#"["b"]"#, "<?last=b>; rel=next"),
        ("last=b", r#"["c"]"#, "<?last=a>; rel=next"),
    ]));
    let error = client(&server).tags(&repository(&server)).unwrap_err();
    assert!(error.message().ends_with("its pages lead in a circle"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_list_with_what_is_no_tag_is_refused() {
    for body in [r#"{"tags": ["a", "b\nc"]}"#, r#"{"tags": [1]}"#, "<html>", r#"{"tags": "a"}"#, ""] {
        let server = StandIn::start(move |_| Reply::new(200).body(body));
        let error = client(&server).tags(&repository(&server)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    }
}

/// Two pages whose tags of entity tell their content apart.
fn versioned(version: &Arc<AtomicUsize>) -> impl Fn(&Request) -> Reply + use<> {
    let version = Arc::clone(version);
    move |request| {
        let (mark, tags) = match (request.query.as_str(), version.load(Ordering::Relaxed)) {
            ("", _) => (r#""first""#, r#"["1.0"]"#),
            (_, 0) => (r#"W/"second""#, r#"["1.1"]"#),
            _ => (r#""third""#, r#"["1.1", "1.2"]"#),
        };
        if request.header("if-none-match") == Some(mark) {
            return Reply::new(304);
        }
        let reply = Reply::new(200).header(format!("ETag: {mark}")).body(format!(r#"{{"tags": {tags}}}"#));
        if request.query.is_empty() { reply.header("Link: <?last=1.0>; rel=next") } else { reply }
    }
}

#[test]
fn each_page_is_asked_whether_it_changed() {
    let version = Arc::new(AtomicUsize::new(0));
    let server = StandIn::start(versioned(&version));
    let (client, repository) = (client(&server), repository(&server));
    let first = client.tags_since(&repository, &TagList::default()).unwrap();
    assert_eq!(client.tags_since(&repository, &first).unwrap(), first);
    version.store(1, Ordering::Relaxed);
    let last = client.tags_since(&repository, &first).unwrap();
    assert_eq!(tags(&last), ["1.0", "1.1", "1.2"]);
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn the_cache_keeps_lists_and_what_is_damaged_in_it_is_read_again() {
    let folder = Folder::with(&[]);
    let server = StandIn::start(versioned(&Arc::default()));
    let cached = || Client::new(Options { cache: Some(folder.path("cache")), ..options(&server) });
    for _ in 0..2 {
        assert_eq!(tags(&cached().tags(&repository(&server)).unwrap()), ["1.0", "1.1"]);
    }
    assert!(folder.files("cache/staging").is_empty());
    let files = folder.files("cache/tags");
    assert_eq!(files.len(), 1);
    folder.write(&format!("cache/tags/{}", files[0]), "sha256:00\n{\"pages\": []}");
    assert_eq!(tags(&cached().tags(&repository(&server)).unwrap()), ["1.0", "1.1"]);
}

/// A registry that wants a token, which is its own token server: who asks it for one, and with what.
fn with_tokens(expires_in: f64) -> (StandIn, Arc<AtomicUsize>) {
    let given = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&given);
    let server = StandIn::start(move |request| {
        let host = request.header("host").expect("clients name it");
        if request.path == "/token" {
            let basic = "Basic bWU6czNjcmV0";
            let form = String::from_utf8_lossy(&request.body).into_owned();
            let is_identity =
                form.contains("grant_type=refresh_token") && form.contains("refresh_token=id%2Ftoken");
            if request.header("authorization") != Some(basic) && !is_identity {
                return Reply::new(401).body(r#"{"details": "incorrect username or password"}"#);
            }
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            let name = if is_identity { "access_token" } else { "token" };
            return Reply::new(200).body(format!(r#"{{"{name}": "t{number}", "expires_in": {expires_in}}}"#));
        }
        let valid = format!("Bearer t{}", count.load(Ordering::SeqCst));
        if request.header("authorization") == Some(&valid) {
            return Reply::new(200).body(r#"{"tags": ["1"]}"#);
        }
        let scope = if request.path.starts_with("/v2/acr/") { "metadata_read" } else { "pull" };
        let name = request.path.trim_start_matches("/v2/").trim_end_matches("/tags/list");
        let scope = format!("repository:{name}:{scope}");
        Reply::new(401)
            .header(format!(
                r#"WWW-Authenticate: Bearer realm="http://{host}/token",service="a,b",scope="{scope}""#
            ))
            .header("WWW-Authenticate: Basic realm=\"x\"")
    });
    (server, given)
}

fn me() -> Credential {
    Credential::basic("me", "s3cret")
}

#[test]
fn one_token_serves_all_threads_until_it_expires() {
    let (server, given) = with_tokens(3600.0);
    let (client, repository) = (client_of(&server, me()), repository(&server));
    client.tags(&repository).unwrap();
    assert_eq!(
        server.requests(),
        [
            "GET /v2/team/app/tags/list",
            "GET /token?service=a%2Cb&scope=repository%3Ateam%2Fapp%3Apull",
            "GET /v2/team/app/tags/list",
        ]
    );
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| client.tags(&repository).unwrap());
        }
    });
    assert_eq!(given.load(Ordering::SeqCst), 1);
    assert_eq!(server.requests().len(), 8);
    // Another repository is another scope, and nobody has to be refused first.
    client.tags(&Repository::new(&server.host(), "other").unwrap()).unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn an_expired_token_is_renewed_and_a_revoked_one_is_replaced_once() {
    let (server, _) = with_tokens(0.001);
    let client = client_of(&server, me());
    client.tags(&repository(&server)).unwrap();
    server.requests();
    thread::sleep(Duration::from_millis(2));
    client.tags(&repository(&server)).unwrap();
    assert_eq!(server.requests().len(), 2, "a token, and the list");

    let (server, _) = with_tokens(3600.0);
    let client = client_of(&server, me());
    client.tags(&repository(&server)).unwrap();
    server.requests();
    // The server knows only the token that it gave last.
    let other = client_of(&server, me());
    other.tags(&repository(&server)).unwrap();
    server.requests();
    client.tags(&repository(&server)).unwrap();
    assert_eq!(server.requests().len(), 3, "refused, a token, and the list");
}

#[test]
fn an_account_is_checked_without_a_scope() {
    let (server, _) = with_tokens(60.0);
    client_of(&server, me()).check(&server.host()).unwrap();
    assert_eq!(server.requests(), ["GET /v2/", "GET /token?service=a%2Cb", "GET /v2/"]);
    let error = client_of(&server, Credential::basic("me", "wr0ng")).check(&server.host()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}

#[test]
fn the_scope_is_what_the_registry_asks_for() {
    let (server, _) = with_tokens(60.0);
    client_of(&server, me()).tags(&Repository::new(&server.host(), "acr/app").unwrap()).unwrap();
    assert!(server.requests()[1].ends_with("scope=repository%3Aacr%2Fapp%3Ametadata_read"));
}

#[test]
fn an_identity_token_is_changed_for_another() {
    let (server, _) = with_tokens(60.0);
    client_of(&server, Credential::Identity("id/token".into())).tags(&repository(&server)).unwrap();
    assert_eq!(server.requests()[1], "POST /token");
}

#[test]
fn wrong_credentials_are_said_so_without_being_shown() {
    let (server, _) = with_tokens(60.0);
    for credential in [Credential::basic("me", "wr0ng"), Credential::Identity("wr0ng".into())] {
        let error = client_of(&server, credential).tags(&repository(&server)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        assert!(error.message().contains("incorrect username or password"), "{error}");
        assert!(error.message().contains(&repository(&server).to_string()), "{error}");
        assert!(!format!("{error:?}").contains("wr0ng"));
        assert_eq!(server.requests().len(), 2);
    }
    let error = client(&server).tags(&repository(&server)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}

#[test]
fn credentials_stay_with_the_host_that_they_are_for() {
    let content = b"content";
    let store = StandIn::start(move |request| match request.header("authorization") {
        Some(_) => Reply::new(400),
        None if request.query == "want=more" => {
            Reply::new(401).header("WWW-Authenticate: Basic realm=\"give me all\"")
        }
        None => Reply::new(200).body(&content[..]),
    });
    let away = format!("Location: http://{}/bucket", store.host());
    let server = StandIn::start(move |request| match request.header("authorization") {
        Some("Basic bWU6czNjcmV0") if request.path.contains("manifests") => {
            Reply::new(307).header(format!("{away}?want=more"))
        }
        Some("Basic bWU6czNjcmV0") => Reply::new(307).header(away.clone()),
        _ => Reply::new(401).header("WWW-Authenticate: Basic realm=\"x\""),
    });
    let client = client_of(&server, me());
    let bytes = client.content(&repository(&server), &descriptor(content), 100).unwrap();
    assert_eq!(bytes, content);
    // A host that a redirect leads to cannot ask for them either.
    assert!(client.manifest(&tagged(&server, "1")).is_err());
    assert_eq!(store.requests(), ["GET /bucket", "GET /bucket?want=more"]);
}

#[test]
fn redirects_have_an_end() {
    let server = StandIn::start(|request| Reply::new(302).header(format!("Location: {}?x", request.path)));
    let error = client(&server).tags(&repository(&server)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(server.requests().len(), 11);
}

#[test]
fn a_registry_that_asks_for_a_pause_gets_it() {
    let refusals = AtomicUsize::new(1);
    let server = StandIn::start(move |_| match refusals.fetch_sub(1, Ordering::SeqCst) {
        1 => Reply::new(429).header("Retry-After: 1"),
        _ => Reply::new(200).body(r#"{"tags": ["1"]}"#),
    });
    assert_eq!(tags(&client(&server).tags(&repository(&server)).unwrap()), ["1"]);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_pause_that_is_too_long_is_an_error_and_nobody_asks_meanwhile() {
    let server = StandIn::start(|_| {
        let body = r#"{"errors": [{"code": "TOOMANYREQUESTS", "message": "You have reached your pull rate limit."}]}"#;
        Reply::new(429).header("Retry-After: 3600").body(body)
    });
    let client = client(&server);
    let error = client.digest(&tagged(&server, "1")).unwrap_err();
    assert_eq!(
        (error.kind(), error.retry_after()),
        (ErrorKind::RateLimited, Some(Duration::from_secs(3600)))
    );
    let error = client.tags(&repository(&server)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
    assert!(error.message().contains(&repository(&server).to_string()), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn passing_failures_are_tried_again_and_others_are_not() {
    let failures = AtomicUsize::new(0);
    let server = StandIn::start(move |_| match failures.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::new(503),
        1 => Reply::new(200).body(r#"{"tags": ["1"]}"#).cut(4),
        _ => Reply::new(200).body(r#"{"tags": ["1"]}"#),
    });
    assert_eq!(tags(&client(&server).tags(&repository(&server)).unwrap()), ["1"]);
    assert_eq!(server.requests().len(), 3);
    for (status, kind, attempts) in [
        (400, ErrorKind::Protocol, 1),
        (403, ErrorKind::Denied, 1),
        (404, ErrorKind::NameUnknown, 1),
        (500, ErrorKind::Unavailable, 4),
    ] {
        let server = StandIn::start(move |_| Reply::new(status).body("<html>no</html>"));
        assert_eq!(client(&server).tags(&repository(&server)).unwrap_err().kind(), kind);
        assert_eq!(server.requests().len(), attempts, "{status}");
    }
}

#[test]
fn who_does_not_listen_is_unreachable() {
    let server = StandIn::start(|_| Reply::new(200));
    let (client, repository) = (client(&server), repository(&server));
    drop(server);
    let error = client.tags(&repository).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("refused"), "{error}");
}

#[test]
fn a_digest_that_is_not_stated_is_worked_out() {
    let body = br#"{"manifests": []}"#;
    let server = StandIn::start(move |request| {
        assert_eq!(request.header("accept").unwrap().matches("application/vnd.").count(), 4);
        Reply::new(200).header(format!("Content-Type: {INDEX}")).body(&body[..])
    });
    assert_eq!(client(&server).digest(&tagged(&server, "1")).unwrap(), Digest::of(body));
    assert_eq!(server.requests(), ["HEAD /v2/team/app/manifests/1", "GET /v2/team/app/manifests/1"]);
}

#[test]
fn a_registry_that_does_not_know_head_is_asked_otherwise() {
    let server = StandIn::start(|request| match request.method.as_str() {
        "HEAD" => Reply::new(405),
        _ => Reply::new(200).body("{}"),
    });
    assert_eq!(client(&server).digest(&tagged(&server, "1")).unwrap(), Digest::of(b"{}"));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_default_namespace_is_part_of_the_name_that_is_asked_for() {
    let (server, _) = with_tokens(60.0);
    let settings = RegistrySettings { default_namespace: Some("library".to_owned()), ..settings(&server) };
    let options =
        Options { registries: vec![settings], credentials: Some(Arc::new(me())), ..options(&server) };
    let client = Client::new(options);
    for (name, requests) in [("nginx", 3), ("redis", 2)] {
        client.tags(&Repository::new(&server.host(), name).unwrap()).unwrap();
        let asked = server.requests();
        assert_eq!(asked.len(), requests);
        assert!(
            asked[requests - 2].ends_with(&format!("scope=repository%3Alibrary%2F{name}%3Apull")),
            "{asked:?}"
        );
    }
}

#[test]
fn what_is_not_what_its_digest_says_is_refused() {
    let server = StandIn::start(|_| {
        let stated = Digest::of(b"something else");
        Reply::new(200).header(format!("Docker-Content-Digest: {stated}")).body("content")
    });
    let client = client(&server);
    let mismatch = |error: diagnostic::Error| assert_eq!(error.kind(), ErrorKind::DigestMismatch, "{error}");
    mismatch(client.manifest(&tagged(&server, "1")).unwrap_err());
    mismatch(client.manifest(&repository(&server).with_digest(Digest::of(b"CONTENT"))).unwrap_err());
    mismatch(client.content(&repository(&server), &descriptor(b"CONTENT"), 100).unwrap_err());
    mismatch(client.content(&repository(&server), &descriptor(b"conten"), 100).unwrap_err());
    server.requests();
    let error = client.content(&repository(&server), &descriptor(b"content"), 6).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(server.requests().is_empty());
}

#[test]
fn an_answer_without_an_end_is_not_read_to_its_end() {
    let server = StandIn::start(|_| Reply::new(200).body(vec![b' '; 1 << 16]).endless());
    let client = client(&server);
    assert_eq!(client.tags(&repository(&server)).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(client.manifest(&tagged(&server, "1")).unwrap_err().kind(), ErrorKind::Limit);
    let error = client.content(&repository(&server), &descriptor(&[b' '; 1 << 20]), 1 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DigestMismatch);
}

#[test]
fn content_whose_connection_breaks_is_taken_up_where_it_broke() {
    let content: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
    for knows_ranges in [true, false] {
        let served = content.clone();
        let attempts = AtomicUsize::new(0);
        let server = StandIn::start(move |request| {
            let start =
                request.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
            let start: usize = start.map_or(0, |start| start.parse().unwrap());
            let reply = if knows_ranges && start > 0 {
                let range = format!("Content-Range: bytes {start}-{}/{}", served.len() - 1, served.len());
                Reply::new(206).header(range).body(&served[start..])
            } else {
                Reply::new(200).body(&served[..])
            };
            match attempts.fetch_add(1, Ordering::SeqCst) {
                attempt @ 0..2 => reply.cut(if knows_ranges { 70_000 } else { 70_000 * (attempt + 1) }),
                _ => reply,
            }
        });
        let bytes = client(&server).content(&repository(&server), &descriptor(&content), 1 << 20).unwrap();
        assert_eq!(bytes, content);
        assert_eq!(server.requests().len(), 3);
    }
}

#[test]
fn content_is_taken_as_it_is_sent() {
    // An archive that its store calls an encoding, as stores in clouds do.
    let archive = b"\x1f\x8b\x08\x00 not even one";
    let server = StandIn::start(move |_| Reply::new(200).header("Content-Encoding: gzip").body(&archive[..]));
    let bytes = client(&server).content(&repository(&server), &descriptor(archive), 100).unwrap();
    assert_eq!(bytes, archive);
}

/// An index of two images with an attestation, where the dates of some are said early and of others late.
fn images(annotations: [&'static str; 2]) -> StandIn {
    let config = |created: &str, architecture: &str| {
        format!(
            r#"{{"created": "{created}", "os": "linux", "architecture": "{architecture}",
            "config": {{"Labels": {{"source": "{architecture}"}}}}}}"#
        )
    };
    let configs = [config("2024-01-01T00:00:00Z", "amd64"), config("2024-03-01T00:00:00Z", "arm64")];
    let image = |config: &str| {
        let size = config.len();
        format!(
            r#"{{"config": {{"digest": "{}", "size": {size}}}, "layers": []}}"#,
            Digest::of(config.as_bytes())
        )
    };
    let manifests = [image(&configs[0]), image(&configs[1])];
    let entry = |place: usize, platform: &str| {
        let manifest = &manifests[place];
        format!(
            r#"{{"digest": "{}", "size": {}, "platform": {platform}, "annotations": {{{}}}}}"#,
            Digest::of(manifest.as_bytes()),
            manifest.len(),
            if place == 0 { annotations[1] } else { "" }
        )
    };
    let index = format!(
        r#"{{"annotations": {{{}}}, "manifests": [{}, {}, {}]}}"#,
        annotations[0],
        entry(0, r#"{"os": "linux", "architecture": "amd64"}"#),
        entry(1, r#"{"os": "linux", "architecture": "arm64", "variant": "v8"}"#),
        entry(1, r#"{"os": "unknown", "architecture": "unknown"}"#),
    );
    StandIn::start(move |request| {
        let asked = request.path.rsplit('/').next().expect("a path has a slash");
        let mut contents = manifests.iter().chain(&configs);
        let found = contents.find(|content| Digest::of(content.as_bytes()).as_str() == asked);
        let content = if asked == "1" { &index } else { found.expect("only what is listed is asked for") };
        Reply::new(200)
            .header(format!("Docker-Content-Digest: {}", Digest::of(content.as_bytes())))
            .body(content.as_str())
    })
}

#[test]
fn an_image_is_as_old_as_its_index_says_or_else_its_youngest_part() {
    let created = Wanted { created: true, ..Wanted::default() };
    let amd64 = Wanted { platforms: vec!["linux/amd64".parse().unwrap()], ..created.clone() };
    let annotation = r#""org.opencontainers.image.created": "2024-02-01T00:00:00Z""#;
    for (annotations, wanted, date, requests) in [
        ([annotation, ""], &created, "2024-02-01", 1),
        (["", annotation], &created, "2024-03-01", 3),
        (["", annotation], &amd64, "2024-02-01", 1),
        (["", ""], &created, "2024-03-01", 5),
        (["", ""], &amd64, "2024-01-01", 3),
    ] {
        let server = images(annotations);
        let image = client(&server).image(&tagged(&server, "1"), wanted).unwrap();
        assert!(image.created.unwrap().to_string().starts_with(date), "{annotations:?}");
        assert_eq!(server.requests().len(), requests, "{annotations:?}");
    }
}

#[test]
fn platforms_and_labels_are_those_of_images_that_run() {
    let server = images(["", ""]);
    let client = client(&server);
    let image = client.image(&tagged(&server, "1"), &Wanted::default()).unwrap();
    let platforms: Vec<_> = image.platforms.iter().map(ToString::to_string).collect();
    assert_eq!(platforms, ["linux/amd64", "linux/arm64/v8"]);
    let wanted = ["linux/arm64", "linux/s390x"].map(|platform| platform.parse().unwrap());
    assert_eq!(image.lacks(&wanted), [&wanted[1]]);
    assert_eq!((image.created, server.requests().len()), (None, 1));
    let labels = Wanted { labels: true, platforms: vec!["linux/arm64".parse().unwrap()], created: false };
    let image = client.image(&tagged(&server, "1"), &labels).unwrap();
    assert_eq!((image.labels["source"].as_str(), image.created), ("arm64", None));
}

#[test]
fn with_a_cache_a_known_tag_costs_one_question() {
    let folder = Folder::with(&[]);
    let server = images(["", ""]);
    let wanted = Wanted { created: true, ..Wanted::default() };
    let ask = || {
        let client = Client::new(Options { cache: Some(folder.path("cache")), ..options(&server) });
        client.image(&tagged(&server, "1"), &wanted).unwrap();
        server.requests()
    };
    assert_eq!(ask().len(), 5);
    assert_eq!(ask(), ["HEAD /v2/team/app/manifests/1"]);
    let files = folder.files("cache/content");
    assert_eq!(files.len(), 5);
    for file in files {
        folder.write(&format!("cache/content/{file}"), "damaged");
    }
    assert_eq!(ask().len(), 5);
    assert_eq!(ask().len(), 1);
}

/// `me:pw` fits better than `other:pw`.
fn pull_secrets(host: &str) -> PullSecrets {
    let content =
        format!(r#"{{"{host}/team": {{"auth": "bWU6cHc="}}, "{host}": {{"auth": "b3RoZXI6cHc="}}}}"#);
    let kind = PullSecretKind::Legacy;
    PullSecrets(vec![DockerConfig::pull_secret("Secret `ns/pull`", kind, content.into_bytes())])
}

/// As the kubelet does: a pull secret that is out of date does not hide one that is good.
#[test]
fn each_credential_that_fits_is_tried() {
    for refusal in [401, 403] {
        let server = StandIn::start(move |request| match request.header("authorization") {
            Some("Basic b3RoZXI6cHc=") => Reply::new(200).body(r#"{"tags": ["1.0"]}"#),
            Some(_) if refusal == 403 => Reply::new(403),
            _ => Reply::new(401).header("WWW-Authenticate: Basic realm=\"r\""),
        });
        let source = Arc::new(pull_secrets(&server.host()));
        let client = Client::new(Options { credentials: Some(source), ..options(&server) });
        assert_eq!(tags(&client.tags(&repository(&server)).unwrap()), ["1.0"]);
        assert_eq!(server.requests().len(), 3, "as anybody, as me, as another");
        client.tags(&repository(&server)).unwrap();
        assert_eq!(server.requests().len(), 1, "it is known who is let in");
    }
}

#[test]
fn a_token_server_may_refuse_some_credentials_and_not_others() {
    let server = StandIn::start(|request| match (request.path.as_str(), request.header("authorization")) {
        ("/token", Some("Basic b3RoZXI6cHc=")) => Reply::new(200).body(r#"{"token": "t"}"#),
        ("/token", _) => Reply::new(403),
        (_, Some("Bearer t")) => Reply::new(200).body(r#"{"tags": ["1.0"]}"#),
        _ => {
            let host = request.header("host").unwrap_or_default();
            Reply::new(401).header(format!("WWW-Authenticate: Bearer realm=\"http://{host}/token\""))
        }
    });
    let source = Arc::new(pull_secrets(&server.host()));
    let client = Client::new(Options { credentials: Some(source), ..options(&server) });
    assert_eq!(tags(&client.tags(&repository(&server)).unwrap()), ["1.0"]);
    let asked = server.requests();
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("GET /token")).count(), 2, "{asked:?}");
}

/// None of them is good: each is tried once, and the next question begins anew.
#[test]
fn where_all_credentials_are_refused_that_is_the_end() {
    let server = StandIn::start(|_| Reply::new(401).header("WWW-Authenticate: Basic realm=\"r\""));
    let source = Arc::new(pull_secrets(&server.host()));
    let client = Client::new(Options { credentials: Some(source), ..options(&server) });
    let error = client.tags(&repository(&server)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(error.get_hint().unwrap().starts_with("check the credentials"), "{error:?}");
    assert_eq!(server.requests().len(), 3);
    client.tags(&repository(&server)).unwrap_err();
    assert_eq!(server.requests().len(), 2, "it is known that somebody has to be shown");
}
