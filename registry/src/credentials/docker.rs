//! Docker's configuration, `config.json`, which Helm, Podman and Kubernetes' pull secrets have in common.
//!
//! In: the file, or its bytes. Out: for a repository the entry under the longest name that fits it, or what the helper
//! says that is named for its host (`credHelpers`) or for all (`credsStore`). It refuses a file that it cannot read
//! rather than to ask as anybody.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::memo::{Given, Memo};
use super::program::{self, TIMEOUT};
use super::{Credential, CredentialSource, LIFETIME, missing, read};
use crate::error::{Error, Result};
use crate::reference::{DOCKER_HUB, normal_host};
use crate::secret::Secret;

/// Under which Docker keeps what is for its Hub.
pub(super) const HUB_KEY: &str = "https://index.docker.io/v1/";

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
    Bytes { name: String, content: Secret<Vec<u8>> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    auths: Option<BTreeMap<String, Entry>>,
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

/// What a helper answers.
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

    /// What stands elsewhere, such as in a pull secret, under a name for messages.
    #[must_use]
    pub fn bytes(name: &str, content: Vec<u8>) -> Self {
        let place = Place::Bytes { name: name.to_owned(), content: Secret::new(content) };
        Self { place, helped: Memo::default() }
    }

    /// Where Docker has it, by what its variables say.
    #[must_use]
    pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("DOCKER_CONFIG").or_else(|| set("HOME").map(|home| home.join(".docker")))?;
        Some(folder.join("config.json"))
    }

    fn name(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Bytes { name, .. } => name.clone(),
        }
    }

    fn load(&self) -> Result<Option<Config>> {
        let parse = |content: &[u8]| {
            serde_json::from_slice(content).map(Some).map_err(|error| {
                // What serde says may repeat a value.
                let place = format!("line {}, column {}", error.line(), error.column());
                missing(&self.name(), &format!("it is no configuration of Docker's ({place})"))
            })
        };
        match &self.place {
            Place::Bytes { content, .. } => parse(content.expose()),
            Place::File(path) => read(path)?.map_or(Ok(None), |content| parse(&content)),
        }
    }

    fn ask_helper(&self, helper: &str, server: &str) -> Result<Option<Credential>> {
        let program = program::helper(helper)
            .ok_or_else(|| missing(&self.name(), "it names a helper that is no program"))?;
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
        let Some(config) = self.load()? else { return Ok(None) };
        if let Some((key, helper)) = best(config.cred_helpers.iter().flatten(), registry, "") {
            return self.ask_helper(helper, key);
        }
        let entry = best(config.auths.iter().flatten(), registry, repository);
        if let Some(helper) = config.creds_store.filter(|helper| !helper.is_empty()) {
            // Docker leaves an empty entry to say that the helper has it.
            let server = if registry == DOCKER_HUB { HUB_KEY } else { registry };
            let server = entry.as_ref().map_or(server, |(key, _)| key);
            if let Some(credential) = self.ask_helper(&helper, server)? {
                return Ok(Some(credential));
            }
        }
        match entry {
            Some((_, entry)) => {
                entry.credential(|| missing(&self.name(), &format!("its entry for `{registry}` is damaged")))
            }
            None => Ok(None),
        }
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
            let decoded = BASE64_STANDARD.decode(auth.trim()).map_err(|_| damaged())?;
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

/// The entry under the longest name that a repository is below, with the name as it is written.
fn best<'c, V>(
    entries: impl Iterator<Item = (&'c String, &'c V)>,
    registry: &str,
    repository: &str,
) -> Option<(&'c str, &'c V)> {
    let fitting = entries.filter_map(|(key, value)| {
        let path = path_below(key, registry)?;
        let rest = repository.strip_prefix(path.as_str())?;
        let fits = path.is_empty() || rest.is_empty() || rest.starts_with('/');
        fits.then_some((path.len(), key.as_str(), value))
    });
    fitting.max_by_key(|(length, ..)| *length).map(|(_, key, value)| (key, value))
}

/// Whether an entry is for all of a host.
pub(super) fn is_for_host(key: &str, registry: &str) -> bool {
    path_below(key, registry).is_some_and(|path| path.is_empty())
}

/// The path on the host that a name is for, where it is for this host: `https://ghcr.io/v2/`, `quay.io/team`.
fn path_below(key: &str, registry: &str) -> Option<String> {
    let key = key.trim();
    let key = key.split_once("://").map_or(key, |(_, rest)| rest).trim_end_matches('/');
    let (host, path) = key.split_once('/').unwrap_or((key, ""));
    if normal_host(host).ok()? != registry {
        return None;
    }
    let is_version = matches!(path, "v1" | "v2");
    Some(if is_version { String::new() } else { path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(config: &str, registry: &str, repository: &str) -> Option<Credential> {
        DockerConfig::bytes("test", config.as_bytes().to_vec()).find(registry, repository).unwrap()
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

    #[test]
    fn what_cannot_be_read_is_an_error_without_its_content() {
        for config in [r#"{"auths": {"h.example": {"auth": "s3cret!"}}}"#, r#"{"auths": "s3cret"}"#, "s3cret"]
        {
            let error = DockerConfig::bytes("secret `x`", config.into()).find("h.example", "").unwrap_err();
            assert!(!error.message().contains("s3cret"), "{error}");
        }
        let no_file = DockerConfig::file(PathBuf::from("/nonexistent/config.json"));
        assert_eq!(no_file.find("h", "").unwrap(), None);
        let escape = r#"{"credsStore": "../../bin/sh"}"#;
        assert!(DockerConfig::bytes("x", escape.into()).find("h", "").is_err());
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
