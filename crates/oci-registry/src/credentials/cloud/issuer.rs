//! The trait of clouds.

use diagnostic::{Error, ErrorKind, Result};

use crate::credentials::Credential;
use crate::credentials::memo::Given;

/// A cloud that issues credentials for its registries.
pub(in crate::credentials) trait Issuer: Send + Sync {
    /// Under what the credential of a registry is kept; nothing where the registry is not this cloud's.
    fn key(&self, registry: &str) -> Option<String>;

    /// Returns true if the environment says that workloads are known, so that it is meant to be used without being named.
    fn is_announced(&self, registry: &str) -> bool;

    /// Asks for the credential of a registry.
    fn issue(&self, registry: &str) -> Result<Given<Credential>>;
}

/// Returns true if a service has refused who asks it, so that it may help to ask with something newer.
pub(in crate::credentials) fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Denied)
}
