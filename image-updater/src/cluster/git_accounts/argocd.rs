//! The Secrets of Argo CD, and one of the same keys that a method `git:secret:` names.
//!
//! A `repository` Secret counts for its address, that of the Application's project before one of no project; where it has
//! no credentials, the `repo-creds` Secret with the longest beginning of the address adds its own. Host keys and
//! authorities are those of `argocd-ssh-known-hosts-cm` and `argocd-tls-certs-cm`.

use diagnostic::{Error, Result};
use gitremote::ProxyServer;
use oci_registry::Secret;

use super::address::{Way, host, is_same, matched};
use super::keys::Keys;
use super::{Login, Shown};
use crate::account::{Account, AppKey, TOKEN_USER};
use crate::change::Named;
use crate::cluster::{Kept, Vault};

/// The label of Argo CD's Secrets.
const LABEL: &str = "argocd.argoproj.io/secret-type";

const KNOWN_HOSTS: &str = "argocd-ssh-known-hosts-cm";
const CERTIFICATES: &str = "argocd-tls-certs-cm";

/// One of these is a credential.
const CREDENTIALS: [&str; 7] = [
    "username",
    "password",
    "bearerToken",
    "sshPrivateKey",
    "tlsClientCertData",
    "githubAppPrivateKey",
    "azureServicePrincipalClientSecret",
];

/// Methods of Argo CD that are not supported.
const OTHERS: [&str; 3] =
    ["gcpServiceAccountKey", "azureServicePrincipalClientSecret", "useAzureWorkloadIdentity"];

/// Returns what the server of a repository is shown by Argo CD's own Secrets.
///
/// # Errors
/// If there are none for it, or they cannot be used.
pub(super) fn of_repository(vault: &dyn Vault, namespace: &str, project: &str, url: &str) -> Result<Login> {
    let repositories = vault.labelled(namespace, LABEL, "repository")?;
    let own = repository(&repositories, project, url);
    let has_own = own.map_or(Ok(false), |own| has_credentials(&Keys::of(own)))?;
    let inherited = if has_own { Vec::new() } else { vault.labelled(namespace, LABEL, "repo-creds")? };
    let inherited = longest(&inherited, url);
    let keys = match (own, inherited) {
        (Some(own), Some(inherited)) => Keys::of(own).with(inherited),
        (Some(one), None) | (None, Some(one)) => Keys::of(one),
        (None, None) => return Err(nothing(namespace, url)),
    };
    if !has_credentials(&keys)? {
        return Err(nothing(namespace, url));
    }
    // Only what is said of the repository itself lifts a check.
    let is_insecure = match own.map(Keys::of) {
        Some(own) => own.flag("insecure")? || own.flag("insecureIgnoreHostKey")?,
        None => false,
    };
    let login = Login { shown: shown(&keys, url)?, is_insecure, ..reached(&keys)? };
    trusting(vault, namespace, url, login)
}

/// Returns what the server of a repository is shown by one Secret.
///
/// # Errors
/// If it is not there, or cannot be used.
pub(super) fn of_secret(vault: &dyn Vault, secret: &Named, argocd: &str, url: &str) -> Result<Login> {
    let kept = super::secret(vault, secret)?;
    let keys = Keys::of(&kept);
    let is_insecure = keys.flag("insecure")?;
    let login = Login { shown: shown(&keys, url)?, is_insecure, ..reached(&keys)? };
    trusting(vault, argocd, url, login)
}

/// The Secret of a repository: its project's own, or else that of no project.
fn repository<'k>(all: &'k [Kept], project: &str, url: &str) -> Option<&'k Kept> {
    let of_url = |kept: &&Kept| kept.text("url").is_some_and(|known| is_same(known, url));
    let of_project = |wanted: &str| {
        let mut all = all.iter().filter(of_url);
        all.find(|kept| kept.text("project").unwrap_or_default() == wanted)
    };
    of_project(project).or_else(|| of_project(""))
}

/// The Secret with the longest beginning of an address, and the first of these.
fn longest<'k>(all: &'k [Kept], url: &str) -> Option<&'k Kept> {
    let matching = all.iter().filter_map(|kept| Some((matched(kept.text("url")?, url)?, kept)));
    matching.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, kept)| kept)
}

fn has_credentials(keys: &Keys<'_>) -> Result<bool> {
    for key in CREDENTIALS {
        if keys.has(key)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn nothing(namespace: &str, url: &str) -> Error {
    let message = format!(
        "no Secret of Argo CD in the namespace `{namespace}` has credentials for `{}`",
        diagnostic::redact(url)
    );
    Error::invalid(message).hint("add the repository to Argo CD, or name a Secret with `git:secret:NAME`")
}

fn shown(keys: &Keys<'_>, url: &str) -> Result<Shown> {
    if Way::of(url)? == Way::Ssh {
        let key = Secret::from(keys.required("sshPrivateKey")?);
        return Ok(Shown::Key { key, passphrase: None });
    }
    let username = keys.text("username")?;
    if let Some(password) = keys.text("password")? {
        let user = username.unwrap_or(TOKEN_USER).to_owned();
        return Ok(Shown::Account(Account { user, password: password.into() }));
    }
    if let Some(token) = keys.secret("bearerToken")? {
        return Ok(Shown::Bearer(token));
    }
    if keys.has("githubAppID")? || keys.has("githubAppPrivateKey")? {
        return app(keys);
    }
    for key in OTHERS {
        if keys.has(key)? {
            return Err(keys.wrong(key, "is of a kind that is not supported"));
        }
    }
    match username {
        Some(_) => Err(keys.wrong("password", "is missing")),
        // A certificate may be all that the server wants.
        None if keys.has("tlsClientCertData")? => Ok(Shown::Nothing),
        None => Err(keys
            .refuse("has no credentials for https")
            .hint("it takes `username` and `password`, `bearerToken`, or `githubAppID` with its companions")),
    }
}

fn app(keys: &Keys<'_>) -> Result<Shown> {
    let required = |key: &str| keys.number(key)?.ok_or_else(|| keys.wrong(key, "is missing"));
    Ok(Shown::App(AppKey {
        id: required("githubAppID")?.to_string(),
        installation: required("githubAppInstallationID")?,
        key: keys.required("githubAppPrivateKey")?.into(),
        api: keys.text("githubAppEnterpriseBaseUrl")?.map(str::to_owned),
    }))
}

/// Returns how the server is reached.
fn reached(keys: &Keys<'_>) -> Result<Login> {
    let proxy = keys
        .text("proxy")?
        .map(|url| ProxyServer { url: gitremote::Secret::Value(url.to_owned()), except: None });
    let except = keys.text("noProxy")?.map(str::to_owned);
    let proxy = proxy.map(|proxy| ProxyServer { except, ..proxy });
    let certificate = keys.certificate("tlsClientCertData", "tlsClientCertKey")?;
    Ok(Login { proxy, certificate, ..Login::default() })
}

/// With the host keys and authorities that Argo CD trusts.
fn trusting(vault: &dyn Vault, namespace: &str, url: &str, login: Login) -> Result<Login> {
    let named = |name: &str| Named { namespace: namespace.to_owned(), name: name.to_owned() };
    if login.is_insecure {
        return Ok(login);
    }
    if Way::of(url)? == Way::Ssh {
        let hosts = vault.config_map(&named(KNOWN_HOSTS))?;
        let known_hosts = hosts.and_then(|hosts| hosts.text("ssh_known_hosts").map(str::to_owned));
        return Ok(Login { known_hosts, ..login });
    }
    let Some(host) = host(url) else { return Ok(login) };
    let certificates = vault.config_map(&named(CERTIFICATES))?;
    let authorities = certificates.and_then(|all| all.text(&host).map(|pem| pem.as_bytes().to_vec()));
    Ok(Login { authorities, ..login })
}
