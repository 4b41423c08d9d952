//! The flags of `run` for what it is told by webhooks.

use diagnostic::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args};

use super::environment::{self, Variables};
use crate::daemon::{Certificates, MinVersion, Webhooks};
use crate::webhook::{Kind, Receiver, SecretPlace};

/// The webhook port of Argo CD Image Updater.
const PORT: u16 = 8082;

/// Help text below the examples of `run`.
pub(super) const TYPES: &str = "\
Types of webhooks, of registries and of git servers:
  docker.io ghcr.io harbor quay.io aliyun-acr acr cloudevents docker-registry jfrog nexus gcr generic
  github gitlab gitea";

#[derive(Args, Debug)]
pub(super) struct WebhookFlags {
    /// Hear webhooks at /webhook?type=TYPE on this address [default: 0.0.0.0:8082 where there is a secret for any]
    /// [ENABLE_WEBHOOK, WEBHOOK_PORT]
    #[arg(long, value_name = "ADDRESS", help_heading = "Webhooks")]
    webhook_listen: Option<SocketAddr>,
    /// Secret of a webhook type: `TYPE=env:NAME` or `TYPE=file:PATH` [default: Argo CD Image Updater's variable, such
    /// as GHCR_WEBHOOK_SECRET]. May be repeated
    #[arg(long, value_name = "TYPE=PLACE", help_heading = "Webhooks")]
    webhook_secret: Vec<String>,
    /// Tells whether types without a secret are refused [default: true] [WEBHOOK_REQUIRE_SECRET]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", help_heading = "Webhooks")]
    webhook_require_secret: Option<bool>,
    /// Maximum number of deliveries per hour; 0 means no limit [default: 0]
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
    /// Returns the webhook settings, if webhooks are served.
    ///
    /// # Errors
    /// If a secret or a certificate is not there, or nobody could prove anything.
    pub(super) fn webhooks(&self, variables: &Variables) -> Result<Option<Webhooks>> {
        let (required, allowed) = (self.webhook_require_secret, self.webhook_ratelimit_allowed);
        let required = environment::value(required, "WEBHOOK_REQUIRE_SECRET", variables, boolean)?;
        let allowed = environment::value(allowed, "WEBHOOK_RATELIMIT_ALLOWED", variables, number)?;
        let (required, allowed) = (required.unwrap_or(true), allowed.unwrap_or(0));
        let places: Vec<_> = self.webhook_secret.iter().map(|text| secret(text)).collect::<Result<_>>()?;
        let receiver = Receiver::new(&places, required, allowed, variables)?;
        let Some(listen) = self.address(&receiver, variables)? else { return Ok(None) };
        if receiver.kinds().next().is_none() {
            return Err(Error::invalid("cannot serve webhooks without a secret").hint(
                "set one with `--webhook-secret`, or accept unauthenticated webhooks with `--webhook-require-secret=false`",
            ));
        }
        let certificates = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => Some(Certificates::load(chain, key, self.tls_min_version)?),
            _ => None,
        };
        Ok(Some(Webhooks { listen, certificates, receiver }))
    }

    /// Returns where they are heard; nothing where they are not.
    fn address(&self, receiver: &Receiver, variables: &Variables) -> Result<Option<SocketAddr>> {
        if self.webhook_listen.is_some() {
            return Ok(self.webhook_listen);
        }
        let enabled = environment::value(None, "ENABLE_WEBHOOK", variables, boolean)?;
        let port = environment::value(None, "WEBHOOK_PORT", variables, number)?.unwrap_or(PORT);
        let has_secret = receiver.kinds().any(|(_, has_secret)| has_secret);
        let is_heard = !self.webhook_secret.is_empty() || enabled.unwrap_or(has_secret);
        Ok(is_heard.then(|| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))))
    }
}

/// A type of sender, and where its secret is. What may be the secret itself is not shown.
fn secret(text: &str) -> Result<(&'static Kind, SecretPlace)> {
    let usage = |message: String| Error::new(ErrorKind::Usage, message);
    let (name, place) = text.split_once('=').ok_or_else(|| {
        usage("`--webhook-secret` names a type, and where its secret is".to_owned())
            .hint("write it as `TYPE=env:NAME` or `TYPE=file:PATH`")
    })?;
    let kind = Kind::named(name).ok_or_else(|| {
        usage(format!("unknown webhook type `{}`", name.escape_debug()))
            .hint("`image-updater run --help` names all types")
    })?;
    Ok((kind, place.parse()?))
}

fn boolean(text: &str) -> Result<bool, String> {
    text.trim().to_ascii_lowercase().parse().map_err(|_| "it is `true` or `false`".to_owned())
}

fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| "it is a number".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use clap::Parser;

    use super::*;

    #[derive(Parser, Debug)]
    struct Line {
        #[command(flatten)]
        flags: WebhookFlags,
    }

    /// Returns where webhooks are heard by flags and variables.
    fn heard(arguments: &[&str], set: &[(&str, &str)]) -> Result<Option<String>> {
        let line = Line::try_parse_from([&["run"], arguments].concat()).unwrap();
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let set: HashMap<String, String> = set.iter().map(own).collect();
        let variables = move |name: &str| set.get(name).cloned();
        Ok(line.flags.webhooks(&variables)?.map(|webhooks| webhooks.listen.to_string()))
    }

    #[test]
    fn webhooks_are_heard_where_somebody_can_prove_who_they_are() {
        let default = Some("0.0.0.0:8082".to_owned());
        let secret = ("QUAY_WEBHOOK_SECRET", "s3cret");
        assert_eq!(heard(&[], &[]).unwrap(), None);
        assert_eq!(heard(&[], &[("QUAY_WEBHOOK_SECRET", "")]).unwrap(), None);
        assert_eq!(heard(&[], &[secret]).unwrap(), default);
        assert_eq!(heard(&["--webhook-secret", "generic=env:MINE"], &[("MINE", "s3cret")]).unwrap(), default);
        let listen = ["--webhook-listen", "[::1]:9000"];
        assert_eq!(heard(&listen, &[secret, ("WEBHOOK_PORT", "1")]).unwrap().as_deref(), Some("[::1]:9000"));
        assert!(heard(&listen, &[]).unwrap_err().get_hint().is_some());
        assert!(heard(&[&listen[..], &["--webhook-require-secret=false"]].concat(), &[]).unwrap().is_some());
        assert!(heard(&listen, &[("WEBHOOK_REQUIRE_SECRET", "false")]).unwrap().is_some());
    }

    #[test]
    fn what_argo_cds_manifests_set_counts() {
        let secret = ("DOCKER_WEBHOOK_SECRET", "s3cret");
        assert_eq!(heard(&[], &[secret, ("ENABLE_WEBHOOK", "false")]).unwrap(), None);
        let port = [secret, ("ENABLE_WEBHOOK", "true"), ("WEBHOOK_PORT", "8080")];
        assert_eq!(heard(&[], &port).unwrap().as_deref(), Some("0.0.0.0:8080"));
        assert!(heard(&[], &[("ENABLE_WEBHOOK", "true")]).is_err());
        let error = heard(&[], &[secret, ("WEBHOOK_RATELIMIT_ALLOWED", "many")]).unwrap_err();
        assert_eq!(
            error.message(),
            "the variable WEBHOOK_RATELIMIT_ALLOWED cannot be `many`: it is a number"
        );
    }

    #[test]
    fn the_help_names_all_types() {
        for kind in crate::webhook::KINDS {
            assert!(TYPES.split([' ', '\n']).any(|word| word == kind.name()), "{}", kind.name());
        }
    }
}
