//! A key in a Secret that commits are signed with, under the names that Flux has for it.
//!
//! The Secret is read when the first commit is signed, and its key is gone with the delivery.

use diagnostic::{Error, Result};
use std::sync::{Mutex, PoisonError};

use diagnostic::ErrorKind;
use gitremote::{GpgKeyring, Sign, SshSigner};
use oci_registry::Secret;

use super::keys::Keys;
use crate::cluster::Vault;
use crate::config::SignatureFormat;
use crate::work::SigningSecret;

/// Signs with the key in a Secret.
pub(crate) struct Signer<'v> {
    vault: &'v dyn Vault,
    of: &'v SigningSecret,
    key: Mutex<Option<Box<dyn Sign>>>,
}

impl<'v> Signer<'v> {
    pub(crate) fn new(vault: &'v dyn Vault, of: &'v SigningSecret) -> Self {
        Self { vault, of, key: Mutex::default() }
    }

    /// Returns the signer.
    ///
    /// # Errors
    /// If the Secret is not there, or has no such key.
    fn read(&self) -> Result<Box<dyn Sign>> {
        let kept = super::secret(self.vault, &self.of.secret)?;
        let keys = Keys::of(&kept);
        let value = |secret: &Secret<String>| gitremote::Secret::Value(secret.expose().clone());
        let required = |key: &str| keys.required(key).map(|text| gitremote::Secret::Value(text.to_owned()));
        let passphrase = |key: &str| keys.secret(key).map(|passphrase| passphrase.as_ref().map(value));
        Ok(match self.of.format {
            SignatureFormat::Ssh => {
                let (signer, passphrase) = (SshSigner::new(required("identity")?), passphrase("password")?);
                Box::new(SshSigner { passphrase, ..signer })
            }
            SignatureFormat::Openpgp => {
                let keyring = GpgKeyring::of(&required("git.asc")?, passphrase("passphrase")?);
                Box::new(
                    keyring.map_err(|error| {
                        keys.wrong("git.asc", &format!("does not sign: {}", error.message()))
                    })?,
                )
            }
        })
    }
}

impl Sign for Signer<'_> {
    fn sign(&self, payload: &[u8]) -> Result<String> {
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        let signer = match key.take() {
            Some(signer) => signer,
            None => self.read().map_err(|error| as_of_git(&error))?,
        };
        key.insert(signer).sign(payload)
    }
}

fn as_of_git(error: &Error) -> Error {
    let ours = Error::new(ErrorKind::Unavailable, error.message());
    match error.get_hint() {
        Some(help) => ours.hint(help),
        None => ours,
    }
}
