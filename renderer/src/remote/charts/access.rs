//! By what a server of charts is asked: credentials, certificates, and how much of TLS is insisted on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diagnostic::{Error, ErrorKind, Result};
use gitremote::web::{client_builder, explain};
use oci_registry::{ClientCertificate, Secret};
use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Identity, Url};

use super::super::{AGENT, web};

/// Certificates and keys are a few kilobytes; bundles of authorities some hundred.
const MAX_PEM: u64 = 8 << 20;

/// The flags that say how a server is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    /// `--username` and `--password`
    pub(crate) account: Option<Account>,
    /// `--pass-credentials`: to other hosts too, where an index names them.
    pub(crate) pass_credentials: bool,
    /// Part of TLS is insisted on.
    pub(crate) tls: Tls,
    /// `--plain-http`: registries are asked without TLS.
    pub(crate) plain_http: bool,
}

/// The account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    pub(crate) user: String,
    pub(crate) password: Secret<String>,
}

/// Certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Tls {
    /// `--ca-file`: the authorities that are trusted, in place of the machine's.
    pub(crate) authorities: Option<PathBuf>,
    /// `--cert-file`, which needs a key too.
    pub(crate) certificate: Option<PathBuf>,
    /// `--key-file`
    pub(crate) key: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`
    pub(crate) is_unchecked: bool,
}

impl Account {
    /// An account where both parts are given, as Helm asks for.
    pub(crate) fn new(user: &str, password: &str) -> Option<Self> {
        let account = || Self { user: user.to_owned(), password: Secret::new(password.to_owned()) };
        (!user.is_empty() && !password.is_empty()).then(account)
    }
}

impl Access {
    /// The account to show at an address, given that of the repository which it is for.
    pub(super) fn account_for(&self, address: &Url, repository: &Url) -> Option<&Account> {
        self.account.as_ref().filter(|_| self.pass_credentials || address.origin() == repository.origin())
    }
}

impl Tls {
    pub(super) fn client(&self, timeout: Duration) -> Result<Client> {
        // An archive is taken as it is: unpacked on the way it would have another digest.
        let mut builder = client_builder(AGENT, timeout).redirect(Policy::custom(web::follow)).no_gzip();
        if let Some(path) = &self.authorities {
            let bundle = Certificate::from_pem_bundle(&pem("ca-file", path)?);
            builder = builder.tls_certs_only(bundle.map_err(|error| unusable("ca-file", path, &error))?);
        }
        if let (Some(own), Some(path)) = (self.client_certificate()?, &self.certificate) {
            let mut both = own.certificate;
            both.push(b'\n');
            both.extend(own.key.expose());
            let identity = Identity::from_pem(&both);
            builder = builder.identity(identity.map_err(|error| unusable("cert-file", path, &error))?);
        }
        if self.is_unchecked {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        builder.build().map_err(|error| explain(&error, timeout))
    }

    /// The certificate to show, with its key.
    pub(super) fn client_certificate(&self) -> Result<Option<ClientCertificate>> {
        match (&self.certificate, &self.key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some(ClientCertificate {
                certificate: pem("cert-file", certificate)?,
                key: Secret::new(pem("key-file", key)?),
            })),
            _ => {
                let reason = "a client's certificate needs both --cert-file and --key-file";
                Err(Error::new(ErrorKind::Invalid, reason))
            }
        }
    }
}

/// The content of a flag's file.
pub(super) fn pem(flag: &str, path: &Path) -> Result<Vec<u8>> {
    let wrong =
        |reason: String| Error::new(ErrorKind::Invalid, format!("--{flag} `{}` {reason}", path.display()));
    let size = fs::metadata(path).map_err(|error| wrong(format!("cannot be read: {error}")))?.len();
    if size > MAX_PEM {
        return Err(wrong("is too large".to_owned()));
    }
    fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))
}

fn unusable(flag: &str, path: &Path, error: &dyn std::error::Error) -> Error {
    let reason = format!("--{flag} `{}` cannot be used: {error}", path.display());
    Error::new(ErrorKind::Invalid, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_for_one_host_and_port() {
        let access = Access { account: Account::new("me", "pw"), ..Access::default() };
        let url = |text| Url::parse(text).expect("an address");
        let shown =
            |access: &Access, to| access.account_for(&url(to), &url("https://a.example/charts")).is_some();
        assert!(shown(&access, "https://a.example:443/x.tgz"));
        for other in ["https://b.example/x.tgz", "http://a.example/x.tgz", "https://a.example:8443/x.tgz"] {
            assert!(!shown(&access, other), "{other}");
            assert!(shown(&Access { pass_credentials: true, ..access.clone() }, other), "{other}");
        }
        assert!(Account::new("me", "").is_none());
        assert!(!format!("{access:?}").contains("pw"));
    }
}
