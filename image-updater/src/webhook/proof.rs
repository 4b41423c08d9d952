//! Verifies that a sender knows the secret. Secrets are compared in constant time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::header::AUTHORIZATION;
use http::request::Parts;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::letter::{single_header, single_parameter};

/// A way to prove it.
#[derive(Debug)]
pub(super) enum Proof {
    /// A header with the HMAC of the body by SHA-256 in hexadecimal, behind a prefix.
    Sha256 { header: &'static str, prefix: &'static str },
    /// A header with the HMAC of the body by SHA-1 in hexadecimal.
    Sha1 { header: &'static str },
    /// A header that is the secret.
    Header(&'static str),
    /// The header `Authorization` with the secret behind `Bearer`.
    Bearer,
    /// The header `Authorization` with the secret, which is `user:password`, behind `Basic`.
    Basic,
    /// The parameter `secret` of the address.
    Query,
}

/// The proof is missing or invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unproven;

/// Returns what the head presents, before there is a body.
///
/// # Errors
/// If the head alone tells that it is wrong: then nobody need read the body.
pub(super) fn check_head(proofs: &[Proof], head: &Parts, secret: &[u8]) -> Result<(), Unproven> {
    check(proofs, head, None, secret)
}

/// All that is presented.
///
/// # Errors
/// If any of it is wrong, is there twice, or nothing is there.
pub(super) fn check_whole(
    proofs: &[Proof],
    head: &Parts,
    body: &[u8],
    secret: &[u8],
) -> Result<(), Unproven> {
    check(proofs, head, Some(body), secret)
}

fn check(proofs: &[Proof], head: &Parts, body: Option<&[u8]>, secret: &[u8]) -> Result<(), Unproven> {
    let mut is_proven = false;
    for proof in proofs {
        match proof.judge(head, body, secret) {
            None => {}
            Some(true) => is_proven = true,
            Some(false) => return Err(Unproven),
        }
    }
    if is_proven { Ok(()) } else { Err(Unproven) }
}

impl Proof {
    /// Returns whether it is right; nothing where it is not presented. Without a body, a signature may be right if it is written
    /// as one is.
    fn judge(&self, head: &Parts, body: Option<&[u8]>, secret: &[u8]) -> Option<bool> {
        match self {
            Self::Sha256 { header, prefix } => signature(head, header, prefix, |stated: [u8; 32]| {
                body.is_none_or(|body| is_signed::<Hmac<Sha256>>(body, secret, &stated))
            }),
            Self::Sha1 { header } => signature(head, header, "", |stated: [u8; 20]| {
                body.is_none_or(|body| is_signed::<Hmac<Sha1>>(body, secret, &stated))
            }),
            Self::Header(name) => {
                is_there(head, name).then(|| value(head, name).is_some_and(|value| is_same(value, secret)))
            }
            Self::Bearer => authorization(head, "bearer").map(|token| is_same(token.as_bytes(), secret)),
            Self::Basic => authorization(head, "basic")
                .map(|account| STANDARD.decode(account).is_ok_and(|account| is_same(&account, secret))),
            Self::Query => {
                let query = head.uri.query().unwrap_or_default();
                let is_there = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "secret");
                let given = || single_parameter(query, "secret");
                is_there.then(|| given().is_some_and(|given| is_same(given.as_bytes(), secret)))
            }
        }
    }
}

fn is_there(head: &Parts, name: &str) -> bool {
    head.headers.contains_key(name)
}

/// A header, if it is there once.
fn value<'h>(head: &'h Parts, name: &str) -> Option<&'h [u8]> {
    single_header(&head.headers, name).map(http::HeaderValue::as_bytes)
}

/// Returns what stands in `Authorization` behind a scheme; nothing where it is of another.
fn authorization<'h>(head: &'h Parts, scheme: &str) -> Option<&'h str> {
    let value = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (known, rest) = value.split_once(' ')?;
    if !known.eq_ignore_ascii_case(scheme) {
        return None;
    }
    // Two of them are none, so that it is wrong.
    Some(single_header(&head.headers, AUTHORIZATION.as_str()).map_or("", |_| rest.trim_start_matches(' ')))
}

/// Judges a signature of a length by what it is in bytes.
fn signature<const LENGTH: usize>(
    head: &Parts,
    header: &str,
    prefix: &str,
    is_right: impl FnOnce([u8; LENGTH]) -> bool,
) -> Option<bool> {
    is_there(head, header).then(|| {
        let stated = value(head, header).and_then(|value| value.strip_prefix(prefix.as_bytes()));
        stated.and_then(bytes).is_some_and(is_right)
    })
}

/// The bytes that hexadecimal digits stand for, if they are so many.
fn bytes<const LENGTH: usize>(digits: &[u8]) -> Option<[u8; LENGTH]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if digits.len() != 2 * LENGTH {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Some(bytes)
}

fn is_signed<M: Mac + KeyInit>(body: &[u8], secret: &[u8], stated: &[u8]) -> bool {
    <M as KeyInit>::new_from_slice(secret)
        .is_ok_and(|mac| mac.chain_update(body).verify_slice(stated).is_ok())
}

/// Returns true if two are the same. Their digests are compared, so that the time does not tell their length either.
fn is_same(given: &[u8], secret: &[u8]) -> bool {
    Sha256::digest(given).ct_eq(&Sha256::digest(secret)).into()
}
