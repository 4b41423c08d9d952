//! The error if no signature is accepted. Input: the reason for each. Output: one message with all reasons, and the
//! most severe kind.

use diagnostic::{Error, ErrorKind};
use oci_registry::Reference;

use crate::claim::{Fault, shown};
use crate::find;
use crate::key::PublicKey;

/// The error for an image none of whose signatures counts.
pub(crate) fn error(image: &Reference, faults: &[Fault], keys: &[PublicKey]) -> Error {
    if let Some(error) = faults.iter().find_map(Fault::of_registry) {
        let message = format!("it cannot be found out whether `{image}` is signed: {error}");
        let verdict = Error::new(error.kind(), message);
        return match error.get_hint() {
            Some(help) => verdict.hint(help),
            None => verdict,
        };
    }
    let reasons = reasons(faults);
    let named = named(keys);
    let kind = faults
        .iter()
        .map(Fault::rank)
        .min_by_key(|(rank, _)| *rank)
        .map_or(ErrorKind::NotSigned, |(_, kind)| kind);
    let message = match (reasons.is_empty(), image.digest()) {
        (false, _) => format!("`{image}` is not signed with {named}: {}", reasons.join("; ")),
        (true, Some(digest)) => {
            let tag = find::tag(digest);
            format!("`{image}` is not signed: no signature refers to it, and none is under the tag `{tag}`")
        }
        (true, None) => format!("`{image}` is not signed"),
    };
    let verdict = Error::new(kind, message);
    match kind {
        ErrorKind::NotSigned => verdict.hint("sign it by its digest: `cosign sign --key KEY IMAGE@DIGEST`"),
        _ if faults.iter().any(|fault| matches!(fault, Fault::Certificate)) => {
            verdict.hint("only keys are verified, not certificates: sign with `--key`")
        }
        _ => verdict,
    }
}

/// The keys by the places that they are from.
fn named(keys: &[PublicKey]) -> String {
    let mut names: Vec<&str> = keys.iter().map(PublicKey::name).collect();
    names.dedup();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    }
}

/// Each kind of fault once, with an example.
fn reasons(faults: &[Fault]) -> Vec<String> {
    let count = |is: fn(&Fault) -> bool| faults.iter().filter(|fault| is(fault)).count();
    let first = |of: fn(&Fault) -> Option<&String>| faults.iter().find_map(of);
    let mut reasons = Vec::new();
    if let Some(other) = first(Fault::other_digest) {
        reasons.push(format!("a signature that lies with it is for another digest, `{}`", shown(other)));
    }
    match count(|fault| matches!(fault, Fault::OtherKey)) {
        0 => {}
        1 => reasons.push("a signature is with another key, or of other content".to_owned()),
        more => reasons.push(format!("{more} signatures are with other keys, or of other content")),
    }
    if count(|fault| matches!(fault, Fault::Certificate)) > 0 {
        reasons.push("a signature is by a certificate".to_owned());
    }
    if let Some(reason) = first(Fault::too_large) {
        reasons.push(format!("a signature is too large: {reason}"));
    }
    if let Some(reason) = first(Fault::malformed) {
        reasons.push(format!("a signature cannot be read: {reason}"));
    }
    if let Some(kind) = first(Fault::attestation) {
        reasons.push(format!("a statement of type `{}` is not a signature", shown(kind)));
    }
    reasons
}

impl Fault {
    fn rank(&self) -> (u8, ErrorKind) {
        match self {
            Self::Registry(error) => (0, error.kind()),
            Self::OtherDigest(_) => (1, ErrorKind::OtherDigest),
            Self::OtherKey | Self::Certificate => (2, ErrorKind::UntrustedSignature),
            Self::TooLarge(_) => (3, ErrorKind::Limit),
            Self::Malformed(_) => (4, ErrorKind::Protocol),
            Self::Attestation(_) => (5, ErrorKind::NotSigned),
        }
    }

    fn of_registry(&self) -> Option<&Error> {
        if let Self::Registry(error) = self { Some(error) } else { None }
    }

    fn other_digest(&self) -> Option<&String> {
        if let Self::OtherDigest(digest) = self { Some(digest) } else { None }
    }

    fn too_large(&self) -> Option<&String> {
        if let Self::TooLarge(reason) = self { Some(reason) } else { None }
    }

    fn malformed(&self) -> Option<&String> {
        if let Self::Malformed(reason) = self { Some(reason) } else { None }
    }

    fn attestation(&self) -> Option<&String> {
        if let Self::Attestation(kind) = self { Some(kind) } else { None }
    }
}
