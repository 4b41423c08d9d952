//! Alibaba Cloud's container registry. It signs nothing, so the secret is in the address.

use super::letter::{Read, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed};

pub(super) const KIND: Kind = Kind {
    names: &["aliyun-acr"],
    variable: "ALIYUN_ACR_WEBHOOK_SECRET",
    proofs: &[Proof::Query],
    delivery: None,
    // `push_data.pushed_at`
    is_unique: true,
    read,
};

/// By what a registry is reached from outside, from a network of its own, and from the cloud's.
const WAYS: [&str; 3] = ["registry", "registry-vpc", "registry-internal"];

fn read(letter: &Letter<'_>) -> Read {
    let name = match letter.text("/repository/repo_full_name") {
        Some(name) => name.to_owned(),
        None => {
            let name = letter.text("/repository/name").ok_or(Malformed("it names no repository"))?;
            letter.text("/repository/namespace").map_or(name.to_owned(), |space| format!("{space}/{name}"))
        }
    };
    let tag = letter.text("/push_data/tag").ok_or(Malformed("it names no tag"))?;
    let digest = letter.text("/push_data/digest");
    let places = match (letter.place(), letter.text("/repository/region")) {
        // Those of the Enterprise Edition have names that it does not tell.
        (Some(place), _) => vec![place.into_owned()],
        (None, Some(region)) => WAYS.iter().map(|way| format!("{way}.{region}.aliyuncs.com")).collect(),
        (None, None) => return Err(Malformed("it names no region: say `registry_url` in the address")),
    };
    let all = places.iter().map(|place| image(place, &name, Some(tag), digest));
    Ok(images(all.collect::<Result<_, _>>()?))
}
