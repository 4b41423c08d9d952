//! An ImagePolicy with its ImageRepository: an image, and how a tag of it is chosen.

use diagnostic::{Error, ErrorKind, Result};
use std::time::Duration;

use oci_registry::Reference;

use super::types::{
    Choice, ImagePolicy, ImageRepository, LocalReference, MAX_EXCLUSIONS, MAX_NAME, Order, Provider,
    Reflection,
};
use super::{Flux, Missing, Parsed, duration};
use crate::change::Named;
use crate::choose::Rules;
use crate::config::{self, ClusterName, Credentials, Registry};
use crate::criteria::{self, Criteria, TagPattern};
use crate::dialect::objects::Object;
use crate::dialect::{Found, prefix_of};
use yamlserde::Spanned;

/// Flux' default exclusion: signatures of Cosign.
const EXCLUDED: &str = r"^.*\.sig$";

/// A label that every namespace has.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// An image and how a tag of it is chosen.
pub(super) struct Watched<'f> {
    pub(super) image: &'f str,
    pub(super) criteria: Criteria,
    pub(super) pins_digest: bool,
    pub(super) keeps_digest: bool,
    pub(super) interval: Duration,
    pub(super) suspended: bool,
    /// The ImageRepository.
    pub(super) repository: &'f Object,
}

impl Flux<'_> {
    /// Reads a policy with its repository.
    pub(super) fn watched<'f>(
        &'f self,
        policy: &'f Parsed<ImagePolicy>,
        found: &mut Found,
    ) -> Result<Watched<'f>> {
        let spec = &policy.spec.value;
        let repository = self.repository_of(policy)?;
        let image = image_of(repository)?;
        let scanned = duration(&repository.object, &repository.spec.value.interval)?;
        let own = own_interval(policy)?;
        check_repository(repository)?;
        found.begin_image();
        match found.is_live() {
            true => note_repository(repository, image, found),
            false => warn_of_repository(repository, image, found),
        }
        let reflection = spec.digest_reflection_policy.as_ref().map(|reflection| reflection.value);
        Ok(Watched {
            image,
            criteria: criteria_of(policy, repository)?,
            pins_digest: matches!(reflection, Some(Reflection::IfNotPresent | Reflection::Always)),
            keeps_digest: reflection == Some(Reflection::IfNotPresent),
            interval: own.map_or(scanned, |own| own.min(scanned)),
            suspended: spec.suspend || repository.spec.value.suspend,
            repository: &repository.object,
        })
    }

    fn repository_of(&self, policy: &Parsed<ImagePolicy>) -> Result<&Parsed<ImageRepository>> {
        let reference = &policy.spec.value.image_repository_ref;
        let refuse = |message: String| policy.object.refuse(reference.start, message);
        let namespace = reference.value.namespace.as_deref().filter(|namespace| !namespace.is_empty());
        let named = policy.find(&self.repositories, &reference.value.name, namespace, reference.start);
        let repository = named.map_err(|missing| match missing {
            Missing::Several(error) => *error,
            Missing::Absent(id) => {
                refuse(format!("no ImageRepository `{}` found in `{}`", id.name, id.namespace))
                    .with_kind(ErrorKind::NotFound)
            }
        })?;
        let namespace = &policy.object.id.namespace;
        if repository.object.id.namespace == *namespace || self.has_access(repository, namespace) {
            return Ok(repository);
        }
        let title = repository.object.title();
        Err(refuse(format!("{title} may not be used from the namespace `{namespace}`"))
            .with_kind(ErrorKind::Denied)
            .hint("its `accessFrom` has to select that namespace by labels that the files declare for it"))
    }

    /// Access over namespaces is only by `accessFrom`, whose selectors need not all select.
    fn has_access(&self, repository: &Parsed<ImageRepository>, namespace: &str) -> bool {
        let Some(access) = &repository.spec.value.access_from else { return false };
        let mut labels = self.namespaces.get(namespace).map(|object| object.labels()).unwrap_or_default();
        labels.insert(NAME_LABEL, namespace);
        access.namespace_selectors.iter().any(|selector| {
            selector.match_labels.iter().all(|(key, value)| labels.get(key.as_str()) == Some(&value.as_str()))
        })
    }
}

fn image_of(repository: &Parsed<ImageRepository>) -> Result<&str> {
    let image = &repository.spec.value.image;
    let refuse = |error: Error| error.at(repository.object.at(image.start));
    let reference: Reference = image.value.parse().map_err(&refuse)?;
    if reference.tag().is_some() || reference.digest().is_some() {
        let error = Error::invalid(format!("`{}` has a tag or a digest", image.value));
        return Err(refuse(error.hint("an ImageRepository names all tags of an image")));
    }
    Ok(&image.value)
}

/// The interval of a policy, which goes with `Always` and with nothing else.
fn own_interval(policy: &Parsed<ImagePolicy>) -> Result<Option<Duration>> {
    let spec = &policy.spec.value;
    let is_always = spec.digest_reflection_policy.as_ref().is_some_and(|it| it.value == Reflection::Always);
    match (&spec.interval, is_always) {
        (Some(interval), true) => duration(&policy.object, interval).map(Some),
        (Some(interval), false) => Err(policy
            .object
            .refuse(interval.start, "`interval` is only for `digestReflectionPolicy: Always`")),
        (None, true) => {
            let start = spec.digest_reflection_policy.as_ref().map_or(policy.spec.start, |it| it.start);
            let error = policy.object.refuse(start, "`Always` needs an `interval`");
            Err(error.hint("set how often the digest of the tag is polled: `interval: 10m`"))
        }
        (None, false) => Ok(None),
    }
}

fn criteria_of(policy: &Parsed<ImagePolicy>, repository: &Parsed<ImageRepository>) -> Result<Criteria> {
    let spec = &policy.spec.value;
    let at = |error: Error| error.at(policy.object.at(spec.policy.start));
    let mut criteria = chosen(&spec.policy.value).map_err(at)?;
    if let Some(filter) = &spec.filter_tags {
        criteria.filter_tags = Some(filter.pattern.clone());
        criteria.extract = Some(filter.extract.clone()).filter(|extract| !extract.is_empty());
    }
    Rules::new(&criteria).map_err(at)?;
    let excluded = &repository.spec.value.exclusion_list;
    let default = vec![EXCLUDED.to_owned()];
    let list = excluded.as_ref().map_or(&default, |list| &list.value);
    criteria.ignore_tags = list.iter().cloned().map(TagPattern::Expression).collect();
    Rules::new(&criteria).map_err(|error| {
        let start = excluded.as_ref().map_or(repository.spec.start, |list| list.start);
        error.at(repository.object.at(start))
    })?;
    Ok(criteria)
}

/// The policy itself. A tag is a version only with three parts.
fn chosen(choice: &Choice) -> Result<Criteria> {
    let ordered = |strategy: &str, order: Order| Criteria {
        strategy: strategy.to_owned(),
        order: Some(match order {
            Order::Asc => criteria::Order::Ascending,
            Order::Desc => criteria::Order::Descending,
        }),
        ..Criteria::default()
    };
    match choice {
        Choice { semver: Some(semver), alphabetical: None, numerical: None } => Ok(Criteria {
            semver_constraint: Some(semver.range.clone()),
            strict_versions: true,
            ..Criteria::default()
        }),
        Choice { semver: None, alphabetical: Some(policy), numerical: None } => {
            Ok(ordered("alphabetical", policy.order))
        }
        Choice { semver: None, alphabetical: None, numerical: Some(policy) } => {
            Ok(ordered("numerical", policy.order))
        }
        _ => Err(Error::invalid("a policy is exactly one of `semver`, `alphabetical` and `numerical`")),
    }
}

/// Checks what the API server does, where its patterns and limits say more than the types.
fn check_repository(repository: &Parsed<ImageRepository>) -> Result<()> {
    let Parsed { object, spec } = repository;
    let spec = &spec.value;
    if let Some(timeout) = &spec.timeout {
        duration(object, timeout)?;
        if timeout.value.contains('h') {
            let error = object.refuse(timeout.start, format!("`{}` has hours", timeout.value));
            return Err(error.hint("a `timeout` has the units m, s and ms"));
        }
    }
    if let Some(account) = spec.service_account_name.as_ref().filter(|it| it.value.chars().count() > MAX_NAME)
    {
        return Err(object.refuse(account.start, format!("a name has at most {MAX_NAME} characters")));
    }
    if let Some(list) = spec.exclusion_list.as_ref().filter(|list| list.value.len() > MAX_EXCLUSIONS) {
        return Err(object.refuse(list.start, format!("there are at most {MAX_EXCLUSIONS} expressions")));
    }
    Ok(())
}

/// Notes how the registry of a repository is spoken to, by what of the cluster its own namespace has.
fn note_repository(repository: &Parsed<ImageRepository>, image: &str, found: &mut Found) {
    let Parsed { object, spec } = repository;
    let spec = &spec.value;
    let own = |name: &str| Named { namespace: object.id.namespace.clone(), name: name.to_owned() };
    let of_reference = |reference: &Option<Spanned<LocalReference>>| {
        reference.as_ref().map(|reference| own(&reference.value.name))
    };
    let account = spec.service_account_name.as_ref();
    let provider = spec.provider.as_ref().and_then(|provider| match provider.value {
        Provider::Generic => None,
        Provider::Aws => Some(config::Provider::Aws),
        Provider::Azure => Some(config::Provider::Azure),
        Provider::Gcp => Some(config::Provider::Gcp),
    });
    let secret = spec.secret_ref.as_ref();
    let secret = secret.map(|secret| Credentials::pull_secret(&object.id.namespace, &secret.value.name));
    let mut all: Vec<Credentials> = secret.into_iter().collect();
    match (provider, account) {
        // It would be somebody else's identity.
        (Some(_), Some(account)) => {
            let message = "a cloud is not asked for the identity of another service account";
            let warning = object.refuse(account.start, message);
            found.warn_once(
                warning.hint("leave it out: the identity of this program counts, where it is let in"),
            );
        }
        (Some(provider), None) => all.push(Credentials::Provider(provider)),
        (None, Some(account)) => all.push(Credentials::ServiceAccount(ClusterName(own(&account.value)))),
        (None, None) => {}
    }
    if let Some(timeout) = &spec.timeout {
        let message = "`timeout` is ignored: requests have their own limits";
        found.warn_once(object.refuse(timeout.start, message));
    }
    let mut all = all.into_iter();
    let tls_secret = of_reference(&spec.cert_secret_ref);
    let proxy_secret = of_reference(&spec.proxy_secret_ref);
    found.note_registry(Registry {
        prefix: prefix_of(image),
        credentials: all.next(),
        otherwise: all.collect(),
        plain_http: spec.insecure,
        // Who says whom to trust, or whom to ask through, would hear what others have there.
        only_own_credentials: spec.insecure || tls_secret.is_some() || proxy_secret.is_some(),
        tls_secret,
        proxy_secret,
        ..Registry::default()
    });
}

/// Says what of a repository is not carried over, and notes how its registry is spoken to.
fn warn_of_repository(repository: &Parsed<ImageRepository>, image: &str, found: &mut Found) {
    let Parsed { object, spec } = repository;
    let spec = &spec.value;
    let secret = "no Secret is read";
    let name = |reference: &Option<Spanned<LocalReference>>| {
        reference.as_ref().map(|reference| (reference.start, format!(" (`{}`)", reference.value.name)))
    };
    let text = |text: &Option<Spanned<String>>| {
        text.as_ref().map(|text| (text.start, format!(" (`{}`)", text.value)))
    };
    let provider = spec.provider.as_ref().filter(|provider| provider.value != Provider::Generic);
    let credentials = "give `registries` its `credentials`";
    for (field, value, why, hint) in [
        ("secretRef", name(&spec.secret_ref), secret, credentials),
        ("serviceAccountName", text(&spec.service_account_name), "no cluster is available", credentials),
        (
            "provider",
            provider.map(|provider| (provider.start, String::new())),
            "no cloud is asked for credentials",
            credentials,
        ),
        ("certSecretRef", name(&spec.cert_secret_ref), secret, "give `registries` its `caFile`"),
        ("proxySecretRef", name(&spec.proxy_secret_ref), secret, "set `HTTPS_PROXY`"),
        ("timeout", text(&spec.timeout), "requests have limits of their own", "leave it out"),
    ] {
        let Some((start, value)) = value else { continue };
        let warning = object.refuse(start, format!("`{field}`{value} is not carried over: {why}"));
        // Several policies may be of one repository.
        found.warn_once(warning.hint(hint));
    }
    if spec.insecure {
        found.note_registry(Registry { prefix: prefix_of(image), plain_http: true, ..Registry::default() });
    }
}
