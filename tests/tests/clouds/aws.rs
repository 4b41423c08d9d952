//! Keys of a role, and what they are changed for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use oci_registry::{
    Client, Cloud, CloudCredentials, Credential, CredentialSource, Options, RegistrySettings,
};
use sha2::{Digest, Sha256};
use testkit::{Reply, Request, StandIn};

use super::{Machine, START, address, field, find};

const REGISTRY: &str = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";

/// STS, the agent, the metadata server and ECR of one account: each answer has its number.
struct Account {
    server: StandIn,
    refused: Arc<AtomicUsize>,
}

impl Account {
    fn start() -> Self {
        let (keys, passwords) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let refused = Arc::new(AtomicUsize::new(usize::MAX));
        let refuses = Arc::clone(&refused);
        let server = StandIn::start(move |request| match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/") if request.header("x-amz-target").is_some() => {
                authorize(request, &passwords, refuses.load(Ordering::Relaxed))
            }
            ("POST", "/") => assume(request, keys.fetch_add(1, Ordering::Relaxed)),
            ("GET", "/agent") if request.header("authorization") == Some("agent-token") => {
                Reply::new(200).body(json_keys("Token"))
            }
            ("PUT", "/latest/api/token")
                if request.header("x-aws-ec2-metadata-token-ttl-seconds").is_some() =>
            {
                Reply::new(200).body("machine-token")
            }
            _ if request.header("x-aws-ec2-metadata-token") != Some("machine-token") => Reply::new(401),
            (_, "/latest/meta-data/iam/security-credentials/") => Reply::new(200).body("node-role"),
            (_, "/latest/meta-data/iam/security-credentials/node-role") => {
                Reply::new(200).body(json_keys("Token"))
            }
            _ => Reply::new(404),
        });
        Self { server, refused }
    }

    fn machine(&self) -> Machine {
        let address = address(&self.server);
        Machine::new()
            .set("AWS_ENDPOINT_URL_STS", &address)
            .set("AWS_ENDPOINT_URL_ECR", &address)
            .set("AWS_ENDPOINT_URL_ECR_PUBLIC", &address)
            .set("AWS_EC2_METADATA_SERVICE_ENDPOINT", &address)
    }

    fn irsa(&self) -> Machine {
        self.machine()
            .set("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/updater")
            .file("AWS_WEB_IDENTITY_TOKEN_FILE", "service-account-token\n")
    }

    /// `STS` and `ECR`, as they were asked since.
    fn asked(&self) -> Vec<String> {
        self.server.requests()
    }
}

fn assume(request: &Request, number: usize) -> Reply {
    let token = field(request, "WebIdentityToken").expect("it is as it should be");
    for (name, value) in [
        ("Action", "AssumeRoleWithWebIdentity"),
        ("Version", "2011-06-15"),
        ("RoleArn", "arn:aws:iam::123456789012:role/updater"),
        ("RoleSessionName", "tester"),
    ] {
        assert_eq!(field(request, name).as_deref(), Some(value));
    }
    if token.starts_with("expired") {
        let code = "<ErrorResponse><Error><Code>ExpiredTokenException</Code>";
        return Reply::new(400)
            .body(format!("{code}<Message>Token {token} is over</Message></Error></ErrorResponse>"));
    }
    // An hour each time.
    let end = ["2023-11-14T23:13:20Z", "2023-11-15T11:13:20Z", "2023-11-15T23:13:20Z"][number.min(2)];
    Reply::new(200).body(format!(
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
         <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA{number}</AccessKeyId>\
         <SecretAccessKey>secret-{number}</SecretAccessKey><SessionToken>{token}/+{number}=</SessionToken>\
         <Expiration>{end}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
         </AssumeRoleWithWebIdentityResponse>"
    ))
}

fn json_keys(token: &str) -> String {
    format!(
        r#"{{"Code": "Success", "AccessKeyId": "ASIA0", "SecretAccessKey": "secret-0", "{token}": "t",
             "Expiration": "2023-11-14T23:13:20Z"}}"#
    )
}

fn authorize(request: &Request, passwords: &AtomicUsize, refused: usize) -> Reply {
    let authorization = request.header("authorization").expect("it is as it should be");
    let number = authorization.split("Credential=ASIA").nth(1).and_then(|rest| rest.split('/').next());
    let number: usize = number.expect("it is as it should be").parse().expect("it is as it should be");
    assert_eq!(authorization, signature(request, number));
    if number == refused {
        return Reply::new(400).body(r#"{"__type": "ExpiredTokenException", "message": "over"}"#);
    }
    let number = passwords.fetch_add(1, Ordering::Relaxed);
    let token = BASE64_STANDARD.encode(format!("AWS:password-{number}"));
    let data = format!(r#"{{"authorizationToken": "{token}", "expiresAt": {}.0}}"#, START + 43_200);
    let is_public =
        request.header("x-amz-target").expect("it is as it should be").starts_with("SpencerFrontendService.");
    let data = if is_public { data } else { format!("[{data}]") };
    Reply::new(200).body(format!(r#"{{"authorizationData": {data}}}"#))
}

/// Returns what the service makes of the request that it got, by the text of the specification.
fn signature(request: &Request, number: usize) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mac = |key: &[u8], text: &str| -> Vec<u8> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("it is as it should be");
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().to_vec()
    };
    let authorization = request.header("authorization").expect("it is as it should be");
    let names = authorization
        .split("SignedHeaders=")
        .nth(1)
        .expect("it is as it should be")
        .split(',')
        .next()
        .expect("it is as it should be");
    for needed in ["host", "x-amz-date", "x-amz-target", "content-type"] {
        assert!(names.split(';').any(|name| name == needed), "{needed} is signed");
    }
    let lines: String = names
        .split(';')
        .map(|name| format!("{name}:{}\n", request.header(name).expect("it is as it should be")))
        .collect();
    let body = hex(&Sha256::digest(&request.body));
    let canonical = format!("POST\n/\n\n{lines}\n{names}\n{body}");
    let time = request.header("x-amz-date").expect("it is as it should be");
    let is_public =
        request.header("x-amz-target").expect("it is as it should be").starts_with("SpencerFrontendService.");
    let (region, service) = if is_public { ("us-east-1", "ecr-public") } else { ("eu-west-1", "ecr") };
    let scope = format!("{}/{region}/{service}/aws4_request", &time[..8]);
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
    let key = scope.split('/').fold(format!("AWS4secret-{number}").into_bytes(), |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &text));
    format!("AWS4-HMAC-SHA256 Credential=ASIA{number}/{scope}, SignedHeaders={names}, Signature={signature}")
}

fn password(number: usize) -> Credential {
    Credential::basic("AWS", &format!("password-{number}"))
}

#[test]
fn a_role_is_changed_for_a_password_that_is_kept_until_shortly_before_its_end() {
    let account = Account::start();
    let machine = account.irsa();
    let source = CloudCredentials::announced(&machine.surroundings());
    assert_eq!(find(&source, REGISTRY), password(0));
    // Another account's in the same region: the token is for it too.
    assert_eq!(find(&source, "210987654321.dkr.ecr.eu-west-1.amazonaws.com"), password(0));
    machine.later(43_200 - 301);
    assert_eq!(find(&source, REGISTRY), password(0));
    assert_eq!(account.asked(), ["POST /", "POST /"]);
    machine.replace("AWS_WEB_IDENTITY_TOKEN_FILE", "next-token");
    machine.later(1);
    // The keys are over as well.
    assert_eq!(find(&source, REGISTRY), password(1));
    assert_eq!(account.asked().len(), 2);
}

#[test]
fn a_password_that_was_refused_is_asked_for_again_with_the_same_keys() {
    let account = Account::start();
    let machine = account.irsa();
    let source = machine.credentials(Cloud::Aws);
    let first = find(&source, REGISTRY);
    source.forget(&first);
    assert_eq!(find(&source, REGISTRY), password(1));
    // One who asked with the first one as well comes late.
    source.forget(&first);
    assert_eq!(find(&source, REGISTRY), password(1));
    assert_eq!(account.asked().len(), 3);
}

#[test]
fn keys_that_are_refused_are_asked_for_again_once() {
    let account = Account::start();
    account.refused.store(0, Ordering::Relaxed);
    let machine = account.irsa();
    let source = machine.credentials(Cloud::Aws);
    assert_eq!(find(&source, REGISTRY), password(0));
    assert_eq!(account.asked().len(), 4);
    let machine =
        account.machine().set("AWS_ACCESS_KEY_ID", "ASIA0").set("AWS_SECRET_ACCESS_KEY", "secret-0");
    let error = machine.credentials(Cloud::Aws).find(REGISTRY, "a").unwrap_err();
    assert!(error.message().ends_with("answers `400 Bad Request` (ExpiredTokenException)"), "{error}");
    assert_eq!(account.asked().len(), 1, "keys in variables stay as they are");
}

#[test]
fn agents_machines_and_variables_give_keys_too() {
    let account = Account::start();
    let agent = format!("{}/agent", address(&account.server));
    let pod = account
        .machine()
        .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent)
        .file("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "agent-token\n");
    assert_eq!(find(&CloudCredentials::announced(&pod.surroundings()), REGISTRY), password(0));
    assert_eq!(account.asked(), ["GET /agent", "POST /"]);
    let machine = account.machine();
    assert_eq!(find(&machine.credentials(Cloud::Aws), REGISTRY), password(1));
    let roles = "GET /latest/meta-data/iam/security-credentials/";
    assert_eq!(account.asked(), ["PUT /latest/api/token", roles, &format!("{roles}node-role"), "POST /"]);
    let keys = account.machine().set("AWS_ACCESS_KEY_ID", "ASIA0").set("AWS_SECRET_ACCESS_KEY", "secret-0");
    assert_eq!(find(&CloudCredentials::announced(&keys.surroundings()), REGISTRY), password(2));
    let off = account.machine().set("AWS_EC2_METADATA_DISABLED", "true").credentials(Cloud::Aws);
    let error = off.find(REGISTRY, "a").unwrap_err();
    assert!(error.message().contains("the metadata server is disabled"), "{error}");
}

#[test]
fn the_public_registry_has_a_service_of_its_own_and_is_asked_only_where_aws_is_named() {
    let account = Account::start();
    let machine = account.irsa();
    let announced = CloudCredentials::announced(&machine.surroundings());
    assert_eq!(announced.find("public.ecr.aws", "a").unwrap(), None);
    assert_eq!(find(&machine.credentials(Cloud::Aws), "public.ecr.aws"), password(0));
}

#[test]
fn a_refusal_shows_its_code_and_no_secret() {
    let account = Account::start();
    let machine = account.irsa();
    machine.replace("AWS_WEB_IDENTITY_TOKEN_FILE", "expired-s3cret");
    let source = machine.credentials(Cloud::Aws);
    let error = source.find(REGISTRY, "a").unwrap_err();
    assert!(error.message().ends_with("answers `400 Bad Request` (ExpiredTokenException)"), "{error}");
    let shown = format!("{error:?} {source:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    // It is not tried by each of many images.
    assert!(source.find(REGISTRY, "b").is_err());
    assert_eq!(account.asked().len(), 1);
    machine.replace("AWS_WEB_IDENTITY_TOKEN_FILE", "good");
    machine.later(5);
    assert_eq!(find(&source, REGISTRY), password(0));
}

#[test]
fn answers_have_an_end_and_redirects_are_not_followed() {
    let other = StandIn::start(|_| Reply::new(200));
    let elsewhere = address(&other);
    for reply in [
        Reply::new(200).body("x".repeat(4096)).endless(),
        Reply::new(307).header(format!("Location: {elsewhere}/")),
        Reply::new(200).body("{}"),
    ] {
        let server = StandIn::start(move |_| reply.clone());
        let machine = Machine::new()
            .set("AWS_ENDPOINT_URL_ECR", address(&server))
            .set("AWS_ACCESS_KEY_ID", "ASIA0")
            .set("AWS_SECRET_ACCESS_KEY", "s3cret");
        let error = machine.credentials(Cloud::Aws).find(REGISTRY, "a").unwrap_err();
        assert!(error.message().contains("the registry service of AWS"), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"));
    }
    assert!(other.requests().is_empty());
}

/// The whole way: a registry that has changed its mind about a password gets the next one.
#[test]
fn a_registry_that_refuses_a_password_is_shown_the_next_one() {
    let account = Account::start();
    let accepted = format!("Basic {}", BASE64_STANDARD.encode("AWS:password-1"));
    let registry = StandIn::start(move |request| match request.header("authorization") {
        Some(shown) if shown == accepted => Reply::new(200).body(r#"{"tags": ["1.0"]}"#),
        _ => Reply::new(401).header("WWW-Authenticate: Basic realm=\"ecr\""),
    });
    let machine = account.irsa();
    let source: Arc<dyn CredentialSource> = Arc::new(machine.credentials(Cloud::Aws));
    let settings = RegistrySettings {
        api: Some(address(&registry)),
        credentials: Some(source),
        ..RegistrySettings::for_host(REGISTRY)
    };
    let client = Client::new(Options { registries: vec![settings], ..Options::default() });
    let repository = format!("{REGISTRY}/team/app").parse().unwrap();
    assert_eq!(client.tags(&repository).unwrap().tags().collect::<Vec<_>>(), ["1.0"]);
    // One without credentials, one with the first password, which is refused, and one with the next.
    assert_eq!(registry.requests().len(), 3);
}
