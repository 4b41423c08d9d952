//! Docker's configuration, `config.json`, which Helm, Podman and Kubernetes' pull secrets have in common.
//!
//! In: the file, or the bytes of a pull secret of either kind. Out: for a repository what the helper says that is named
//! for its host (`credHelpers`) or for all (`credsStore`), and the entries whose names fit it, best first. It refuses a
//! file that it cannot read rather than to ask as anybody, and runs no program that a pull secret names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use diagnostic::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::keyring::{Fit, best_first, fit, is_for_host};
use super::memo::{Given, Memo};
use super::program::{self, TIMEOUT};
use super::{Credential, CredentialSource, LIFETIME, missing, read};
use crate::reference::DOCKER_HUB;
use crate::secret::Secret;

/// Under which Docker keeps what is for its Hub.
pub(super) const HUB_KEY: &str = "https://index.docker.io/v1/";

/// As the kubelet reads it: with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The user that helpers name where the password is an identity token.
const TOKEN_USER: &str = "<token>";

/// A configuration of Docker's.
#[derive(Debug)]
pub struct DockerConfig {
    place: Place,
    helped: Memo<Option<Credential>>,
}

#[derive(Debug)]
enum Place {
    File(PathBuf),
    PullSecret { name: String, kind: PullSecretKind, content: Secret<Vec<u8>> },
}

/// The format of a pull secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullSecretKind {
    /// As Docker's `config.json`: `kubernetes.io/dockerconfigjson`.
    ConfigJson,
    /// As its forerunner, whose entries stand by themselves: `kubernetes.io/dockercfg`.
    Legacy,
}

type Entries = BTreeMap<String, Option<Entry>>;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    auths: Option<Entries>,
    #[serde(default)]
    cred_helpers: Option<BTreeMap<String, String>>,
    #[serde(default)]
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

/// The answer of a helper.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

impl DockerConfig {
    /// The file where there is one; it is read anew each time it is asked, as others log in and out meanwhile.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self { place: Place::File(path), helped: Memo::default() }
    }

    /// Returns what is in a pull secret, under a name for messages. Helpers that it names are not asked.
    #[must_use]
    pub fn pull_secret(name: &str, kind: PullSecretKind, content: Vec<u8>) -> Self {
        let place = Place::PullSecret { name: name.to_owned(), kind, content: Secret::new(content) };
        Self { place, helped: Memo::default() }
    }

    /// Returns where Docker has it, by what its variables say.
    #[must_use]
    pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("DOCKER_CONFIG").or_else(|| set("HOME").map(|home| home.join(".docker")))?;
        Some(folder.join("config.json"))
    }

    fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::PullSecret { name, .. } => name.clone(),
        }
    }

    fn load(&self) -> Result<Option<Config>> {
        match &self.place {
            Place::File(path) => read(path)?.map(|content| self.parse(&content)).transpose(),
            Place::PullSecret { kind: PullSecretKind::ConfigJson, content, .. } => {
                let auths = self.parse::<Config>(content.expose())?.auths;
                Ok(Some(Config { auths, ..Config::default() }))
            }
            Place::PullSecret { kind: PullSecretKind::Legacy, content, .. } => {
                let auths = Some(self.parse(content.expose())?);
                Ok(Some(Config { auths, ..Config::default() }))
            }
        }
    }

    fn parse<T: DeserializeOwned>(&self, content: &[u8]) -> Result<T> {
        serde_json::from_slice(content).map_err(|error| {
            // What serde says may repeat a value.
            let place = format!("line {}, column {}", error.line(), error.column());
            missing(&self.name(), &format!("invalid Docker configuration ({place})"))
        })
    }

    /// The entries that fit, with how well they do.
    pub(super) fn fitting(&self, registry: &str, repository: &str) -> Result<Vec<(Fit, Credential)>> {
        let Some(config) = self.load()? else { return Ok(Vec::new()) };
        self.fitting_in(&config, registry, repository)
    }

    fn fitting_in(
        &self,
        config: &Config,
        registry: &str,
        repository: &str,
    ) -> Result<Vec<(Fit, Credential)>> {
        let damaged = || missing(&self.name(), &format!("its entry for `{registry}` is damaged"));
        let mut fitting = Vec::new();
        for (key, entry) in config.auths.iter().flatten() {
            let Some(fit) = fit(key, registry, repository) else { continue };
            let credential = entry.as_ref().map(|entry| entry.credential(damaged)).transpose()?.flatten();
            fitting.extend(credential.map(|credential| (fit, credential)));
        }
        Ok(fitting)
    }

    fn ask_helper(&self, helper: &str, server: &str) -> Result<Option<Credential>> {
        let program = program::helper(helper)
            .ok_or_else(|| missing(&self.name(), "invalid name of a credential helper"))?;
        let now = SystemTime::now();
        self.helped.get(&format!("{helper} {server}"), now, || {
            let written = program::run(&program, &["get"], server.as_bytes(), TIMEOUT)?;
            let said = String::from_utf8_lossy(&written.stdout);
            let value = match written.succeeded {
                true => answer(&program, &written.stdout)?,
                // The one failure that is none: docker-credential-helpers, credentials/error.go.
                false if said.trim().starts_with("credentials not found") => None,
                false => return Err(program::failed(&program, &format!("it fails for `{server}`"))),
            };
            Ok(Given { value, until: Some(now + LIFETIME) })
        })
    }
}

impl CredentialSource for DockerConfig {
    fn find(&self, registry: &str, repository: &str) -> Result<Option<Credential>> {
        Ok(self.find_all(registry, repository)?.into_iter().next())
    }

    fn find_all(&self, registry: &str, repository: &str) -> Result<Vec<Credential>> {
        let Some(config) = self.load()? else { return Ok(Vec::new()) };
        let helper = config.cred_helpers.iter().flatten().find(|(key, _)| is_for_host(key, registry));
        if let Some((key, helper)) = helper {
            return Ok(self.ask_helper(helper, key)?.into_iter().collect());
        }
        let mut all = Vec::new();
        if let Some(helper) = config.creds_store.as_ref().filter(|helper| !helper.is_empty()) {
            // Docker leaves an empty entry to say that the helper has it.
            let entries = config.auths.iter().flatten().map(|(key, _)| key.as_str());
            let best = entries.filter_map(|key| Some((fit(key, registry, repository)?, key))).max();
            let server = if registry == DOCKER_HUB { HUB_KEY } else { registry };
            all.extend(self.ask_helper(helper, best.map_or(server, |(_, key)| key))?);
        }
        all.extend(best_first(self.fitting_in(&config, registry, repository)?));
        Ok(all)
    }

    fn forget(&self, refused: &Credential) {
        self.helped.forget(|known| known.as_ref() == Some(refused));
    }
}

impl Entry {
    fn credential(&self, damaged: impl Fn() -> Error) -> Result<Option<Credential>> {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        if let Some(token) = given(&self.identitytoken) {
            return Ok(Some(Credential::Identity(Secret::new(token))));
        }
        if let Some(token) = given(&self.registrytoken) {
            return Ok(Some(Credential::Bearer(Secret::new(token))));
        }
        if let Some(auth) = given(&self.auth) {
            let auth: String = auth.chars().filter(|character| !character.is_whitespace()).collect();
            let decoded = BASE64.decode(auth).map_err(|_| damaged())?;
            let decoded = String::from_utf8(decoded).map_err(|_| damaged())?;
            let (user, password) = decoded.split_once(':').ok_or_else(&damaged)?;
            // Docker has ended passwords with NUL.
            return Ok(Some(Credential::basic(user, password.trim_matches('\0'))));
        }
        match (given(&self.username), given(&self.password)) {
            (Some(user), Some(password)) => Ok(Some(Credential::basic(&user, &password))),
            _ => Ok(None),
        }
    }
}

fn answer(program: &OsStr, written: &[u8]) -> Result<Option<Credential>> {
    let answer: Answer =
        serde_json::from_slice(written).map_err(|_| program::failed(program, "its answer cannot be read"))?;
    if answer.username == TOKEN_USER {
        return Ok(Some(Credential::Identity(Secret::new(answer.secret))));
    }
    let is_given = !(answer.username.is_empty() && answer.secret.is_empty());
    Ok(is_given.then(|| Credential::basic(&answer.username, &answer.secret)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::PullSecrets;

    fn secret(kind: PullSecretKind, content: &str) -> DockerConfig {
        DockerConfig::pull_secret("Secret `ns/pull`", kind, content.into())
    }

    fn found(config: &str, registry: &str, repository: &str) -> Option<Credential> {
        secret(PullSecretKind::ConfigJson, config).find(registry, repository).unwrap()
    }

    /// `bWU6cHc=` is `me:pw`, `OnB3` is `:pw`.
    #[test]
    fn entries_are_found_by_host_and_path() {
        let config = r#"{"auths": {
            "https://index.docker.io/v1/": {"auth": "bWU6cHc="},
            "GHCR.io": {"username": "you", "password": "p", "email": "x"},
            "http://quay.io/team": {"identitytoken": "i", "auth": "bWU6cHc="},
            "quay.io": {"registrytoken": "r"},
            "localhost:5000/v2/": {"auth": "OnB3"},
            "empty.example": {}
        }, "HttpHeaders": {"a": "b"}}"#;
        let me = Some(Credential::basic("me", "pw"));
        assert_eq!(found(config, "docker.io", "library/nginx"), me);
        assert_eq!(found(config, "ghcr.io", ""), Some(Credential::basic("you", "p")));
        assert_eq!(found(config, "quay.io", "team/app"), Some(Credential::Identity("i".into())));
        assert_eq!(found(config, "quay.io", "teams/app"), Some(Credential::Bearer("r".into())));
        assert_eq!(found(config, "localhost:5000", "a"), Some(Credential::basic("", "pw")));
        assert_eq!(found(config, "localhost", "a"), None);
        assert_eq!(found(config, "empty.example", "a"), None);
        assert_eq!(found("{}", "quay.io", "a"), None);
        assert_eq!(found(r#"{"auths": null}"#, "quay.io", "a"), None);
    }

    /// The kubelet tries all that fit; `cHc` is without its padding.
    #[test]
    fn all_that_fit_are_given_best_first() {
        let legacy = r#"{"*.io": {"username": "any", "password": "p"}, "https://quay.io/v2/team": {"auth": "bWU6cHc"},
            "quay.io": {"auth": "b3RoZXI6\ncHc="}, "ghcr.io": null}"#;
        let all =
            |content: &str| secret(PullSecretKind::Legacy, content).find_all("quay.io", "team/app").unwrap();
        let basic = |user: &str| Credential::basic(user, if user == "any" { "p" } else { "pw" });
        assert_eq!(all(legacy), [basic("me"), basic("other"), basic("any")]);
        let more = r#"{"quay.io/team/app": {"auth": "Zmlyc3Q6cHc="}, "quay.io": {"auth": "bWU6cHc="}}"#;
        let secrets = [legacy, more].map(|content| secret(PullSecretKind::Legacy, content));
        let all = PullSecrets(secrets.into()).find_all("quay.io", "team/app").unwrap();
        assert_eq!(all, [basic("first"), basic("me"), basic("other"), basic("any")]);
    }

    #[test]
    fn programs_that_a_pull_secret_names_are_not_run() {
        let config = r#"{"credsStore": "x", "credHelpers": {"quay.io": "y"}, "auths": {"quay.io": {"auth": "bWU6cHc="}}}"#;
        assert_eq!(found(config, "quay.io", "a"), Some(Credential::basic("me", "pw")));
        assert_eq!(found(config, "ghcr.io", "a"), None);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_without_its_content() {
        for config in [r#"{"auths": {"h.example": {"auth": "s3cret!"}}}"#, r#"{"auths": "s3cret"}"#, "s3cret"]
        {
            let error = secret(PullSecretKind::ConfigJson, config).find("h.example", "").unwrap_err();
            assert!(error.message().contains("Secret `ns/pull`"), "{error}");
            assert!(!error.message().contains("s3cret"), "{error}");
        }
        let no_file = DockerConfig::file(PathBuf::from("/nonexistent/config.json"));
        assert_eq!(no_file.find("h", "").unwrap(), None);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"{"credsStore": "../../bin/sh"}"#).unwrap();
        assert!(DockerConfig::file(file.path().to_owned()).find("h", "").is_err());
    }

    #[test]
    fn the_configuration_is_where_docker_has_it() {
        let variable = |set: &'static [(&str, &str)]| {
            move |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            }
        };
        let path = |set| DockerConfig::default_path(variable(set));
        assert_eq!(path(&[("HOME", "/h"), ("DOCKER_CONFIG", "/d")]), Some("/d/config.json".into()));
        assert_eq!(path(&[("HOME", "/h"), ("DOCKER_CONFIG", "")]), Some("/h/.docker/config.json".into()));
        assert_eq!(path(&[]), None);
    }
}
