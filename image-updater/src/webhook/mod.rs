//! Receives webhooks of registries and git servers, in place of polling.
//!
//! ```text
//! kind      which of the table the address names; what has no secret is not there      mod.rs, receiver.rs
//! proof     who sends it, before anything of the body is read                          proof.rs, secrets.rs
//! read      what it says, kind by kind: images with new tags, or a repository          letter.rs, a file each
//! once      what was told before, and more than is allowed in an hour                  repeats.rs, pace.rs
//! ```
//!
//! In: the head and the body of a request. Out: the images or the repository that there is news of; nothing is done about
//! it here. A new kind is a file and a line in [`KINDS`].

mod acr;
mod aliyun;
mod cloudevents;
mod distribution;
mod docker_hub;
mod gcr;
mod generic;
mod ghcr;
mod gitea;
mod github;
mod gitlab;
mod harbor;
mod jfrog;
mod letter;
mod nexus;
mod pace;
mod proof;
mod quay;
mod receiver;
mod repeats;
mod secrets;

use oci_registry::Repository;

pub use letter::Letter;
use letter::Read;
use proof::Proof;
pub(crate) use receiver::{Outcome, Received, Receiver, Refusal};
pub(crate) use secrets::SecretPlace;

/// All that is understood.
pub const KINDS: &[&Kind] = &[
    &docker_hub::KIND,
    &ghcr::KIND,
    &harbor::KIND,
    &quay::KIND,
    &aliyun::KIND,
    &acr::KIND,
    &cloudevents::KIND,
    &distribution::KIND,
    &jfrog::KIND,
    &nexus::KIND,
    &gcr::KIND,
    &generic::KIND,
    &github::KIND,
    &gitlab::KIND,
    &gitea::KIND,
];

/// A kind of sender.
#[derive(Debug)]
pub struct Kind {
    /// The names in the URL, our default first.
    pub names: &'static [&'static str],
    /// The environment variable with its secret, as Argo CD Image Updater calls it where it has it.
    variable: &'static str,
    /// The accepted proofs of the secret. All that are presented must be valid, and at least one must be.
    proofs: &'static [Proof],
    /// The header with the name of a delivery, which it has again when it is sent again.
    delivery: Option<&'static str>,
    /// True if two events never have the same body, as there is a time in it, or a name: then who sends a body again
    /// tells nothing.
    is_unique: bool,
    /// Parses the request.
    read: fn(&Letter<'_>) -> Read,
}

impl Kind {
    /// Returns what we call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns what a body says.
    ///
    /// # Errors
    /// If this kind of sender would not write that.
    pub fn read(&self, letter: &Letter<'_>) -> Read {
        (self.read)(letter)
    }

    /// The kind of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().copied().find(|kind| kind.names.contains(&name))
    }
}

/// The event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Images in a registry.
    Images(Vec<Image>),
    /// A repository that somebody pushed to.
    Push(Push),
    /// Nothing that would matter here.
    Nothing,
}

/// An image in a registry, with what is new of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    /// The repository.
    pub repository: Repository,
    /// The tag.
    pub tag: Option<String>,
    /// The digest.
    pub digest: Option<String>,
}

/// A push to a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The addresses of the repository.
    pub addresses: Vec<String>,
    /// The branch.
    pub branch: String,
    /// The branch that the repository has for those who name none.
    pub default_branch: Option<String>,
    /// The commit that it is at now.
    pub commit: Option<String>,
}

/// Why a body is not what the kind of sender writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

#[cfg(test)]
mod tests;
