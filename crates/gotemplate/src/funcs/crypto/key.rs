//! Private keys of all kinds, to and from PEM.

use super::der::{self, Reader};
use super::elliptic::{EcdsaKey, Ed25519Key};
use super::pem;
use super::prime::{random_below, random_prime, random_prime_above};
use super::rsa::RsaKey;
use crate::context::Context;
use crate::error::CallError;
use crate::funcs::args::lossy;
use crate::funcs::big::{Modulus, Natural};
use crate::function::Function;
use crate::value::{Type, Value};

pub(in crate::funcs) const FUNCS: &[Function] =
    &[Function::new("genPrivateKey", &[Type::String], gen_private_key)];

pub(super) const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
pub(super) const EC: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
pub(super) const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];

/// A private key.
pub(super) enum PrivateKey {
    Rsa(RsaKey),
    Ecdsa(EcdsaKey),
    Ed25519(Ed25519Key),
    /// A DSA key in DER. Nothing can be signed with one.
    Dsa(Vec<u8>),
}

fn gen_private_key(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let kind = lossy(args, 0);
    let key = match kind.as_str() {
        "" | "rsa" => PrivateKey::Rsa(RsaKey::generate(context, 4096)?),
        "dsa" => PrivateKey::Dsa(generate_dsa(context)?),
        "ecdsa" => PrivateKey::Ecdsa(EcdsaKey::generate(context)?),
        "ed25519" => PrivateKey::Ed25519(Ed25519Key::generate(context)?),
        _ => return Ok(format!("Unknown type {kind}").into()),
    };
    Ok(key.to_pem().into())
}

/// A DSA key of 2048 and 256 bits: version, both primes, a generator, the public and the private number.
fn generate_dsa(context: &mut Context<'_>) -> Result<Vec<u8>, CallError> {
    context.spend(4_000_000)?;
    let order = random_prime(context, 256)?;
    let prime = random_prime_above(context, 2048, &order)?;
    let modulus = Modulus::new(prime.clone());
    let cofactor = prime.subtract(&1.into()).divide(&order).0;
    let one = Natural::from(1);
    let generators = (2..).map(|base: u64| modulus.power(&base.into(), &cofactor));
    let generator = generators.take(100).find(|generator| *generator != one).ok_or("no generator")?;
    let private = random_below(context, &order)?;
    let public = modulus.power(&generator, &private);
    let numbers = [&prime, &order, &generator, &public, &private];
    Ok(der::sequence(std::iter::once(der::small_integer(0)).chain(numbers.map(der::integer))))
}

impl PrivateKey {
    pub(super) fn to_pem(&self) -> String {
        match self {
            Self::Rsa(key) => pem::encode("RSA PRIVATE KEY", &key.to_der()),
            Self::Ecdsa(key) => pem::encode("EC PRIVATE KEY", &key.to_der()),
            Self::Dsa(der) => pem::encode("DSA PRIVATE KEY", der),
            Self::Ed25519(key) => {
                let algorithm = der::sequence([der::object(&ED25519)]);
                let seed = der::octets(&der::octets(&key.seed()));
                pem::encode("PRIVATE KEY", &der::sequence([der::small_integer(0), algorithm, seed]))
            }
        }
    }

    /// Reads a key.
    ///
    /// # Errors
    /// Sprig's words about what is none, and what can be said shortly of what Go's ASN.1 reader says
    /// at length.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, String> {
        let block = pem::decode(text).ok_or("no PEM data in input")?;
        if block.label == "PRIVATE KEY" {
            let key = from_pkcs8(&block.bytes);
            return key.ok_or_else(|| "decoding PEM as PKCS#8: x509: failed to parse private key".to_owned());
        }
        let Some(kind) = block.label.strip_suffix(" PRIVATE KEY") else {
            return Err(format!("no private key data in PEM block of type {}", block.label));
        };
        let bytes = &block.bytes;
        let key = match kind {
            "RSA" => RsaKey::from_der(bytes).map(Self::Rsa),
            "EC" => EcdsaKey::from_der(bytes, None).map(Self::Ecdsa),
            "DSA" => Reader::new(bytes).sequence().map(|_| Self::Dsa(bytes.clone())),
            _ => return Err(format!("invalid private key type {}", block.label)),
        };
        key.ok_or_else(|| format!("parsing {kind} private key from PEM: x509: failed to parse private key"))
    }

    /// The public key as certificates have it, and the bits of it that it is known by.
    pub(super) fn public_info(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let (algorithm, bits) = match self {
            Self::Rsa(key) => ([der::object(&RSA), der::value(der::NULL, &[])].concat(), key.public_der()),
            Self::Ecdsa(key) => {
                ([der::object(&EC), der::object(&super::elliptic::P256)].concat(), key.public_point())
            }
            Self::Ed25519(key) => (der::object(&ED25519), key.public().to_vec()),
            Self::Dsa(_) => return None,
        };
        Some((der::sequence([der::sequence([algorithm]), der::bits(&bits)]), bits))
    }
}

fn from_pkcs8(bytes: &[u8]) -> Option<PrivateKey> {
    let mut fields = Reader::new(bytes).sequence()?;
    fields.integer()?;
    let mut algorithm = fields.sequence()?;
    let object = algorithm.take(der::OBJECT)?;
    let key = fields.take(der::OCTET_STRING)?;
    if object == RSA {
        RsaKey::from_der(key).map(PrivateKey::Rsa)
    } else if object == EC {
        EcdsaKey::from_der(key, algorithm.take(der::OBJECT)).map(PrivateKey::Ecdsa)
    } else if object == ED25519 {
        Ed25519Key::from_seed(Reader::new(key).take(der::OCTET_STRING)?).map(PrivateKey::Ed25519)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funcs::testing::{check, check_refusals};

    #[test]
    fn keys_of_elliptic_curves_read_back() {
        for kind in ["ecdsa", "ed25519"] {
            let template = format!("{{{{ genPrivateKey \"{kind}\" }}}}");
            let pem = crate::funcs::testing::rendered(&template).unwrap();
            assert_eq!(PrivateKey::from_pem(pem.as_bytes()).unwrap().to_pem(), pem);
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        check(&[(r#"{{ genPrivateKey "nope" }}"#, "Unknown type nope")]);
        // The words are those of Helm 4.3.1.
        check_refusals(&[
            (r#"{{ genCAWithKey "x" 1 "foo" }}"#, "parsing private key: no PEM data in input"),
            (
                r#"{{ genCAWithKey "x" 1 "-----BEGIN FOO-----\nYWJj\n-----END FOO-----\n" }}"#,
                "parsing private key: no private key data in PEM block of type FOO",
            ),
            (
                r#"{{ genCAWithKey "x" 1 "-----BEGIN X PRIVATE KEY-----\nYWJj\n-----END X PRIVATE KEY-----\n" }}"#,
                "parsing private key: invalid private key type X PRIVATE KEY",
            ),
        ]);
    }
}
