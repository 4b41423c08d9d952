//! Every kind by what its senders write, and what becomes of those who are not who they say.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use sha1::Sha1;
use sha2::Sha256;

use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/image-updater/webhooks");

/// The secret of all kinds. It is an account for those who want one.
const SECRET: &str = "bot:f3rry s3cret";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    why: String,
    r#type: String,
    body: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    images: Option<Vec<String>>,
    push: Option<Vec<String>>,
    malformed: Option<String>,
}

impl Case {
    fn all() -> Vec<Self> {
        let text = fs::read_to_string(format!("{FOLDER}/cases.toml")).unwrap();
        toml::from_str::<Cases>(&text).unwrap().case
    }

    fn body(&self) -> Vec<u8> {
        fs::read(format!("{FOLDER}/{}", self.body)).unwrap()
    }

    /// The head without any proof.
    fn head(&self) -> Parts {
        self.head_with(&self.query)
    }

    fn head_with(&self, query: &str) -> Parts {
        let address = format!("/webhook?type={}&{query}", self.r#type);
        let (mut head, ()) = Request::post(address).body(()).unwrap().into_parts();
        for (name, value) in &self.headers {
            set(&mut head, name, value);
        }
        head
    }

    fn kind(&self) -> &'static Kind {
        Kind::named(&self.r#type).unwrap()
    }

    /// The head with one proof.
    fn proven(&self, proof: &Proof, secret: &str, body: &[u8]) -> Parts {
        let mut head = self.head();
        match proof {
            Proof::Sha256 { header, prefix } => {
                set(&mut head, header, &format!("{prefix}{}", signed::<Hmac<Sha256>>(secret, body)));
            }
            Proof::Sha1 { header } => set(&mut head, header, &signed::<Hmac<Sha1>>(secret, body)),
            Proof::Header(name) => set(&mut head, name, secret),
            Proof::Bearer => set(&mut head, "authorization", &format!("Bearer {secret}")),
            Proof::Basic => set(&mut head, "authorization", &format!("Basic {}", STANDARD.encode(secret))),
            Proof::Query => {
                let secret: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
                return self.head_with(&format!("{}&secret={secret}", self.query));
            }
        }
        head
    }
}

fn set(head: &mut Parts, name: &str, value: &str) {
    head.headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
}

fn signed<M: Mac + KeyInit>(secret: &str, body: &[u8]) -> String {
    let mac = <M as KeyInit>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn receiver(per_hour: u32) -> Receiver {
    Receiver::new(&[], true, per_hour, |name| name.ends_with("_WEBHOOK_SECRET").then(|| SECRET.to_owned()))
        .unwrap()
}

fn shown(image: &Image) -> String {
    let tag = image.tag.as_ref().map(|tag| format!(":{tag}"));
    let digest = image.digest.as_ref().map(|digest| format!("@{digest}"));
    format!("{}{}{}", image.repository, tag.unwrap_or_default(), digest.unwrap_or_default())
}

#[test]
fn each_body_says_what_its_documentation_says() {
    for case in Case::all() {
        let (head, body) = (case.head(), serde_json::from_slice(&case.body()).unwrap());
        let read = case.kind().read(&Letter::new(&head, &body));
        let context = format!("{}: {} ({})", case.r#type, case.why, case.body);
        match (read, &case.images, &case.push, &case.malformed) {
            (Ok(News::Nothing), Some(images), None, None) => assert!(images.is_empty(), "{context}"),
            (Ok(News::Images(images)), Some(wanted), None, None) => {
                assert_eq!(images.iter().map(shown).collect::<Vec<_>>(), *wanted, "{context}");
            }
            (Ok(News::Push(push)), None, Some(wanted), None) => {
                let commit = push.commit.unwrap();
                let all: Vec<String> = push.addresses.into_iter().chain([push.branch, commit]).collect();
                assert_eq!(all, *wanted, "{context}");
            }
            (Err(Malformed(reason)), None, None, Some(wanted)) => assert_eq!(reason, wanted, "{context}"),
            (read, ..) => panic!("{context}: {read:?}"),
        }
    }
}

#[test]
fn every_kind_and_every_body_has_a_case() {
    let cases = Case::all();
    for kind in KINDS {
        let has_news = |case: &Case| case.kind().name() == kind.name() && case.malformed.is_none();
        assert!(cases.iter().any(has_news), "{}", kind.name());
    }
    for file in fs::read_dir(FOLDER).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(name == "cases.toml" || cases.iter().any(|case| case.body == name), "{name}");
    }
    let mut names: Vec<&str> =
        KINDS.iter().flat_map(|kind| kind.names.iter().chain([&kind.variable])).copied().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

/// One case of news for each kind, as it is sent.
fn senders() -> Vec<(Case, &'static Proof)> {
    let mut cases: Vec<Case> = Case::all();
    cases.retain(|case| case.malformed.is_none());
    cases.dedup_by_key(|case| case.kind().name());
    cases
        .into_iter()
        .flat_map(|case| case.kind().proofs.iter().map(move |proof| (case.clone(), proof)))
        .collect()
}

fn refused(receiver: &Receiver, head: &Parts, body: &[u8]) -> Option<Outcome> {
    receiver.receive(head, body).err().map(|refusal| refusal.outcome)
}

#[test]
fn only_who_knows_the_secret_is_heard() {
    let receiver = receiver(0);
    for (case, proof) in senders() {
        let (body, context) = (case.body(), format!("{} by {proof:?}", case.r#type));
        let right = case.proven(proof, SECRET, &body);
        assert_eq!(receiver.refuse_by_head(&right), None, "{context}");
        assert!(receiver.receive(&right, &body).is_ok(), "{context}");
        let unauthorized = Some(Outcome::Unauthorized);
        for wrong in ["", "bot:f3rry s3creT", "bot:f3rry s3cret ", "bot:f3rry s3cre"] {
            let head = case.proven(proof, wrong, &body);
            assert_eq!(refused(&receiver, &head, &body), unauthorized, "{context}: {wrong}");
        }
        let none = receiver.refuse_by_head(&case.head()).unwrap();
        assert_eq!((none.outcome, none.reason), (Outcome::Unauthorized, None), "{context}");
        assert_eq!(
            refused(&receiver, &case.head(), b"no JSON"),
            unauthorized,
            "{context}: before it is read"
        );
        assert_eq!(
            refused(&receiver, &case.proven(proof, SECRET, b"no JSON"), b"no JSON"),
            Some(Outcome::Malformed),
            "{context}"
        );
    }
}

#[test]
fn a_proof_that_is_there_twice_or_beside_a_wrong_one_is_none() {
    let receiver = receiver(0);
    for (case, proof) in senders() {
        let (body, context) = (case.body(), format!("{} by {proof:?}", case.r#type));
        let mut head = case.proven(proof, SECRET, &body);
        match proof {
            Proof::Query => {
                let query = head.uri.query().unwrap();
                let twice = format!("/webhook?{query}&{query}").replacen("type=", "x=", 1);
                head.uri = twice.parse().unwrap();
            }
            Proof::Sha256 { header, .. } | Proof::Sha1 { header } | Proof::Header(header) => {
                let value = head.headers[*header].clone();
                head.headers.append(*header, value);
            }
            Proof::Bearer | Proof::Basic => {
                let value = head.headers["authorization"].clone();
                head.headers.append("authorization", value);
            }
        }
        assert_eq!(refused(&receiver, &head, &body), Some(Outcome::Unauthorized), "{context}: twice");
        for other in case.kind().proofs {
            let mut head = case.proven(proof, SECRET, &body);
            let wrong = case.proven(other, "wrong", &body);
            let before = head.clone();
            head.headers.extend(wrong.headers.clone());
            if matches!(other, Proof::Query) {
                head.uri = wrong.uri;
            }
            if !std::ptr::eq(proof, other) && (head.headers != before.headers || head.uri != before.uri) {
                assert!(refused(&receiver, &head, &body).is_some(), "{context}: beside a wrong {other:?}");
            }
        }
    }
}

#[test]
fn a_signature_is_as_long_as_it_has_to_be_and_of_the_whole_body() {
    let receiver = receiver(0);
    let mut seen = 0;
    for (case, proof) in senders() {
        let (Proof::Sha256 { header, .. } | Proof::Sha1 { header }) = proof else { continue };
        seen += 1;
        let body = case.body();
        let right = case.proven(proof, SECRET, &body);
        let stated = right.headers[*header].to_str().unwrap().to_owned();
        let mut other = body.clone();
        other[0] ^= 1;
        assert_eq!(refused(&receiver, &right, &other), Some(Outcome::Unauthorized));
        let digits = stated.rsplit('=').next().unwrap();
        let wrong = [
            String::new(),
            stated[..stated.len() - 1].to_owned(),
            format!("{stated}0"),
            format!("{stated} "),
            stated.replace(digits, &"0".repeat(digits.len())),
            stated.replace(digits, &"g".repeat(digits.len())),
            format!("sha1={digits}"),
        ];
        for wrong in wrong {
            let mut head = right.clone();
            set(&mut head, header, &wrong);
            assert_eq!(refused(&receiver, &head, &body), Some(Outcome::Unauthorized), "{wrong}");
        }
        let mut upper = right.clone();
        set(&mut upper, header, &stated.replace(digits, &digits.to_uppercase()));
        assert!(receiver.receive(&upper, &body).is_ok());
    }
    assert!(seen >= 5);
}

#[test]
fn what_is_not_served_is_not_there() {
    let some = |name: &str| {
        (name == "GHCR_WEBHOOK_SECRET" || name == "ACR_WEBHOOK_SECRET").then(|| match name {
            "ACR_WEBHOOK_SECRET" => String::new(),
            _ => SECRET.to_owned(),
        })
    };
    let receiver = Receiver::new(&[], true, 0, some).unwrap();
    assert_eq!(receiver.kinds().collect::<Vec<_>>(), [("ghcr.io", true)]);
    let unknown = |receiver: &Receiver, method: &str, address: &str| {
        let (head, ()) = Request::builder().method(method).uri(address).body(()).unwrap().into_parts();
        receiver.refuse_by_head(&head).map(|refusal| (refusal.outcome, refusal.kind))
    };
    for address in [
        "/webhook",
        "/webhook?type=",
        "/webhook?type=acr",
        "/webhook?type=nobody",
        "/?type=ghcr.io",
        "/webhook/?type=ghcr.io",
        "/webhook?type=ghcr.io&type=ghcr.io",
    ] {
        assert_eq!(unknown(&receiver, "POST", address), Some((Outcome::Unknown, None)), "{address}");
    }
    assert_eq!(unknown(&receiver, "GET", "/webhook?type=ghcr.io"), Some((Outcome::Unknown, Some("ghcr.io"))));
    // Argo CD Image Updater's other way to say the type.
    let (mut head, ()) = Request::post("/webhook").body(()).unwrap().into_parts();
    set(&mut head, "x-registry-type", "ghcr.io");
    assert_eq!(receiver.refuse_by_head(&head).map(|refusal| refusal.outcome), Some(Outcome::Unauthorized));
    let all = Receiver::new(&[], false, 0, some).unwrap();
    assert_eq!(all.kinds().filter(|(_, is_proven)| *is_proven).count(), 1);
    assert_eq!(all.kinds().count(), KINDS.len());
    assert_eq!(unknown(&all, "POST", "/webhook?type=acr"), None, "whoever sends it is believed");
}

#[test]
fn a_secret_that_is_said_counts_before_the_environment_and_may_change() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "first\n").unwrap();
    let places = [(Kind::named("harbor").unwrap(), SecretPlace::File(file.path().to_owned()))];
    let receiver = Receiver::new(&places, true, 0, |_| Some(SECRET.to_owned())).unwrap();
    let (case, proof) = senders().into_iter().find(|(case, _)| case.r#type == "harbor").unwrap();
    let is_heard = |secret: &str| receiver.receive(&case.proven(proof, secret, b""), &case.body()).is_ok();
    assert!(is_heard("first") && !is_heard(SECRET));
    fs::write(file.path(), "second").unwrap();
    assert!(is_heard("second") && !is_heard("first"));
    fs::write(file.path(), "").unwrap();
    assert!(!is_heard("second") && !is_heard(""));
    drop(file);
    assert!(!is_heard("second") && !is_heard(""));
}

#[test]
fn what_is_sent_again_is_known() {
    for (case, proof) in senders() {
        let (kind, now, body) = (case.kind(), Instant::now(), case.body());
        let mut head = case.proven(proof, SECRET, &body);
        if let Some(name) = kind.delivery {
            set(&mut head, name, "7d0e3a");
        } else if !kind.is_unique {
            continue;
        }
        let receiver = receiver(0);
        let is_known = |head: &Parts| {
            let received = receiver.receive(head, &body).unwrap();
            let is_known = receiver.is_repeated(&received, now);
            assert!(receiver.take(&received, now));
            is_known
        };
        assert_eq!([is_known(&head), is_known(&head)], [false, true], "{}", kind.name());
        if let (Some(name), true) = (kind.delivery, kind.is_unique) {
            // The name of a delivery is not signed.
            set(&mut head, name, "forged");
            assert!(is_known(&head), "{}", kind.name());
        }
    }
}

#[test]
fn a_tag_that_is_pushed_a_second_time_in_the_same_words_is_news() {
    let receiver = receiver(0);
    for (case, proof) in senders().into_iter().filter(|(case, _)| !case.kind().is_unique) {
        let (head, now) = (case.proven(proof, SECRET, &case.body()), Instant::now());
        let received = receiver.receive(&head, &case.body()).unwrap();
        assert!(receiver.take(&received, now) && !receiver.is_repeated(&received, now), "{}", case.r#type);
    }
}

#[test]
fn more_than_an_hour_allows_is_not_taken_and_not_known() {
    let receiver = receiver(2);
    let (case, proof) = senders().into_iter().find(|(case, _)| case.r#type == "docker.io").unwrap();
    let now = Instant::now();
    let taken = |body: String| {
        let received =
            receiver.receive(&case.proven(proof, SECRET, body.as_bytes()), body.as_bytes()).unwrap();
        (receiver.take(&received, now), receiver.is_repeated(&received, now))
    };
    let body = |tag: &str| {
        format!("{{\"push_data\":{{\"tag\":\"{tag}\"}},\"repository\":{{\"repo_name\":\"a/b\"}}}}")
    };
    assert_eq!(taken(body("1")), (true, true));
    assert_eq!(taken(body("2")), (true, true));
    assert_eq!(taken(body("3")), (false, false));
}

/// Any JSON, with the names and words that mean something here and there.
fn json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        any::<String>(),
        "[a-z0-9:./@-]{0,12}",
        proptest::sample::select(vec![
            "push",
            "published",
            "PUSH_ARTIFACT",
            "INSERT",
            "CREATED",
            "docker",
            "pushed",
            "container",
            "com.amazon.ecr.image.push",
            "arn:aws:ecr:a:b:c",
            "ECR Image Action",
            "refs/heads/main",
            "e30=",
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    let name = proptest::sample::select(vec![
        "push_data",
        "tag",
        "repository",
        "repo_name",
        "name",
        "namespace",
        "package",
        "registry_package",
        "action",
        "package_type",
        "owner",
        "login",
        "package_version",
        "type",
        "event_data",
        "resources",
        "resource_url",
        "updated_tags",
        "docker_url",
        "target",
        "request",
        "host",
        "specversion",
        "source",
        "subject",
        "data",
        "detail",
        "detail-type",
        "events",
        "domain",
        "event_type",
        "image_name",
        "repo_key",
        "jpd_origin",
        "component",
        "message",
        "image",
        "ref",
        "project",
        "object_kind",
        "region",
        "digest",
    ]);
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a sender writes, it is read or refused, and what is read can be named.
    #[test]
    fn nothing_that_is_written_does_harm(body in json(), query in "[ -~]{0,30}", event in "[ -~]{0,12}") {
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let (mut head, ()) = Request::post(format!("/webhook?registry_url={query}")).body(()).unwrap().into_parts();
        for name in ["x-github-event", "x-gitea-event", "ce-specversion", "ce-type"] {
            set(&mut head, name, if event.len() > 6 { "push" } else { &event });
        }
        for kind in KINDS {
            if let Ok(News::Images(images)) = kind.read(&Letter::new(&head, &body)) {
                for image in images {
                    prop_assert!(image.repository.to_string().parse::<Repository>().is_ok() || !image.repository.registry().contains('.'));
                }
            }
        }
    }

    /// A body that says something, with one of its values changed.
    #[test]
    fn nothing_that_is_changed_does_harm(place in 0_usize..1000, change in json()) {
        for case in Case::all() {
            let mut body: Value = serde_json::from_slice(&case.body()).unwrap();
            let mut left = place % 40;
            replace(&mut body, &mut left, &change);
            let _ = case.kind().read(&Letter::new(&case.head(), &body));
        }
    }
}

/// Puts something else in the place of a value, counted in the order in which they are written.
fn replace(value: &mut Value, left: &mut usize, change: &Value) {
    if *left == 0 {
        value.clone_from(change);
    }
    *left = left.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, left, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, left, change)),
        _ => {}
    }
}
