//! A signature that was read, and of which nothing is believed yet.
//!
//! ```text
//! keys      is it of one of them        before anything in it is believed
//! claim     is it for this digest       by what is signed, never by where it lay
//! ```

use oci_registry::Digest;

use crate::claim::{Claim, Fault};
use crate::key::PublicKey;
use crate::{simple_signing, statement};

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
