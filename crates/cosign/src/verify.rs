//! Tells whether an image is signed: each signature that lies with it is held against the keys until one is good.

use std::fmt;

use diagnostic::{Error, ErrorKind, Result};
use oci_registry::{Client, Digest, Repository};

use crate::claim::Fault;
use crate::find::Search;
use crate::key::PublicKey;
use crate::signature::{Signature, Signed};
use crate::verdict;

/// By what an image is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The name of the key.
    pub key: String,
    /// The format of the signature.
    pub format: Format,
}

/// The format of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A payload that names the digest, and its signature.
    SimpleSigning,
    /// Sigstore's bundle.
    Bundle,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SimpleSigning => "simple signing",
            Self::Bundle => "a bundle",
        })
    }
}

/// Finds a signature of an image, or of an index of images, with one of the keys. The images that a signed index lists
/// are what it says, and need no signatures of their own.
///
/// # Errors
/// If there is none that counts, or that cannot be found out: then why.
pub fn verify(
    client: &Client,
    repository: &Repository,
    digest: &Digest,
    keys: &[PublicKey],
) -> Result<Verified> {
    if keys.is_empty() {
        return Err(Error::new(ErrorKind::Key, "no key to verify signatures with"));
    }
    let mut faults: Vec<Fault> = Vec::new();
    let mut check = |found: Result<Signature, Fault>| {
        let outcome = found.and_then(|signature| {
            let key = signature.check(keys, digest)?;
            Ok(Verified { key: key.name().to_owned(), format: signature.format() })
        });
        outcome.map_err(|fault| faults.push(fault)).ok()
    };
    let verified = Search::new(client, repository, digest).find(&mut check);
    verified.ok_or_else(|| verdict::error(&repository.with_digest(digest.clone()), &faults, keys))
}

impl Signature {
    fn format(&self) -> Format {
        match self.signed {
            Signed::SimpleSigning(_) => Format::SimpleSigning,
            Signed::Statement(_) | Signed::Manifest(_) => Format::Bundle,
        }
    }
}
