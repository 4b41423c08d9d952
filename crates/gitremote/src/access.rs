//! Access to a server: credentials, TLS, proxies and identity.

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use tempfile::NamedTempFile;

/// A password, a token or a key.
const MAX_SECRET: u64 = 64 << 10;

/// Access to a server: credentials, TLS, proxies and identity.
#[derive(Clone, Debug)]
pub struct Access {
    /// The user agent: `image-updater/0.1.0`.
    pub agent: String,
    /// Time one exchange with the server may take.
    pub timeout: Duration,
    /// The credentials for `https`.
    pub credentials: Credentials,
    /// The only authorities to trust for `https`; those of the machine where absent.
    pub authorities: Option<Authorities>,
    /// The client certificate.
    pub certificate: Option<ClientCertificate>,
    /// The proxy for `https`; those of git's configuration and the environment where absent.
    pub proxy: Option<ProxyServer>,
    /// True if the server's certificate is not checked.
    pub is_insecure: bool,
    /// For ssh.
    pub ssh: SshAccess,
}

/// Certificates of authorities, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authorities {
    /// In a file; read each time, as such files are replaced.
    File(PathBuf),
    /// These.
    Given(Vec<u8>),
}

/// A certificate that a server is shown by TLS.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    /// It with those that vouch for it, in PEM.
    pub chain: Vec<u8>,
    /// Its private key, in PEM.
    pub key: Secret,
}

/// A proxy server.
#[derive(Clone, Debug)]
pub struct ProxyServer {
    /// Its address, which may have a user and a password.
    pub url: Secret,
    /// Hosts and networks that are reached without the proxy, separated by commas.
    pub except: Option<String>,
}

/// The credentials for `https`.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// The credentials of the current user's `.netrc` and git credential helpers.
    #[default]
    Configured,
    /// A user and a password, or a token in place of one.
    Account {
        /// Many servers take any name with a token.
        username: String,
        /// The password or token.
        password: Secret,
    },
    /// A token in a header of its own.
    Bearer(Secret),
}

/// Keys and trust for ssh, beyond what the user's own configuration of it says.
#[derive(Clone, Debug, Default)]
pub struct SshAccess {
    /// The private key; those of the configuration and the agent where absent.
    pub key: Option<Secret>,
    /// The passphrase of the key.
    pub passphrase: Option<Secret>,
    /// The trusted host keys.
    pub hosts: KnownHosts,
}

/// Which host keys are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownHosts {
    /// The host keys and configuration of ssh itself; unknown hosts are not trusted unless it says so.
    #[default]
    Configured,
    /// Those in ssh's own files, whatever its configuration says of unknown ones.
    Strict,
    /// Those in a file, and no others.
    File(PathBuf),
    /// These, as such a file has them, and no others.
    Given(String),
    /// Any at all.
    Unchecked,
}

/// Something that must not be seen.
#[derive(Clone)]
pub enum Secret {
    /// It itself.
    Value(String),
    /// A file that holds it; read each time, as such files are replaced.
    File(PathBuf),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(***)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

impl Access {
    /// As the machine is configured, for a program that is called `agent`.
    #[must_use]
    pub fn new(agent: impl Into<String>, timeout: Duration) -> Self {
        Self {
            agent: agent.into(),
            timeout,
            credentials: Credentials::default(),
            authorities: None,
            certificate: None,
            proxy: None,
            is_insecure: false,
            ssh: SshAccess::default(),
        }
    }
}

impl Secret {
    /// The secret, without the line end that editors put behind it.
    pub(crate) fn read(&self) -> Result<String> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::File(path) => read_secret(path).map(|text| text.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }

    /// The secret as a file that other users cannot read; gone when it is dropped, where it was none.
    pub(crate) fn to_file(&self) -> Result<SecretFile> {
        let value = match self {
            Self::File(path) => return Ok(SecretFile::Given(path.clone())),
            Self::Value(value) => value,
        };
        let failed = |error: &std::io::Error| {
            Error::new(ErrorKind::Unavailable, format!("a private file cannot be written: {error}"))
        };
        // It has the mode 0600 from the beginning.
        let mut file = NamedTempFile::new().map_err(|error| failed(&error))?;
        let end = if value.ends_with('\n') { "" } else { "\n" };
        std::io::Write::write_all(&mut file, format!("{value}{end}").as_bytes())
            .map_err(|error| failed(&error))?;
        Ok(SecretFile::Own(file))
    }
}

/// A file that holds a secret.
#[derive(Debug)]
pub(crate) enum SecretFile {
    Given(PathBuf),
    Own(NamedTempFile),
}

impl SecretFile {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Own(file) => file.path(),
        }
    }
}

fn read_secret(path: &Path) -> Result<String> {
    let unreadable = |why: &dyn fmt::Display| {
        Error::new(ErrorKind::Unavailable, format!("cannot read the secret in `{}`: {why}", path.display()))
    };
    let file = fs::File::open(path).map_err(|error| unreadable(&error))?;
    let mut text = String::new();
    file.take(MAX_SECRET + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    if text.len() as u64 > MAX_SECRET {
        return Err(unreadable(&format!("it is larger than {} KiB", MAX_SECRET >> 10)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let account =
            Credentials::Account { username: "me".to_owned(), password: Secret::Value("hunter2".to_owned()) };
        assert!(!format!("{account:?}").contains("hunter2"));
    }

    #[test]
    fn a_secret_in_a_file_is_its_content_without_the_line_end() {
        let file = Secret::Value("hunter2".to_owned()).to_file().unwrap();
        assert_eq!(Secret::File(file.path().to_owned()).read().unwrap(), "hunter2");
        let endless = Secret::File("/dev/zero".into());
        assert_eq!(endless.read().unwrap_err().kind(), ErrorKind::Unavailable);
        let missing = Secret::File("/none".into()).read().unwrap_err();
        assert!(missing.to_string().contains("`/none`"));
    }

    #[test]
    fn a_secret_that_becomes_a_file_is_for_its_user_only() {
        let file = Secret::Value("key".to_owned()).to_file().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file.path()).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "key\n");
    }
}
