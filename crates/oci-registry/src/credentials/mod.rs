//! Credentials, and where they are kept.
//!
//! In: a registry's host and a repository on it. Out: what proves who asks, or nothing, which is to ask as anybody. It
//! refuses to go on where credentials are kept but cannot be had. Nothing here prints a secret.

mod aws;
mod azure;
mod cloud;
mod docker;
mod gcp;
mod keyring;
mod login;
mod memo;
mod moment;
mod program;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::secret::Secret;

pub use cloud::{Cloud, CloudCredentials, Surroundings};
use diagnostic::{Error, Result};
pub use docker::{DockerConfig, PullSecretKind};
pub use keyring::PullSecrets;
pub use login::{log_in, log_out};
pub use program::CredentialProgram;

/// A file with `user:password`, or Docker's configuration, is no larger.
const MAX_FILE: u64 = 1 << 20;

/// For how long what a program gave is used again.
const LIFETIME: Duration = Duration::from_secs(300);

/// A credential.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// A user and a password, or what stands for one.
    Basic {
        /// The user name.
        user: String,
        /// The password.
        password: Secret<String>,
    },
    /// A token that is changed for others (`identitytoken`).
    Identity(Secret<String>),
    /// A token that is shown as it is (`registrytoken`).
    Bearer(Secret<String>),
}

/// A place where credentials are kept.
pub trait CredentialSource: fmt::Debug + Send + Sync {
    /// Returns what there is for a repository, or for a host where the repository's name is empty.
    ///
    /// # Errors
    /// If there should be something, and it cannot be had.
    fn find(&self, registry: &str, repository: &str) -> Result<Option<Credential>>;

    /// All that there is for a repository, what fits it best first: where one is refused, the next is tried.
    ///
    /// # Errors
    /// As for [`CredentialSource::find`].
    fn find_all(&self, registry: &str, repository: &str) -> Result<Vec<Credential>> {
        Ok(self.find(registry, repository)?.into_iter().collect())
    }

    /// Tells the source that a credential was rejected, so that it is read again unless it was since.
    fn forget(&self, _refused: &Credential) {}
}

impl Credential {
    /// A user and a password.
    #[must_use]
    pub fn basic(user: &str, password: &str) -> Self {
        Self::Basic { user: user.to_owned(), password: password.into() }
    }

    /// Reads `user:password`, as it stands in files and variables; white space around it is none of it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (user, password) = text.trim().split_once(':')?;
        (!user.is_empty()).then(|| Self::basic(user, password))
    }
}

/// The same for whatever is asked.
impl CredentialSource for Credential {
    fn find(&self, _: &str, _: &str) -> Result<Option<Credential>> {
        Ok(Some(self.clone()))
    }
}

/// A file with `user:password`, such as a mounted secret; it is read anew each time it is asked.
#[derive(Clone, Debug)]
pub struct CredentialFile(pub PathBuf);

impl CredentialSource for CredentialFile {
    fn find(&self, _: &str, _: &str) -> Result<Option<Credential>> {
        let text = read(&self.0)?;
        let text = text.ok_or_else(|| missing(&self.0.display().to_string(), "the file does not exist"))?;
        let credential = Credential::parse(&String::from_utf8_lossy(&text));
        credential
            .map(Some)
            .ok_or_else(|| missing(&self.0.display().to_string(), "it holds no `user:password`"))
    }
}

/// The value of a variable, `user:password`, under the variable's name.
#[derive(Clone, Debug)]
pub struct CredentialVariable {
    /// For messages.
    pub name: String,
    /// Nothing where it is not set.
    pub value: Option<Secret<String>>,
}

impl CredentialSource for CredentialVariable {
    fn find(&self, _: &str, _: &str) -> Result<Option<Credential>> {
        let shown = format!("${}", self.name);
        let value = self.value.as_ref().ok_or_else(|| missing(&shown, "it is not set"))?;
        let credential = Credential::parse(value.expose());
        credential.map(Some).ok_or_else(|| missing(&shown, "it holds no `user:password`"))
    }
}

/// The first of several that has something.
#[derive(Clone, Debug, Default)]
pub struct CredentialChain(pub Vec<Arc<dyn CredentialSource>>);

impl CredentialSource for CredentialChain {
    fn find(&self, registry: &str, repository: &str) -> Result<Option<Credential>> {
        for source in &self.0 {
            if let Some(credential) = source.find(registry, repository)? {
                return Ok(Some(credential));
            }
        }
        Ok(None)
    }

    fn find_all(&self, registry: &str, repository: &str) -> Result<Vec<Credential>> {
        for source in &self.0 {
            let all = source.find_all(registry, repository)?;
            if !all.is_empty() {
                return Ok(all);
            }
        }
        Ok(Vec::new())
    }

    fn forget(&self, refused: &Credential) {
        self.0.iter().for_each(|source| source.forget(refused));
    }
}

fn missing(place: &str, reason: &str) -> Error {
    crate::error::no_credentials(place, reason)
}

/// A file that may not exist.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let unreadable = |reason: &dyn fmt::Display| missing(&path.display().to_string(), &reason.to_string());
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&error)),
        Ok(metadata) if !metadata.is_file() => Err(unreadable(&"it is not a file")),
        Ok(metadata) if metadata.len() > MAX_FILE => Err(unreadable(&"it is larger than 1 MiB")),
        Ok(_) => fs::read(path).map(Some).map_err(|error| unreadable(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diagnostic::ErrorKind;

    #[test]
    fn secrets_are_not_printed() {
        let credential = Credential::basic("me", "s3cret");
        let variable = CredentialVariable { name: "X".to_owned(), value: Some("me:s3cret".into()) };
        let chain = CredentialChain(vec![Arc::new(credential), Arc::new(variable)]);
        let shown = format!("{chain:?}");
        assert!(shown.contains("me") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn user_and_password_are_parted_at_the_first_colon() {
        assert_eq!(Credential::parse("robot$a+b:p:w \n"), Some(Credential::basic("robot$a+b", "p:w")));
        assert_eq!(Credential::parse("nothing"), None);
        assert_eq!(Credential::parse(":password"), None);
    }

    #[test]
    fn a_named_place_without_credentials_is_an_error_that_shows_none() {
        let variable = CredentialVariable { name: "REGISTRY".to_owned(), value: Some("s3cret".into()) };
        let error = variable.find("h", "").unwrap_err();
        assert_eq!(error.message(), "cannot read credentials from `$REGISTRY`: it holds no `user:password`");
        let file = CredentialFile(PathBuf::from("/nonexistent/secret"));
        assert_eq!(file.find("h", "").unwrap_err().kind(), ErrorKind::Credentials);
    }
}
