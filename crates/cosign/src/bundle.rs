//! Sigstore's bundles, as far as keys go. In: the bytes of one, in JSON. Out: a signature, of a statement or of a message.
//! Ignored: certificates, logs and timestamps of a bundle.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use oci_registry::Digest;
use serde::Deserialize;

use crate::claim::{Fault, shown};
use crate::statement::PAYLOAD_TYPE;

/// Prefix of the media types of bundles, before their version.
pub(crate) const PREFIX: &str = "application/vnd.dev.sigstore.bundle";

/// Those of signatures have ten thousand bytes; those of statements about all parts of an image are larger.
pub(crate) const MAX_BUNDLE: u64 = 1 << 20;

/// The versions, each as its time wrote them.
const MEDIA_TYPES: [&str; 4] = [
    "application/vnd.dev.sigstore.bundle.v0.3+json",
    "application/vnd.dev.sigstore.bundle+json;version=0.3",
    "application/vnd.dev.sigstore.bundle+json;version=0.2",
    "application/vnd.dev.sigstore.bundle+json;version=0.1",
];

/// Protocol buffers take it with and without its padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The relevant part of a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bundle {
    pub(crate) signature: Vec<u8>,
    pub(crate) content: Content,
    pub(crate) has_certificate: bool,
}

/// The signed content of a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A statement that is in it.
    Statement(Vec<u8>),
    /// A message that is not in it; it is said to have this SHA-256.
    Message(Vec<u8>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    media_type: Option<String>,
    verification_material: Option<Material>,
    dsse_envelope: Option<Envelope>,
    message_signature: Option<MessageSignature>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    certificate: Option<serde_json::Value>,
    x509_certificate_chain: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Deserialize)]
struct EnvelopeSignature {
    sig: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageSignature {
    message_digest: MessageDigest,
    signature: String,
}

#[derive(Deserialize)]
struct MessageDigest {
    algorithm: String,
    digest: String,
}

impl Bundle {
    /// Reads one.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let written: Written = serde_json::from_slice(bytes)
            .map_err(|error| malformed(format!("its bundle is not valid JSON: {error}")))?;
        if let Some(other) = written.media_type.filter(|version| !MEDIA_TYPES.contains(&version.as_str())) {
            return Err(malformed(format!("its bundle is a `{}`, which is not known", shown(&other))));
        }
        let has_certificate = written
            .verification_material
            .is_some_and(|material| material.certificate.or(material.x509_certificate_chain).is_some());
        let (signature, content) = match (written.dsse_envelope, written.message_signature) {
            (Some(envelope), None) => envelope.content()?,
            (None, Some(message)) => message.content()?,
            _ => {
                return Err(malformed(
                    "its bundle signs neither a statement nor a message, or both".to_owned(),
                ));
            }
        };
        Ok(Self { signature, content, has_certificate })
    }
}

impl Envelope {
    fn content(self) -> Result<(Vec<u8>, Content), Fault> {
        if self.payload_type != PAYLOAD_TYPE {
            return Err(malformed(format!("its envelope holds a `{}`", shown(&self.payload_type))));
        }
        // More of them would have to say whom they are by, and a bundle has no place for that.
        let [signature] = self.signatures.as_slice() else {
            return Err(malformed(format!(
                "its envelope has {} signatures instead of one",
                self.signatures.len()
            )));
        };
        Ok((decode(&signature.sig)?, Content::Statement(decode(&self.payload)?)))
    }
}

impl MessageSignature {
    fn content(self) -> Result<(Vec<u8>, Content), Fault> {
        if self.message_digest.algorithm != "SHA2_256" {
            return Err(malformed("the digest of its message is not SHA-256".to_owned()));
        }
        Ok((decode(&self.signature)?, Content::Message(decode(&self.message_digest.digest)?)))
    }
}

/// Returns true if a message's digest is that of an image.
pub(crate) fn is_of(message_digest: &[u8], digest: &Digest) -> bool {
    let hex: String = message_digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digest.algorithm() == "sha256" && digest.hex() == hex
}

fn decode(text: &str) -> Result<Vec<u8>, Fault> {
    BASE64.decode(text).map_err(|_| malformed("its bundle has wrong Base64".to_owned()))
}

fn malformed(reason: String) -> Fault {
    Fault::Malformed(reason)
}
