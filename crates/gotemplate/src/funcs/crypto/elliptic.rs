//! Keys of elliptic curves: P-256 for ECDSA, and Ed25519.

use ed25519_dalek::{Signer as _, SigningKey as EdwardsKey};
use p256::ecdsa::{Signature, SigningKey};

use super::der::{self, Reader};
use crate::context::Context;
use crate::error::CallError;

const LENGTH: usize = 32;

/// The identifier of the curve P-256.
pub(super) const P256: [u8; 8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

/// An ECDSA key on the curve P-256.
pub(super) struct EcdsaKey(SigningKey);

impl EcdsaKey {
    pub(super) fn generate(context: &mut Context<'_>) -> Result<Self, CallError> {
        loop {
            let mut scalar = [0; LENGTH];
            context.fill_random(&mut scalar)?;
            // Once in four billion the number is too large.
            if let Ok(key) = SigningKey::from_slice(&scalar) {
                return Ok(Self(key));
            }
        }
    }

    /// SEC 1, with the curve's name and the public key.
    pub(super) fn to_der(&self) -> Vec<u8> {
        der::sequence([
            der::small_integer(1),
            der::octets(&self.0.to_bytes()),
            der::value(der::field(0), &der::object(&P256)),
            der::value(der::field(1), &der::bits(&self.public_point())),
        ])
    }

    /// A key in SEC 1 form; the name of the curve may stand elsewhere.
    pub(super) fn from_der(bytes: &[u8], curve: Option<&[u8]>) -> Option<Self> {
        let mut fields = Reader::new(bytes).sequence()?;
        fields.integer().filter(|version| *version == 1.into())?;
        let scalar = fields.take(der::OCTET_STRING)?;
        let own = fields.next().filter(|value| value.tag == der::field(0));
        let named = own.and_then(|value| Reader::new(value.content).take(der::OBJECT));
        (named.or(curve)? == P256).then_some(())?;
        // Some writers leave zeros at the beginning out, some put more there.
        let start = scalar.iter().position(|byte| *byte != 0)?;
        let mut padded = [0; LENGTH];
        let digits = &scalar[start..];
        padded[LENGTH.checked_sub(digits.len())?..].copy_from_slice(digits);
        SigningKey::from_slice(&padded).ok().map(Self)
    }

    /// The public key, uncompressed.
    pub(super) fn public_point(&self) -> Vec<u8> {
        self.0.verifying_key().to_sec1_point(false).as_bytes().to_vec()
    }

    /// Signs with SHA-256.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signature: Signature = self.0.sign(message);
        signature.to_der().as_bytes().to_vec()
    }
}

/// An Ed25519 key.
pub(super) struct Ed25519Key(EdwardsKey);

impl Ed25519Key {
    pub(super) fn generate(context: &mut Context<'_>) -> Result<Self, CallError> {
        let mut seed = [0; LENGTH];
        context.fill_random(&mut seed)?;
        Ok(Self(EdwardsKey::from_bytes(&seed)))
    }

    pub(super) fn from_seed(seed: &[u8]) -> Option<Self> {
        Some(Self(EdwardsKey::from_bytes(seed.try_into().ok()?)))
    }

    pub(super) fn seed(&self) -> [u8; LENGTH] {
        self.0.to_bytes()
    }

    pub(super) fn public(&self) -> [u8; LENGTH] {
        self.0.verifying_key().to_bytes()
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).to_bytes().to_vec()
    }
}
