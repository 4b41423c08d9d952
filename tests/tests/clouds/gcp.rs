//! Tokens by a metadata server, and by each kind of file.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oci_registry::{Cloud, CloudCredentials, Credential, CredentialSource};
use testkit::{Reply, Request, StandIn};

use super::{Machine, address, field, find};

const REGISTRY: &str = "europe-west1-docker.pkg.dev";

const FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Made for tests by `openssl genrsa`.
const KEY: &str = include_str!("../../../image-updater/testdata/forge/app-pkcs8.pem");

fn token(number: usize) -> Credential {
    Credential::basic("oauth2accesstoken", &format!("ya29.{number}"))
}

/// All that gives tokens, for an hour each; each token has its number.
fn google() -> StandIn {
    let count = AtomicUsize::new(0);
    StandIn::start(move |request| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let token =
            format!(r#"{{"access_token": "ya29.{number}", "expires_in": 3600, "token_type": "Bearer"}}"#);
        match request.path.as_str() {
            "/computeMetadata/v1/instance/service-accounts/default/token"
                if request.header("metadata-flavor") == Some("Google") =>
            {
                Reply::new(200).body(token)
            }
            "/v1/token" => federate(request, token),
            "/token" => grant(request, token),
            "/impersonate" => {
                assert_eq!(request.header("authorization"), Some("Bearer ya29.0"));
                let body = format!(r#"{{"lifetime":"1200s","scope":["{SCOPE}"]}}"#);
                assert_eq!(String::from_utf8_lossy(&request.body), body);
                let end = "2023-11-14T22:33:20Z";
                Reply::new(200).body(format!(r#"{{"accessToken": "ya29.account", "expireTime": "{end}"}}"#))
            }
            _ => Reply::new(404),
        }
    })
}

fn federate(request: &Request, token: String) -> Reply {
    for (name, value) in [
        ("audience", "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k"),
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("scope", SCOPE),
    ] {
        assert_eq!(field(request, name).as_deref(), Some(value));
    }
    match field(request, "subject_token").as_deref() {
        Some("cluster-token") => Reply::new(200).body(token),
        _ => Reply::new(400).body(r#"{"error": "invalid_grant", "error_description": "s3cret is none"}"#),
    }
}

fn grant(request: &Request, token: String) -> Reply {
    let is_granted = match field(request, "grant_type").as_deref() {
        Some("refresh_token") => {
            field(request, "client_id").as_deref() == Some("id")
                && field(request, "client_secret").as_deref() == Some("client-s3cret")
                && field(request, "refresh_token").as_deref() == Some("1//refresh")
        }
        Some("urn:ietf:params:oauth:grant-type:jwt-bearer") => {
            let statement = field(request, "assertion").expect("it is as it should be");
            let parts: Vec<&str> = statement.split('.').collect();
            let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(parts[1]).expect("it is as it should be"))
                .expect("it is as it should be");
            let claims: serde_json::Value = serde_json::from_str(&claims).expect("it is as it should be");
            assert_eq!(claims["iss"], "updater@shop.iam.gserviceaccount.com");
            assert_eq!((&claims["iat"], &claims["exp"]), (&1_700_000_000.into(), &1_700_003_600.into()));
            assert_eq!(claims["scope"], SCOPE);
            // As long as the key of 2048 bits.
            URL_SAFE_NO_PAD.decode(parts[2]).expect("it is as it should be").len() == 256
        }
        _ => false,
    };
    if is_granted { Reply::new(200).body(token) } else { Reply::new(400) }
}

fn external(server: &StandIn, source: &str, more: &str) -> String {
    let address = address(server);
    format!(
        r#"{{"type": "external_account", "universe_domain": "googleapis.com",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": "{address}/v1/token", "credential_source": {source}{more}}}"#
    )
}

#[test]
fn a_metadata_server_gives_tokens_that_are_kept() {
    let server = google();
    let machine = Machine::new().set("GCE_METADATA_HOST", server.host());
    let source = machine.credentials(Cloud::Gcp);
    assert_eq!(find(&source, REGISTRY), token(0));
    assert_eq!(find(&source, "eu.gcr.io"), token(0));
    machine.later(3299);
    assert_eq!(find(&source, REGISTRY), token(0));
    machine.later(1);
    assert_eq!(find(&source, REGISTRY), token(1));
    source.forget(&token(1));
    assert_eq!(find(&source, REGISTRY), token(2));
    let scope = "scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform";
    let asked = format!("GET /computeMetadata/v1/instance/service-accounts/default/token?{scope}");
    assert_eq!(server.requests(), [asked.clone(), asked.clone(), asked]);
}

#[test]
fn the_word_of_a_cluster_is_changed_for_a_token() {
    let server = google();
    let machine = Machine::new().file("TOKEN", "cluster-token\n").file("JSON", r#"{"id": "cluster-token"}"#);
    for source in [
        format!(r#"{{"file": "{}"}}"#, machine.path("TOKEN")),
        format!(
            r#"{{"file": "{}", "format": {{"type": "json", "subject_token_field_name": "id"}}}}"#,
            machine.path("JSON")
        ),
    ] {
        let workload = Machine::new().file(FILE, &external(&server, &source, ""));
        let found = find(&CloudCredentials::announced(&workload.surroundings()), REGISTRY);
        assert_eq!(found, token(server.requests().len() - 1 + usize::from(source.contains("json"))));
    }
}

#[test]
fn a_service_account_may_be_taken_on() {
    let server = google();
    let machine = Machine::new().file("TOKEN", "cluster-token");
    let source = format!(r#"{{"file": "{}"}}"#, machine.path("TOKEN"));
    let more = format!(
        r#", "service_account_impersonation_url": "{}/impersonate",
            "service_account_impersonation": {{"token_lifetime_seconds": 1200}}"#,
        address(&server)
    );
    let workload = Machine::new().file(FILE, &external(&server, &source, &more));
    let credentials = workload.credentials(Cloud::Gcp);
    assert_eq!(find(&credentials, REGISTRY), Credential::basic("oauth2accesstoken", "ya29.account"));
    // A fifth of twenty minutes before their end.
    workload.later(959);
    find(&credentials, REGISTRY);
    assert_eq!(server.requests(), ["POST /v1/token", "POST /impersonate"]);
}

#[test]
fn keys_and_logins_in_files_give_tokens() {
    let server = google();
    let address = address(&server);
    let key = serde_json::Value::from(KEY);
    for file in [
        format!(
            r#"{{"type": "service_account", "client_email": "updater@shop.iam.gserviceaccount.com",
                "private_key_id": "1", "private_key": {key}, "token_uri": "{address}/token"}}"#
        ),
        format!(
            r#"{{"type": "authorized_user", "client_id": "id", "client_secret": "client-s3cret",
                "refresh_token": "1//refresh", "token_uri": "{address}/token"}}"#
        ),
    ] {
        find(&Machine::new().file(FILE, &file).credentials(Cloud::Gcp), REGISTRY);
    }
    assert_eq!(server.requests(), ["POST /token", "POST /token"]);
}

#[test]
fn what_cannot_be_used_is_refused_without_a_secret() {
    let server = google();
    let machine = Machine::new().file("TOKEN", "s3cret");
    let token = format!(r#"{{"file": "{}"}}"#, machine.path("TOKEN"));
    let plain = external(&server, &token, "").replace(&address(&server), "http://sts.example");
    for (content, want) in [
        (external(&server, &token, ""), "answers `400 Bad Request` (invalid_grant)"),
        (
            external(&server, r#"{"executable": {"command": "/bin/sh"}}"#, ""),
            "its `credential_source` is not a file",
        ),
        (external(&server, r#"{"file": "/nonexistent/s"}"#, ""), "the file does not exist"),
        (plain, "is not asked at `sts.example`: it does not use TLS"),
        (r#"{"type": "authorized_user", "client_secret": "s3cret"}"#.to_owned(), "can be used"),
    ] {
        let error =
            Machine::new().file(FILE, &content).credentials(Cloud::Gcp).find(REGISTRY, "a").unwrap_err();
        assert!(error.message().ends_with(want), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}
