//! Docker Hub. It signs nothing, so the secret is in the address.

use super::letter::{Read, images, tagged};
use super::proof::Proof;
use super::{Kind, Letter, Malformed};

pub(super) const KIND: Kind = Kind {
    names: &["docker.io"],
    variable: "DOCKER_WEBHOOK_SECRET",
    proofs: &[Proof::Query],
    delivery: None,
    // `push_data.pushed_at`
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let name = name(letter).ok_or(Malformed("it names no repository"))?;
    let tag = letter.text("/push_data/tag").ok_or(Malformed("it names no tag"))?;
    let repository =
        format!("docker.io/{name}").parse().map_err(|_| Malformed("it names an image that cannot be"))?;
    Ok(images(vec![tagged(repository, Some(tag), None)?]))
}

fn name(letter: &Letter<'_>) -> Option<String> {
    if let Some(name) = letter.text("/repository/repo_name") {
        return Some(name.to_owned());
    }
    let name = letter.text("/repository/name")?;
    Some(letter.text("/repository/namespace").map_or(name.to_owned(), |space| format!("{space}/{name}")))
}
