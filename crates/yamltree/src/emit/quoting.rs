//! Which strings go-yaml quotes because they would be read as something else.

use crate::dialect::Dialect;
use crate::resolve::{Resolved, old_bool, resolve};

/// Returns true if go-yaml writes a string plain as far as its meaning goes.
pub(super) fn reads_as_string(text: &str, dialect: Dialect) -> bool {
    resolve(text, dialect) == Resolved::Str
        && !is_sexagesimal(text)
        && (dialect == Dialect::V2 || old_bool(text).is_none())
}

/// `12:30:45.6`: YAML 1.1 counts by sixties, which go-yaml never reads but quotes.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|char: char| char.is_ascii_digit()) {
        return false;
    }
    let mut groups = unsigned.split(':');
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let sixty = |text: &str| match text.as_bytes() {
        [digit] | [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    if !groups.next().is_some_and(number) {
        return false;
    }
    let mut rest = groups.peekable();
    if rest.peek().is_none() {
        return false;
    }
    while let Some(group) = rest.next() {
        let whole = match group.split_once('.') {
            Some((whole, fraction)) if rest.peek().is_none() && number(fraction) => whole,
            Some(_) => return false,
            None => group,
        };
        if !sixty(whole) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_sixties_are_quoted() {
        for text in ["1:0", "12:30:45", "-1:59", "+1_0:5.", "190:20:30.1_5", "00:00"] {
            assert!(is_sexagesimal(text), "{text}");
        }
        for text in
            ["1", "1:60", "1:", ":1", "a:1", "1:1:", "1:1.5:2", "1:1a", "_1:1", "1.5:1", "1:001", "--1:1"]
        {
            assert!(!is_sexagesimal(text), "{text}");
        }
    }

    #[test]
    fn old_booleans_are_quoted_by_both() {
        for text in ["y", "No", "ON", "true", "~", "12"] {
            assert!(!reads_as_string(text, Dialect::V2) && !reads_as_string(text, Dialect::V3), "{text}");
        }
        for text in ["yES", "<<", "=", "0o-7x"] {
            assert!(reads_as_string(text, Dialect::V2) && reads_as_string(text, Dialect::V3), "{text}");
        }
        assert!(reads_as_string("0o-7", Dialect::V2) && !reads_as_string("0o-7", Dialect::V3));
    }
}
