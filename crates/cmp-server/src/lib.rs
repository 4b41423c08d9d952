//! Argo CD's Config Management Plugin service on a Unix socket: what `argocd-cmp-server` is to a plugin, in one process.
//!
//! In: repositories as gzipped archives, streamed by the repo-server, and a [`Generator`] that renders one application
//! of a tree of files. Out: manifests, as one compact JSON object each. Trees are kept in memory and never on disk,
//! known by the checksum that comes before their bytes; results are kept by what they were made of. Refused: archives
//! that lead out of their root or grow beyond [`Limits`], and requests that the [`Options::max_memory`] has no room for.
//!
//! [`Server`] is the way in: `bind` it, then `run` it until it is told to stop. [`probe`] asks whether one answers.

mod archive;
mod authority;
mod budget;
mod client;
mod connection;
mod contents;
mod generator;
mod grpc;
mod hpack;
mod messages;
mod metered;
mod record;
mod request;
mod results;
mod server;
mod service;
mod socket;
mod store;
mod trees;
mod workers;

pub use archive::Limits;
pub use client::probe;
pub use generator::{Announcement, Failure, Generated, Generator, Request};
pub use record::{Cached, Record};
pub use server::{Options, Server};
pub use socket::SocketError;
pub use tonic::Code;
