//! Azure's container registry. It signs nothing, but a header can be set.

use super::letter::{Read, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["acr"],
    variable: "ACR_WEBHOOK_SECRET",
    proofs: &[Proof::Header("authorization")],
    delivery: None,
    // `id`
    is_unique: true,
    read,
};

pub(super) fn read(letter: &Letter<'_>) -> Read {
    if letter.text("/action").ok_or(Malformed("it names no action"))? != "push" {
        return Ok(News::Nothing);
    }
    let name = letter.text("/target/repository").ok_or(Malformed("it names no repository"))?;
    let place = match letter.place() {
        Some(place) => place,
        None => letter.text("/request/host").ok_or(Malformed("it names no registry"))?.into(),
    };
    // A push by digest has no tag.
    Ok(images(vec![image(&place, name, letter.text("/target/tag"), letter.text("/target/digest"))?]))
}
