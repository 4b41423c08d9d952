//! Who we are at a git server and its forge: an account, a token, or a GitHub App.
//!
//! In: where secrets are kept. Out: what is shown to the server. Secrets are read when they are needed, and no message has
//! what is in them. An App's token is asked for once for all who want it, and again before it is of no more use.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use registry::Secret;

use crate::config::Credentials;
use crate::error::{Error, Result};
use crate::forge::{App, AppToken, Settings};
use crate::input;

/// Who asks for no user by name: servers that take tokens take any.
const TOKEN_USER: &str = "x-access-token";

/// How long a token must be good for yet: longer than a round takes.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);

/// A user and a password, or a token in the place of one.
pub(crate) struct Account {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Account {
    /// What is kept in a place.
    ///
    /// # Errors
    /// Where it holds none.
    pub(crate) fn read(credentials: &Credentials) -> Result<Self> {
        let (place, text) = secret(credentials, "the credentials for git")?;
        let (user, password) = text.split_once(':').unwrap_or((TOKEN_USER, &text));
        if password.is_empty() {
            return Err(Error::input(format!(
                "the credentials for git cannot be had from `{place}`: it holds no `user:password`"
            )));
        }
        Ok(Self { user: user.to_owned(), password: password.to_owned() })
    }
}

/// A GitHub App, as a configuration names it.
#[derive(Debug)]
pub struct GithubApp {
    /// Its number, or its client id.
    pub id: String,
    /// Where it is installed.
    pub installation: u64,
    /// Where its private key is kept.
    pub private_key: Credentials,
    /// The address of GitHub's API, where that is not as usual.
    pub api: Option<String>,
    token: Mutex<Option<AppToken>>,
}

impl GithubApp {
    /// No token was asked for yet.
    #[must_use]
    pub fn new(id: String, installation: u64, private_key: Credentials, api: Option<String>) -> Self {
        Self { id, installation, private_key, api, token: Mutex::default() }
    }

    /// What git and the forge are shown.
    ///
    /// # Errors
    /// Where its key cannot be had, or GitHub gives no token for it.
    pub(crate) fn account(
        &self,
        url: &str,
        certificates: Option<Vec<u8>>,
        now: Timestamp,
    ) -> Result<Account> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = |token: &&AppToken| token.expires.duration_since(now) > MARGIN;
        let password = match token.as_ref().filter(is_good) {
            Some(token) => token.token.expose().clone(),
            None => {
                let (_, key) = secret(&self.private_key, "the private key of the GitHub App")?;
                let app = App::new(&self.id, self.installation, &Secret::new(key))?;
                let (forge, none) = (Some("github".to_owned()), Secret::from(""));
                let settings = Settings { forge, api: self.api.clone(), token: none, certificates };
                token.insert(app.token(url, &settings, now)?).token.expose().clone()
            }
        };
        Ok(Account { user: TOKEN_USER.to_owned(), password })
    }
}

/// The token of a forge that is kept in a place.
///
/// # Errors
/// Where it holds none.
pub(crate) fn token(place: &Credentials) -> Result<String> {
    let (place, text) = secret(place, "the token of the forge")?;
    if text.is_empty() {
        return Err(Error::input(format!(
            "the token of the forge cannot be had from `{place}`: it is empty"
        )));
    }
    Ok(text)
}

/// What is kept in a place, and what the place is called.
fn secret(credentials: &Credentials, what: &str) -> Result<(String, String)> {
    let missing =
        |place: &str, why: &str| Error::input(format!("{what} cannot be had from `{place}`: {why}"));
    let (place, text) = match credentials {
        Credentials::Env(name) => {
            let place = format!("${name}");
            let value = std::env::var(name).map_err(|_| missing(&place, "it is not set"))?;
            (place, value)
        }
        Credentials::File(path) => (path.clone(), input::read_text(path.as_ref())?.0),
        Credentials::DockerConfig(path) => return Err(missing(path, "it is for registries")),
        Credentials::Command(_) => {
            return Err(missing("command", "git asks its own credential helpers")
                .hint("configure a helper of git, or name a variable or a file"));
        }
    };
    Ok((place, text.trim().to_owned()))
}
