//! Quay. It signs nothing, so the secret is in the address.

use serde_json::Value;

use super::letter::{Read, host, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed};

pub(super) const KIND: Kind = Kind {
    names: &["quay.io"],
    variable: "QUAY_WEBHOOK_SECRET",
    proofs: &[Proof::Query],
    delivery: None,
    // A tag that is pushed a second time is told in the same words.
    is_unique: false,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let name = letter.text("/repository").ok_or(Malformed("it names no repository"))?;
    let place = match letter.place() {
        Some(place) => place,
        None => letter.text("/docker_url").map_or("quay.io", host).into(),
    };
    let tags: Vec<&str> = match letter.body.get("updated_tags") {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).collect(),
        // Older ones tell which image each tag is now.
        Some(Value::Object(tags)) => tags.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    if tags.is_empty() {
        return Err(Malformed("it names no tag"));
    }
    let all = tags.into_iter().map(|tag| image(&place, name, Some(tag), None));
    Ok(images(all.collect::<Result<_, _>>()?))
}
