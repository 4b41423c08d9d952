//! Google's registries, by what Pub/Sub pushes of their topic `gcr`. Its own tokens would have to be looked up at Google,
//! so the secret is in the address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_registry::Reference;
use serde_json::Value;

use super::letter::{Read, images, tagged};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["gcr"],
    variable: "GCR_WEBHOOK_SECRET",
    proofs: &[Proof::Query],
    delivery: None,
    // `message.messageId`
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let data = letter.text("/message/data").ok_or(Malformed("it lacks a message"))?;
    let data = STANDARD.decode(data).map_err(|_| Malformed("its message is not in base64"))?;
    let data: Value = serde_json::from_slice(&data).map_err(|_| Malformed("its message is not JSON"))?;
    let message = letter.with_body(&data);
    if message.text("/action") != Some("INSERT") {
        return Ok(News::Nothing);
    }
    let parsed = |pointer| -> Result<Option<Reference>, Malformed> {
        let text = message.text(pointer);
        text.map(|text| text.parse().map_err(|_| Malformed("it names an image that cannot be"))).transpose()
    };
    // A push by digest has no tag.
    let (tagged_as, digested) = (parsed("/tag")?, parsed("/digest")?);
    let known = tagged_as.as_ref().or(digested.as_ref()).ok_or(Malformed("it names no image"))?;
    let tag = tagged_as.as_ref().and_then(Reference::tag);
    let digest = digested.as_ref().and_then(Reference::digest).map(ToString::to_string);
    Ok(images(vec![tagged(known.repository().clone(), tag, digest.as_deref())?]))
}
