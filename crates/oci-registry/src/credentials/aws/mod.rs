//! Amazon's registries. In: the host of one, whose name says where its service is. Out: a user and a password for twelve
//! hours, which that service gives to who signs for it. The public registry is asked for a password only where AWS is
//! named, as everybody may read it.

mod identity;
mod partition;
mod signature;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use diagnostic::Result;
use serde::Deserialize;

use self::identity::{Identity, Keys};
use self::partition::Service;
use self::signature::Signed;
use super::cloud::ask::{Ask, Session};
use super::cloud::issuer::{Issuer, is_refusal};
use super::cloud::surroundings::Surroundings;
use super::memo::Given;
use super::{Credential, missing, moment};

const ECR: &str = "the registry service of AWS";

/// Content type of requests.
const KIND: &str = "application/x-amz-json-1.1";

pub(super) struct Aws {
    surroundings: Surroundings,
    identity: Identity,
    session: Session,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "authorizationData")]
    data: OneOrMore,
}

/// The public registry gives one, others give a list of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Authorization),
    More(Vec<Authorization>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Authorization {
    authorization_token: String,
    expires_at: f64,
}

impl Aws {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        let (identity, session) = (Identity::new(surroundings), Session::new(surroundings));
        Self { surroundings: surroundings.clone(), identity, session }
    }

    fn authorize(&self, service: &Service, keys: &Keys) -> Result<Given<Credential>> {
        let (name, target) = match service.is_public() {
            true => ("ecr-public", "SpencerFrontendService.GetAuthorizationToken"),
            false => ("ecr", "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"),
        };
        let named = |variable| self.surroundings.text(variable);
        let address = named(service.variable()).or_else(|| named("AWS_ENDPOINT_URL"));
        let mut ask = Ask::service(ECR, &address.unwrap_or_else(|| service.address()))?;
        let host = ask.host();
        let (region, headers) = (&service.region, [("content-type", KIND), ("x-amz-target", target)]);
        let signed = Signed { host: &host, region, service: name, headers: &headers, body: "{}" };
        let now = self.surroundings.now();
        for (name, value) in signed.headers(keys, moment::timestamp(now)) {
            ask = ask.header(name, &value)?;
        }
        let ask = ask.header("x-amz-target", target)?.body(KIND, "{}".to_owned());
        let answer: Answer = self.session.json(&ask)?;
        let first = match answer.data {
            OneOrMore::One(one) => Some(one),
            OneOrMore::More(more) => more.into_iter().next(),
        };
        let given = first.and_then(|authorization| authorization.given(&self.surroundings));
        given.ok_or_else(|| missing(ECR, "its answer holds no password"))
    }
}

impl Issuer for Aws {
    /// A token is for all registries of a region that its owner may read.
    fn key(&self, registry: &str) -> Option<String> {
        Service::of(registry).map(|service| service.address())
    }

    fn is_announced(&self, registry: &str) -> bool {
        registry != partition::PUBLIC && self.identity.is_announced()
    }

    fn issue(&self, registry: &str) -> Result<Given<Credential>> {
        let service = Service::of(registry);
        let service =
            service.ok_or_else(|| missing("AWS", &format!("`{registry}` is not one of its registries")))?;
        let keys = self.identity.keys(&service.region, &self.session)?;
        match self.authorize(&service, &keys) {
            Err(error) if is_refusal(&error) => {
                self.identity.forget(&keys);
                let renewed = self.identity.keys(&service.region, &self.session)?;
                if renewed == keys { Err(error) } else { self.authorize(&service, &renewed) }
            }
            outcome => outcome,
        }
    }
}

impl Authorization {
    fn given(self, surroundings: &Surroundings) -> Option<Given<Credential>> {
        let decoded = BASE64_STANDARD.decode(self.authorization_token).ok()?;
        let credential = Credential::parse(std::str::from_utf8(&decoded).ok()?)?;
        Some(Given::expiring(credential, surroundings.now(), moment::after_epoch(self.expires_at)?))
    }
}
