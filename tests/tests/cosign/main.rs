//! Signatures of images in registries: `docker-registry`, which keeps no lists of referrers, and a stand-in that does.

mod updater;

use std::collections::HashMap;
use std::time::Duration;

use cosign::{Format, PublicKey, verify};
use diagnostic::ErrorKind;
use oci_registry::{Client, Digest, Options, RegistrySettings, Repository, Retry};
use serde_json::{Value, json};
use testkit::cosign::{BUNDLE, CosignKey, SIMPLE_SIGNING};
use testkit::{DockerRegistry, RegistryHabits, Reply, StandIn};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn client(host: &str) -> Client {
    let settings =
        RegistrySettings { plain_http: true, rate_limit: Some(1e6), ..RegistrySettings::for_host(host) };
    let retry = Retry { attempts: 2, pause: Duration::from_millis(1), ..Retry::default() };
    Client::new(Options { registries: vec![settings], retry, ..Options::default() })
}

fn keys(key: &CosignKey) -> Vec<PublicKey> {
    PublicKey::read_all("`cosign.pub`", &key.public_pem()).expect("it is well-formed")
}

/// A real registry with an image, and the key that is trusted.
struct Signed {
    registry: DockerRegistry,
    digest: Digest,
    key: CosignKey,
}

impl Signed {
    fn new() -> Self {
        let registry = DockerRegistry::start(RegistryHabits::default());
        let image = registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
        let digest = image.digest.parse().expect("it is a digest");
        Self { registry, digest, key: CosignKey::new() }
    }

    fn tag(&self) -> String {
        format!("{}.sig", self.digest.as_str().replace(':', "-"))
    }

    /// Puts signatures under the tag, and asks for the verdict.
    fn with(&self, signatures: &[testkit::cosign::SimpleSigning]) -> diagnostic::Result<Format> {
        self.registry.push_signatures("team/app", &self.tag(), signatures);
        self.verdict()
    }

    fn verdict(&self) -> diagnostic::Result<Format> {
        let repository: Repository = format!("{}/team/app", self.registry.host()).parse().expect("it is one");
        let verified = verify(&client(&self.registry.host()), &repository, &self.digest, &keys(&self.key))?;
        assert_eq!(verified.key, "`cosign.pub`");
        Ok(verified.format)
    }

    #[track_caller]
    fn refuses(&self, outcome: &diagnostic::Result<Format>, kind: ErrorKind, reason: &str) {
        let error = outcome.as_ref().expect_err("it is refused");
        assert_eq!(error.kind(), kind, "{error}");
        let start = format!("`{}/team/app@{}` is not signed", self.registry.host(), self.digest);
        assert!(error.message().starts_with(&start) && error.message().contains(reason), "{error}");
    }
}

#[test]
fn one_good_signature_under_the_tag_is_enough() {
    let image = Signed::new();
    let (digest, key, other) = (image.digest.as_str(), &image.key, CosignKey::new());
    let nothing = image.verdict();
    image.refuses(&nothing, ErrorKind::NotSigned, &format!("none is under the tag `{}`", image.tag()));
    let wrong = image.with(&[other.simple_signing(digest)]);
    image.refuses(
        &wrong,
        ErrorKind::UntrustedSignature,
        "with `cosign.pub`: a signature is with another key",
    );
    assert_eq!(image.with(&[key.simple_signing(digest)]).unwrap(), Format::SimpleSigning);
    // The last of many, the first, and one among others that are wrong in every way.
    let mut many: Vec<_> = (0..20).map(|_| other.simple_signing(digest)).collect();
    many.push(key.simple_signing(digest));
    assert!(image.with(&many).is_ok());
    many.reverse();
    assert!(image.with(&many).is_ok());
    let elsewhere = key.simple_signing(Digest::of(b"another").as_str());
    let mut unsigned = key.simple_signing(digest);
    unsigned.annotations = json!({});
    let all = [
        elsewhere,
        key.sign_payload(b"{}".to_vec()),
        key.sign_payload(vec![b' '; 200_000]),
        key.simple_signing(digest),
        unsigned,
        other.simple_signing(digest),
    ];
    assert!(image.with(&all).is_ok());
}

#[test]
fn what_is_wrong_with_a_signature_is_said() {
    let image = Signed::new();
    let (digest, key) = (image.digest.as_str(), &image.key);
    let another = Digest::of(b"another");
    let moved = image.with(&[key.simple_signing(another.as_str())]);
    image.refuses(&moved, ErrorKind::OtherDigest, &format!("is for another digest, `{another}`"));
    let signed_nonsense = image.with(&[key.sign_payload(b"null".to_vec())]);
    image.refuses(&signed_nonsense, ErrorKind::Protocol, "its payload names no image");
    let mut broken = key.simple_signing(digest);
    broken.annotations["dev.cosignproject.cosign/signature"] = json!("no base64");
    image.refuses(&image.with(&[broken.clone()]), ErrorKind::Protocol, "its signature has wrong Base64");
    let large = key.sign_payload(vec![b' '; 200_000]);
    image.refuses(&image.with(&[large]), ErrorKind::Limit, "has 200000 bytes, and at most 131072 are read");
    let mut keyless = CosignKey::new().simple_signing(digest);
    keyless.annotations["dev.sigstore.cosign/certificate"] = json!("-----BEGIN CERTIFICATE-----");
    image.refuses(&image.with(&[keyless]), ErrorKind::UntrustedSignature, "a signature is by a certificate");
}

#[test]
fn bundles_are_found_by_the_tag_for_what_refers_to_an_image() {
    let image = Signed::new();
    let (digest, key, other) = (image.digest.as_str(), &image.key, CosignKey::new());
    let push = |bundles: &[Vec<u8>]| {
        image.registry.push_bundles("team/app", digest, bundles);
        image.verdict()
    };
    assert_eq!(push(&[key.bundle(digest)]).unwrap(), Format::Bundle);
    image.refuses(
        &push(&[other.bundle(digest)]),
        ErrorKind::UntrustedSignature,
        "a signature is with another key",
    );
    let another = Digest::of(b"another");
    let moved = push(&[key.bundle(another.as_str())]);
    image.refuses(&moved, ErrorKind::OtherDigest, &format!("is for another digest, `{another}`"));
    let provenance = push(&[key.state(digest, "https://slsa.dev/provenance/v1")]);
    image.refuses(&provenance, ErrorKind::NotSigned, "`https://slsa.dev/provenance/v1` is not a signature");
    image.refuses(&push(&[b"{}".to_vec()]), ErrorKind::Protocol, "neither a statement nor a message");
    let large = push(&[vec![b' '; 1_100_000]]);
    image.refuses(&large, ErrorKind::Limit, "has 1100000 bytes, and at most 1048576 are read");
    assert!(push(&[key.bundle(digest), other.bundle(digest), b"[".to_vec()]).is_ok());
    // What lies under the other tag counts all the same.
    assert!(push(&[other.bundle(digest)]).is_err());
    assert_eq!(image.with(&[key.simple_signing(digest)]).unwrap(), Format::SimpleSigning);
}

#[test]
fn the_index_of_several_platforms_is_what_is_signed() {
    let image = Signed::new();
    let one = image.registry.push_image("team/app", "2.0.0-arm64", "linux/arm64", "2024-01-01T00:00:00Z");
    let index = image.registry.push_index("team/app", "2.0.0", &[("linux/arm64", &one)]);
    let image = Signed { digest: index.digest.parse().unwrap(), ..image };
    // A signature of one of its images says nothing of the others.
    image.refuses(&image.with(&[image.key.simple_signing(&one.digest)]), ErrorKind::OtherDigest, &one.digest);
    assert!(image.with(&[image.key.simple_signing(&index.digest)]).is_ok());
}

/// Content of a registry by its path, with its type.
#[derive(Default)]
struct Shelf(HashMap<String, (String, Vec<u8>)>);

impl Shelf {
    fn put(&mut self, folder: &str, kind: &str, content: Vec<u8>) -> Value {
        let digest = Digest::of(&content).to_string();
        let descriptor = json!({"mediaType": kind, "digest": digest, "size": content.len()});
        self.0.insert(format!("/v2/team/app/{folder}/{digest}"), (kind.to_owned(), content));
        descriptor
    }

    /// A manifest that refers to the image, as a list of referrers shows it.
    fn refer(&mut self, artifact_type: &str, layers: &[Value]) -> Value {
        let config = self.put("blobs", "application/vnd.oci.empty.v1+json", b"{}".to_vec());
        let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
        let mut entry = self.put("manifests", MANIFEST, manifest.to_string().into_bytes());
        entry["artifactType"] = json!(artifact_type);
        entry
    }

    /// A registry that keeps lists of referrers, one entry to a page.
    fn serve(self, digest: &Digest, referrers: Vec<Value>) -> StandIn {
        let list = format!("/v2/team/app/referrers/{digest}");
        StandIn::start(move |request| {
            if request.path == list {
                let page: usize = request
                    .query
                    .strip_prefix("page=")
                    .and_then(|page| page.parse().ok())
                    .unwrap_or_default();
                let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests":
                    referrers.get(page).into_iter().collect::<Vec<_>>()});
                let reply = Reply::new(200).header(format!("Content-Type: {INDEX}")).body(index.to_string());
                return match page + 1 < referrers.len() {
                    true => reply.header(format!("Link: <{list}?page={}>; rel=\"next\"", page + 1)),
                    false => reply,
                };
            }
            match self.0.get(&request.path) {
                Some((kind, content)) => {
                    Reply::new(200).header(format!("Content-Type: {kind}")).body(content.clone())
                }
                None => Reply::new(404),
            }
        })
    }
}

fn verdict(server: &StandIn, digest: &Digest, key: &CosignKey) -> diagnostic::Result<Format> {
    let repository = Repository::new(&server.host(), "team/app").expect("it is one");
    Ok(verify(&client(&server.host()), &repository, digest, &keys(key))?.format)
}

#[test]
fn bundles_are_found_by_the_list_of_referrers_page_by_page() {
    let (key, digest) = (CosignKey::new(), Digest::of(b"image"));
    let mut shelf = Shelf::default();
    let good = shelf.put("blobs", BUNDLE, key.bundle(digest.as_str()));
    let bad = shelf.put("blobs", BUNDLE, CosignKey::new().bundle(digest.as_str()));
    let parts = json!({"mediaType": MANIFEST, "artifactType": "application/spdx+json", "size": 3,
        "digest": Digest::of(b"not asked for").as_str()});
    let provenance = json!({"mediaType": MANIFEST, "artifactType": BUNDLE, "size": 3,
        "digest": Digest::of(b"neither").as_str(),
        "annotations": {"dev.sigstore.bundle.predicateType": "https://slsa.dev/provenance/v1"}});
    let referrers = vec![parts, provenance, shelf.refer(BUNDLE, &[good]), shelf.refer(BUNDLE, &[bad])];
    let server = shelf.serve(&digest, referrers);
    assert_eq!(verdict(&server, &digest, &key).unwrap(), Format::Bundle);
    // Four pages, two bundles with their manifests, and nothing of what is no signature.
    assert_eq!(server.requests().len(), 4 + 2 * 2);
    let error = verdict(&server, &digest, &CosignKey::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UntrustedSignature);
    assert!(error.message().contains("2 signatures are with other keys"), "{error}");
}

#[test]
fn of_very_many_signatures_the_newest_are_looked_at() {
    let (key, digest) = (CosignKey::new(), Digest::of(b"image"));
    for (count, is_found) in [(200, true), (300, false)] {
        let mut shelf = Shelf::default();
        let mut layer = |key: &CosignKey| {
            let signature = key.simple_signing(digest.as_str());
            let mut layer = shelf.put("blobs", SIMPLE_SIGNING, signature.payload);
            layer["annotations"] = signature.annotations;
            layer
        };
        let (oldest, newer) = (layer(&key), layer(&CosignKey::new()));
        let layers: Vec<Value> = std::iter::once(oldest).chain(vec![newer; count]).collect();
        let referrers = vec![shelf.refer("application/vnd.dev.cosign.artifact.sig.v1+json", &layers)];
        let server = shelf.serve(&digest, referrers);
        match verdict(&server, &digest, &key) {
            Ok(_) => assert!(is_found),
            Err(error) => {
                assert_eq!((is_found, error.kind()), (false, ErrorKind::UntrustedSignature));
                assert!(error.message().contains("only the newest 256"), "{error}");
            }
        }
        // The list, the manifest, and the payload that all of them share; the tag where none was good.
        assert_eq!(server.requests().len(), if is_found { 3 } else { 4 });
    }
}

#[test]
fn simple_signing_may_refer_to_an_image_too() {
    let (key, digest) = (CosignKey::new(), Digest::of(b"image"));
    let mut shelf = Shelf::default();
    let signature = key.simple_signing(digest.as_str());
    let mut layer = shelf.put("blobs", SIMPLE_SIGNING, signature.payload);
    layer["annotations"] = signature.annotations;
    let referrers = vec![shelf.refer("application/vnd.dev.cosign.artifact.sig.v1+json", &[layer])];
    let server = shelf.serve(&digest, referrers);
    assert_eq!(verdict(&server, &digest, &key).unwrap(), Format::SimpleSigning);
}

#[test]
fn the_message_of_a_bundle_may_be_the_manifest() {
    let folder = format!("{}/../testdata/cosign", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read(format!("{folder}/{name}")).expect(name);
    let mut shelf = Shelf::default();
    shelf.put("manifests", INDEX, read("manifest.json"));
    let bundle = "application/vnd.dev.sigstore.bundle+json;version=0.2";
    let layer = shelf.put("blobs", bundle, read("message.p256.json"));
    let digest = Digest::of(&read("manifest.json"));
    let referrers = vec![shelf.refer(bundle, &[layer])];
    let server = shelf.serve(&digest, referrers);
    let keys = PublicKey::read_all("k", &String::from_utf8(read("p256.pub")).unwrap()).unwrap();
    let repository = Repository::new(&server.host(), "team/app").unwrap();
    let verified = verify(&client(&server.host()), &repository, &digest, &keys).unwrap();
    assert_eq!(verified.format, Format::Bundle);
}

#[test]
fn a_registry_that_fails_leaves_open_whether_an_image_is_signed() {
    let (key, digest) = (CosignKey::new(), Digest::of(b"image"));
    for (status, kind) in
        [(500, ErrorKind::Unavailable), (403, ErrorKind::Denied), (429, ErrorKind::RateLimited)]
    {
        let server = StandIn::start(move |_| Reply::new(status));
        let error = verdict(&server, &digest, &key).unwrap_err();
        assert_eq!(error.kind(), kind);
        let start =
            format!("it cannot be found out whether `{}/team/app@{digest}` is signed: ", server.host());
        assert!(error.message().starts_with(&start), "{error}");
    }
}

/// Expected values: what a registry without lists of referrers answers, by its age and make.
#[test]
fn the_tag_is_looked_at_where_a_registry_keeps_no_lists() {
    let digest = Digest::of(b"image");
    for answer in [
        Reply::new(404),
        Reply::new(400),
        Reply::new(405),
        Reply::new(200).header("Content-Type: text/html").body("<html>"),
        Reply::new(200).header(format!("Content-Type: {INDEX}")).body("<html>"),
    ] {
        let list = format!("/v2/team/app/referrers/{digest}");
        let noted = format!("/v2/team/app/manifests/{}", digest.as_str().replace(':', "-"));
        let server = StandIn::start(move |request| match &request.path {
            path if *path == list => answer.clone(),
            path if *path == noted => Reply::new(200).body(r#"{"manifests": []}"#),
            _ => Reply::new(404),
        });
        let error = verdict(&server, &digest, &CosignKey::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSigned);
        let paths: Vec<String> = server.requests();
        assert_eq!(paths.len(), 3, "{paths:?}");
        assert!(paths[1].ends_with(&digest.as_str().replace(':', "-")), "{paths:?}");
    }
}

#[test]
fn lists_of_referrers_have_an_end() {
    let digest = Digest::of(b"image");
    let path = format!("/v2/team/app/referrers/{digest}");
    for (link, reason) in [
        (format!("<{path}>; rel=next"), "lead in a circle"),
        ("<?more>; rel=next".to_owned(), "more than 32 pages"),
        ("<http://elsewhere.example/>; rel=next".to_owned(), "is on another host"),
    ] {
        let path = path.clone();
        let server = StandIn::start(move |request| {
            if request.path != path {
                return Reply::new(404);
            }
            let link = link.replace("more", &format!("{}x", request.query));
            let reply =
                Reply::new(200).header(format!("Content-Type: {INDEX}")).header(format!("Link: {link}"));
            reply.body(r#"{"manifests": []}"#)
        });
        let error = verdict(&server, &digest, &CosignKey::new()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Protocol | ErrorKind::Limit), "{error:?}");
        assert!(error.message().contains(reason), "{error}");
    }
}
