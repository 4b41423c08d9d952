//! The sources of webhook secrets.
//!
//! In: `env:NAME` or `file:PATH`. Out: what is there. A file is read whenever a sender is to prove itself, so that a
//! Secret that is mounted may change; one that is gone or empty lets nobody in.

use diagnostic::{Error, ErrorKind, Result};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use oci_registry::Secret;

/// More than any key has.
const MAX_SECRET: u64 = 64 << 10;

/// The source of a webhook secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecretPlace {
    /// In a variable of the environment.
    Variable(String),
    /// In a file; the end of its last line does not count.
    File(PathBuf),
}

impl SecretPlace {
    /// Returns what it was at the start, and where it is to be read again.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn open(&self, variable: impl Fn(&str) -> Option<String>) -> Result<SecretSource> {
        match self {
            Self::Variable(name) => variable(name)
                .filter(|value| !value.is_empty())
                .map(|value| SecretSource::Value(Secret::new(value.into_bytes())))
                .ok_or_else(|| Error::invalid(format!("the variable `{name}` is empty: expected a secret"))),
            Self::File(path) => {
                let secret = read(path).map_err(|error| Error::io("read", path, &error))?;
                if secret.expose().is_empty() {
                    return Err(Error::invalid(format!("`{}` is empty: expected a secret", path.display())));
                }
                Ok(SecretSource::File(path.clone()))
            }
        }
    }
}

impl FromStr for SecretPlace {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Variable(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            // It may be the secret itself, so it is not shown.
            _ => Err(Error::new(ErrorKind::Usage, "a secret is not named itself, but where it is kept")
                .hint("write `env:NAME` or `file:PATH`")),
        }
    }
}

/// A secret that can be had.
pub(super) enum SecretSource {
    Value(Secret<Vec<u8>>),
    File(PathBuf),
}

impl SecretSource {
    /// Returns what it is now; nothing where there is none any more.
    pub(super) fn read(&self) -> Option<Secret<Vec<u8>>> {
        match self {
            Self::Value(secret) => Some(secret.clone()),
            Self::File(path) => read(path).ok().filter(|secret| !secret.expose().is_empty()),
        }
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("***"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

fn read(path: &Path) -> std::io::Result<Secret<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SECRET).read_to_end(&mut bytes)?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    Ok(Secret::new(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<SecretSource> {
        text.parse::<SecretPlace>()?.open(|name| (name == "KNOWN").then(|| "s3cret".to_owned()))
    }

    #[test]
    fn a_secret_is_where_it_is_said_to_be_and_is_never_shown() {
        let source = open("env:KNOWN").unwrap();
        assert_eq!(source.read().unwrap().expose(), b"s3cret");
        assert!(!format!("{source:?}").contains("s3cret"));
        assert_eq!(
            open("env:OTHER").unwrap_err().message(),
            "the variable `OTHER` is empty: expected a secret"
        );
        for text in ["s3cret", "env:", "file:", "vault:s3cret"] {
            assert!(!open(text).unwrap_err().to_string().contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn a_file_is_read_whenever_it_is_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let place = format!("file:{}", file.path().display());
        assert!(open(&place).unwrap_err().message().ends_with("` is empty: expected a secret"));
        std::fs::write(file.path(), "one\r\n").unwrap();
        let source = open(&place).unwrap();
        assert_eq!(source.read().unwrap().expose(), b"one");
        std::fs::write(file.path(), "two\n\n").unwrap();
        assert_eq!(source.read().unwrap().expose(), b"two\n");
        std::fs::write(file.path(), "\n").unwrap();
        assert!(source.read().is_none());
        drop(file);
        assert!(source.read().is_none() && open(&place).is_err());
    }
}
