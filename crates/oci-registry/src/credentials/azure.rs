//! Microsoft's registries. In: who the workload is by its variables (workload identity), or by the metadata server of its
//! machine (a managed identity). Out: an identity token of the registry for some hours, which its own token service
//! changes for those to read with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use diagnostic::Result;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::cloud::ask::{Ask, Session};
use super::cloud::issuer::{Issuer, is_refusal};
use super::cloud::surroundings::Surroundings;
use super::memo::{Given, Memo};
use super::{Credential, missing, moment};
use crate::secret::Secret;

/// The audience of tokens in all Microsoft clouds.
const AUDIENCE: &str = "https://containerregistry.azure.net";

/// Suffixes of registry hosts.
const SUFFIXES: [&str; 4] = [".azurecr.io", ".azurecr.cn", ".azurecr.us", ".azurecr.de"];

/// Variables that the workload identity webhook sets.
const WORKLOAD: [&str; 3] = ["AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE"];

const PUBLIC_AUTHORITY: &str = "https://login.microsoftonline.com/";

/// The metadata server of a machine.
const MACHINE_HOST: &str = "http://169.254.169.254";

const ENTRA: &str = "the token service of Microsoft Entra";
const MACHINE: &str = "the metadata server of Azure";
const REGISTRY: &str = "the token service of the registry";

pub(super) struct Azure {
    surroundings: Surroundings,
    session: Session,
    known: Memo<Secret<String>>,
}

#[derive(Deserialize)]
struct Token {
    access_token: Secret<String>,
    /// The metadata server writes it as a text.
    #[serde(deserialize_with = "number")]
    expires_in: f64,
}

#[derive(Deserialize)]
struct Exchanged {
    refresh_token: Secret<String>,
}

#[derive(Deserialize)]
struct Claims {
    exp: f64,
}

impl Azure {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        let session = Session::new(surroundings);
        Self { surroundings: surroundings.clone(), session, known: Memo::default() }
    }

    /// Says who the workload is.
    fn token(&self) -> Result<Secret<String>> {
        self.known.get("", self.surroundings.now(), || {
            let ask =
                if self.surroundings.has(&[WORKLOAD[2]]) { self.of_workload() } else { self.of_machine() };
            let token: Token = self.session.json(&ask?)?;
            let now = self.surroundings.now();
            let expires = moment::after(now, token.expires_in)
                .ok_or_else(|| missing(ENTRA, "it lacks an expiry time for its token"))?;
            Ok(Given::expiring(token.access_token, now, expires))
        })
    }

    fn of_workload(&self) -> Result<Ask<'static>> {
        let variables = &self.surroundings;
        let [client, tenant, file] = WORKLOAD.map(|name| variables.required(name));
        let (client, tenant, statement) = (client?, tenant?, variables.token_file(&file?)?);
        if !tenant.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)) {
            return Err(missing("$AZURE_TENANT_ID", "not a tenant id"));
        }
        let authority = variables.text("AZURE_AUTHORITY_HOST");
        let authority = authority.as_deref().unwrap_or(PUBLIC_AUTHORITY).trim_end_matches('/');
        let ask = Ask::service(ENTRA, &format!("{authority}/{tenant}/oauth2/v2.0/token"))?;
        Ok(ask.form(&[
            ("client_id", &client),
            ("grant_type", "client_credentials"),
            ("scope", &format!("{AUDIENCE}/.default")),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", statement.expose()),
        ]))
    }

    fn of_machine(&self) -> Result<Ask<'static>> {
        let base = self.surroundings.text("AZURE_POD_IDENTITY_AUTHORITY_HOST");
        let base = base.as_deref().unwrap_or(MACHINE_HOST).trim_end_matches('/');
        let client = self.surroundings.text("AZURE_CLIENT_ID");
        let mut query = vec![("api-version", "2018-02-01"), ("resource", AUDIENCE)];
        // One of several identities of the machine.
        query.extend(client.as_deref().map(|client| ("client_id", client)));
        let ask = Ask::metadata(MACHINE, &format!("{base}/metadata/identity/oauth2/token"))?;
        ask.query(&query).header("metadata", "true")
    }

    fn exchange(&self, registry: &str, token: &Secret<String>) -> Result<Given<Credential>> {
        let address = format!("{}/oauth2/exchange", self.surroundings.api(registry));
        let answer: Exchanged = self.session.json(&Ask::service(REGISTRY, &address)?.form(&[
            ("grant_type", "access_token"),
            ("service", registry),
            ("access_token", token.expose()),
        ]))?;
        let expires = expiry(answer.refresh_token.expose()).and_then(moment::after_epoch);
        let expires = expires.ok_or_else(|| missing(REGISTRY, "its token lacks an expiry time"))?;
        let credential = Credential::Identity(answer.refresh_token);
        Ok(Given::expiring(credential, self.surroundings.now(), expires))
    }
}

impl Issuer for Azure {
    fn key(&self, registry: &str) -> Option<String> {
        let name = SUFFIXES.iter().find_map(|suffix| registry.strip_suffix(suffix))?;
        (!name.is_empty()).then(|| registry.to_owned())
    }

    fn is_announced(&self, _: &str) -> bool {
        self.surroundings.has(&WORKLOAD)
    }

    fn issue(&self, registry: &str) -> Result<Given<Credential>> {
        let token = self.token()?;
        match self.exchange(registry, &token) {
            Err(error) if is_refusal(&error) => {
                self.known.forget(|known| *known == token);
                let renewed = self.token()?;
                if renewed == token { Err(error) } else { self.exchange(registry, &renewed) }
            }
            outcome => outcome,
        }
    }
}

/// Until when a JSON Web Token is good, in seconds. Whether it is genuine is not for us to know.
fn expiry(token: &str) -> Option<f64> {
    let claims = token.split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    serde_json::from_slice::<Claims>(&claims).ok().map(|claims| claims.exp)
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.ok_or_else(|| serde::de::Error::custom("no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_of_azure_are_known_by_their_names() {
        let azure = Azure::new(&Surroundings::new(|_| None));
        for registry in ["shop.azurecr.io", "shop.azurecr.cn", "shop.azurecr.us"] {
            assert_eq!(azure.key(registry).as_deref(), Some(registry));
        }
        for registry in ["azurecr.io", ".azurecr.io", "shop.azurecr.io.evil.example", "shop.azurecr.io:444"] {
            assert_eq!(azure.key(registry), None, "{registry}");
        }
        assert!(!azure.is_announced("shop.azurecr.io"));
    }

    #[test]
    fn a_token_says_until_when_it_is_good() {
        let token = |claims: &str| format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims));
        assert_eq!(expiry(&token(r#"{"exp": 1700000000, "jti": "x"}"#)), Some(1_700_000_000.0));
        for none in [token("{}"), token("s3cret"), "opaque".to_owned(), "a.!.b".to_owned()] {
            assert_eq!(expiry(&none), None, "{none}");
        }
    }
}
