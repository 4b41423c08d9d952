//! Reads the keys of a Secret; missing keys are taken from another Secret that supplements it.

use diagnostic::{Error, Result};
use gitremote::ClientCertificate;
use oci_registry::Secret;

use crate::cluster::Kept;

/// Secrets of which the first counts that has a key.
#[derive(Clone, Copy)]
pub(super) struct Keys<'k> {
    first: &'k Kept,
    second: Option<&'k Kept>,
}

impl<'k> Keys<'k> {
    pub(super) fn of(first: &'k Kept) -> Self {
        Self { first, second: None }
    }

    pub(super) fn with(self, second: &'k Kept) -> Self {
        Self { second: Some(second), ..self }
    }

    /// A text; what is empty is as good as missing.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'k str>> {
        let of_one = |kept: &'k Kept| {
            let bytes = kept.data.get(key).map(Secret::expose).filter(|bytes| !bytes.is_empty());
            let text = bytes.map(|bytes| std::str::from_utf8(bytes)).transpose();
            text.map_err(|_| wrong(kept, key, "is not valid UTF-8"))
        };
        match (of_one(self.first)?, self.second) {
            (None, Some(second)) => of_one(second),
            (text, _) => Ok(text),
        }
    }

    pub(super) fn has(&self, key: &str) -> Result<bool> {
        Ok(self.text(key)?.is_some())
    }

    /// A text that has to be there.
    pub(super) fn required(&self, key: &str) -> Result<&'k str> {
        self.text(key)?.ok_or_else(|| wrong(self.first, key, "is missing"))
    }

    pub(super) fn secret(&self, key: &str) -> Result<Option<Secret<String>>> {
        Ok(self.text(key)?.map(Secret::from))
    }

    /// Returns whether something is said to be so, in the words that Go takes.
    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        match self.text(key)?.unwrap_or_default() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
            "" | "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
            _ => Err(wrong(self.first, key, "is neither `true` nor `false`")),
        }
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| wrong(self.first, key, "is not a number"))
    }

    /// The certificate that the server is shown, with its key.
    pub(super) fn certificate(&self, certificate: &str, key: &str) -> Result<Option<ClientCertificate>> {
        match (self.text(certificate)?, self.text(key)?) {
            (None, None) => Ok(None),
            (Some(chain), Some(private)) => Ok(Some(ClientCertificate {
                chain: chain.as_bytes().to_vec(),
                key: gitremote::Secret::Value(private.to_owned()),
            })),
            (Some(_), None) => {
                Err(wrong(self.first, key, &format!("is missing, which `{certificate}` needs")))
            }
            (None, Some(_)) => {
                Err(wrong(self.first, certificate, &format!("is missing, which `{key}` needs")))
            }
        }
    }

    /// Says what is wrong with a key.
    pub(super) fn wrong(&self, key: &str, why: &str) -> Error {
        wrong(self.first, key, why)
    }

    /// Says what is wrong as a whole.
    pub(super) fn refuse(&self, why: &str) -> Error {
        Error::invalid(format!("the Secret `{}` {why}", self.first.id))
    }
}

fn wrong(kept: &Kept, key: &str, why: &str) -> Error {
    Error::invalid(format!("the Secret `{}` cannot be used: `{key}` {why}", kept.id))
}
