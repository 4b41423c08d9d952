//! A signature that was read, and of which nothing is believed yet.
//!
//! ```text
//! keys      is it of one of them        before anything in it is believed
//! claim     is it for this digest       by what is signed, never by where it lay
//! ```

use oci_registry::Digest;

use crate::error::Error;
use crate::key::PublicKey;
use crate::{simple_signing, statement};

/// Maximum amount of a text of others is shown.
const MAX_SHOWN: usize = 100;

/// A signature, and what it is of.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) bytes: Vec<u8>,
    pub(crate) signed: Signed,
    /// It comes with a certificate instead of being by a key.
    pub(crate) has_certificate: bool,
}

/// The kind of signed content.
#[derive(Debug)]
pub(crate) enum Signed {
    /// A payload of simple signing.
    SimpleSigning(Vec<u8>),
    /// A statement in an envelope.
    Statement(Vec<u8>),
    /// The manifest itself, as it is.
    Manifest(Vec<u8>),
}

/// The statement about a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It is for it.
    Ours,
    /// It is for another one.
    Other(String),
    /// It is something else than a signature, of this type.
    Attestation(String),
    /// It cannot be understood.
    Malformed(String),
}

/// Why a signature does not count.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The registry did not give it.
    Registry(Error),
    /// It is with one of the keys, for another digest.
    OtherDigest(String),
    /// It is with another key, or of another content.
    OtherKey,
    /// It is by a certificate.
    Certificate,
    /// It is larger than signatures are.
    TooLarge(String),
    /// It cannot be read.
    Malformed(String),
    /// It is something else that is signed, of this type.
    Attestation(String),
}

impl Signature {
    /// The key that it is with, where it is for a digest.
    pub(crate) fn check<'k>(&self, keys: &'k [PublicKey], digest: &Digest) -> Result<&'k PublicKey, Fault> {
        let message = match &self.signed {
            Signed::Statement(payload) => &statement::signed_bytes(payload),
            Signed::SimpleSigning(bytes) | Signed::Manifest(bytes) => bytes,
        };
        let Some(key) = keys.iter().find(|key| key.verifies(message, &self.bytes)) else {
            return Err(if self.has_certificate { Fault::Certificate } else { Fault::OtherKey });
        };
        match self.claim(digest) {
            Claim::Ours => Ok(key),
            Claim::Other(other) => Err(Fault::OtherDigest(other)),
            Claim::Attestation(kind) => Err(Fault::Attestation(kind)),
            Claim::Malformed(reason) => Err(Fault::Malformed(reason)),
        }
    }

    fn claim(&self, digest: &Digest) -> Claim {
        match &self.signed {
            Signed::SimpleSigning(payload) => simple_signing::claim(payload, digest),
            Signed::Statement(payload) => statement::claim(payload, digest),
            Signed::Manifest(bytes) if digest.matches(bytes) => Claim::Ours,
            Signed::Manifest(bytes) => Claim::Other(Digest::of(bytes).to_string()),
        }
    }
}

/// A text of others, as far as it may stand in a message.
pub(crate) fn shown(text: &str) -> String {
    text.escape_debug().take(MAX_SHOWN).collect()
}
