//! A client of container registries: OCI distribution and Docker's second protocol, as far as reading goes.
//!
//! In: references, settings, and where credentials are kept. Out: lists of tags, digests, manifests, content, and what
//! is known of images. All of it is checked against its digest and has limits, and what cannot be had whole is not given
//! in part. It blocks, has no state but what a [`Client`] holds, reads no environment but by what it is given, and the
//! clock to wait and to know what has expired.
//!
//! ```no_run
//! use oci_registry::{Client, Options, Reference};
//!
//! # fn main() -> diagnostic::Result<()> {
//! let client = Client::new(Options::default());
//! let image: Reference = "nginx:1.27".parse()?;
//! for tag in client.tags(image.repository())?.tags() {
//!     println!("{tag}");
//! }
//! println!("{}", client.digest(&image)?);
//! # Ok(())
//! # }
//! ```

mod auth;
mod blob;
mod cache;
mod challenge;
mod client;
mod credentials;
mod digest;
mod endpoint;
mod error;
mod image;
mod limit;
mod link;
mod manifest;
mod problem;
mod reference;
mod referrers;
mod retry;
mod secret;
mod settings;
mod tags;
mod traffic;
mod web;

pub use client::Client;
pub use credentials::{
    Cloud, CloudCredentials, Credential, CredentialChain, CredentialFile, CredentialProgram,
    CredentialSource, CredentialVariable, DockerConfig, PullSecretKind, PullSecrets, Surroundings, log_in,
    log_out,
};
pub use digest::Digest;
pub use error::no_credentials;
pub use image::{Image, Wanted};
pub use limit::Limits;
pub use manifest::{Content, Descriptor, ImageManifest, Index, Manifest, Platform};
pub use reference::{DOCKER_HUB, Reference, Repository, is_tag};
pub use secret::Secret;
pub use settings::{ClientCertificate, Options, Proxy, RegistrySettings, Retry};
pub use tags::TagList;
pub use traffic::Traffic;
