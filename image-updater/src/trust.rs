//! Signatures that versions must have before they are written, and the keys that these are held against.
//!
//! In: which keys an image asks for, and where they are kept: in the configuration, in files, in Secrets of a cluster. Out:
//! by which key a digest is signed, or why it does not count as signed. Refused: to do without a key that cannot be read,
//! though another one might do. Keys are read anew in each round, so that they may be changed; once in it.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cosign::PublicKey;

use crate::cluster::Vault;
use crate::work::{KeyPlace, Verification};

/// A public key has a few hundred bytes, and a file may hold several.
const MAX_KEY: u64 = 64 << 10;

/// Name of the configuration's own keys in messages.
const IN_CONFIGURATION: &str = "the key in the configuration";

/// The keys of one round.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    /// Nothing where there is no cluster.
    vault: Option<Arc<dyn Vault>>,
    read: Mutex<HashMap<KeyPlace, Result<Vec<PublicKey>>>>,
}

impl Keyring {
    /// With the Secrets of a cluster.
    pub(crate) fn with(vault: Option<Arc<dyn Vault>>) -> Self {
        Self { vault, read: Mutex::default() }
    }

    /// All keys of which one has to have signed.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub(crate) fn keys(&self, verification: &Verification) -> Result<Vec<PublicKey>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys = Vec::new();
        for place in &verification.keys {
            let known = read.entry(place.clone()).or_insert_with(|| self.read(place));
            keys.extend(known.as_ref().map_err(Error::clone)?.iter().cloned());
        }
        Ok(keys)
    }

    fn read(&self, place: &KeyPlace) -> Result<Vec<PublicKey>> {
        match place {
            KeyPlace::Text(pem) => parse(pem),
            KeyPlace::File(path) => {
                Ok(PublicKey::read_all(&format!("`{}`", path.display()), &read_file(path)?)?)
            }
            KeyPlace::Secret { secret, key } => {
                let title = format!("`{}/{}`", secret.namespace, secret.name);
                let Some(vault) = &self.vault else {
                    return Err(Error::invalid(format!(
                        "the Secret {title} cannot be read without a cluster"
                    ))
                    .with_kind(ErrorKind::Credentials)
                    .hint("name the key by its `file`, or write it down as `pem`"));
                };
                let missing = |what: String| Error::invalid(what).with_kind(ErrorKind::Credentials);
                let kept = vault
                    .secret(secret)?
                    .ok_or_else(|| missing(format!("the Secret {title} does not exist")))?;
                let pem = kept.text(key);
                let pem = pem.ok_or_else(|| missing(format!("the Secret {title} lacks the key `{key}`")))?;
                let name = format!("`{key}` of the Secret {title}");
                PublicKey::read_all(&name, pem).map_err(|error| error.with_kind(ErrorKind::Credentials))
            }
        }
    }
}

/// The keys in a text of the configuration.
///
/// # Errors
/// If it holds none that can be used.
pub(crate) fn parse(pem: &str) -> Result<Vec<PublicKey>> {
    PublicKey::read_all(IN_CONFIGURATION, pem)
}

fn read_file(path: &Path) -> Result<String> {
    let failed = |error: &std::io::Error| Error::io("read", path, error);
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(&error))?;
    file.take(MAX_KEY + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use oci_registry::Secret;

    use super::*;
    use crate::change::Named;
    use crate::cluster::Kept;

    const PEM: &str = include_str!("../../testdata/cosign/p256.pub");

    /// Has `signing/cosign`, and counts how often it is asked for anything.
    #[derive(Debug, Default)]
    struct OneSecret(AtomicUsize);

    impl Vault for OneSecret {
        fn secret(&self, id: &Named) -> Result<Option<Kept>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let data = [("good", PEM), ("bad", "s3cret")];
            let data: BTreeMap<String, Secret<Vec<u8>>> =
                data.map(|(key, text)| (key.to_owned(), Secret::new(text.as_bytes().to_vec()))).into();
            let is_it = id.namespace == "signing" && id.name == "cosign";
            Ok(is_it.then(|| Kept { id: id.clone(), data }))
        }

        fn config_map(&self, _: &Named) -> Result<Option<Kept>> {
            Ok(None)
        }

        fn labelled(&self, _: &str, _: &str, _: &str) -> Result<Vec<Kept>> {
            Ok(Vec::new())
        }

        fn pull_secrets(&self, _: &Named) -> Result<Option<Vec<String>>> {
            Ok(None)
        }
    }

    fn of_secret(name: &str, key: &str) -> Verification {
        let secret = Named { namespace: "signing".to_owned(), name: name.to_owned() };
        Verification { keys: vec![KeyPlace::Secret { secret, key: key.to_owned() }] }
    }

    #[test]
    fn keys_of_secrets_are_read_once_in_a_round_and_named_by_their_place() {
        let vault = Arc::new(OneSecret::default());
        let keyring = Keyring::with(Some(Arc::clone(&vault) as Arc<dyn Vault>));
        for _ in 0..2 {
            let keys = keyring.keys(&of_secret("cosign", "good")).unwrap();
            assert_eq!(keys[0].name(), "`good` of the Secret `signing/cosign`");
        }
        assert_eq!(vault.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_key_that_cannot_be_read_is_an_error_without_its_content_whatever_the_others_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            KeyPlace::File(folder.path().join(name))
        };
        let good = file("good.pub", PEM);
        let only = |place: &KeyPlace| Verification { keys: vec![good.clone(), place.clone()] };
        let keyring = Keyring::with(Some(Arc::new(OneSecret::default())));
        assert_eq!(keyring.keys(&only(&KeyPlace::Text(PEM.repeat(2)))).unwrap().len(), 3);
        let gone = KeyPlace::File(folder.path().join("gone.pub"));
        for (verification, message) in [
            (of_secret("gone", "good"), "the Secret `signing/gone` does not exist"),
            (of_secret("cosign", "gone"), "the Secret `signing/cosign` lacks the key `gone`"),
            (
                of_secret("cosign", "bad"),
                "`bad` of the Secret `signing/cosign` does not contain a PEM public key",
            ),
            (only(&gone), "gone.pub`: "),
            (only(&file("large.pub", &PEM.repeat(1000))), "large.pub` is too large for public keys"),
            (
                only(&file("private.pem", &PEM.replace("PUBLIC", "PRIVATE"))),
                "private.pem` holds a private key",
            ),
        ] {
            let error = keyring.keys(&verification).unwrap_err();
            assert!(error.message().contains(message), "{error}");
            assert!(!error.to_string().contains("s3cret") && !error.to_string().contains("MFkw"), "{error}");
        }
        let error = Keyring::default().keys(&of_secret("cosign", "good")).unwrap_err();
        assert_eq!(error.message(), "the Secret `signing/cosign` cannot be read without a cluster");
    }
}
