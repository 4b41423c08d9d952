//! Sonatype Nexus, by what it tells of components.

use super::letter::{Read, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["nexus"],
    variable: "NEXUS_WEBHOOK_SECRET",
    proofs: &[Proof::Sha1 { header: "x-nexus-webhook-signature" }],
    delivery: Some("x-nexus-webhook-delivery"),
    // `timestamp`
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let action = letter.text("/action").ok_or(Malformed("it lacks `action`"))?;
    if !matches!(action, "CREATED" | "UPDATED") || letter.text("/component/format") != Some("docker") {
        return Ok(News::Nothing);
    }
    let name = letter.text("/component/name").ok_or(Malformed("it names no image"))?;
    let tag = letter.text("/component/version").filter(|version| !version.starts_with("sha256:"));
    // It does not know by what its repositories are reached.
    let place = letter.place().ok_or(Malformed("it names no registry: say `registry_url` in the address"))?;
    Ok(images(vec![image(&place, name, tag, None)?]))
}
