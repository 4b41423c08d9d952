//! Clouds whose registries know the workloads that run on them, so that no password has to be kept.
//!
//! In: what the cloud, or who set up the workload, has left in variables and files. Out: for a registry of that cloud a
//! credential that lives for some hours, which is asked for anew shortly before its end and when it was refused. It
//! refuses services without TLS, and asks metadata servers only where a cloud is named. No secret is in a message: of
//! what servers answer with, messages have nothing but codes.
//!
//! A cloud is a file beside this folder, a variant of [`Cloud`] and a line in `Cloud::open`.

pub(super) mod ask;
pub(super) mod issuer;
pub(super) mod surroundings;

use std::fmt;

use diagnostic::Result;

pub use self::surroundings::Surroundings;

use self::issuer::Issuer;
use super::memo::Memo;
use super::{Credential, CredentialSource, aws, azure, gcp, missing};

/// A cloud with registries of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloud {
    /// Amazon: Elastic Container Registry.
    Aws,
    /// Google: Artifact Registry.
    Gcp,
    /// Microsoft: Azure Container Registry.
    Azure,
}

/// The credentials that clouds give to workloads for their registries.
pub struct CloudCredentials {
    surroundings: Surroundings,
    issuers: Vec<(Cloud, Box<dyn Issuer>)>,
    /// The cloud that must have the registry.
    named: Option<Cloud>,
    known: Memo<Credential>,
}

impl CloudCredentials {
    /// Those of a cloud that is named, which is asked by all means that it has.
    #[must_use]
    pub fn of(cloud: Cloud, surroundings: &Surroundings) -> Self {
        Self::new(&[cloud], Some(cloud), surroundings)
    }

    /// Those of any cloud that its environment speaks of; where none does, nobody is asked.
    #[must_use]
    pub fn announced(surroundings: &Surroundings) -> Self {
        Self::new(&Cloud::ALL, None, surroundings)
    }

    fn new(clouds: &[Cloud], named: Option<Cloud>, surroundings: &Surroundings) -> Self {
        let issuers = clouds.iter().map(|cloud| (*cloud, cloud.open(surroundings))).collect();
        Self { surroundings: surroundings.clone(), issuers, named, known: Memo::default() }
    }
}

impl Cloud {
    const ALL: [Self; 3] = [Self::Aws, Self::Gcp, Self::Azure];

    /// Returns what people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aws => "AWS",
            Self::Gcp => "Google Cloud",
            Self::Azure => "Azure",
        }
    }

    fn open(self, surroundings: &Surroundings) -> Box<dyn Issuer> {
        match self {
            Self::Aws => Box::new(aws::Aws::new(surroundings)),
            Self::Gcp => Box::new(gcp::Gcp::new(surroundings)),
            Self::Azure => Box::new(azure::Azure::new(surroundings)),
        }
    }
}

impl CredentialSource for CloudCredentials {
    fn find(&self, registry: &str, _: &str) -> Result<Option<Credential>> {
        for (cloud, issuer) in &self.issuers {
            let Some(key) = issuer.key(registry) else { continue };
            if self.named.is_some() || issuer.is_announced(registry) {
                let key = format!("{} {key}", cloud.name());
                let issue = || issuer.issue(registry);
                return self.known.get(&key, self.surroundings.now(), issue).map(Some);
            }
        }
        match self.named {
            Some(cloud) => Err(missing(cloud.name(), &format!("`{registry}` is not one of its registries"))),
            None => Ok(None),
        }
    }

    fn forget(&self, refused: &Credential) {
        self.known.forget(|known| known == refused);
    }
}

impl fmt::Debug for CloudCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clouds: Vec<Cloud> = self.issuers.iter().map(|(cloud, _)| *cloud).collect();
        f.debug_struct("CloudCredentials").field("clouds", &clouds).finish_non_exhaustive()
    }
}
