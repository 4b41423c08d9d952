//! Google's registries. In: the file that `GOOGLE_APPLICATION_CREDENTIALS` names (a workload of elsewhere, the key of a
//! service account, or a user's login), or the metadata server of the machine, by which GKE knows its workloads. Out: the
//! user `oauth2accesstoken` with a token for an hour. Programs that such a file may name are not run.

use std::path::Path;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use diagnostic::{Error, Result};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cloud::ask::{Ask, Session};
use super::cloud::issuer::Issuer;
use super::cloud::surroundings::Surroundings;
use super::memo::Given;
use super::{Credential, missing, moment, read};
use crate::secret::Secret;

const USER: &str = "oauth2accesstoken";

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The variable that names a file with credentials.
const FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// The variable that says where the metadata server is, if not where it always is.
const METADATA_HOST: &str = "GCE_METADATA_HOST";

const METADATA: &str = "the metadata server of Google Cloud";
const TOKENS: &str = "the token service of Google Cloud";
const ACCOUNTS: &str = "the service for service accounts of Google Cloud";

/// For how long a statement signed by a service account is good; more is not taken.
const STATEMENT_LASTS: i64 = 3600;

pub(super) struct Gcp {
    surroundings: Surroundings,
    session: Session,
}

/// A file with credentials.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum File {
    ExternalAccount(ExternalAccount),
    ServiceAccount(ServiceAccount),
    AuthorizedUser(AuthorizedUser),
}

/// A workload that somebody else vouches for.
#[derive(Deserialize)]
struct ExternalAccount {
    audience: String,
    subject_token_type: String,
    token_url: String,
    service_account_impersonation_url: Option<String>,
    #[serde(default)]
    service_account_impersonation: Impersonation,
    credential_source: CredentialFile,
    workforce_pool_user_project: Option<String>,
}

#[derive(Default, Deserialize)]
struct Impersonation {
    token_lifetime_seconds: Option<u32>,
}

/// The source of the subject token.
#[derive(Deserialize)]
struct CredentialFile {
    file: Option<String>,
    #[serde(default)]
    format: Format,
}

#[derive(Default, Deserialize)]
struct Format {
    #[serde(rename = "type")]
    kind: Option<String>,
    subject_token_field_name: Option<String>,
}

#[derive(Deserialize)]
struct ServiceAccount {
    client_email: String,
    private_key: Secret<String>,
    private_key_id: Option<String>,
    #[serde(default = "token_uri")]
    token_uri: String,
}

#[derive(Deserialize)]
struct AuthorizedUser {
    client_id: String,
    client_secret: Secret<String>,
    refresh_token: Secret<String>,
    #[serde(default = "token_uri")]
    token_uri: String,
}

#[derive(Deserialize)]
struct Token {
    access_token: Secret<String>,
    expires_in: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Impersonated {
    access_token: Secret<String>,
    expire_time: String,
}

impl Gcp {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        Self { surroundings: surroundings.clone(), session: Session::new(surroundings) }
    }

    fn token(&self) -> Result<Given<Secret<String>>> {
        let Some(path) = self.surroundings.text(FILE) else { return self.of_machine() };
        match load(&path)? {
            File::ExternalAccount(account) => self.of_external(&account, &path),
            File::ServiceAccount(account) => self.of_service_account(&account, &path),
            File::AuthorizedUser(user) => self.ask(&Ask::service(TOKENS, &user.token_uri)?.form(&[
                ("grant_type", "refresh_token"),
                ("client_id", &user.client_id),
                ("client_secret", user.client_secret.expose()),
                ("refresh_token", user.refresh_token.expose()),
            ])),
        }
    }

    fn of_machine(&self) -> Result<Given<Secret<String>>> {
        let host = self.surroundings.text(METADATA_HOST);
        let host = host.as_deref().unwrap_or("169.254.169.254");
        let path = "computeMetadata/v1/instance/service-accounts/default/token";
        let ask = Ask::metadata(METADATA, &format!("http://{host}/{path}"))?
            .query(&[("scopes", SCOPE)])
            .header("metadata-flavor", "Google")?;
        self.ask(&ask).map_err(|error| {
            error
                .hint(format!("bind a service account of Google's to that of this program, or set `${FILE}`"))
        })
    }

    /// Changes the word of somebody else for a token, and that for one of a service account, if one is named.
    fn of_external(&self, account: &ExternalAccount, path: &str) -> Result<Given<Secret<String>>> {
        let subject = self.subject(&account.credential_source, path)?;
        let options = account.workforce_pool_user_project.as_ref();
        let options = options.map(|project| json!({ "userProject": project }).to_string());
        let mut form = vec![
            ("audience", account.audience.as_str()),
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("scope", SCOPE),
            ("subject_token", subject.expose()),
            ("subject_token_type", &account.subject_token_type),
        ];
        form.extend(options.as_ref().map(|options| ("options", options.as_str())));
        let federated = self.ask(&Ask::service(TOKENS, &account.token_url)?.form(&form))?;
        let Some(address) = &account.service_account_impersonation_url else { return Ok(federated) };
        let seconds = account.service_account_impersonation.token_lifetime_seconds.unwrap_or(3600);
        let body = json!({ "lifetime": format!("{seconds}s"), "scope": [SCOPE] }).to_string();
        let ask = Ask::service(ACCOUNTS, address)?
            .header("authorization", &format!("Bearer {}", federated.value.expose()))?
            .body("application/json", body);
        let answer: Impersonated = self.session.json(&ask)?;
        self.given(ACCOUNTS, answer.access_token, moment::parse(&answer.expire_time))
    }

    /// The word of who vouches for the workload.
    fn subject(&self, source: &CredentialFile, path: &str) -> Result<Secret<String>> {
        let file = source.file.as_ref().ok_or_else(|| {
            missing(path, "its `credential_source` is not a file").hint("project the token into a file")
        })?;
        let text = self.surroundings.token_file(file)?;
        if source.format.kind.as_deref() != Some("json") {
            return Ok(text);
        }
        let field = source.format.subject_token_field_name.as_deref().unwrap_or_default();
        let value: Option<Value> = serde_json::from_str(text.expose()).ok();
        let token = value.as_ref().and_then(|value| value.get(field)?.as_str());
        token
            .map(Secret::from)
            .ok_or_else(|| missing(file, &format!("it lacks the field `{field}` with a token")))
    }

    /// Lets the key of a service account say who asks.
    fn of_service_account(&self, account: &ServiceAccount, path: &str) -> Result<Given<Secret<String>>> {
        let statement = account.statement(self.surroundings.now());
        let statement = statement.ok_or_else(|| missing(path, "its `private_key` is not a PEM RSA key"))?;
        self.ask(&Ask::service(TOKENS, &account.token_uri)?.form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", statement.expose()),
        ]))
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Given<Secret<String>>> {
        let service = ask.name();
        let token: Token = self.session.json(ask)?;
        let expires = moment::after(self.surroundings.now(), token.expires_in);
        self.given(service, token.access_token, expires)
    }

    fn given(
        &self,
        service: &str,
        token: Secret<String>,
        expires: Option<SystemTime>,
    ) -> Result<Given<Secret<String>>> {
        let expires = expires.ok_or_else(|| missing(service, "it lacks an expiry time for its token"))?;
        Ok(Given::expiring(token, self.surroundings.now(), expires))
    }
}

impl Issuer for Gcp {
    /// A token is for all that its owner may read.
    fn key(&self, registry: &str) -> Option<String> {
        let is_google = registry == "gcr.io"
            || registry.ends_with(".gcr.io")
            || registry.ends_with("-docker.pkg.dev")
            || registry == "docker.s3nsregistry.fr";
        is_google.then(String::new)
    }

    fn is_announced(&self, _: &str) -> bool {
        self.surroundings.has(&[FILE]) || self.surroundings.has(&[METADATA_HOST])
    }

    fn issue(&self, _: &str) -> Result<Given<Credential>> {
        let token = self.token()?;
        Ok(Given { value: Credential::basic(USER, token.value.expose()), until: token.until })
    }
}

impl ServiceAccount {
    /// A JSON Web Token that says who asks, and until when that is true.
    fn statement(&self, now: SystemTime) -> Option<Secret<String>> {
        let issued = moment::seconds(now);
        let header = json!({ "alg": "RS256", "kid": self.private_key_id, "typ": "JWT" });
        let claims = json!({
            "aud": self.token_uri,
            "exp": issued + STATEMENT_LASTS,
            "iat": issued,
            "iss": self.client_email,
            "scope": SCOPE,
        });
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let key = PrivateKeyDer::from_pem_slice(self.private_key.expose().as_bytes()).ok()?;
        let key = any_supported_type(&key).ok()?;
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256])?;
        let signature = signer.sign(signed.as_bytes()).ok()?;
        Some(Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }
}

fn token_uri() -> String {
    "https://oauth2.googleapis.com/token".to_owned()
}

fn load(path: &str) -> Result<File> {
    let bytes = read(Path::new(path))?.ok_or_else(|| missing(path, "the file does not exist"))?;
    // What serde says may repeat a value.
    serde_json::from_slice(&bytes).map_err(|_| unusable(path))
}

fn unusable(path: &str) -> Error {
    missing(path, "it holds no credentials of Google Cloud that can be used")
        .hint("it is JSON with the `type` external_account, service_account or authorized_user")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_of_google_are_known_by_their_names() {
        let gcp = Gcp::new(&Surroundings::new(|_| None));
        for registry in ["gcr.io", "eu.gcr.io", "europe-west1-docker.pkg.dev", "us-docker.pkg.dev"] {
            assert!(gcp.key(registry).is_some(), "{registry}");
        }
        for registry in ["gcr.io.evil.example", "notgcr.io", "docker.pkg.dev", "gcr.io:444", "ghcr.io"] {
            assert!(gcp.key(registry).is_none(), "{registry}");
        }
        assert!(!gcp.is_announced("gcr.io"));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_refused_without_its_content() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        for content in
            [r#"{"type": "s3cret"}"#, "s3cret", r#"{"type": "service_account", "private_key": "s3cret"}"#]
        {
            std::fs::write(&path, content).unwrap();
            let error = load(&path).map(|_| ()).unwrap_err();
            assert!(error.message().contains(&path) && !error.message().contains("s3cret"), "{error}");
        }
        let account = ServiceAccount {
            client_email: "a@b".to_owned(),
            private_key: Secret::from("s3cret"),
            private_key_id: None,
            token_uri: token_uri(),
        };
        assert!(account.statement(SystemTime::UNIX_EPOCH).is_none());
    }
}
