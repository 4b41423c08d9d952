//! The user's own repository: revisions as files, without a checkout, and what differs between two states of it.
//!
//! Nothing is written, no hook or filter is run, and no server is asked.

mod compare;
mod repository;
mod tree;

pub use compare::Comparison;
pub use repository::Repository;
pub use tree::RevisionTree;
