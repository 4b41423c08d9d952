//! Credentials that clouds give, by stand-ins for their services: what they are sent, and when they are asked again.

mod aws;
mod azure;
mod gcp;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use oci_registry::{Cloud, CloudCredentials, Credential, CredentialSource, Surroundings};
use testkit::{Folder, Request, StandIn};

/// When tests begin: 2023-11-14T22:13:20Z.
const START: u64 = 1_700_000_000;

/// A machine whose clock and variables a test says.
struct Machine {
    clock: Arc<AtomicU64>,
    variables: Vec<(&'static str, String)>,
    folder: Folder,
}

impl Machine {
    fn new() -> Self {
        let clock = Arc::new(AtomicU64::new(START));
        Self { clock, variables: Vec::new(), folder: Folder::with(&[]) }
    }

    fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// With a file that a variable names.
    fn file(self, variable: &'static str, content: &str) -> Self {
        let path = self.path(variable);
        self.replace(variable, content);
        self.set(variable, path)
    }

    fn replace(&self, variable: &str, content: &str) {
        self.folder.write(variable, content);
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name).display().to_string()
    }

    fn later(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    fn surroundings(&self) -> Surroundings {
        let (clock, variables) = (Arc::clone(&self.clock), self.variables.clone());
        Surroundings::new(move |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
        .clock(move || SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)))
        .user_agent("tester/1.0")
    }

    fn credentials(&self, cloud: Cloud) -> CloudCredentials {
        CloudCredentials::of(cloud, &self.surroundings())
    }
}

fn find(source: &CloudCredentials, registry: &str) -> Credential {
    source.find(registry, "team/app").expect("it is as it should be").expect("there is one")
}

/// The value of a field of a form, decoded.
fn field(request: &Request, name: &str) -> Option<String> {
    let body = std::str::from_utf8(&request.body).ok()?;
    let url = reqwest::Url::parse(&format!("http://x/?{body}")).ok()?;
    url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

fn address(server: &StandIn) -> String {
    format!("http://{}", server.host())
}

/// Clouds that are not spoken of in the environment are not asked; a cloud that is named has no other registries.
#[test]
fn nobody_is_asked_by_surprise() {
    let machine = Machine::new();
    let announced = CloudCredentials::announced(&machine.surroundings());
    for registry in ["123456789012.dkr.ecr.eu-west-1.amazonaws.com", "gcr.io", "shop.azurecr.io", "ghcr.io"] {
        assert_eq!(announced.find(registry, "a").unwrap(), None, "{registry}");
    }
    for cloud in [Cloud::Aws, Cloud::Gcp, Cloud::Azure] {
        let error = machine.credentials(cloud).find("ghcr.io", "a").unwrap_err();
        let message = format!("from `{}`: `ghcr.io` is not one of its registries", cloud.name());
        assert!(error.message().ends_with(&message), "{error}");
    }
}
