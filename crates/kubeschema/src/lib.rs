//! Validates Kubernetes objects against the schemas of their kinds, without an API server.
//!
//! Schemas of Kubernetes' own kinds, for six minor versions, are built in ([`BuiltinSchemas`]); those of custom resources are
//! read from CRDs ([`crd::kinds`]), or from files as JSON schemas ([`Schema::read_json_schema`]). [`check`] validates
//! an object and returns the violations with their locations. Messages contain no values: the object may be a Secret.

mod builtin;
mod check;
pub mod crd;
mod quantity;
mod read;
mod schema;

pub use builtin::{Availability, BuiltinSchemas};
pub use check::{Report, Violation, check};
pub use quantity::is_quantity;
pub use schema::{Schema, Type};

/// A kind of object in a version of its API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gvk {
    /// The API group; empty for the core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Gvk {
    /// Returns the kind for `apiVersion` and `kind` of an object.
    #[must_use]
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }
}

impl std::fmt::Display for Gvk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slash = if self.group.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}, kind {}", self.group, self.version, self.kind)
    }
}
