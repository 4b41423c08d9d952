//! The server that a command pushes to: how it is reached, who commits, who signs, and what the forge is shown.
//!
//! In: an address, and what a configuration says besides. Out: all that a delivery needs, for as long as it lasts. Files
//! and variables that hold secrets are read here, when they are needed, and no message has what is in them.

use diagnostic::{Error, Result};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gitremote::{
    Access, Authorities, Authorship, GpgSigner, KnownHosts, Mirror, Person, Remote, Secret, Sign, SshSigner,
    Waiting,
};
use jiff::Timestamp;

use crate::account::{self, Account};
use crate::cluster::Cluster;
use crate::cluster::git_accounts::{self, Login, Shown};
use crate::config::{Config, SignatureFormat};
use crate::daemon;
use crate::deliver::{Delivered, Failed, Planner, Server, deliver};
use crate::gate::Gate;
use crate::hold::REMEMBERED;
use crate::work::Delivery;
use crate::{forge, registries, report};

/// Time one exchange with a git server may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Default committer, as a machine has no name.
const COMMITTER: (&str, &str) = ("image-updater", "image-updater@localhost");

/// A repository on a server, and what is known of it.
pub(super) struct Reach<'r> {
    pub(super) url: &'r str,
    pub(super) branch: Option<&'r str>,
    pub(super) delivery: &'r Delivery,
    pub(super) config: Option<&'r Config>,
    /// The cluster with the secrets that the delivery names.
    pub(super) cluster: Option<&'r Cluster>,
    /// True if the forge is asked for something, so that a token is needed.
    pub(super) with_request: bool,
    pub(super) gate: &'r Gate,
    pub(super) now: Timestamp,
}

impl Reach<'_> {
    /// Plans, commits and pushes, and says so.
    pub(super) fn deliver(&self, planner: &dyn Planner) -> Result<Delivered, Failed> {
        let mut random = random;
        let mut sleep = |pause: Duration| std::thread::sleep(pause);
        let mut waiting = Waiting { random: &mut random, sleep: &mut sleep };
        let delivered =
            self.on_server(|server| deliver(planner, self.delivery, server, &mut waiting, self.with_request));
        tell(delivered.as_ref().unwrap_or_else(|failed| &failed.before));
        delivered
    }

    /// Hands over the server.
    pub(super) fn on_server<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&Server<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let login = self.login()?;
        let remote = Remote { url: self.url.to_owned(), access: self.access(&login) };
        let mirror = match registries::cache_folder() {
            Some(cache) => Mirror::cached(&cache.join("git"), &remote),
            None => Mirror::temporary(),
        };
        let mirror = mirror?.remembering(REMEMBERED);
        let signer = self.signer()?;
        let forge = self.with_request.then(|| self.forge(&login)).transpose()?.flatten();
        let (name, email) =
            self.delivery.author.clone().unwrap_or((COMMITTER.0.to_owned(), COMMITTER.1.to_owned()));
        let person = Person { name, email };
        work(&Server {
            remote: &remote,
            branch: self.branch,
            mirror: &mirror,
            authorship: &Authorship {
                author: person.clone(),
                committer: person,
                time: self.now.as_second(),
                sign_off: self.delivery.sign_off,
            },
            signer: signer.as_deref(),
            forge: forge.as_ref(),
            gate: self.gate,
        })
    }

    /// Returns what the server is shown, and how it is reached: as the cluster says, or else the configuration.
    fn login(&self) -> Result<Login> {
        let (Some(account), Some(cluster)) = (&self.delivery.account, self.cluster) else {
            return self.configured();
        };
        let login = git_accounts::login(&*cluster.vault, account, self.url)?;
        if login.is_insecure && cluster.accounts.is_news(self.url) {
            daemon::unchecked(self.url);
        }
        let Shown::App(app) = &login.shown else { return Ok(login) };
        let account = cluster.accounts.tokens.account(app, self.url, login.authorities.clone(), self.now)?;
        Ok(Login { shown: Shown::Account(account), ..login })
    }

    fn configured(&self) -> Result<Login> {
        let Some(config) = self.config else { return Ok(Login::default()) };
        let read = |path: &PathBuf| fs::read(path).map_err(|error| Error::io("read", path, &error));
        let authorities = config.git_authorities.as_ref().map(read).transpose()?;
        let shown = match (&config.github_app, &config.git_credentials) {
            (Some(app), _) => Shown::Account(app.account(self.url, authorities.clone(), self.now)?),
            (None, Some(credentials)) => Shown::Account(Account::read(credentials)?),
            (None, None) => Shown::Nothing,
        };
        Ok(Login { shown, authorities, ..Login::default() })
    }

    fn access(&self, login: &Login) -> Access {
        let mut access = Access::new(concat!("image-updater/", env!("CARGO_PKG_VERSION")), GIT_TIMEOUT);
        let value = |secret: &oci_registry::Secret<String>| Secret::Value(secret.expose().clone());
        match &login.shown {
            Shown::Nothing | Shown::App(_) => {}
            Shown::Account(Account { user, password }) => {
                let (username, password) = (user.clone(), value(password));
                access.credentials = gitremote::Credentials::Account { username, password };
            }
            Shown::Bearer(token) => access.credentials = gitremote::Credentials::Bearer(value(token)),
            Shown::Key { key, passphrase } => {
                access.ssh.key = Some(value(key));
                access.ssh.passphrase = passphrase.as_ref().map(value);
            }
        }
        let named = self.config.and_then(|config| config.git_authorities.clone());
        access.authorities = match named.filter(|_| self.delivery.account.is_none()) {
            Some(path) => Some(Authorities::File(path)),
            None => login.authorities.clone().map(Authorities::Given),
        };
        access.certificate.clone_from(&login.certificate);
        access.proxy.clone_from(&login.proxy);
        access.is_insecure = login.is_insecure;
        // An unknown host key is never taken on trust, whatever ssh's configuration says.
        access.ssh.hosts = match &login.known_hosts {
            _ if login.is_insecure => KnownHosts::Unchecked,
            Some(hosts) => KnownHosts::Given(hosts.clone()),
            None => KnownHosts::Strict,
        };
        access
    }

    fn signer(&self) -> Result<Option<Box<dyn Sign + '_>>> {
        if let (Some(secret), Some(cluster)) = (&self.delivery.signing_secret, self.cluster) {
            return Ok(Some(Box::new(git_accounts::Signer::new(&*cluster.vault, secret))));
        }
        let Some(name) = &self.delivery.signing_key else { return Ok(None) };
        let key =
            self.config.into_iter().flat_map(|config| &config.signing_keys).find(|key| key.name == *name);
        let key = key.ok_or_else(|| Error::invalid(format!("unknown key `{name}`: not in `signingKeys`")))?;
        Ok(Some(match key.format {
            SignatureFormat::Ssh => Box::new(SshSigner::new(Secret::File(key.file.clone().into()))),
            SignatureFormat::Openpgp => Box::new(GpgSigner::new(key.file.clone())),
        }))
    }

    /// Returns what the forge is shown; nothing where there is no token.
    fn forge(&self, login: &Login) -> Result<Option<forge::Settings>> {
        let request = self.delivery.pull_request.clone().unwrap_or_default();
        let named = self.config.and_then(|config| config.forge_token.as_ref());
        let token = match (named, &login.shown) {
            (Some(place), _) => Some(account::token(place)?.as_str().into()),
            (None, Shown::Account(account)) => Some(account.password.clone()),
            (None, Shown::Bearer(token)) => Some(token.clone()),
            // What is kept for one tenant's repository is all that may be used for it.
            (None, _) if self.delivery.account.is_some() => None,
            (None, _) => variable_of(self.url, request.forge.as_deref()).map(oci_registry::Secret::new),
        };
        let Some(token) = token else { return Ok(None) };
        let certificates = login.authorities.clone();
        let (forge, api) = (request.forge, request.api);
        Ok(Some(forge::Settings { forge, api, token, certificates }))
    }
}

/// The token that the machine has for a forge, under the name that the forge's own programs know. A token is for one
/// forge, and must not be shown to another.
fn variable_of(url: &str, forge: Option<&str>) -> Option<String> {
    let address = forge::Address::parse(url).ok()?;
    let name = forge.or_else(|| Some(address.forge()?.name()))?;
    let name = if name.eq_ignore_ascii_case("forgejo") { "gitea" } else { name };
    let variable = format!("{}_TOKEN", name.to_ascii_uppercase());
    std::env::var(variable).ok().filter(|token| !token.is_empty())
}

fn tell(delivered: &Delivered) {
    if let Some(tip) = &delivered.pushed {
        let count = delivered.commits.len();
        let what = if count == 1 { "commit" } else { "commits" };
        report::note(&format!("pushed {count} {what} to `{}`, which is at {}", tip.branch, tip.commit));
    }
    if let Some(request) = &delivered.request {
        report::note(&format!("{}: {}", request.action.as_str(), request.url));
        request.warnings.iter().for_each(|warning| report::warning(&warning.to_string()));
    }
}

/// Chance enough to keep two that met from meeting again.
pub(super) fn random() -> u64 {
    let mut bytes = [0; 8];
    // Without a source of randomness all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
