//! The flags of `run` for what it is told by webhooks.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::environment::{self, Variables};
use crate::daemon::{Certificates, MinVersion, Webhooks};
use crate::error::{Error, Result};
use crate::webhook::{Kind, Receiver, SecretPlace};

/// Where Argo CD Image Updater hears webhooks.
const PORT: u16 = 8082;

#[derive(Args, Debug)]
pub(super) struct WebhookFlags {
    /// Hear webhooks at /webhook?type=TYPE on this address; where there is a secret for any, 0.0.0.0:8082
    #[arg(long, value_name = "ADDRESS", help_heading = "Webhooks")]
    webhook_listen: Option<SocketAddr>,
    /// Where the secret of a type of sender is: `TYPE=env:NAME` or `TYPE=file:PATH`. What is not named is read from the
    /// variable that Argo CD Image Updater has for it, such as GHCR_WEBHOOK_SECRET. May be repeated
    #[arg(long, value_name = "TYPE=PLACE", value_parser = secret, help_heading = "Webhooks")]
    webhook_secret: Vec<(&'static Kind, SecretPlace)>,
    /// Whether types without a secret are refused [default: true] [WEBHOOK_REQUIRE_SECRET]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", help_heading = "Webhooks")]
    webhook_require_secret: Option<bool>,
    /// How many deliveries are taken in an hour; 0 for any number [default: 0]
    /// [WEBHOOK_RATELIMIT_ALLOWED]
    #[arg(long, value_name = "NUMBER", help_heading = "Webhooks")]
    webhook_ratelimit_allowed: Option<u32>,
    /// The certificate for webhooks, in PEM. It is read anew when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Webhooks")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Webhooks")]
    tls_key: Option<PathBuf>,
    /// The oldest TLS that is spoken
    #[arg(long, value_name = "VERSION", default_value = "1.3", help_heading = "Webhooks")]
    tls_min_version: MinVersion,
}

impl WebhookFlags {
    /// What is heard, if anything is.
    ///
    /// # Errors
    /// Where a secret or a certificate is not there, or nobody could prove anything.
    pub(super) fn webhooks(&self, variables: &Variables) -> Result<Option<Webhooks>> {
        let (required, allowed) = (self.webhook_require_secret, self.webhook_ratelimit_allowed);
        let required = environment::value(required, "WEBHOOK_REQUIRE_SECRET", variables, |text| {
            text.parse().map_err(|_| "it is `true` or `false`".to_owned())
        })?;
        let allowed = environment::value(allowed, "WEBHOOK_RATELIMIT_ALLOWED", variables, |text| {
            text.parse().map_err(|_| "it is a number".to_owned())
        })?;
        let (required, allowed) = (required.unwrap_or(true), allowed.unwrap_or(0));
        let receiver = Receiver::new(&self.webhook_secret, required, allowed, variables)?;
        let has_secret = receiver.kinds().any(|(_, has_secret)| has_secret);
        let listen = match self.webhook_listen {
            Some(_) if receiver.kinds().next().is_none() => {
                return Err(Error::input("`--webhook-listen` hears nobody without a secret")
                    .hint("say where one is with `--webhook-secret`, or believe everybody with `--webhook-require-secret=false`"));
            }
            Some(listen) => listen,
            None if has_secret => SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)),
            None => return Ok(None),
        };
        let certificates = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => Some(Certificates::load(chain, key, self.tls_min_version)?),
            _ => None,
        };
        Ok(Some(Webhooks { listen, certificates, receiver }))
    }
}

/// A type of sender, and where its secret is.
fn secret(text: &str) -> Result<(&'static Kind, SecretPlace)> {
    let (name, place) = text
        .split_once('=')
        .ok_or_else(|| Error::input("a secret is named as `TYPE=env:NAME` or `TYPE=file:PATH`"))?;
    let kind = Kind::named(name).ok_or_else(|| {
        let names: Vec<&str> = crate::webhook::KINDS.iter().map(|kind| kind.name()).collect();
        Error::input(format!("there is no type `{}`: there are {}", name.escape_debug(), names.join(", ")))
    })?;
    Ok((kind, place.parse()?))
}
