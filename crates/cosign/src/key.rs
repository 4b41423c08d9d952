//! Public keys. In: PEM, as `cosign generate-key-pair` and OpenSSL write it. Out: what says whether a signature is of a
//! key. It refuses kinds of keys that cosign does not sign with, keys too small to trust, and private keys, of which no
//! message shows anything.

use diagnostic::{Error, ErrorKind, Result};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject as _;

use crate::der::{self, NULL, OBJECT_IDENTIFIER, SEQUENCE};

/// Keys are a few hundred bytes each.
const MAX_PEM: usize = 64 << 10;

/// Each signature is held against each key.
const MAX_KEYS: usize = 32;

/// Maximum number of bits of a product of primes that are neither too few to trust nor too many to reckon with.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// 1.2.840.10045.2.1
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.3.132.0.34
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
/// 1.2.840.113549.1.1.1
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// 1.3.101.112
const ED25519_ID: &[u8] = &[0x2b, 0x65, 0x70];

// What cosign signs with a key by. It takes SHA-256 for all but, since its third version, P-384; keys that are kept in the
// cloud may be bound to another one. No signature says which.
static BY_P256: [&dyn VerificationAlgorithm; 1] = [&ECDSA_P256_SHA256_ASN1];
static BY_P384: [&dyn VerificationAlgorithm; 2] = [&ECDSA_P384_SHA256_ASN1, &ECDSA_P384_SHA384_ASN1];
static BY_ED25519: [&dyn VerificationAlgorithm; 1] = [&ED25519];
static BY_RSA: [&dyn VerificationAlgorithm; 3] =
    [&RSA_PKCS1_2048_8192_SHA256, &RSA_PKCS1_2048_8192_SHA384, &RSA_PKCS1_2048_8192_SHA512];

/// A public key, by the name that its owner gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    kind: Kind,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    P256,
    P384,
    Ed25519,
    Rsa,
}

impl PublicKey {
    /// Reads all public keys of a text. The name is what messages call them: where the text is from.
    ///
    /// # Errors
    /// If it holds no public key, one that cannot be used, or a private one.
    pub fn read_all(name: &str, pem: &str) -> Result<Vec<Self>> {
        let refused = |reason: &str| Error::new(ErrorKind::Key, format!("{name} {reason}"));
        if pem.len() > MAX_PEM {
            return Err(refused("is too large for public keys"));
        }
        if pem.contains("PRIVATE KEY-----") {
            return Err(
                refused("holds a private key").hint("give the public one, such as `cosign.pub`, only")
            );
        }
        let mut keys = Vec::new();
        for key in SubjectPublicKeyInfoDer::pem_slice_iter(pem.as_bytes()) {
            let key = key.map_err(|_| refused("is not valid PEM"))?;
            let (kind, bytes) = read(&key).map_err(|reason| refused(&format!("has a key that {reason}")))?;
            keys.push(Self { name: name.to_owned(), kind, bytes: bytes.to_vec() });
        }
        match keys.len() {
            0 => Err(refused("does not contain a PEM public key")
                .hint("such a key begins with `-----BEGIN PUBLIC KEY-----`")),
            1..=MAX_KEYS => Ok(keys),
            _ => Err(refused(&format!("has more than {MAX_KEYS} keys"))),
        }
    }

    /// Returns where it is from.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if a signature of a message is of this key.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let by = |algorithm: &&'static dyn VerificationAlgorithm| {
            UnparsedPublicKey::new(*algorithm, &self.bytes).verify(message, signature).is_ok()
        };
        self.kind.algorithms().iter().any(by)
    }
}

impl Kind {
    /// Returns what a signature with such a key may be by.
    fn algorithms(self) -> &'static [&'static dyn VerificationAlgorithm] {
        match self {
            Self::P256 => &BY_P256,
            Self::P384 => &BY_P384,
            Self::Ed25519 => &BY_ED25519,
            Self::Rsa => &BY_RSA,
        }
    }
}

/// Reads a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), and gives what the algorithm takes for a key.
fn read(info: &[u8]) -> Result<(Kind, &[u8]), &'static str> {
    let malformed = "is not a valid public key";
    let (algorithm, key) =
        der::only(SEQUENCE, info).and_then(|info| der::field(SEQUENCE, info)).ok_or(malformed)?;
    let key = der::only_bytes(key).ok_or(malformed)?;
    let (algorithm, parameters) = der::field(OBJECT_IDENTIFIER, algorithm).ok_or(malformed)?;
    let (kind, fits) = match algorithm {
        EC => match der::only(OBJECT_IDENTIFIER, parameters) {
            Some(P256) => (Kind::P256, is_point(key, 32)),
            Some(P384) => (Kind::P384, is_point(key, 48)),
            _ => return Err("is on a curve other than P-256 and P-384"),
        },
        ED25519_ID => (Kind::Ed25519, parameters.is_empty() && key.len() == 32),
        RSA => {
            let bits = rsa_bits(key).ok_or(malformed)?;
            if !RSA_BITS.contains(&bits) {
                return Err("is of RSA with fewer than 2048 or more than 8192 bits");
            }
            (Kind::Rsa, der::only(NULL, parameters) == Some(&[]))
        }
        _ => return Err("is of a kind other than ECDSA, Ed25519 and RSA"),
    };
    fits.then_some((kind, key)).ok_or(malformed)
}

/// Returns true if it is a point in full, as all write them.
fn is_point(key: &[u8], size: usize) -> bool {
    key.len() == 1 + 2 * size && key[0] == 4
}

fn rsa_bits(key: &[u8]) -> Option<usize> {
    let (modulus, rest) = der::number(der::only(SEQUENCE, key)?)?;
    let (_, rest) = der::number(rest)?;
    let unused = modulus.first()?.leading_zeros() as usize;
    rest.is_empty().then_some(modulus.len() * 8 - unused)
}
