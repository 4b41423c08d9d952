//! Which strings go-yaml quotes because they would be read as something else.

use crate::dialect::Dialect;
use crate::resolve::{Resolved, old_bool, resolve};

/// Whether go-yaml writes a string plain as far as its meaning goes.
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
