//! Stores credentials after a login: an entry of Docker's configuration, or of its helper.
//!
//! In: the file, a host, a credential. Out: the file replaced whole, readable by its user only, with all else in it as it
//! was. It refuses a file that it cannot read. Many may do this at once.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use diagnostic::{Error, ErrorKind, Result};
use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use super::docker::HUB_KEY;
use super::keyring::is_for_host;
use super::program::{self, TIMEOUT};
use super::{Credential, missing, read};
use crate::reference::{DOCKER_HUB, normal_host};

type Config = BTreeMap<String, Value>;

/// Keeps a credential for a host in a configuration of Docker's, which is made where there is none.
///
/// # Errors
/// If the file cannot be read or written, or its helper fails.
pub fn log_in(path: &Path, registry: &str, credential: &Credential) -> Result<()> {
    let registry = normal_host(registry)?;
    let key = if registry == DOCKER_HUB { HUB_KEY } else { registry.as_str() };
    let _lock = lock(path)?;
    let mut config = load(path)?;
    if let Some(helper) = helper(&config, &registry) {
        let (user, secret) = match credential {
            Credential::Basic { user, password } => (user.as_str(), password.expose()),
            Credential::Identity(token) | Credential::Bearer(token) => ("<token>", token.expose()),
        };
        let entry = json!({"ServerURL": key, "Username": user, "Secret": secret});
        return ask_helper(path, &helper, "store", &entry.to_string());
    }
    let entry = match credential {
        Credential::Basic { user, password } => {
            json!({"auth": BASE64_STANDARD.encode(format!("{user}:{}", password.expose()))})
        }
        Credential::Identity(token) => json!({"identitytoken": token.expose()}),
        Credential::Bearer(token) => json!({"registrytoken": token.expose()}),
    };
    auths(&mut config, path)?.insert(key.to_owned(), entry);
    store(path, &config)
}

/// Removes what is kept for a host; that there is nothing is no error.
///
/// # Errors
/// As for [`log_in`].
pub fn log_out(path: &Path, registry: &str) -> Result<()> {
    let registry = normal_host(registry)?;
    if read(path)?.is_none() {
        return Ok(());
    }
    let _lock = lock(path)?;
    let mut config = load(path)?;
    if let Some(helper) = helper(&config, &registry) {
        let key = if registry == DOCKER_HUB { HUB_KEY } else { registry.as_str() };
        ask_helper(path, &helper, "erase", key)?;
    }
    auths(&mut config, path)?.retain(|key, _| !is_for_host(key, &registry));
    store(path, &config)
}

fn load(path: &Path) -> Result<Config> {
    let Some(content) = read(path)? else { return Ok(Config::new()) };
    let config: Result<Config, _> = serde_json::from_slice(&content);
    config.map_err(|_| damaged(path))
}

fn auths<'c>(config: &'c mut Config, path: &Path) -> Result<&'c mut Map<String, Value>> {
    let auths = config.entry("auths".to_owned()).or_insert_with(|| json!({}));
    if auths.is_null() {
        *auths = json!({});
    }
    auths.as_object_mut().ok_or_else(|| damaged(path))
}

fn damaged(path: &Path) -> Error {
    missing(&path.display().to_string(), "invalid Docker configuration")
}

/// The helper that has what is kept for a host.
fn helper(config: &Config, registry: &str) -> Option<String> {
    let helpers = config.get("credHelpers").and_then(Value::as_object);
    let of_host = helpers.into_iter().flatten().find(|(key, _)| is_for_host(key, registry));
    let helper = of_host.map(|(_, helper)| helper).or_else(|| config.get("credsStore"));
    helper.and_then(Value::as_str).filter(|helper| !helper.is_empty()).map(str::to_owned)
}

fn ask_helper(path: &Path, helper: &str, what: &str, input: &str) -> Result<()> {
    let wrong = || missing(&path.display().to_string(), "invalid name of a credential helper");
    let program = program::helper(helper).ok_or_else(wrong)?;
    let written = program::run(&program, &[what], input.as_bytes(), TIMEOUT)?;
    if written.succeeded { Ok(()) } else { Err(program::failed(&program, &format!("it cannot {what} it"))) }
}

/// As Docker and Helm write it.
fn store(path: &Path, config: &Config) -> Result<()> {
    let failed = |error: io::Error| unwritable(path, &error);
    let mut text = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"\t"));
    config.serialize(&mut writer).map_err(|error| failed(error.into()))?;
    // A link stays one; what it points to is replaced.
    let real = fs::canonicalize(path);
    let place = real.as_deref().unwrap_or(path);
    let mut file = NamedTempFile::new_in(folder(place)).map_err(failed)?;
    file.write_all(&text).map_err(failed)?;
    file.persist(place).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Others wait until this is dropped. The folder is locked, so that nothing lies about afterwards.
fn lock(path: &Path) -> Result<File> {
    let failed = |error: io::Error| unwritable(path, &error);
    let folder = folder(path);
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let file = File::open(folder).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Environment, format!("cannot write `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;

    /// Expected values: what Helm 4.3.1 leaves behind for the same commands.
    #[test]
    fn the_file_is_as_helm_writes_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("registry/config.json");
        let text = || fs::read_to_string(&path).unwrap();
        log_out(&path, "localhost:5055").unwrap();
        assert!(!path.exists());
        log_in(&path, "localhost:5055", &Credential::basic("ci", "s3cret")).unwrap();
        let entry = "\"localhost:5055\": {\n\t\t\t\"auth\": \"Y2k6czNjcmV0\"\n\t\t}";
        assert_eq!(text(), format!("{{\n\t\"auths\": {{\n\t\t{entry}\n\t}}\n}}"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        log_out(&path, "localhost:5055").unwrap();
        assert_eq!(text(), "{\n\t\"auths\": {}\n}");
        fs::write(&path, r#"{"foo":[1, 2],"auths":{"other.example":{"auth":"YTpi","email":"x"}}}"#).unwrap();
        log_in(&path, "LOCALHOST:5055", &Credential::basic("ci", "s3cret")).unwrap();
        let other = "\"other.example\": {\n\t\t\t\"auth\": \"YTpi\",\n\t\t\t\"email\": \"x\"\n\t\t}";
        let rest = "\"foo\": [\n\t\t1,\n\t\t2\n\t]";
        assert_eq!(text(), format!("{{\n\t\"auths\": {{\n\t\t{entry},\n\t\t{other}\n\t}},\n\t{rest}\n}}"));
    }

    #[test]
    fn docker_hub_has_the_name_that_docker_gives_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.json");
        log_in(&path, "registry-1.docker.io", &Credential::basic("a", "b")).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("\"https://index.docker.io/v1/\": {"));
        log_out(&path, "docker.io").unwrap();
        assert!(!fs::read_to_string(&path).unwrap().contains("index.docker.io"));
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.json");
        for damaged in ["{bad", r#"{"auths": "x"}"#, "[]"] {
            fs::write(&path, damaged).unwrap();
            assert!(log_in(&path, "h.example", &Credential::basic("a", "b")).is_err());
            assert!(log_out(&path, "h.example").is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        }
        fs::write(&path, r#"{"credsStore": "../x"}"#).unwrap();
        assert!(log_in(&path, "h.example", &Credential::basic("a", "b")).is_err());
    }

    #[test]
    fn many_log_in_at_once() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.json");
        thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    log_in(path, &format!("h{number}.example"), &Credential::basic("a", "b")).unwrap();
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap().matches("\"auth\"").count(), 8);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
