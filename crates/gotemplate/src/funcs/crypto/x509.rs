//! Certificates of X.509: in go names, times and keys, out comes DER.

use std::net::IpAddr;

use gostd::quoted;
use sha2::{Digest as _, Sha256};

use super::der::{self, Reader};
use super::key::{ED25519, PrivateKey};
use crate::context::Now;
use crate::funcs::big::Natural;
use crate::time::{Time, Zone};

const SHA256_WITH_RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11];
const ECDSA_WITH_SHA256: [u8; 8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];

const COMMON_NAME: [u8; 3] = [0x55, 4, 3];
const SUBJECT_KEY_ID: [u8; 3] = [0x55, 0x1d, 14];
const KEY_USAGE: [u8; 3] = [0x55, 0x1d, 15];
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 17];
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 19];
const AUTHORITY_KEY_ID: [u8; 3] = [0x55, 0x1d, 35];
const EXTENDED_KEY_USAGE: [u8; 3] = [0x55, 0x1d, 37];
const SERVER_AUTH: [u8; 8] = [0x2b, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: [u8; 8] = [0x2b, 6, 1, 5, 5, 7, 3, 2];

/// The fields of a certificate.
pub(super) struct Template {
    pub(super) common_name: String,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) dns_names: Vec<Vec<u8>>,
    pub(super) serial: Natural,
    pub(super) not_before: Now,
    pub(super) not_after: Now,
    pub(super) is_ca: bool,
}

/// The issuer of a certificate.
pub(super) struct Issuer<'a> {
    /// The name in DER.
    pub(super) subject: Vec<u8>,
    /// The key id in the issuer's certificate, if it differs.
    pub(super) key_id: Option<Vec<u8>>,
    pub(super) key: &'a PrivateKey,
}

/// A certificate that was read, as far as one is signed by it.
pub(super) struct Certificate {
    pub(super) subject: Vec<u8>,
    pub(super) public_key: Vec<u8>,
    pub(super) key_id: Option<Vec<u8>>,
}

impl Template {
    /// The name in DER.
    pub(super) fn subject(&self) -> Vec<u8> {
        let name = &self.common_name;
        if name.is_empty() {
            return der::sequence::<&[u8]>([]);
        }
        let printable =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte));
        let tag = if printable { der::PRINTABLE_STRING } else { der::UTF8_STRING };
        let attribute = der::sequence([der::object(&COMMON_NAME), der::value(tag, name.as_bytes())]);
        der::sequence([der::value(der::SET, &attribute)])
    }

    /// The certificate for a key, signed.
    ///
    /// # Errors
    /// Go's words about what cannot be in a certificate.
    pub(super) fn sign(&self, key: &PrivateKey, issuer: &Issuer<'_>) -> Result<Vec<u8>, String> {
        let no_signer = || "x509: certificate private key does not implement crypto.Signer".to_owned();
        let algorithm = signature_algorithm(issuer.key).ok_or_else(no_signer)?;
        let (public_info, public_bits) =
            key.public_info().ok_or("x509: unsupported public key type: *dsa.PublicKey")?;
        let extensions = der::sequence(self.extensions(issuer, &public_bits)?);
        let unsigned = der::sequence([
            der::value(der::field(0), &der::small_integer(2)),
            der::integer(&self.serial),
            algorithm.clone(),
            issuer.subject.clone(),
            der::sequence([time(self.not_before)?, time(self.not_after)?]),
            self.subject(),
            public_info,
            der::value(der::field(3), &extensions),
        ]);
        let signature = match issuer.key {
            PrivateKey::Rsa(key) => {
                key.sign(&unsigned).ok_or("crypto/rsa: message too long for RSA key size")?
            }
            PrivateKey::Ecdsa(key) => key.sign(&unsigned),
            PrivateKey::Ed25519(key) => key.sign(&unsigned),
            PrivateKey::Dsa(_) => return Err(no_signer()),
        };
        Ok(der::sequence([unsigned, algorithm, der::bits(&signature)]))
    }

    fn extensions(&self, issuer: &Issuer<'_>, public_bits: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        // Digital signature and key encipherment; a CA signs certificates too.
        let usage = if self.is_ca { [2, 0xa4] } else { [5, 0xa0] };
        let purposes = der::sequence([der::object(&SERVER_AUTH), der::object(&CLIENT_AUTH)]);
        let constraints = if self.is_ca { der::value(der::BOOLEAN, &[0xff]) } else { Vec::new() };
        let mut extensions = vec![
            extension(&KEY_USAGE, true, &der::value(der::BIT_STRING, &usage)),
            extension(&EXTENDED_KEY_USAGE, false, &purposes),
            extension(&BASIC_CONSTRAINTS, true, &der::sequence([constraints])),
        ];
        if self.is_ca {
            let id = &Sha256::digest(public_bits)[..20];
            extensions.push(extension(&SUBJECT_KEY_ID, false, &der::octets(id)));
        }
        if let Some(id) = &issuer.key_id
            && issuer.subject != self.subject()
        {
            // Field 0, which is no structure.
            extensions.push(extension(&AUTHORITY_KEY_ID, false, &der::sequence([der::value(0x80, id)])));
        }
        if !self.addresses.is_empty() || !self.dns_names.is_empty() {
            let names = der::sequence(self.alternative_names()?);
            extensions.push(extension(&ALTERNATIVE_NAMES, self.common_name.is_empty(), &names));
        }
        Ok(extensions)
    }

    fn alternative_names(&self) -> Result<Vec<Vec<u8>>, String> {
        let mut names = Vec::new();
        for name in &self.dns_names {
            if !name.is_ascii() {
                return Err(format!("x509: {} cannot be encoded as an IA5String", quoted(name)));
            }
            names.push(der::value(0x82, name));
        }
        for address in &self.addresses {
            names.push(match address.to_canonical() {
                IpAddr::V4(address) => der::value(0x87, &address.octets()),
                IpAddr::V6(address) => der::value(0x87, &address.octets()),
            });
        }
        Ok(names)
    }
}

fn signature_algorithm(key: &PrivateKey) -> Option<Vec<u8>> {
    Some(match key {
        PrivateKey::Rsa(_) => der::sequence([der::object(&SHA256_WITH_RSA), der::value(der::NULL, &[])]),
        PrivateKey::Ecdsa(_) => der::sequence([der::object(&ECDSA_WITH_SHA256)]),
        PrivateKey::Ed25519(_) => der::sequence([der::object(&ED25519)]),
        PrivateKey::Dsa(_) => return None,
    })
}

fn extension(id: &[u8], critical: bool, content: &[u8]) -> Vec<u8> {
    let critical = if critical { der::value(der::BOOLEAN, &[0xff]) } else { Vec::new() };
    der::sequence([der::object(id), critical, der::octets(content)])
}

/// A time: with two digits of the year where they are enough.
fn time(now: Now) -> Result<Vec<u8>, String> {
    let time = Time::unix(now, Zone::Utc);
    let year = time.format(b"2006");
    let (tag, layout): (u8, &[u8]) = match String::from_utf8_lossy(&year).parse() {
        Ok(1950..2050) => (der::UTC_TIME, b"060102150405Z"),
        Ok(0..10_000) => (der::GENERALIZED_TIME, b"20060102150405Z"),
        _ => return Err("asn1: structure error: cannot represent time as GeneralizedTime".to_owned()),
    };
    Ok(der::value(tag, &time.format(layout)))
}

impl Certificate {
    /// Reads the parts that signing needs.
    pub(super) fn from_der(bytes: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(bytes).sequence()?.sequence()?;
        let mut first = fields.next()?;
        if first.tag == der::field(0) {
            first = fields.next()?;
        }
        (first.tag == der::INTEGER).then_some(())?;
        let (_algorithm, _issuer, _validity) = (fields.sequence()?, fields.sequence()?, fields.sequence()?);
        let subject = fields.next().filter(|subject| subject.tag == der::SEQUENCE)?.whole.to_vec();
        let public_key = fields.next().filter(|key| key.tag == der::SEQUENCE)?.whole.to_vec();
        let mut key_id = None;
        while let Some(field) = fields.next() {
            if field.tag == der::field(3) {
                key_id = subject_key_id(field.content);
            }
        }
        Some(Self { subject, public_key, key_id })
    }
}

fn subject_key_id(extensions: &[u8]) -> Option<Vec<u8>> {
    let mut extensions = Reader::new(extensions).sequence()?;
    loop {
        let mut extension = extensions.sequence()?;
        if extension.take(der::OBJECT)? == SUBJECT_KEY_ID {
            let mut content = extension.next()?;
            if content.tag == der::BOOLEAN {
                content = extension.next()?;
            }
            return Reader::new(content.content).take(der::OCTET_STRING).map(<[u8]>::to_vec);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::elliptic::Ed25519Key;
    use super::*;
    use gostd::base64;

    fn template(name: &str, serial: &str, days: i64) -> Template {
        let now = Now { seconds: 1_796_038_570, nanoseconds: 0 };
        let bytes: Vec<u8> =
            (0..16).map(|index| u8::from_str_radix(&serial[2 * index..][..2], 16).unwrap()).collect();
        Template {
            common_name: name.to_owned(),
            addresses: Vec::new(),
            dns_names: Vec::new(),
            serial: Natural::from_bytes(&bytes),
            not_before: now,
            not_after: Now { seconds: now.seconds + days * 86_400, ..now },
            is_ca: false,
        }
    }

    // Three certificates that Helm 4.3.1 made with one Ed25519 key, whose signatures have no
    // randomness: `genCAWithKey`, `genSignedCertWithKey` by that one with a name that is not
    // printable and a time after 2049, and `genSelfSignedCertWithKey` without a name.
    const CA: &str = "MIIBPjCB8aADAgECAhAFEFy6DORgkXNmi6qBcDKmMAUGAytlcDAQMQ4wDAYDVQQDEwVteSBjYTAeFw0yNjExMzAxMTM2MTBaFw0yNzExMzAxMTM2MTBaMBAxDjAMBgNVBAMTBW15IGNhMCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjYTBfMA4GA1UdDwEB/wQEAwICpDAdBgNVHSUEFjAUBggrBgEFBQcDAQYIKwYBBQUHAwIwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQU/oEsEvOrTOasXbaaw1L5BssbEe8wBQYDK2VwA0EAeiEqZDLJ9oYRynHAF1SdvQNGPS6hiJvFZLhAjzhufN56uofYuuhqYExmViDNZp0a76NoEk9bvRDb6nAgV85JBg==";
    const SIGNED: &str = "MIIBbzCCASGgAwIBAgIRALJfKZE+o4EuR+oFvd04vwUwBQYDK2VwMBAxDjAMBgNVBAMTBW15IGNhMCAXDTI2MTEzMDExMzYxMFoYDzIxMDkwMTE5MTEzNjEwWjAPMQ0wCwYDVQQDDARzdmMqMCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjgY4wgYswDgYDVR0PAQH/BAQDAgWgMB0GA1UdJQQWMBQGCCsGAQUFBwMBBggrBgEFBQcDAjAMBgNVHRMBAf8EAjAAMB8GA1UdIwQYMBaAFP6BLBLzq0zmrF22msNS+QbLGxHvMCsGA1UdEQQkMCKCA2EuYoIDKi5jhwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMAUGAytlcANBAIrOM/WpHSpmFSH6pFJPYDARJyiFy8Jq5co52qkk4sVzc9A6Aw9aK1xlTAfuWvuK+LqKB36wBz1vYQmVxcGLwQM=";
    const NAMELESS: &str = "MIIBDTCBwKADAgECAhBoBq2D8NBMcYSotEy6RGvLMAUGAytlcDAAMB4XDTI2MTEzMDExMzYxMFoXDTI2MTEyOTExMzYxMFowADAqMAUGAytlcAMhAOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIso1AwTjAOBgNVHQ8BAf8EBAMCBaAwHQYDVR0lBBYwFAYIKwYBBQUHAwEGCCsGAQUFBwMCMAwGA1UdEwEB/wQCMAAwDwYDVR0RAQH/BAUwA4IBeDAFBgMrZXADQQAGMnws1cPRamALqT7eP8MUbI0xC+si3rQk1Z8Sjn0rUdUmZWDJ/23Y2ON3uyWhejDF5Wh2ugqsQ5jtjS62RzwJ";

    #[test]
    fn certificates_are_those_of_helm_byte_by_byte() {
        let key = PrivateKey::Ed25519(Ed25519Key::from_seed(&[7; 32]).unwrap());
        let own = |template: &Template| Issuer { subject: template.subject(), key_id: None, key: &key };

        let ca = Template { is_ca: true, ..template("my ca", "05105CBA0CE4609173668BAA817032A6", 365) };
        let ca_der = ca.sign(&key, &own(&ca)).unwrap();
        assert_eq!(base64::encode(&ca_der), CA);

        let issuer = Certificate::from_der(&ca_der).unwrap();
        let issuer = Issuer { subject: issuer.subject, key_id: issuer.key_id, key: &key };
        let signed = Template {
            addresses: vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()],
            dns_names: vec![b"a.b".to_vec(), b"*.c".to_vec()],
            ..template("svc*", "B25F29913EA3812E47EA05BDDD38BF05", 30_000)
        };
        assert_eq!(base64::encode(&signed.sign(&key, &issuer).unwrap()), SIGNED);

        let nameless = Template {
            dns_names: vec![b"x".to_vec()],
            ..template("", "6806AD83F0D04C7184A8B44CBA446BCB", -1)
        };
        assert_eq!(base64::encode(&nameless.sign(&key, &own(&nameless)).unwrap()), NAMELESS);
    }

    #[test]
    fn what_is_cut_off_is_no_certificate() {
        let der = base64::decode(SIGNED.as_bytes()).unwrap();
        assert!(Certificate::from_der(&der).is_some());
        for length in 0..der.len() {
            assert!(Certificate::from_der(&der[..length]).is_none(), "{length}");
        }
    }
}
