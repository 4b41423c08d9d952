//! Pushes to repositories on Gitea or Forgejo.

use super::github::push;
use super::letter::Read;
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["gitea", "forgejo"],
    variable: "GITEA_WEBHOOK_SECRET",
    proofs: &[
        Proof::Sha256 { header: "x-gitea-signature", prefix: "" },
        Proof::Sha256 { header: "x-forgejo-signature", prefix: "" },
        Proof::Sha256 { header: "x-hub-signature-256", prefix: "sha256=" },
    ],
    delivery: Some("x-gitea-delivery"),
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    match letter.header("x-gitea-event").or_else(|| letter.header("x-forgejo-event")) {
        Some("push") => push(letter, "/repository", &["clone_url", "ssh_url", "html_url"]),
        Some(_) => Ok(News::Nothing),
        None => Err(Malformed("the header `X-Gitea-Event` is missing")),
    }
}
