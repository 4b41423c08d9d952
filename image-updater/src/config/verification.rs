//! Signature verification settings: for all images, for some, or for one.
//!
//! In: what is written at each of these places. Out: the nearest of them. Refused: to verify without a key, keys that
//! cannot be used as far as they are written here, and names of Secrets that are none.

use diagnostic::{Error, Result};
use std::path::PathBuf;

use super::check::Checker;
use super::file;
use crate::change::Named;
use crate::trust;
use crate::work::{KeyPlace, Verification};
use yamlserde::Spanned;

impl Checker<'_> {
    /// Returns what counts for an image: what it says itself, or its update, or the file.
    pub(super) fn nearest(
        self,
        update: &file::Update,
        image: &file::Image,
        everywhere: Option<&Verification>,
    ) -> Result<Option<Verification>> {
        let of_update = self.verification(update.verify.as_ref())?;
        let nearest = self.verification(image.verify.as_ref())?.or(of_update);
        Ok(nearest.unwrap_or_else(|| everywhere.cloned()))
    }

    /// Returns what has to have signed images: nothing said, or that nothing has to, or who.
    pub(super) fn verification(
        self,
        verify: Option<&Spanned<file::Verify>>,
    ) -> Result<Option<Option<Verification>>> {
        let Some(Spanned { value: verify, start }) = verify else { return Ok(None) };
        let keys: Vec<KeyPlace> =
            verify.cosign_keys.iter().map(|key| self.key(key)).collect::<Result<_>>()?;
        match (verify.enabled, keys.is_empty()) {
            (false, _) => Ok(Some(None)),
            (true, false) => Ok(Some(Some(Verification { keys }))),
            (true, true) => {
                let error = Error::invalid("a verification needs `cosignKeys`");
                Err(self.at(*start)(error.hint("or set `enabled: false` for what cannot be signed")))
            }
        }
    }

    fn key(self, Spanned { value: key, start }: &Spanned<file::CosignKey>) -> Result<KeyPlace> {
        match key {
            file::CosignKey::File(path) => Ok(KeyPlace::File(PathBuf::from(path))),
            file::CosignKey::Pem(pem) => {
                trust::parse(pem).map_err(self.at(*start))?;
                Ok(KeyPlace::Text(pem.clone()))
            }
            file::CosignKey::Secret(text) => secret_key(text).ok_or_else(|| {
                self.at(*start)(Error::invalid(format!("invalid reference `{text}` to a key of a Secret")))
                    .hint("write it as `NAMESPACE/NAME#KEY`")
            }),
        }
    }
}

/// Reads `NAMESPACE/NAME#KEY`.
fn secret_key(text: &str) -> Option<KeyPlace> {
    let (secret, key) = text.split_once('#')?;
    let (namespace, name) = secret.split_once('/')?;
    let is_good =
        |part: &str| !part.is_empty() && !part.contains(['/', '#']) && !part.contains(char::is_whitespace);
    let secret = Named { namespace: namespace.to_owned(), name: name.to_owned() };
    [namespace, name, key].into_iter().all(is_good).then(|| KeyPlace::Secret { secret, key: key.to_owned() })
}
