//! The flags of `run` for a cluster, where the program was built without that part.
//!
//! In: that a cluster is meant. Refused: all of it, saying how the program was built.

use diagnostic::{Error, ErrorKind, Result};
use std::convert::Infallible;

use clap::Args;

use super::environment::Variables;

/// Our part in a cluster, which there is none of.
pub(super) enum Presence {}

impl Presence {
    /// Never comes about.
    pub(super) fn end(self, _is_under_way: bool) {
        match self {}
    }
}

// Not a documentation comment, which would become the text of the command's help.
#[derive(Args, Debug)]
pub(super) struct ClusterFlags {
    /// Not in this build
    #[arg(long, hide = true)]
    cluster: bool,
}

impl ClusterFlags {
    /// Returns true if a cluster is worked off.
    pub(super) fn is_on(&self) -> bool {
        self.cluster
    }

    /// Nothing, as no cluster is worked off.
    ///
    /// # Errors
    /// If one is meant.
    pub(super) fn read(&self, _variables: &Variables) -> Result<Option<Infallible>> {
        if !self.cluster {
            return Ok(None);
        }
        let error = Error::new(
            ErrorKind::Usage,
            "this program was built without the feature `kube`, and asks no cluster",
        );
        Err(error.hint("build it with `cargo build -p image-updater --features kube`, which is what it is built with by default"))
    }
    /// All, as there are no parts.
    ///
    /// # Errors
    /// None.
    pub(super) fn takes(&self, _repository: &str) -> Result<bool> {
        Ok(true)
    }
}
