//! Harbor, in its own format and as CloudEvents.

use oci_registry::Reference;

use super::letter::{Read, host, image, images};
use super::proof::Proof;
use super::{Image, Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["harbor"],
    variable: "HARBOR_WEBHOOK_SECRET",
    proofs: &[Proof::Header("authorization")],
    delivery: None,
    // `occur_at`, or the name of the event
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let data = match letter.text("/type").ok_or(Malformed("it lacks a type"))? {
        "PUSH_ARTIFACT" => "/event_data",
        "harbor.artifact.pushed" => "/data",
        _ => return Ok(News::Nothing),
    };
    let data = letter.body.pointer(data).ok_or(Malformed("it says nothing of an artifact"))?;
    let data = letter.with_body(data);
    let resources = data.list("/resources");
    if resources.is_empty() {
        return Err(Malformed("it names no artifact"));
    }
    let all = resources.iter().map(|resource| one(&data, &data.with_body(resource)));
    Ok(images(all.collect::<Result<_, _>>()?))
}

fn one(data: &Letter<'_>, resource: &Letter<'_>) -> Result<Image, Malformed> {
    let url = resource.text("/resource_url");
    let (tag, digest) = (resource.text("/tag"), resource.text("/digest"));
    // A push without a tag has its digest for a tag.
    let tag = tag.filter(|tag| !tag.starts_with("sha256:"));
    let name = name(data);
    match (data.place(), url) {
        (Some(place), _) => image(&place, &name.ok_or(Malformed("it names no repository"))?, tag, digest),
        (None, None) => Err(Malformed("it does not say where the artifact is")),
        (None, Some(url)) => match name {
            Some(name) => image(host(url), &name, tag, digest),
            None => {
                let known = Reference::parse_oci(super::letter::host_and_path(url));
                let known = known.map_err(|_| Malformed("it names an image that cannot be"))?;
                image(known.repository().registry(), known.repository().name(), tag, digest)
            }
        },
    }
}

fn name(data: &Letter<'_>) -> Option<String> {
    if let Some(name) = data.text("/repository/repo_full_name") {
        return Some(name.to_owned());
    }
    let name = data.text("/repository/name")?;
    Some(data.text("/repository/namespace").map_or(name.to_owned(), |space| format!("{space}/{name}")))
}
