//! GitHub Apps: who they are instead of a person. In: an App's number and private key, and where it is installed. Out: a
//! token for an hour, for git (with the user `x-access-token`) and for pull requests alike.
//!
//! The key signs a statement of who asks, which GitHub takes for a few minutes; it never leaves this process.

use diagnostic::{Error, ErrorKind, Result};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use oci_registry::Secret;
use reqwest::Method;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::SigningKey;
use serde::Deserialize;
use serde_json::json;

use super::api::Api;
use super::{Address, Settings, base, github};

/// The clocks of others may be behind.
const EARLIER: SignedDuration = SignedDuration::from_secs(60);

/// GitHub takes ten minutes at most, by its own clock.
const LASTS: SignedDuration = SignedDuration::from_mins(9);

/// An App and the organisation or account that has it.
#[derive(Clone, Debug)]
pub struct App {
    id: String,
    installation: u64,
    key: Arc<dyn SigningKey>,
}

/// A token of an App.
#[derive(Clone, Debug)]
pub struct AppToken {
    /// The token for git and the API.
    pub token: Secret<String>,
    /// When it is of no more use.
    pub expires: Timestamp,
}

#[derive(Deserialize)]
struct Answer {
    token: String,
    expires_at: String,
}

impl App {
    /// Takes the number or client id of an App, the number of its installation, and its key in PEM.
    ///
    /// # Errors
    /// If the key is none of RSA, which GitHub makes for Apps. The error does not show it.
    pub fn new(id: &str, installation: u64, key: &Secret<String>) -> Result<Self> {
        let wrong = || {
            Error::new(ErrorKind::Invalid, format!("the private key of the GitHub App `{id}` cannot be used"))
                .hint("it is a file that begins with `-----BEGIN RSA PRIVATE KEY-----`, as GitHub makes it")
        };
        let der = PrivateKeyDer::from_pem_slice(key.expose().as_bytes()).map_err(|_| wrong())?;
        let key = any_supported_type(&der).map_err(|_| wrong())?;
        let app = Self { id: id.to_owned(), installation, key };
        // A key of another kind is seen now and not at the first token.
        app.statement(Timestamp::UNIX_EPOCH).map_err(|_| wrong())?;
        Ok(app)
    }

    /// Asks for a token, at a time by the caller's clock. Of the settings the token does not matter.
    ///
    /// # Errors
    /// If GitHub does not know the App or its installation.
    pub fn token(&self, repository: &str, settings: &Settings, now: Timestamp) -> Result<AppToken> {
        let address = Address::parse(repository)?;
        let base = base(&github::GitHub, &address, settings.api.as_deref())?;
        let statement = Secret::new(self.statement(now)?);
        let api = Api::new(&github::GitHub, base, statement, settings.certificates.as_deref())?;
        let installation = self.installation.to_string();
        let path = ["app", "installations", &installation, "access_tokens"];
        let answer: Answer = api.ask(api.write("give the App a token", Method::POST, &path, json!({})))?;
        let expires = answer.expires_at.parse().map_err(|_| {
            Error::new(ErrorKind::Protocol, "GitHub did not report when the token of the App expires")
        })?;
        Ok(AppToken { token: Secret::new(answer.token), expires })
    }

    /// A JSON Web Token that says who asks, and until when it is true.
    fn statement(&self, now: Timestamp) -> Result<String> {
        let failed =
            || Error::new(ErrorKind::Invalid, format!("the key of the GitHub App `{}` cannot sign", self.id));
        let seconds = |from: Timestamp, by: SignedDuration| from.saturating_add(by).map(Timestamp::as_second);
        let (issued, expires) = (seconds(now, -EARLIER), seconds(now, LASTS));
        let claims = json!({
            "exp": expires.map_err(|_| failed())?,
            "iat": issued.map_err(|_| failed())?,
            "iss": self.id,
        });
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let signed =
            format!("{}.{}", encoded(r#"{"alg":"RS256","typ":"JWT"}"#), encoded(&claims.to_string()));
        let signer = self.key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]).ok_or_else(failed)?;
        let signature = signer.sign(signed.as_bytes()).map_err(|_| failed())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::stand_in::{Kind, StandIn};

    /// Made for these tests by `openssl genrsa`, in both forms.
    const PKCS1: &str = include_str!("../../testdata/forge/app-pkcs1.pem");
    const PKCS8: &str = include_str!("../../testdata/forge/app-pkcs8.pem");

    /// Signed by `openssl dgst -sha256 -sign`, which always gives the same.
    const STATEMENT: &str = include_str!("../../testdata/forge/app.jwt");

    fn app(key: &str) -> Result<App> {
        App::new("12345", 67, &Secret::from(key))
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_700_000_000).unwrap()
    }

    #[test]
    fn a_statement_is_signed_as_openssl_signs_it() {
        for key in [PKCS1, PKCS8] {
            assert_eq!(app(key).unwrap().statement(now()).unwrap(), STATEMENT.trim());
        }
    }

    #[test]
    fn a_statement_is_exchanged_for_a_token() {
        let github = StandIn::new(Kind::GitHub);
        github.answer("201 Created", &[], r#"{"token":"ghs_1","expires_at":"2023-11-14T23:13:20Z"}"#);
        let settings =
            Settings { forge: None, api: Some(github.api()), token: Secret::from(""), certificates: None };
        let token = app(PKCS1).unwrap().token("git@github.com:org/repo.git", &settings, now()).unwrap();
        assert_eq!((token.token.expose().as_str(), token.expires.as_second()), ("ghs_1", 1_700_003_600));
        let asked = github.asked().remove(0);
        assert_eq!(
            (asked.method.as_str(), asked.path.as_str()),
            ("POST", "/api/app/installations/67/access_tokens")
        );
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {}", STATEMENT.trim()).as_str()));
        assert!(!format!("{token:?}").contains("ghs_1"));

        github.answer("404 Not Found", &[], r#"{"message":"Not Found"}"#);
        let error = app(PKCS1).unwrap().token("git@github.com:org/repo.git", &settings, now()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with("GitHub cannot give the App a token"), "{error}");
    }

    #[test]
    fn a_key_that_is_none_is_refused_and_not_shown() {
        let broken = PKCS1.replace("MII", "MIJ");
        for key in ["", "secret", broken.as_str()] {
            let error = app(key).unwrap_err();
            assert_eq!(error.to_string(), "the private key of the GitHub App `12345` cannot be used");
        }
        assert!(!format!("{:?}", app(PKCS1).unwrap()).contains("MII"));
    }
}
