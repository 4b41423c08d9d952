//! Reads from git remotes and writes to them, without a work tree and without asking anybody.
//!
//! One way of speaking git for both programs. A build needs one commit of a repository: [`fetch_commit`]. Who edits files
//! has a [`Mirror`] fetch branches, reads their [`Tree`]s, and has a [`Publisher`] make [`Change`]s into commits that are
//! pushed; [`Mirror::history`] says what people did since. Calls block, and each exchange with a server has its time and
//! its size. TLS is always checked, nothing waits at a terminal, and no secret is in an error.

mod access;
mod address;
mod commit;
mod conversation;
mod credentials;
pub mod error;
mod fetch;
mod guard;
mod history;
mod http;
mod keyring;
mod local;
mod message;
mod mirror;
mod pack;
mod passphrase;
mod program;
mod publish;
mod push;
mod report;
mod revision;
mod session;
mod sign;
mod ssh;
mod tree;
pub mod web;

pub use access::{
    Access, Authorities, ClientCertificate, Credentials, KnownHosts, ProxyServer, Secret, SshAccess,
};
pub use commit::{Authorship, Change, Person};
pub use conversation::Tip;
pub use error::innermost;
pub use fetch::{Fetched, fetch_commit, open_repository};
pub use gix::ObjectId;
pub use history::Past;
pub use keyring::GpgKeyring;
pub use mirror::Mirror;
pub use publish::{Consent, Published, Publisher, Target, Waiting};
pub use revision::HEAD;
pub use sign::{GpgSigner, Sign, SshSigner};
pub use tree::{MAX_FILE, Tree, matches};

/// A repository on a server.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The URL: `https://host/org/repo.git`, `git@host:path`, `file:///srv/repo`.
    pub url: String,
    /// The access to the server.
    pub access: Access,
}
