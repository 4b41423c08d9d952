//! Says whether an image is signed with one of some public keys, as `cosign sign --key` signs.
//!
//! In: a registry's client, a repository, the digest of an image or of an index, and keys. Out: the key that signed it, or
//! exactly why it does not count as signed. Both ways in which cosign keeps signatures are known: simple signing, under
//! the tag `sha256-….sig`, and bundles, which refer to the image. One good signature is enough, whatever lies beside it.
//!
//! Only keys are verified: neither certificates nor transparency logs, nor who asked for a signature and when. Whatever
//! cannot be read, is too large or cannot be had from the registry counts for nothing: it fails closed.

mod bundle;
mod claim;
mod der;
mod find;
mod key;
mod signature;
mod simple_signing;
mod statement;
#[cfg(test)]
mod tests;
mod verdict;
mod verify;

pub use key::PublicKey;
pub use verify::{Format, Verified, verify};
