//! Argo CD without a cluster: what its repo-server and its controllers make of Applications and ApplicationSets.
//!
//! The crate touches no disk, network or process. Files come in through [`vfs::Files`], what rendering needs to know of
//! the world through a [`Context`], and the engines that render a source are the caller's.

pub mod application;
pub mod appset;
pub mod context;
pub mod diffing;
pub mod export;
pub mod generate_paths;
pub mod objects;
pub mod plugin;
pub mod project;
pub mod repositories;
mod suggestion;
pub mod sync;
mod warning;

pub use context::Context;
pub use repositories::Repositories;
pub use warning::{Code, Warning};
