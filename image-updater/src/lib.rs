//! Chooses image tags and writes them into config repositories.
//!
//! Choosing, planning and editing are functions over data; registries, git and the command line are thin edges
//! around them. [`cli::main`] is the way in of the binary.

pub mod cli;
mod error;
mod output;
mod report;

pub use error::{Error, ErrorKind, Place};
