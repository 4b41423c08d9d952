//! Passwords, ciphers, keys and certificates.
//!
//! Keys and certificates come out as PEM, as Go's crypto packages write them. All randomness is the
//! host's. Elliptic curves are those of two well-known crates; RSA and DSA keys are found here,
//! because that is what charts with certificates wait for: a key takes the `rsa` crate three times
//! as long as Go, and us less than Go.

pub(super) mod certificate;
pub(super) mod cipher;
mod der;
mod elliptic;
pub(super) mod key;
pub(super) mod password;
mod pem;
mod prime;
mod rsa;
mod x509;
