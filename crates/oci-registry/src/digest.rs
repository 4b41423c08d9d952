//! Digests: the name of content by its bytes. In: a text, or bytes. It refuses algorithms other than SHA-256 and
//! SHA-512, and what is not written in lower-case hexadecimal of the right length.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use diagnostic::{Error, ErrorKind, Result};
use sha2::Digest as _;

/// `sha256:…` or `sha512:…`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    text: String,
    algorithm: Algorithm,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Algorithm {
    Sha256,
    Sha512,
}

impl Digest {
    /// The SHA-256 of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(bytes);
        hasher.finish()
    }

    /// `sha256:…`
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name of the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        self.algorithm.name()
    }

    /// The hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> &str {
        &self.text[self.algorithm().len() + 1..]
    }

    /// Returns true if some bytes have this digest.
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hasher.finish() == *self
    }

    /// Returns what makes a digest of the same algorithm from bytes that come one after the other.
    pub(crate) fn hasher(&self) -> Hasher {
        Hasher::new(self.algorithm)
    }
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }
}

/// A digest in the making.
pub(crate) enum Hasher {
    Sha256(Box<sha2::Sha256>),
    Sha512(Box<sha2::Sha512>),
}

impl Hasher {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Self::Sha256(Box::default()),
            Algorithm::Sha512 => Self::Sha512(Box::default()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Digest {
        let (algorithm, bytes) = match self {
            Self::Sha256(hasher) => (Algorithm::Sha256, hasher.finalize().to_vec()),
            Self::Sha512(hasher) => (Algorithm::Sha512, hasher.finalize().to_vec()),
        };
        let mut text = format!("{}:", algorithm.name());
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Digest { text, algorithm }
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || {
            Error::new(ErrorKind::Invalid, format!("invalid digest `{}`", text.escape_debug()))
                .hint("a digest is `sha256:` and 64 digits of lower-case hexadecimal")
        };
        let (name, hex) = text.split_once(':').ok_or_else(invalid)?;
        let (algorithm, length) = match name {
            "sha256" => (Algorithm::Sha256, 64),
            "sha512" => (Algorithm::Sha512, 128),
            _ => return Err(invalid()),
        };
        let is_hex = hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hex.len() != length || !is_hex {
            return Err(invalid());
        }
        Ok(Self { text: text.to_owned(), algorithm })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty text's digests as coreutils' `sha256sum` and `sha512sum` print them.
    #[test]
    fn digests_are_those_of_the_bytes() {
        let sha256 = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let sha512 = "sha512:cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
            47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e";
        assert_eq!(Digest::of(b"").as_str(), sha256);
        assert!(sha512.parse::<Digest>().unwrap().matches(b""));
        assert!(!sha512.parse::<Digest>().unwrap().matches(b"x"));
    }

    #[test]
    fn what_could_be_a_path_or_has_no_known_algorithm_is_refused() {
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [
            "",
            "sha256:",
            "sha256",
            hex,
            &format!("sha256:{}", &hex[1..]),
            &format!("sha256:{}", hex.to_uppercase()),
            &format!("md5:{}", &hex[..32]),
            &format!("sha256:../{}", &hex[3..]),
            &format!("sha512:{hex}"),
        ] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
