//! The environment of a program: variables, time, and files that variables name.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use diagnostic::Result;

use crate::credentials::{missing, read};
use crate::secret::Secret;

type Variable = dyn Fn(&str) -> Option<OsString> + Send + Sync;
type Clock = dyn Fn() -> SystemTime + Send + Sync;

/// The environment of credential sources; provided by the caller, so that tests can replace it.
#[derive(Clone)]
pub struct Surroundings {
    variable: Arc<Variable>,
    clock: Arc<Clock>,
    pub(super) user_agent: String,
    registry_api: Option<String>,
}

impl Surroundings {
    /// With a way to read variables, and the machine's clock.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self {
            variable: Arc::new(variable),
            clock: Arc::new(SystemTime::now),
            user_agent: concat!("registry-client/", env!("CARGO_PKG_VERSION")).to_owned(),
            registry_api: None,
        }
    }

    /// With another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// With what services are told who asks: `program/version`.
    #[must_use]
    pub fn user_agent(mut self, user_agent: &str) -> Self {
        user_agent.clone_into(&mut self.user_agent);
        self
    }

    /// With the address of the registry's API, where that is not on its host.
    #[must_use]
    pub fn registry_api(mut self, api: Option<&str>) -> Self {
        self.registry_api = api.map(str::to_owned);
        self
    }

    pub(in crate::credentials) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    /// The program's name alone.
    pub(in crate::credentials) fn program(&self) -> &str {
        self.user_agent.split('/').next().unwrap_or_default()
    }

    /// Returns where the API of a registry is.
    pub(in crate::credentials) fn api(&self, registry: &str) -> String {
        match &self.registry_api {
            Some(api) => api.trim_end_matches('/').to_owned(),
            None => format!("https://{registry}"),
        }
    }

    /// The value of a variable; one that is set to nothing is not set.
    pub(in crate::credentials) fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }

    /// The value of a variable that must be there.
    pub(in crate::credentials) fn required(&self, name: &str) -> Result<String> {
        self.text(name).ok_or_else(|| missing(&format!("${name}"), "it is not set"))
    }

    pub(in crate::credentials) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Returns true if all of these variables are set.
    pub(in crate::credentials) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.text(name).is_some())
    }

    /// Returns what a file holds without white space around it; tokens in files are replaced while they are in use.
    pub(in crate::credentials) fn token_file(&self, path: &str) -> Result<Secret<String>> {
        let shown = |reason: &str| missing(path, reason);
        let bytes = read(Path::new(path))?.ok_or_else(|| shown("the file does not exist"))?;
        let text = String::from_utf8(bytes).map_err(|_| shown("it is not valid UTF-8"))?;
        let text = text.trim();
        if text.is_empty() { Err(shown("it is empty")) } else { Ok(Secret::from(text)) }
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Surroundings")
    }
}
