//! RSA keys: finding, encoding, signing.

use sha2::{Digest as _, Sha256};

use super::der::{self, Reader};
use super::prime::random_primes;
use crate::context::Context;
use crate::error::CallError;
use crate::funcs::big::{Modulus, Natural};

/// The public exponent, a prime.
const EXPONENT: u64 = 65_537;

/// `SEQUENCE { SEQUENCE { sha256, NULL }, OCTET STRING of 32 bytes`, as it stands before a digest.
const SHA256_INFO: [u8; 19] =
    [0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20];

/// A private key.
pub(super) struct RsaKey {
    modulus: Natural,
    public_exponent: Natural,
    private_exponent: Natural,
    primes: [Natural; 2],
    /// The private exponent modulo each prime less 1.
    exponents: [Natural; 2],
    /// The inverse of the second prime modulo the first.
    coefficient: Natural,
}

impl RsaKey {
    pub(super) fn generate(context: &mut Context<'_>, bits: usize) -> Result<Self, CallError> {
        // A second or so for a large key.
        context.spend(bits as u64 * 1_000)?;
        Ok(Self::from_primes(random_primes(context, bits / 2, EXPONENT)?))
    }

    /// The key of two primes, which are not just above a multiple of the public exponent.
    fn from_primes(primes: [Natural; 2]) -> Self {
        let [first, second] = &primes;
        let lesser = primes.each_ref().map(|prime| prime.subtract(&1.into()));
        let private_exponent = inverse_of_exponent(&lesser[0].multiply(&lesser[1]));
        Self {
            modulus: first.multiply(second),
            public_exponent: EXPONENT.into(),
            exponents: lesser.map(|lesser| private_exponent.remainder(&lesser)),
            // By Fermat's little theorem.
            coefficient: Modulus::new(first.clone()).power(second, &first.subtract(&2.into())),
            private_exponent,
            primes,
        }
    }

    /// PKCS #1.
    pub(super) fn to_der(&self) -> Vec<u8> {
        let numbers = [&self.modulus, &self.public_exponent, &self.private_exponent];
        let numbers =
            numbers.into_iter().chain(&self.primes).chain(&self.exponents).chain([&self.coefficient]);
        der::sequence(std::iter::once(der::small_integer(0)).chain(numbers.map(der::integer)))
    }

    /// A key of two primes that belong together.
    pub(super) fn from_der(bytes: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(bytes).sequence()?;
        fields.integer().filter(Natural::is_zero)?;
        let [modulus, public_exponent, private_exponent] =
            [fields.integer()?, fields.integer()?, fields.integer()?];
        let primes = [fields.integer()?, fields.integer()?];
        let exponents = [fields.integer()?, fields.integer()?];
        let coefficient = fields.integer()?;
        let odd = primes.iter().all(|prime| prime.is_odd() && prime.bits() > 1);
        let belong = odd && primes[0].multiply(&primes[1]) == modulus;
        belong.then_some(Self { modulus, public_exponent, private_exponent, primes, exponents, coefficient })
    }

    /// The public key in PKCS #1.
    pub(super) fn public_der(&self) -> Vec<u8> {
        der::sequence([der::integer(&self.modulus), der::integer(&self.public_exponent)])
    }

    /// Signs by PKCS #1 v1.5 with SHA-256; none if the key is too small for that.
    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let length = self.modulus.bits().div_ceil(8);
        let digest = [&SHA256_INFO, &Sha256::digest(message)[..]].concat();
        let padding = length.checked_sub(digest.len() + 3).filter(|padding| *padding >= 8)?;
        let padded = [&[0, 1], vec![0xff; padding].as_slice(), &[0], &digest].concat();
        Some(self.decrypt(&Natural::from_bytes(&padded)).to_padded_bytes(length))
    }

    /// The number to the private exponent, by way of the primes, which is four times as fast.
    fn decrypt(&self, number: &Natural) -> Natural {
        let [first, second] = &self.primes;
        let powers: [Natural; 2] = std::array::from_fn(|index| {
            Modulus::new(self.primes[index].clone()).power(number, &self.exponents[index])
        });
        let difference = powers[0].add(first).subtract(&powers[1].remainder(first));
        let quotient = difference.multiply(&self.coefficient).remainder(first);
        quotient.multiply(second).add(&powers[1])
    }
}

/// Returns what the public exponent times this is 1, modulo `order`, which it does not divide.
fn inverse_of_exponent(order: &Natural) -> Natural {
    // The inverse is (order * k + 1) / exponent for the k below the exponent that makes it whole.
    let rest = order.remainder_small(EXPONENT);
    let exponent = Modulus::new(EXPONENT.into());
    let inverse = exponent.power(&rest.into(), &(EXPONENT - 2).into());
    let factor = exponent.number().subtract(&inverse);
    order.multiply(&factor).add(&1.into()).divide(exponent.number()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_the_exponent() {
        let order = Natural::from(1_000_003).multiply(&998_244_352.into()).multiply(&12_345_678_912.into());
        let inverse = inverse_of_exponent(&order);
        assert_eq!(inverse.multiply(&EXPONENT.into()).remainder(&order), 1.into());
    }

    /// A key of the two largest primes of 256 bits.
    fn key() -> RsaKey {
        let below = |distance: u64| Natural::from(1).shift_left(256).subtract(&distance.into());
        RsaKey::from_primes([below(189), below(357)])
    }

    #[test]
    fn a_signature_to_the_public_exponent_is_what_was_signed() {
        let key = key();
        let signature = Natural::from_bytes(&key.sign(b"message").unwrap());
        let signed = Modulus::new(key.modulus.clone()).power(&signature, &EXPONENT.into());
        let signed = signed.to_padded_bytes(64);
        assert!(signed.starts_with(&[0, 1, 0xff, 0xff]));
        assert!(signed.ends_with(&Sha256::digest(b"message")));
    }

    #[test]
    fn a_key_reads_back_unless_its_numbers_do_not_belong_together() {
        let key = key();
        let der = key.to_der();
        assert_eq!(RsaKey::from_der(&der).unwrap().to_der(), der);
        let other = RsaKey { modulus: key.modulus.add(&2.into()), ..key };
        assert!(RsaKey::from_der(&other.to_der()).is_none());
        assert!(RsaKey::from_der(&der[..der.len() - 1]).is_none());
    }
}
