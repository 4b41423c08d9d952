//! Versions and constraints on them as Masterminds' semver 3.5 has them, which Helm uses.
//!
//! In go texts; out come versions that compare, constraints that versions satisfy or not, or the
//! library's words about what is neither. A version may lack its minor and patch number, have a `v`
//! before it and zeros before its numbers; [`Version::parse_strict`] takes no such thing.

mod constraint;
mod object;
mod version;

pub use constraint::Constraints;
pub use version::{InvalidVersion, Version};

pub(crate) use object::SharedVersion;
