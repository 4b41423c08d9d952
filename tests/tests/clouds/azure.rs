//! The word of a cluster or a machine, what it is changed for, and what a registry makes of that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oci_registry::{
    Client, Cloud, CloudCredentials, Credential, CredentialSource, Options, RegistrySettings, Surroundings,
};
use testkit::{Reply, Request, StandIn};

use super::{Machine, START, address, field};

const REGISTRY: &str = "shop.azurecr.io";

/// Returns what the registry gives for a token of Entra's, for three hours.
fn refresh_token(number: usize) -> String {
    let claims = format!(r#"{{"jti": "{number}", "exp": {}}}"#, START + 10_800);
    format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims))
}

/// Entra, the metadata server and the registry; tokens have numbers.
fn azure(refused: Arc<AtomicUsize>) -> StandIn {
    let (tokens, exchanged) = (AtomicUsize::new(0), AtomicUsize::new(0));
    StandIn::start(move |request| {
        let token = |lifetime: &str| {
            let number = tokens.fetch_add(1, Ordering::Relaxed);
            Reply::new(200).body(format!(r#"{{"access_token": "entra-{number}", "expires_in": {lifetime}}}"#))
        };
        match request.path.as_str() {
            "/tenant-1/oauth2/v2.0/token" => {
                if entra(request) {
                    token("86399")
                } else {
                    refuse()
                }
            }
            "/metadata/identity/oauth2/token" if request.header("metadata") == Some("true") => {
                let resource = "resource=https%3A%2F%2Fcontainerregistry.azure.net";
                assert_eq!(request.query, format!("api-version=2018-02-01&{resource}&client_id=client-1"));
                token("\"86399\"")
            }
            "/oauth2/exchange" => {
                assert_eq!(field(request, "grant_type").as_deref(), Some("access_token"));
                assert_eq!(field(request, "service").as_deref(), Some(REGISTRY));
                let shown = field(request, "access_token").expect("it is as it should be");
                if shown == format!("entra-{}", refused.load(Ordering::Relaxed)) {
                    return Reply::new(401).body(r#"{"errors": [{"code": "UNAUTHORIZED"}]}"#);
                }
                let token = refresh_token(exchanged.fetch_add(1, Ordering::Relaxed));
                Reply::new(200).body(format!(r#"{{"refresh_token": "{token}"}}"#))
            }
            "/oauth2/token" => access(request),
            "/v2/team/app/tags/list" => tags(request),
            _ => Reply::new(404),
        }
    })
}

fn entra(request: &Request) -> bool {
    for (name, value) in [
        ("client_id", "client-1"),
        ("grant_type", "client_credentials"),
        ("scope", "https://containerregistry.azure.net/.default"),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
    ] {
        assert_eq!(field(request, name).as_deref(), Some(value));
    }
    field(request, "client_assertion").as_deref() == Some("cluster-token")
}

fn refuse() -> Reply {
    let text = "AADSTS700213: No matching federated identity record found for s3cret";
    Reply::new(400).body(format!(r#"{{"error": "invalid_client", "error_description": "{text}"}}"#))
}

/// The registry's own token service takes the second token only.
fn access(request: &Request) -> Reply {
    assert_eq!(field(request, "grant_type").as_deref(), Some("refresh_token"));
    assert_eq!(field(request, "service").as_deref(), Some(REGISTRY));
    match field(request, "refresh_token") {
        Some(token) if token == refresh_token(1) => Reply::new(200).body(r#"{"access_token": "read"}"#),
        _ => Reply::new(401),
    }
}

fn tags(request: &Request) -> Reply {
    if request.header("authorization") == Some("Bearer read") {
        return Reply::new(200).body(r#"{"tags": ["1.0"]}"#);
    }
    let realm = format!("http://{}/oauth2/token", request.header("host").expect("it is as it should be"));
    let scope = "repository:team/app:metadata_read";
    Reply::new(401).header(format!(
        "WWW-Authenticate: Bearer realm=\"{realm}\",service=\"{REGISTRY}\",scope=\"{scope}\""
    ))
}

struct World {
    server: StandIn,
    refused: Arc<AtomicUsize>,
}

impl World {
    fn new() -> Self {
        let refused = Arc::new(AtomicUsize::new(usize::MAX));
        Self { server: azure(Arc::clone(&refused)), refused }
    }

    fn workload(&self) -> Machine {
        Machine::new()
            .set("AZURE_CLIENT_ID", "client-1")
            .set("AZURE_TENANT_ID", "tenant-1")
            .set("AZURE_AUTHORITY_HOST", format!("{}/", address(&self.server)))
            .file("AZURE_FEDERATED_TOKEN_FILE", "cluster-token\n")
    }

    fn surroundings(&self, machine: &Machine) -> Surroundings {
        machine.surroundings().registry_api(Some(&address(&self.server)))
    }
}

fn token(source: &CloudCredentials) -> Option<usize> {
    match source.find(REGISTRY, "team/app").expect("it is as it should be") {
        Some(Credential::Identity(found)) => (0..9).find(|number| refresh_token(*number) == *found.expose()),
        _ => None,
    }
}

#[test]
fn the_word_of_a_cluster_is_changed_twice_and_kept() {
    let world = World::new();
    let machine = world.workload();
    let source = CloudCredentials::announced(&world.surroundings(&machine));
    assert_eq!(token(&source), Some(0));
    machine.later(10_800 - 301);
    assert_eq!(token(&source), Some(0));
    assert_eq!(world.server.requests(), ["POST /tenant-1/oauth2/v2.0/token", "POST /oauth2/exchange"]);
    machine.later(1);
    assert_eq!(token(&source), Some(1));
    // The token of Entra is good for a day.
    assert_eq!(world.server.requests(), ["POST /oauth2/exchange"]);
}

#[test]
fn a_token_of_entra_that_is_refused_is_asked_for_again_once() {
    let world = World::new();
    world.refused.store(0, Ordering::Relaxed);
    let machine = world.workload();
    let source = CloudCredentials::of(Cloud::Azure, &world.surroundings(&machine));
    assert_eq!(token(&source), Some(0));
    assert_eq!(world.server.requests().len(), 4);
}

#[test]
fn a_machine_says_who_it_is_where_azure_is_named() {
    let world = World::new();
    let machine = Machine::new()
        .set("AZURE_CLIENT_ID", "client-1")
        .set("AZURE_POD_IDENTITY_AUTHORITY_HOST", address(&world.server));
    let surroundings = world.surroundings(&machine);
    assert_eq!(CloudCredentials::announced(&surroundings).find(REGISTRY, "a").unwrap(), None);
    assert!(world.server.requests().is_empty());
    assert_eq!(token(&CloudCredentials::of(Cloud::Azure, &surroundings)), Some(0));
}

#[test]
fn a_refusal_shows_its_code_and_no_secret() {
    let world = World::new();
    let machine = world.workload();
    machine.replace("AZURE_FEDERATED_TOKEN_FILE", "s3cret");
    let source = CloudCredentials::of(Cloud::Azure, &world.surroundings(&machine));
    let error = source.find(REGISTRY, "a").unwrap_err();
    assert!(error.message().ends_with("answers `400 Bad Request` (AADSTS700213)"), "{error}");
    assert!(!format!("{error:?}").contains("s3cret"));
}

/// The whole way; the first token is refused by the registry's token service, and the next one is taken.
#[test]
fn a_registry_is_read_by_its_own_token_service() {
    let world = World::new();
    let machine = world.workload();
    let source: Arc<dyn CredentialSource> =
        Arc::new(CloudCredentials::of(Cloud::Azure, &world.surroundings(&machine)));
    let settings = RegistrySettings {
        api: Some(address(&world.server)),
        credentials: Some(source),
        ..RegistrySettings::for_host(REGISTRY)
    };
    let client = Client::new(Options { registries: vec![settings], ..Options::default() });
    let repository = format!("{REGISTRY}/team/app").parse().unwrap();
    assert_eq!(client.tags(&repository).unwrap().tags().collect::<Vec<_>>(), ["1.0"]);
    let exchanges =
        world.server.requests().iter().filter(|asked| asked.ends_with("/oauth2/exchange")).count();
    assert_eq!(exchanges, 2);
}
