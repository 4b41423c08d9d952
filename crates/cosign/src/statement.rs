//! Reads the payload of an envelope (DSSE) with an in-toto statement. Input: a payload and its type. Output: the
//! signed bytes, and whether the payload is a signature of a digest. Statements of scans and builds are signed with
//! the same keys, but do not approve an image.

use std::collections::BTreeMap;

use oci_registry::Digest;
use serde::Deserialize;

use crate::claim::{Claim, shown};

/// Payload type of an envelope.
pub(crate) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Predicate type of `cosign sign`.
pub(crate) const SIGNATURE: &str = "https://sigstore.dev/cosign/sign/v1";

/// The versions of statements.
const STATEMENTS: [&str; 2] = ["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    predicate_type: String,
    subject: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    digest: BTreeMap<String, String>,
}

/// The bytes that are signed: the payload with its type, so that it cannot be taken for one of another type.
pub(crate) fn signed_bytes(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Returns what a payload says of a digest.
pub(crate) fn claim(payload: &[u8], digest: &Digest) -> Claim {
    let Ok(statement) = serde_json::from_slice::<Statement>(payload) else {
        return Claim::Malformed("it does not sign an in-toto statement".to_owned());
    };
    if !STATEMENTS.contains(&statement.kind.as_str()) {
        return Claim::Malformed(format!("it signs a `{}`, which is not known", shown(&statement.kind)));
    }
    if statement.predicate_type != SIGNATURE {
        return Claim::Attestation(statement.predicate_type);
    }
    let digests = || {
        let of = |subject| Subject::digest(subject, digest.algorithm());
        statement.subject.iter().filter_map(of)
    };
    match digests().next() {
        _ if digests().any(|hex| hex == digest.hex()) => Claim::Ours,
        Some(other) => Claim::Other(format!("{}:{other}", digest.algorithm())),
        None => Claim::Malformed(format!("it lacks the {} of its subject", digest.algorithm())),
    }
}

impl Subject {
    fn digest(&self, algorithm: &str) -> Option<&str> {
        self.digest.get(algorithm).map(String::as_str)
    }
}
