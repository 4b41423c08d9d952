//! Pushes to repositories on GitHub.

use super::letter::Read;
use super::proof::Proof;
use super::{Kind, Letter, Malformed, News, Push};

pub(super) const KIND: Kind = Kind {
    names: &["github"],
    variable: "GITHUB_WEBHOOK_SECRET",
    proofs: &[Proof::Sha256 { header: "x-hub-signature-256", prefix: "sha256=" }],
    delivery: Some("x-github-delivery"),
    is_unique: true,
    read,
};

fn read(letter: &Letter<'_>) -> Read {
    match letter.header("x-github-event") {
        Some("push") => push(letter, "/repository", &["clone_url", "ssh_url", "html_url", "git_url"]),
        Some(_) => Ok(News::Nothing),
        None => Err(Malformed("the header `X-GitHub-Event` is missing")),
    }
}

/// A push to a branch, of a repository with its addresses at a path; nothing where it was to a tag.
pub(super) fn push(letter: &Letter<'_>, repository: &str, addresses: &[&str]) -> Read {
    let reference = letter.text("/ref").ok_or(Malformed("it names no `ref`"))?;
    let Some(branch) = reference.strip_prefix("refs/heads/") else { return Ok(News::Nothing) };
    let address = |name: &&str| letter.text(&format!("{repository}/{name}")).map(str::to_owned);
    let addresses: Vec<String> = addresses.iter().filter_map(address).collect();
    if addresses.is_empty() {
        return Err(Malformed("it names no repository"));
    }
    let default_branch = letter.text(&format!("{repository}/default_branch")).map(str::to_owned);
    let commit = letter.text("/after").map(str::to_owned);
    Ok(News::Push(Push { addresses, branch: branch.to_owned(), default_branch, commit }))
}
