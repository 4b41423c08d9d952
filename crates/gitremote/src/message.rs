//! A commit's message: what a person reads, then trailers for programs.

use diagnostic::{Error, ErrorKind, Result};

/// A message is read by people, but its trailers by programs: a thousand images make a fifth of this.
const MAX_MESSAGE: usize = 1 << 20;

/// The message as git keeps it: without blank ends, one line end at the end, trailers in a paragraph of their own or in
/// the one that ends the text already.
pub(crate) fn compose(text: &str, trailers: &[(String, String)]) -> Result<String> {
    let refused = |reason: String| Error::new(ErrorKind::Invalid, reason);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut message = lines.join("\n").trim_matches('\n').to_owned();
    if message.trim().is_empty() {
        return Err(refused("the commit message is empty".to_owned()));
    }
    if message.contains('\0') {
        return Err(refused("a commit's message has a NUL".to_owned()));
    }
    for (number, (key, value)) in trailers.iter().enumerate() {
        let value = value.trim();
        if !is_key(key) || value.is_empty() || value.contains(['\n', '\r', '\0']) {
            return Err(refused(format!("invalid commit trailer `{key}: {}`", value.escape_debug())));
        }
        message.push_str(if number > 0 || ends_with_trailers(&message) { "\n" } else { "\n\n" });
        message.push_str(&format!("{key}: {value}"));
    }
    if message.len() > MAX_MESSAGE {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("a commit's message is longer than {} KiB", MAX_MESSAGE >> 10),
        ));
    }
    message.push('\n');
    Ok(message)
}

/// Returns what programs read: the last paragraph, where it has nothing else.
pub(crate) fn trailers(message: &str) -> Vec<(String, String)> {
    let message = message.trim_end();
    if !ends_with_trailers(message) {
        return Vec::new();
    }
    let last = message.rsplit_once("\n\n").map_or("", |(_, last)| last);
    let pairs = last.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect()
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns true if the last paragraph, which is not the first, has nothing but trailers.
fn ends_with_trailers(message: &str) -> bool {
    let Some((_, last)) = message.rsplit_once("\n\n") else { return false };
    last.lines().all(|line| line.split_once(": ").is_some_and(|(key, _)| is_key(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(text: &str, trailers: &[(&str, &str)]) -> String {
        let trailers: Vec<_> = trailers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        compose(text, &trailers).unwrap()
    }

    /// As `git interpret-trailers` places them.
    #[test]
    fn trailers_have_a_paragraph_of_their_own() {
        assert_eq!(composed("\n\nbump  \n\n", &[]), "bump\n");
        assert_eq!(composed("bump", &[("A", "1"), ("B-C", " 2 ")]), "bump\n\nA: 1\nB-C: 2\n");
        assert_eq!(composed("build: bump", &[("A", "1")]), "build: bump\n\nA: 1\n");
        assert_eq!(composed("bump\r\n\r\nbody: it\n", &[("A", "1")]), "bump\n\nbody: it\nA: 1\n");
        assert_eq!(composed("bump\n\nbody it", &[("A", "1")]), "bump\n\nbody it\n\nA: 1\n");
    }

    #[test]
    fn trailers_are_read_back() {
        let written = composed("bump", &[("A", "1"), ("B", "x: y")]);
        let pairs = [("A", "1"), ("B", "x: y")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(trailers(&written), pairs);
        assert_eq!(trailers("build: bump\n"), []);
        assert_eq!(trailers("bump\n\nA: 1\nand text\n"), []);
        assert_eq!(trailers(""), []);
    }

    #[test]
    fn what_git_would_misread_is_refused() {
        for (key, value) in [("", "x"), ("a b", "x"), ("A", ""), ("A", "x\nB: y"), ("A:", "x")] {
            assert!(compose("x", &[(key.to_owned(), value.to_owned())]).is_err(), "{key} {value:?}");
        }
        assert!(compose(" \n\t\n", &[]).is_err());
        assert!(compose("a\0b", &[]).is_err());
        assert!(compose(&"x".repeat(MAX_MESSAGE + 1), &[]).is_err());
    }
}
