//! GitHub's container registry, by GitHub's events `package` and `registry_package`.

use super::letter::{Read, image, images};
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["ghcr.io"],
    variable: "GHCR_WEBHOOK_SECRET",
    proofs: &[Proof::Sha256 { header: "x-hub-signature-256", prefix: "sha256=" }],
    delivery: Some("x-github-delivery"),
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    let of_event = match letter.header("x-github-event") {
        Some("package") => "/package",
        Some("registry_package") => "/registry_package",
        Some(_) => return Ok(News::Nothing),
        None => return Err(Malformed("the header `X-GitHub-Event` is missing")),
    };
    if !matches!(letter.text("/action"), Some("published" | "updated")) {
        return Ok(News::Nothing);
    }
    let package = letter.body.pointer(of_event).ok_or(Malformed("it names no package"))?;
    let place = letter.place().unwrap_or("ghcr.io".into());
    let package = letter.with_body(package);
    if !package.text("/package_type").is_some_and(|kind| kind.eq_ignore_ascii_case("container")) {
        return Ok(News::Nothing);
    }
    let name = package.text("/name").ok_or(Malformed("it names no package"))?;
    let owner = package.text("/owner/login").or_else(|| package.text("/namespace"));
    let owner = owner.ok_or(Malformed("it names no owner"))?;
    // An owner is written as they write themselves, and an image in lower case.
    let name = format!("{owner}/{name}").to_lowercase();
    let version = |field: &str| package.text(&format!("/package_version{field}"));
    let is_digest = |text: &&str| text.starts_with("sha256:");
    let tag = version("/container_metadata/tag/name")
        .or_else(|| version("/name").filter(|name| !is_digest(name)))
        .or_else(|| version("/version").filter(|version| !is_digest(version)));
    let digest = version("/container_metadata/tag/digest")
        .or_else(|| version("/version").filter(is_digest))
        .or_else(|| version("/name").filter(is_digest));
    Ok(images(vec![image(&place, &name, tag, digest)?]))
}
