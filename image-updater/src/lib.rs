//! Chooses image tags and writes them into config repositories.
//!
//! Choosing, planning and editing are functions over data; registries, git and the command line are thin edges
//! around them. [`cli::main`] is the way in of the binary.

// The daemon and the engine meet a cluster at seams that have nobody on the other side then.
#![cfg_attr(not(feature = "kube"), expect(dead_code, reason = "the other side is behind the feature `kube`"))]

mod account;
mod audit;
pub mod change;
mod checkout;
mod choose;
pub mod cli;
mod cluster;
mod commits;
pub mod config;
mod crds;
mod criteria;
mod daemon;
mod decision;
mod deliver;
pub mod dialect;
mod diff;
mod disk;
mod edit;
mod evaluator;
pub mod files;
mod filter;
mod find;
pub mod forge;
mod gate;
mod hold;
mod input;
pub mod look;
pub mod message;
mod output;
mod policy;
mod progress;
mod registries;
mod report;
pub mod round;
mod set;
mod table;
pub mod tags;
mod trust;
pub mod webhook;
pub mod work;

pub use account::GithubApp;
pub use choose::{Inquire, Question, Rules};
pub use criteria::{Age, Criteria, Order, Scope, TagPattern, UpdateFrom};
pub use decision::{Decision, Outcome, Standing, Verdict};
pub use filter::{Gap, Lack};
