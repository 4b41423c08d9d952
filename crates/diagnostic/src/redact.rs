//! Removes secrets from URLs in messages.
//!
//! Input: any string. Output: the same string, as many characters long, with stars in place of the user and password of
//! each URL and of the values of parameters whose names suggest a secret.

use std::borrow::Cow;
use std::ops::Range;

/// Substrings of parameter names whose values are secrets.
const SECRET_NAMES: &[&str] = &["token", "secret", "passw", "sig", "key", "auth", "credential", "code"];

/// Returns the string with stars in place of secrets.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        clean.push_str(&text[end..secret.start]);
        clean.extend(text[secret.clone()].chars().map(|_| '*'));
        end = secret.end;
    }
    clean.push_str(&text[end..]);
    Cow::Owned(clean)
}

/// Returns the redacted form of a message, without a copy where there is no secret.
pub(crate) fn redacted(text: String) -> String {
    match redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    }
}

/// Returns a URL without its user and password.
#[must_use]
pub fn without_account(url: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = url.split_once("://") else { return Cow::Borrowed(url) };
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(user) => Cow::Owned(format!("{scheme}://{}", &rest[user + 1..])),
        None => Cow::Borrowed(url),
    }
}

fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let end = text[start..].find(ends_address).map_or(text.len(), |length| start + length);
        let address = &text[start..end];
        let authority = address.find(['/', '?', '#']).unwrap_or(address.len());
        // A password may contain `@`; so may the path, which is not a secret.
        if let Some(user) = address[..authority].rfind('@') {
            secrets.extend(secret_of_user(&text[..at], &address[..user]).map(|secret| shift(secret, start)));
        }
        secrets.extend(secret_parameters(address).map(|secret| shift(secret, start)));
    }
    secrets
}

/// Returns true for characters that a URL never contains unescaped.
fn ends_address(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '`' | '<' | '>')
}

/// The user of an ssh URL is not a secret; that of an https URL is often the token itself.
fn secret_of_user(before: &str, user: &str) -> Option<Range<usize>> {
    if before.ends_with("ssh") {
        return user.find(':').map(|colon| colon + 1..user.len());
    }
    Some(0..user.len())
}

fn secret_parameters(address: &str) -> impl Iterator<Item = Range<usize>> {
    let marks = address.match_indices(['?', '&']).map(|(at, _)| at + 1);
    marks.filter_map(|start| {
        let end = address[start..].find(['&', '#']).map_or(address.len(), |length| start + length);
        let (name, value) = address[start..end].split_once('=')?;
        let name = name.to_ascii_lowercase();
        let is_secret = !value.is_empty() && SECRET_NAMES.iter().any(|secret| name.contains(secret));
        is_secret.then(|| end - value.len()..end)
    })
}

fn shift(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_stars() {
        for (text, want) in [
            ("nothing here", "nothing here"),
            ("https://host/org/repo?ref=v1", "https://host/org/repo?ref=v1"),
            ("- https://me:pa@ss@host/r", "- https://********@host/r"),
            ("`https://ghp_abc@github.com/o/r.git`: gone", "`https://*******@github.com/o/r.git`: gone"),
            ("ssh://git@host/r and ssh://git:pw@host/r", "ssh://git@host/r and ssh://git:**@host/r"),
            ("git@host:org/repo", "git@host:org/repo"),
            ("https://host/a@b/c", "https://host/a@b/c"),
            ("https://h/f.yaml?token=abc&x=1#y", "https://h/f.yaml?token=***&x=1#y"),
            ("https://h/f?a=1&X-Amz-Signature=9f", "https://h/f?a=1&X-Amz-Signature=**"),
            ("https://é:ü@h/ 'https://u@h'", "https://***@h/ 'https://*@h'"),
            ("://@", "://@"),
        ] {
            let clean = redact(text);
            assert_eq!(clean, want);
            assert_eq!(clean.chars().count(), text.chars().count(), "columns stay: {text}");
        }
    }
}
