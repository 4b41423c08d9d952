//! CloudEvents, each in a body or with its attributes in the head: of Amazon's ECR by EventBridge, of Azure's registry by
//! Event Grid, and of whoever names repository and tag. What EventBridge itself sends is understood, too.

use super::letter::{Read, host, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News, acr};

pub(super) const KIND: Kind = Kind {
    names: &["cloudevents"],
    variable: "CLOUDEVENTS_WEBHOOK_SECRET",
    proofs: &[Proof::Query, Proof::Header("x-webhook-secret")],
    delivery: Some("ce-id"),
    // `id`, which may be in the head only
    is_unique: false,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    if letter.text("/detail-type").is_some() {
        return event_bridge(letter);
    }
    let event = match (letter.text("/specversion"), letter.header("ce-specversion")) {
        (Some(_), _) => Event {
            kind: letter.text("/type"),
            source: letter.text("/source"),
            subject: letter.text("/subject"),
            data: letter.with_body(letter.body.get("data").unwrap_or(&serde_json::Value::Null)),
        },
        (None, Some(_)) => Event {
            kind: letter.header("ce-type"),
            source: letter.header("ce-source"),
            subject: letter.header("ce-subject"),
            data: *letter,
        },
        (None, None) => return Err(Malformed("it lacks `specversion`")),
    };
    event.read()
}

struct Event<'e> {
    kind: Option<&'e str>,
    source: Option<&'e str>,
    subject: Option<&'e str>,
    data: Letter<'e>,
}

impl Event<'_> {
    fn read(&self) -> Read {
        let kind = self.kind.ok_or(Malformed("it lacks a type"))?.to_ascii_lowercase();
        let is_deletion = kind.contains("delete");
        let is_of_image = kind.contains("container") || kind.contains("image");
        if is_deletion || !(kind.starts_with("com.amazon.ecr.") || is_of_image) {
            return Ok(News::Nothing);
        }
        let data = &self.data;
        if data.body.get("target").is_some() {
            return acr::read(data);
        }
        let named = self.subject.and_then(|subject| subject.split_once(':'));
        let any = |names: &[&str]| names.iter().find_map(|name| data.text(name));
        let name = any(&["/repositoryName", "/repository"]).or(named.map(|(name, _)| name));
        let tag = any(&["/imageTag", "/tag"]).or(named.map(|(_, tag)| tag)).filter(|tag| !tag.is_empty());
        let digest = any(&["/imageDigest", "/digest"]);
        let place = match data.place() {
            Some(place) => Some(place.into_owned()),
            None if kind.starts_with("com.amazon.ecr.") => self.amazon(),
            None => any(&["/registryUrl", "/registry"])
                .or_else(|| self.source.and_then(registry))
                .map(str::to_owned),
        };
        let name = name.ok_or(Malformed("it names no repository"))?;
        let tag = tag.ok_or(Malformed("it names no tag"))?;
        let place = place.ok_or(Malformed("it names no registry: say `registry_url` in the address"))?;
        Ok(images(vec![image(&place, name, Some(tag), digest)?]))
    }

    /// The registry of an account in a region, by `arn:aws:ecr:REGION:ACCOUNT:repository/NAME`.
    fn amazon(&self) -> Option<String> {
        let mut parts = self.source?.split(':');
        if !(matches!(parts.next()?, "urn" | "arn")
            && parts.next()?.starts_with("aws")
            && parts.next()? == "ecr")
        {
            return None;
        }
        let (region, account) = (parts.next()?, parts.next()?);
        Some(ecr(self.data.text("/registryId").unwrap_or(account), region))
    }
}

/// Returns what EventBridge sends where nothing transforms it.
fn event_bridge(letter: &Letter<'_>) -> Read {
    let is = |pointer: &str, wanted: &str| letter.text(pointer) == Some(wanted);
    let is_push = is("/detail-type", "ECR Image Action") && is("/detail/action-type", "PUSH");
    if !is_push || !is("/detail/result", "SUCCESS") {
        return Ok(News::Nothing);
    }
    let name = letter.text("/detail/repository-name").ok_or(Malformed("it names no repository"))?;
    // A push by digest has no tag, or an empty one.
    let (tag, digest) = (letter.text("/detail/image-tag"), letter.text("/detail/image-digest"));
    let place = match (letter.place(), letter.text("/account"), letter.text("/region")) {
        (Some(place), ..) => place.into_owned(),
        (None, Some(account), Some(region)) => ecr(account, region),
        _ => return Err(Malformed("it names no account or no region")),
    };
    Ok(images(vec![image(&place, name, tag, digest)?]))
}

fn ecr(account: &str, region: &str) -> String {
    let country = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("{account}.dkr.ecr.{region}.amazonaws.com{country}")
}

/// The host of a source that is an address.
fn registry(source: &str) -> Option<&str> {
    let is_address = source.starts_with("http://") || source.starts_with("https://");
    let host = host(source);
    (!host.is_empty() && (is_address || host.contains('.'))).then_some(host)
}
