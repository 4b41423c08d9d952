//! Signatures of commits: what `git commit -S` would ask of `ssh-keygen` and `gpg`.

use crate::error::Result;

/// Signs commits.
pub trait Sign: Send + Sync {
    /// The armoured signature of a commit's bytes.
    ///
    /// # Errors
    /// When there is no key, or it does not sign.
    fn sign(&self, payload: &[u8]) -> Result<String>;
}
