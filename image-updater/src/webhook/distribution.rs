//! The notifications of the registry Distribution, which GitLab's is, too.

use std::collections::BTreeSet;

use super::letter::{Read, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed};

pub(super) const KIND: Kind = Kind {
    names: &["docker-registry", "distribution"],
    variable: "DISTRIBUTION_WEBHOOK_SECRET",
    proofs: &[Proof::Bearer, Proof::Basic, Proof::Query],
    delivery: None,
    // The names of the events
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    if letter.body.get("events").is_none_or(|events| !events.is_array()) {
        return Err(Malformed("it lacks a list of `events`"));
    }
    // Whatever is read is told, too, and so is every layer: only a tag that is written counts.
    let mut all = BTreeSet::new();
    for event in letter.list("/events") {
        let event = letter.with_body(event);
        let (Some("push"), Some(tag)) = (event.text("/action"), event.text("/target/tag")) else { continue };
        let name = event.text("/target/repository").ok_or(Malformed("it names no repository"))?;
        let place = match event.place() {
            Some(place) => place,
            None => event.text("/request/host").ok_or(Malformed("it names no registry"))?.into(),
        };
        all.insert(image(&place, name, Some(tag), event.text("/target/digest"))?);
    }
    Ok(images(all.into_iter().collect()))
}
