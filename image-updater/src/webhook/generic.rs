//! Whoever can write `{"image": "registry.example/shop/web", "tag": "1.2.0"}`: a step in a pipeline, or Keel's webhooks
//! with `name` instead.

use oci_registry::Reference;

use super::letter::{Read, image, images, tagged};
use super::proof::Proof;
use super::{Kind, Letter, Malformed};

pub(super) const KIND: Kind = Kind {
    names: &["generic"],
    variable: "GENERIC_WEBHOOK_SECRET",
    proofs: &[Proof::Sha256 { header: "x-signature", prefix: "sha256=" }, Proof::Bearer, Proof::Basic],
    delivery: Some("x-delivery"),
    // A tag that is pushed a second time is told in the same words.
    is_unique: false,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let name =
        letter.text("/image").or_else(|| letter.text("/name")).ok_or(Malformed("it names no `image`"))?;
    let (tag, digest) = (letter.text("/tag"), letter.text("/digest"));
    if let Some(place) = letter.text("/host").map(Into::into).or_else(|| letter.place()) {
        return Ok(images(vec![image(&place, name, tag, digest)?]));
    }
    let known: Reference = name.parse().map_err(|_| Malformed("it names an image that cannot be"))?;
    let own = known.digest().map(ToString::to_string);
    let image = tagged(known.repository().clone(), tag.or(known.tag()), digest.or(own.as_deref()))?;
    Ok(images(vec![image]))
}
