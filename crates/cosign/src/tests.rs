//! Keys and signatures that OpenSSL made (`testdata/cosign/make.sh`), and what becomes of them where a byte is another.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_registry::Digest;
use proptest::prelude::*;

use crate::PublicKey;
use crate::bundle::{Bundle, Content};
use crate::claim::Fault;
use crate::signature::{Signature, Signed};
use crate::simple_signing;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/cosign/");

fn bytes(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}{name}")).expect(name)
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect("it is text")
}

fn key(name: &str) -> Vec<PublicKey> {
    PublicKey::read_all(name, &text(&format!("{name}.pub"))).expect(name)
}

/// Of what all good signatures are.
fn digest() -> Digest {
    Digest::of(&bytes("manifest.json"))
}

fn simple(payload: &str, signature: &str) -> Signature {
    let bytes_of =
        simple_signing::decode(&text(&format!("{payload}.{signature}.sig"))).expect("it is Base64");
    let payload = bytes(&format!("{payload}.json"));
    Signature { bytes: bytes_of, signed: Signed::SimpleSigning(payload), has_certificate: false }
}

fn of_bundle(written: &[u8]) -> Result<Signature, Fault> {
    let Bundle { signature, content, has_certificate } = Bundle::read(written)?;
    let signed = match content {
        Content::Statement(payload) => Signed::Statement(payload),
        Content::Message(_) => Signed::Manifest(bytes("manifest.json")),
    };
    Ok(Signature { bytes: signature, signed, has_certificate })
}

fn bundle(name: &str) -> Signature {
    of_bundle(&bytes(name)).expect(name)
}

#[test]
fn signatures_of_each_kind_of_key_are_good_with_that_key_only() {
    let keys = ["p256", "p384", "ed25519", "rsa2048", "other"];
    for (with, signature) in [
        ("p256", simple("simple", "p256sha256")),
        ("p384", simple("simple", "p384sha256")),
        ("p384", simple("simple", "p384sha384")),
        ("ed25519", simple("simple", "ed25519")),
        ("rsa2048", simple("simple", "rsa2048sha256")),
        ("rsa2048", simple("simple", "rsa2048sha512")),
        ("other", simple("simple", "othersha256")),
        ("p256", bundle("bundle.p256.json")),
        ("p384", bundle("bundle.p384.json")),
        ("ed25519", bundle("bundle.ed25519.json")),
        ("rsa2048", bundle("bundle.rsa2048.json")),
        ("other", bundle("bundle.other.json")),
        ("p256", bundle("message.p256.json")),
    ] {
        for name in keys {
            let key = key(name);
            let outcome = signature.check(&key, &digest());
            match name == with {
                true => assert_eq!(outcome.expect(name).name(), with, "{signature:?}"),
                false => assert!(matches!(outcome, Err(Fault::OtherKey)), "{name}: {signature:?}"),
            }
        }
        let all: Vec<PublicKey> = keys.into_iter().flat_map(key).collect();
        assert_eq!(signature.check(&all, &digest()).unwrap().name(), with);
    }
}

#[test]
fn hashes_and_paddings_that_cosign_does_not_make_are_no_signatures() {
    for (name, signature) in [("p256", "p256sha1"), ("rsa2048", "rsa2048pss")] {
        let outcome = simple("simple", signature).check(&key(name), &digest()).cloned();
        assert!(matches!(outcome, Err(Fault::OtherKey)), "{signature}");
    }
}

#[test]
fn a_good_signature_of_something_else_is_none_of_this() {
    let other = Digest::of(b"another");
    for signature in [simple("simple-other", "p256sha256"), bundle("bundle-other.p256.json")] {
        let outcome = signature.check(&key("p256"), &digest()).cloned();
        assert!(matches!(&outcome, Err(Fault::OtherDigest(of)) if *of == other.to_string()), "{outcome:?}");
        assert!(signature.check(&key("p256"), &other).is_ok());
    }
    // What is signed of an image may be that it is bad.
    let outcome = bundle("bundle-provenance.p256.json").check(&key("p256"), &digest()).cloned();
    assert!(matches!(&outcome, Err(Fault::Attestation(kind)) if kind == "https://slsa.dev/provenance/v1"));
    // A digest of another algorithm is another digest, though the digits be the same.
    let longer: Digest = format!("sha512:{0}{0}", digest().hex()).parse().unwrap();
    for signature in [simple("simple", "p256sha256"), bundle("bundle.p256.json"), bundle("message.p256.json")]
    {
        assert!(signature.check(&key("p256"), &longer).is_err());
    }
}

#[test]
fn a_text_has_one_key_or_several() {
    let several =
        format!("mine:\n{}\nand\r\n{}", text("p256.pub"), text("rsa2048.pub").replace('\n', "\r\n"));
    let keys = PublicKey::read_all("`keys.pem`", &several).unwrap();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0].name(), "`keys.pem`");
    assert!(simple("simple", "rsa2048sha256").check(&keys, &digest()).is_ok());
}

#[test]
fn keys_that_cannot_be_used_are_refused_with_a_reason() {
    let of = |name: &str| text(&format!("{name}.pub"));
    let private = of("p256").replace("PUBLIC", "PRIVATE");
    for (pem, reason) in [
        (String::new(), "`k` does not contain a PEM public key"),
        ("nonsense".to_owned(), "`k` does not contain a PEM public key"),
        (of("p256").replace("PUBLIC KEY", "CERTIFICATE"), "`k` does not contain a PEM public key"),
        (private.clone(), "`k` holds a private key"),
        (format!("{}{private}", of("p256")), "`k` holds a private key"),
        (of("p256").replace("MFkw", "MFk!"), "`k` is not valid PEM"),
        (of("p256").replace("MFkw", "MFkx"), "`k` has a key that is not a valid public key"),
        (of("p521"), "`k` has a key that is on a curve other than P-256 and P-384"),
        (of("secp256k1"), "`k` has a key that is on a curve other than P-256 and P-384"),
        (of("p256-explicit"), "`k` has a key that is on a curve other than P-256 and P-384"),
        (of("p256-compressed"), "`k` has a key that is not a valid public key"),
        (of("rsa1024"), "`k` has a key that is of RSA with fewer than 2048 or more than 8192 bits"),
        (of("rsapss"), "`k` has a key that is of a kind other than ECDSA, Ed25519 and RSA"),
        (of("p256").repeat(33), "`k` has more than 32 keys"),
        (" ".repeat(70_000), "`k` is too large for public keys"),
    ] {
        let error = PublicKey::read_all("`k`", &pem).unwrap_err();
        assert_eq!(error.message(), reason, "{}", &pem[..pem.len().min(200)]);
    }
}

#[test]
fn bundles_that_break_their_rules_are_malformed() {
    let good = text("bundle.p256.json");
    let message = text("message.p256.json");
    for (wrong, reason) in [
        ("[".repeat(100_000), "not valid JSON"),
        (
            good.replace("v0.3+json", "v0.4+json"),
            "`application/vnd.dev.sigstore.bundle.v0.4+json`, which is not known",
        ),
        (good.replace("application/vnd.in-toto+json", "text/plain"), "its envelope holds a `text/plain`"),
        (good.replace("[{\"sig\"", "[{\"sig\":\"\"},{\"sig\""), "2 signatures instead of one"),
        (good.replace("[{\"sig\"", "[],\"x\":[{\"sig\""), "0 signatures instead of one"),
        (good.replace("\"sig\":\"M", "\"sig\":\"!"), "wrong Base64"),
        (good.replace("dsseEnvelope", "dsse"), "neither a statement nor a message, or both"),
        (good.replace("\"dsseEnvelope\"", "\"mediaType\":null,\"dsseEnvelope\""), "not valid JSON"),
        (message.replace("SHA2_256", "SHA2_512"), "not SHA-256"),
    ] {
        let Err(Fault::Malformed(said)) = Bundle::read(wrong.as_bytes()) else { panic!("{reason}") };
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_payload_that_is_signed_and_says_nothing_known_is_malformed() {
    let claim = |payload: &str| simple_signing::claim(payload.as_bytes(), &digest());
    let image = format!(r#"{{"docker-manifest-digest": "{}"}}"#, digest());
    let ours = crate::claim::Claim::Ours;
    assert_eq!(claim(&format!(r#"{{"critical": {{"image": {image}}}}}"#)), ours);
    for wrong in [
        "null".to_owned(),
        "[".repeat(100_000),
        format!(r#"{{"critical": {{"image": {image}, "image": {image}}}}}"#),
        format!(r#"{{"critical": {{"image": {image}, "type": "revocation"}}}}"#),
        r#"{"critical": {"image": {}}}"#.to_owned(),
    ] {
        assert!(
            matches!(claim(&wrong), crate::claim::Claim::Malformed(_)),
            "{}",
            &wrong[..wrong.len().min(99)]
        );
    }
}

proptest! {
    /// However a bundle is changed, what still counts is what was signed.
    #[test]
    fn a_changed_bundle_is_good_only_for_what_was_signed(at in 0_usize..600, to in any::<u8>()) {
        for name in ["bundle.p256.json", "bundle-other.p256.json"] {
            let mut written = bytes(name);
            let signed = of_bundle(&written).expect("it is good").signed;
            let place = at % written.len();
            written[place] = to;
            let Ok(changed) = of_bundle(&written) else { continue };
            if changed.check(&key("p256"), &digest()).is_ok() {
                let (Signed::Statement(then), Signed::Statement(now)) = (signed, changed.signed) else { panic!("{name}") };
                prop_assert_eq!(name, "bundle.p256.json");
                prop_assert_eq!(then, now);
            }
        }
    }

    #[test]
    fn a_changed_payload_or_signature_is_not_good(at in 0_usize..241, to in any::<u8>(), of_payload in any::<bool>()) {
        let mut signature = simple("simple", "p256sha256");
        let Signed::SimpleSigning(payload) = &mut signature.signed else { panic!("it is") };
        let changed = if of_payload { payload } else { &mut signature.bytes };
        let place = at % changed.len();
        prop_assume!(changed[place] != to);
        changed[place] = to;
        prop_assert!(signature.check(&key("p256"), &digest()).is_err());
    }

    #[test]
    fn whatever_is_read_is_read_to_an_end(input in any::<Vec<u8>>(), at in 0_usize..600) {
        let _ = Bundle::read(&input);
        let _ = simple_signing::claim(&input, &digest());
        let _ = crate::statement::claim(&input, &digest());
        let pem = |der: &[u8]| format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der));
        if let Ok(keys) = PublicKey::read_all("k", &pem(&input)) {
            prop_assert!(simple("simple", "p256sha256").check(&keys, &digest()).is_err());
        }
        // And so is what is nearly good.
        for name in ["bundle.rsa2048.json", "message.p256.json", "rsa2048.pub"] {
            let mut written = bytes(name);
            let place = at % written.len();
            written.splice(place..(place + 1), input.iter().copied());
            let _ = of_bundle(&written);
            let _ = PublicKey::read_all("k", &String::from_utf8_lossy(&written));
        }
    }
}
