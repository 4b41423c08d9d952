//! The Secrets that a GitRepository of Flux names: what its server is shown, and the proxy on the way there.

use diagnostic::{Error, Result};
use gitremote::ProxyServer;
use oci_registry::Secret;

use super::address::Way;
use super::keys::Keys;
use super::{Login, Shown};
use crate::account::{Account, AppKey};
use crate::change::Named;
use crate::cluster::Vault;

/// Returns what the server of a repository is shown.
///
/// # Errors
/// If a Secret is not there, or cannot be used.
pub(super) fn login(
    vault: &dyn Vault,
    secret: Option<&Named>,
    proxy: Option<&Named>,
    is_app: bool,
    url: &str,
) -> Result<Login> {
    let secret = secret.map(|id| super::secret(vault, id)).transpose()?;
    let login = match &secret {
        Some(kept) => of_secret(&Keys::of(kept), is_app, url)?,
        None if is_app => {
            return Err(Error::invalid(
                "a GitRepository with `provider: github` names the App's Secret in `secretRef`",
            ));
        }
        None => Login::default(),
    };
    let proxy = proxy.map(|id| super::secret(vault, id)).transpose()?;
    let proxy = proxy.as_ref().map(|kept| server(&Keys::of(kept))).transpose()?;
    Ok(Login { proxy, ..login })
}

fn of_secret(keys: &Keys<'_>, is_app: bool, url: &str) -> Result<Login> {
    if Way::of(url)? == Way::Ssh {
        let key = Secret::from(keys.required("identity")?);
        let shown = Shown::Key { key, passphrase: keys.secret("password")? };
        let known_hosts = Some(keys.required("known_hosts")?.to_owned());
        return Ok(Login { shown, known_hosts, ..Login::default() });
    }
    if !is_app && keys.has("githubAppID")? {
        let error = keys.refuse("contains a GitHub App, but the GitRepository lacks `provider: github`");
        return Err(error.hint("write `provider: github`"));
    }
    let shown = match (keys.secret("bearerToken")?, keys.text("username")?, keys.text("password")?) {
        _ if is_app => app(keys)?,
        (Some(token), ..) => Shown::Bearer(token),
        (None, Some(user), Some(password)) => {
            Shown::Account(Account { user: user.to_owned(), password: password.into() })
        }
        (None, None, Some(_)) => return Err(keys.wrong("username", "is missing, which `password` needs")),
        (None, Some(_), None) => return Err(keys.wrong("password", "is missing, which `username` needs")),
        (None, None, None) => Shown::Nothing,
    };
    let authorities = match keys.text("ca.crt")? {
        Some(authorities) => Some(authorities),
        None => keys.text("caFile")?,
    };
    let authorities = authorities.map(|pem| pem.as_bytes().to_vec());
    Ok(Login { shown, authorities, certificate: keys.certificate("tls.crt", "tls.key")?, ..Login::default() })
}

fn app(keys: &Keys<'_>) -> Result<Shown> {
    if keys.has("githubAppInstallationOwner")? {
        let error = keys.wrong("githubAppInstallationOwner", "is not looked up");
        return Err(error.hint("name the installation by `githubAppInstallationID`"));
    }
    let required = |key: &str| keys.number(key)?.ok_or_else(|| keys.wrong(key, "is missing"));
    Ok(Shown::App(AppKey {
        id: required("githubAppID")?.to_string(),
        installation: required("githubAppInstallationID")?,
        key: keys.required("githubAppPrivateKey")?.into(),
        api: keys.text("githubAppBaseURL")?.map(str::to_owned),
    }))
}

fn server(keys: &Keys<'_>) -> Result<ProxyServer> {
    let wrong = || keys.wrong("address", "is not a proxy URL");
    let mut url = reqwest::Url::parse(keys.required("address")?).map_err(|_| wrong())?;
    if let Some(user) = keys.text("username")? {
        url.set_username(user).map_err(|()| wrong())?;
        url.set_password(keys.text("password")?).map_err(|()| wrong())?;
    }
    Ok(ProxyServer { url: gitremote::Secret::Value(url.into()), except: None })
}
