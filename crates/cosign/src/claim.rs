//! The claim of a signature, and why it is not accepted.

use diagnostic::Error;

/// Maximum length of foreign text in a message.
const MAX_SHOWN: usize = 100;

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

/// Returns foreign text, escaped and cut for a message.
pub(crate) fn shown(text: &str) -> String {
    text.escape_debug().take(MAX_SHOWN).collect()
}
