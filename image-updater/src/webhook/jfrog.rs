//! JFrog Artifactory. Signed where the webhook says that the secret signs the payload.

use super::letter::{Read, host, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["jfrog"],
    variable: "JFROG_WEBHOOK_SECRET",
    proofs: &[Proof::Sha256 { header: "x-jfrog-event-auth", prefix: "" }, Proof::Query],
    delivery: None,
    // A tag that is pushed a second time may be told in the same words.
    is_unique: false,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let is = |pointer: &str, wanted: &str| letter.text(pointer) == Some(wanted);
    letter.text("/event_type").ok_or(Malformed("it lacks `event_type`"))?;
    if !(is("/domain", "docker") && is("/event_type", "pushed")) {
        return Ok(News::Nothing);
    }
    let name = letter.text("/data/image_name").ok_or(Malformed("it names no image"))?;
    let tag = letter.text("/data/tag").ok_or(Malformed("it names no tag"))?;
    if let Some(place) = letter.place() {
        return Ok(images(vec![image(&place, name, Some(tag), None)?]));
    }
    let origin = letter.text("/jpd_origin").map(host);
    let origin = origin.ok_or(Malformed("it names no registry: say `registry_url` in the address"))?;
    let repository = letter.text("/data/repo_key").ok_or(Malformed("it names no repository"))?;
    // A repository of Artifactory's is a part of the path, or of the host.
    let below = image(&format!("{origin}/{repository}"), name, Some(tag), None)?;
    let beside = image(&format!("{repository}.{origin}"), name, Some(tag), None);
    Ok(images([Some(below), beside.ok()].into_iter().flatten().collect()))
}
