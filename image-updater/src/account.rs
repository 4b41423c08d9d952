//! The identity at a git server and its forge: an account, a token, or a GitHub App.
//!
//! In: where secrets are kept. Out: what is shown to the server. Secrets are read when they are needed, and no message has
//! what is in them. An App's token is asked for once for all who want it, and again before it is of no more use.

use diagnostic::{Error, Result};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use oci_registry::Secret;
use sha2::{Digest as _, Sha256};

use crate::config::Credentials;
use crate::forge::{App, AppToken, Settings};
use crate::input;

/// User name for tokens: servers that accept tokens accept any.
pub(crate) const TOKEN_USER: &str = "x-access-token";

/// Time a token must be good for yet: longer than a round takes.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);

/// A user and a password, or a token in the place of one.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) user: String,
    pub(crate) password: Secret<String>,
}

impl Account {
    /// Returns what is kept in a place.
    ///
    /// # Errors
    /// If it holds none.
    pub(crate) fn read(credentials: &Credentials) -> Result<Self> {
        let (place, text) = secret(credentials, "the credentials for git")?;
        let (user, password) = text.split_once(':').unwrap_or((TOKEN_USER, &text));
        if password.is_empty() {
            return Err(Error::invalid(format!(
                "cannot read git credentials from `{place}`: expected `user:password`"
            )));
        }
        Ok(Self { user: user.to_owned(), password: password.into() })
    }
}

/// A GitHub App, as a configuration names it.
#[derive(Debug)]
pub struct GithubApp {
    /// Its number, or its client id.
    pub id: String,
    /// The installation id.
    pub installation: u64,
    /// The credentials source of its private key.
    pub private_key: Credentials,
    /// The address of GitHub's API, where that is not as usual.
    pub api: Option<String>,
    tokens: AppTokens,
}

impl GithubApp {
    /// No token was asked for yet.
    #[must_use]
    pub fn new(id: String, installation: u64, private_key: Credentials, api: Option<String>) -> Self {
        Self { id, installation, private_key, api, tokens: AppTokens::default() }
    }

    /// Returns what git and the forge are shown.
    ///
    /// # Errors
    /// If its key cannot be had, or GitHub gives no token for it.
    pub(crate) fn account(
        &self,
        url: &str,
        certificates: Option<Vec<u8>>,
        now: Timestamp,
    ) -> Result<Account> {
        let (_, key) = secret(&self.private_key, "the private key of the GitHub App")?;
        let (id, api) = (self.id.clone(), self.api.clone());
        let app = AppKey { id, installation: self.installation, key: Secret::new(key), api };
        self.tokens.account(&app, url, certificates, now)
    }
}

/// The key of a GitHub App.
#[derive(Debug)]
pub(crate) struct AppKey {
    /// The App's number, or its client id.
    pub(crate) id: String,
    /// The installation id.
    pub(crate) installation: u64,
    /// Its private key.
    pub(crate) key: Secret<String>,
    /// The address of GitHub's API, where that is not as usual.
    pub(crate) api: Option<String>,
}

/// Tokens of GitHub Apps, each as long as it is good; of a key there is no more than a hash.
#[derive(Debug, Default)]
pub(crate) struct AppTokens(Mutex<HashMap<[u8; 32], AppToken>>);

impl AppTokens {
    /// Returns what git and the forge are shown for an App.
    ///
    /// # Errors
    /// If its key cannot be used, or GitHub gives no token for it.
    pub(crate) fn account(
        &self,
        key: &AppKey,
        url: &str,
        certificates: Option<Vec<u8>>,
        now: Timestamp,
    ) -> Result<Account> {
        let account =
            |token: &AppToken| Account { user: TOKEN_USER.to_owned(), password: token.token.clone() };
        let (hash, is_good) = (key.hash(), |token: &AppToken| token.expires.duration_since(now) > MARGIN);
        if let Some(token) = self.lock().get(&hash).filter(|token| is_good(token)) {
            return Ok(account(token));
        }
        // Nobody waits for another App's token meanwhile.
        let app = App::new(&key.id, key.installation, &key.key)?;
        let (forge, none) = (Some("github".to_owned()), Secret::from(""));
        let settings = Settings { forge, api: key.api.clone(), token: none, certificates };
        let token = app.token(url, &settings, now)?;
        let account = account(&token);
        let mut tokens = self.lock();
        tokens.retain(|_, token| is_good(token));
        tokens.insert(hash, token);
        Ok(account)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], AppToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AppKey {
    fn hash(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        let installation = self.installation.to_string();
        for part in [&self.id, &installation, self.key.expose(), self.api.as_deref().unwrap_or_default()] {
            hasher.update(part);
            hasher.update([0]);
        }
        hasher.finalize().into()
    }
}

/// The token of a forge that is kept in a place.
///
/// # Errors
/// If it holds none.
pub(crate) fn token(place: &Credentials) -> Result<String> {
    let (place, text) = secret(place, "the token of the forge")?;
    if text.is_empty() {
        return Err(Error::invalid(format!(
            "cannot read the token of the forge from `{place}`: it is empty"
        )));
    }
    Ok(text)
}

/// Reads a secret; returns it with the name of its source.
fn secret(credentials: &Credentials, what: &str) -> Result<(String, String)> {
    let missing =
        |place: &str, why: &str| Error::invalid(format!("cannot read {what} from `{place}`: {why}"));
    let (place, text) = match credentials {
        Credentials::Env(name) => {
            let place = format!("${name}");
            let value = std::env::var(name).map_err(|_| missing(&place, "it is not set"))?;
            (place, value)
        }
        Credentials::File(path) => (path.clone(), input::read_text(path.as_ref())?.0),
        Credentials::DockerConfig(path) => return Err(missing(path, "it is for registries")),
        Credentials::PullSecret(_) | Credentials::ServiceAccount(_) | Credentials::Provider(_) => {
            return Err(missing("credentials", "they are for registries"));
        }
        Credentials::Secret(key) => {
            return Err(missing(&key.to_string(), "no cluster is asked for it here"));
        }
        Credentials::Command(_) => {
            return Err(missing("command", "git asks its own credential helpers")
                .hint("configure a helper of git, or name a variable or a file"));
        }
    };
    Ok((place, text.trim().to_owned()))
}
