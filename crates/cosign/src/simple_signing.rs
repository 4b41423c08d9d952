//! Simple signing: a payload that names a digest, and its signature in an annotation of the layer that holds it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_registry::Digest;
use serde::Deserialize;

use crate::claim::{Claim, Fault, shown};

/// Media type of a signature layer.
pub(crate) const LAYER: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

/// Annotation that contains a layer's signature.
pub(crate) const SIGNATURE: &str = "dev.cosignproject.cosign/signature";

/// Annotation that contains a certificate.
pub(crate) const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";

/// Payloads have a few hundred bytes, and what their authors annotate.
pub(crate) const MAX_PAYLOAD: u64 = 128 << 10;

/// Types of signed content: cosign's, and the original one of the format.
const TYPES: [&str; 2] = ["cosign container image signature", "atomic container signature"];

#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    image: Image,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Returns what a payload says of a digest. The reference in it is not looked at, as cosign does not: it is the name that the
/// image had where it was signed, and mirrors have others.
pub(crate) fn claim(payload: &[u8], digest: &Digest) -> Claim {
    let Ok(Payload { critical }) = serde_json::from_slice(payload) else {
        return Claim::Malformed("its payload names no image".to_owned());
    };
    match critical.kind {
        Some(kind) if !TYPES.contains(&kind.as_str()) => {
            Claim::Malformed(format!("its payload is a `{}`", shown(&kind)))
        }
        _ if critical.image.digest == digest.as_str() => Claim::Ours,
        _ => Claim::Other(critical.image.digest),
    }
}

/// Returns true if a layer's signature is by a certificate.
pub(crate) fn has_certificate(annotations: &BTreeMap<String, String>) -> bool {
    annotations.get(CERTIFICATE).is_some_and(|certificate| !certificate.is_empty())
}

/// The signature that an annotation holds.
pub(crate) fn decode(written: &str) -> Result<Vec<u8>, Fault> {
    STANDARD.decode(written).map_err(|_| Fault::Malformed("its signature has wrong Base64".to_owned()))
}
