//! Secrets whose values are in Git.
//!
//! Left alone: what is encrypted (SOPS, and the custom resources that make Secrets), empty and placeholder values,
//! references for plugins that fill them in, certificates and other public keys, and what comes out different at each
//! rendering and so is in no file. What looks like a password, a token or a private key is a warning, anything else a
//! note. Values are in no message.

use findings::{Rule, Severity};
use gostd::base64;
use yamltree::{Entry, Node};

use super::Check;
use crate::builder::FindingBuilder;
use crate::index::Index;

pub(super) const CHECK: Check = Check {
    rule: &Rule {
        code: "LINT004",
        name: "literal-secret",
        meaning: "A Secret is in Git as it is: whoever can read the repository, or ever could, has it, and it stays in \
                  the history.",
    },
    fix: "change it at its source, and keep it as an ExternalSecret, a SealedSecret or encrypted by SOPS",
    run,
};

/// Parts of the keys of confidential values, without dashes, dots and underscores.
const CONFIDENTIAL: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "encryptionkey",
    "credential",
    "dockerconfigjson",
    "dockercfg",
    "htpasswd",
    "kubeconfig",
    "tlskey",
];

/// Suffixes of the keys of public values, without dashes, dots and underscores.
const PUBLIC: &[&str] = &[
    "cacrt",
    "tlscrt",
    "capem",
    "bundlecrt",
    "namespace",
    "username",
    "user",
    "host",
    "port",
    "database",
    "url",
    "email",
    "id",
];

/// Parts of placeholder values that a person or a plugin fills in.
const PLACEHOLDERS: &[&str] = &[
    "${",
    "$(",
    "{{",
    "<",
    "changeme",
    "change-me",
    "change_me",
    "replaceme",
    "replace-me",
    "replace_me",
    "placeholder",
    "redacted",
    "dummy",
    "example",
    "your-",
    "your_",
    "todo",
    "xxxx",
    "****",
    "enc[",
    "vault:",
    "ref+",
    "not-a-secret",
    "notasecret",
    "unused",
];

/// Parts that only confidential values contain.
const SIGNS: &[&str] = &["PRIVATE KEY-----", "ghp_", "github_pat_", "glpat-", "xoxb-", "AKIA"];

/// The length above which a value counts as a file and is not searched for placeholders.
const MAX_PLACEHOLDER_LEN: usize = 256;

fn run<'s>(index: &Index<'s>, drafts: &mut Vec<FindingBuilder<'s>>) {
    for (at, target, object) in index.objects() {
        let is_secret = object.group().is_empty() && object.kind() == "Secret";
        let is_encrypted = object.node().get("sops").is_some();
        let is_generated = target.generated_secrets.iter().any(|name| name == object.name());
        if !is_secret || is_encrypted || is_generated {
            continue;
        }
        let literal = literal(object.node());
        let confidential: Vec<&Literal<'_>> = literal.iter().filter(|it| it.is_confidential).collect();
        let (severity, what) = if confidential.is_empty() {
            (Severity::Note, "values that are in Git as they are")
        } else {
            (Severity::Warning, "confidential values that are in Git as they are")
        };
        let shown: Vec<&Literal<'_>> =
            if confidential.is_empty() { literal.iter().collect() } else { confidential };
        let Some(first) = shown.first() else { continue };
        let keys: Vec<String> = shown.iter().take(5).map(|it| format!("`{}`", it.key)).collect();
        let more = if shown.len() > 5 { format!(" and {} more", shown.len() - 5) } else { String::new() };
        drafts.push(
            FindingBuilder::new(index, at, object, severity)
                .field(format!("{}.{}", first.part, first.key), first.node)
                .message(format!("the Secret has {what}: {}{more}", keys.join(", "))),
        );
    }
}

/// A value in the manifest.
struct Literal<'o> {
    part: &'static str,
    key: &'o str,
    node: &'o Node,
    is_confidential: bool,
}

fn literal(node: &Node) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    for part in ["data", "stringData"] {
        for Entry { key, value } in node.get(part).and_then(Node::entries).into_iter().flatten() {
            let (Some(key), Some(text)) = (key.text(), value.text()) else { continue };
            let text = match part {
                "data" => decoded(text),
                _ => Some(text.to_owned()),
            };
            let Some(text) = text.filter(|text| !is_placeholder(text) && !is_public(key, text)) else {
                continue;
            };
            let is_confidential = is_confidential(key, &text);
            found.push(Literal { part, key, node: value, is_confidential });
        }
    }
    found
}

/// Returns the decoded value of a `data` entry; `None` for a placeholder or if it is not base64.
fn decoded(text: &str) -> Option<String> {
    if is_placeholder(text) {
        return None;
    }
    let text: String = text.chars().filter(|it| !it.is_ascii_whitespace()).collect();
    let bytes = base64::decode(text.as_bytes()).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || matches!(text, "null" | "none" | "true" | "false" | "\"\"" | "''" | "{}" | "[]") {
        return true;
    }
    let is_path = (text.starts_with('/') || text.starts_with("~/")) && !text.contains(char::is_whitespace);
    let is_one_character = text.chars().all(|it| text.starts_with(it));
    let lower = text.to_lowercase();
    is_path
        || is_one_character
        || (text.len() <= MAX_PLACEHOLDER_LEN
            && PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder)))
}

fn is_public(key: &str, text: &str) -> bool {
    let is_certificate = text.contains("-----BEGIN CERTIFICATE") && !text.contains("PRIVATE KEY");
    let key = plain(key);
    is_certificate || PUBLIC.iter().any(|end| key.ends_with(end)) && !has_password(text)
}

fn is_confidential(key: &str, text: &str) -> bool {
    let key = plain(key);
    CONFIDENTIAL.iter().any(|word| key.contains(word))
        || SIGNS.iter().any(|sign| text.contains(sign))
        || has_password(text)
}

/// Returns a key without the separators between its words.
fn plain(key: &str) -> String {
    key.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Returns true if a text is an address with a password.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\n', ' ']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !is_placeholder(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_no_secrets() {
        for text in [
            "",
            " ",
            "changeme",
            "CHANGE-ME-NOW",
            "${DB_PASSWORD}",
            "<path:kv/data/db#password>",
            "xxxxxx",
            "ENC[AES256,data:…]",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["hunter2", "s3cr3t", "abc"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }

    #[test]
    fn addresses_with_passwords_are_found() {
        assert!(has_password("postgres://app:hunter2@db:5432/app"));
        for text in
            ["postgres://db:5432/app", "https://app@host/", "postgres://app:${PASSWORD}@db/app", "a:b@c"]
        {
            assert!(!has_password(text), "{text}");
        }
    }
}
