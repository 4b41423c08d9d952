//! Signs images as `cosign sign --key` does, in both of its forms, with a key of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

use rcgen::{KeyPair, SigningKey as _};
use serde_json::{Value, json};

/// Media type of a simple signing layer.
pub const SIMPLE_SIGNING: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

/// Media type of a bundle.
pub const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";

/// Predicate type of `cosign sign` in a bundle.
pub const SIGNATURE: &str = "https://sigstore.dev/cosign/sign/v1";

/// Payload type of an envelope.
const STATEMENT: &str = "application/vnd.in-toto+json";

/// A key that images are signed with: P-256, as `cosign generate-key-pair` makes them.
pub struct CosignKey(KeyPair);

/// A payload of simple signing, and what the layer that holds it says of it.
#[derive(Clone, Debug)]
pub struct SimpleSigning {
    /// The signed payload.
    pub payload: Vec<u8>,
    /// With the signature.
    pub annotations: Value,
}

impl CosignKey {
    /// A new one.
    ///
    /// # Panics
    /// If no key can be made.
    #[must_use]
    pub fn new() -> Self {
        Self(KeyPair::generate().expect("a key can be made"))
    }

    /// The public key, in PEM.
    #[must_use]
    pub fn public_pem(&self) -> String {
        self.0.public_key_pem()
    }

    /// Signs a digest in the older form.
    #[must_use]
    pub fn simple_signing(&self, digest: &str) -> SimpleSigning {
        let payload = json!({
            "critical": {
                "identity": {"docker-reference": "registry.example/signed"},
                "image": {"docker-manifest-digest": digest},
                "type": "cosign container image signature",
            },
            "optional": null,
        });
        self.sign_payload(payload.to_string().into_bytes())
    }

    /// Signs any payload in the older form.
    #[must_use]
    pub fn sign_payload(&self, payload: Vec<u8>) -> SimpleSigning {
        let annotations = json!({"dev.cosignproject.cosign/signature": self.sign(&payload)});
        SimpleSigning { payload, annotations }
    }

    /// Signs a digest in the newer form.
    #[must_use]
    pub fn bundle(&self, digest: &str) -> Vec<u8> {
        self.state(digest, SIGNATURE)
    }

    /// Signs a statement of some type about a digest.
    ///
    /// # Panics
    /// If it is no digest.
    #[must_use]
    pub fn state(&self, digest: &str, predicate_type: &str) -> Vec<u8> {
        let (algorithm, hex) = digest.split_once(':').expect("it is a digest");
        let statement = json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"digest": {algorithm: hex}}],
            "predicateType": predicate_type,
            "predicate": {},
        });
        let statement = statement.to_string();
        let signed = format!("DSSEv1 {} {STATEMENT} {} {statement}", STATEMENT.len(), statement.len());
        let bundle = json!({
            "mediaType": BUNDLE,
            "verificationMaterial": {"publicKey": {"hint": "mine"}, "tlogEntries": []},
            "dsseEnvelope": {
                "payload": STANDARD.encode(statement.as_bytes()),
                "payloadType": STATEMENT,
                "signatures": [{"sig": self.sign(signed.as_bytes())}],
            },
        });
        bundle.to_string().into_bytes()
    }

    fn sign(&self, message: &[u8]) -> String {
        STANDARD.encode(self.0.sign(message).expect("it can sign"))
    }
}

impl Default for CosignKey {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CosignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CosignKey")
    }
}
