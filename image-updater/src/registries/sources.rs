//! Credential sources for registries.
//!
//! In: what a configuration says, the variables of this machine, and the cluster, if there is one. Out: sources; they are
//! read when a registry asks for them. Refused: what is kept in a cluster, where there is none.

use diagnostic::{Error, Result};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use oci_registry::{
    CloudCredentials, CredentialChain, CredentialFile, CredentialProgram, CredentialSource,
    CredentialVariable, DockerConfig, Limits, Secret, Surroundings,
};

use super::secrets::{SecretReference, SecretSource, Secrets};
use super::{USER_AGENT, variable};
use crate::cluster::Vault;
use crate::config::{Credentials, Provider, Registry};

/// All sources, which clients share: what a cloud gave to one is good for the others.
#[derive(Debug, Default)]
pub(super) struct Sources {
    secrets: Option<Arc<Secrets>>,
    /// The rate limits of all clients.
    pub(super) limits: Limits,
    clouds: Mutex<HashMap<CloudAt, Arc<CloudCredentials>>>,
}

/// A cloud, or those that the environment speaks of; and where the API of the registry is, if not on its host.
type CloudAt = (Option<Provider>, Option<String>);

impl Sources {
    pub(super) fn new(vault: Option<Arc<dyn Vault>>) -> Self {
        let secrets = vault.map(|vault| Arc::new(Secrets::new(vault)));
        Self { secrets, ..Self::default() }
    }

    /// The Secrets of the cluster, for something that is kept there.
    ///
    /// # Errors
    /// If there is no cluster.
    pub(super) fn secrets(&self, shown: &dyn fmt::Display) -> Result<&Arc<Secrets>> {
        self.secrets.as_ref().ok_or_else(|| {
            let message = format!("`{shown}` is in a cluster, and no cluster is asked here");
            Error::invalid(message)
                .hint("keep the credentials in a variable or a file, or log in with `docker login`")
        })
    }

    /// For a registry of which something is said: first what is said, then what counts for all.
    pub(super) fn of_registry(&self, registry: &Registry) -> Result<Option<Arc<dyn CredentialSource>>> {
        let named = registry.credentials.iter().chain(&registry.otherwise);
        let mut all: Vec<_> = named.map(|named| self.named(named, registry)).collect::<Result<_>>()?;
        if !registry.only_own_credentials {
            if all.is_empty() && registry.api.is_none() {
                return Ok(None);
            }
            all.extend(self.general(registry.api.as_deref()));
        }
        Ok(Some(Arc::new(CredentialChain(all))))
    }

    /// For all registries: what Docker has on this machine, and clouds that this machine is known to.
    pub(super) fn of_all(&self) -> Arc<dyn CredentialSource> {
        Arc::new(CredentialChain(self.general(None)))
    }

    fn general(&self, api: Option<&str>) -> Vec<Arc<dyn CredentialSource>> {
        let docker = DockerConfig::default_path(variable).map(DockerConfig::file);
        let docker = docker.map(|docker| Arc::new(docker) as Arc<dyn CredentialSource>);
        docker.into_iter().chain([self.cloud(None, api) as Arc<dyn CredentialSource>]).collect()
    }

    fn named(&self, credentials: &Credentials, registry: &Registry) -> Result<Arc<dyn CredentialSource>> {
        Ok(match credentials {
            Credentials::Env(name) => Arc::new(variable_source(name)),
            Credentials::File(path) => Arc::new(CredentialFile(path.into())),
            Credentials::DockerConfig(path) => Arc::new(DockerConfig::file(path.into())),
            Credentials::Command(command) => Arc::new(program(command, registry)?),
            Credentials::PullSecret(name) => {
                self.in_cluster(name, SecretReference::PullSecret(name.0.clone()))?
            }
            Credentials::Secret(key) => self.in_cluster(key, SecretReference::Secret(key.clone()))?,
            Credentials::ServiceAccount(name) => {
                self.in_cluster(name, SecretReference::ServiceAccount(name.0.clone()))?
            }
            Credentials::Provider(provider) => self.cloud(Some(*provider), registry.api.as_deref()),
        })
    }

    fn in_cluster(
        &self,
        shown: &dyn fmt::Display,
        place: SecretReference,
    ) -> Result<Arc<dyn CredentialSource>> {
        let secrets = Arc::clone(self.secrets(shown)?);
        Ok(Arc::new(SecretSource { secrets, place }))
    }

    fn cloud(&self, provider: Option<Provider>, api: Option<&str>) -> Arc<CloudCredentials> {
        let mut clouds = self.clouds.lock().unwrap_or_else(PoisonError::into_inner);
        let known = clouds.entry((provider, api.map(str::to_owned)));
        let cloud = known.or_insert_with(|| {
            let surroundings = Surroundings::new(variable).user_agent(USER_AGENT).registry_api(api);
            Arc::new(match provider {
                Some(provider) => CloudCredentials::of(provider.cloud(), &surroundings),
                None => CloudCredentials::announced(&surroundings),
            })
        });
        Arc::clone(cloud)
    }
}

fn program(command: &[String], registry: &Registry) -> Result<CredentialProgram> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| Error::invalid("a `command` for credentials needs a program"))?;
    let program = CredentialProgram::new(program, arguments.iter().map(OsString::from).collect());
    Ok(match registry.credentials_expire {
        Some(lifetime) => program.lifetime(lifetime),
        None => program,
    })
}

fn variable_source(name: &str) -> CredentialVariable {
    let value = variable(name).and_then(|value| value.into_string().ok());
    CredentialVariable { name: name.to_owned(), value: value.map(Secret::new) }
}
