//! Pushes to projects on GitLab, which sends the secret as it is.

use super::github::push;
use super::letter::Read;
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News};

pub(super) const KIND: Kind = Kind {
    names: &["gitlab"],
    variable: "GITLAB_WEBHOOK_SECRET",
    proofs: &[Proof::Header("x-gitlab-token")],
    delivery: Some("x-gitlab-event-uuid"),
    // A branch may go to and fro.
    is_unique: false,
    read,
};

const ADDRESSES: [&str; 5] = ["git_http_url", "git_ssh_url", "http_url", "ssh_url", "web_url"];

fn read(letter: &Letter<'_>) -> Read {
    match letter.text("/object_kind").or_else(|| letter.text("/event_name")) {
        Some("push") => push(letter, "/project", &ADDRESSES),
        Some(_) => Ok(News::Nothing),
        None => Err(Malformed("it lacks `object_kind`")),
    }
}
