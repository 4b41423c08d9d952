//! `strconv.Quote` and its relatives: Go string literals of bytes.

use crate::unicode::is_print;

/// The bytes as a double-quoted Go literal, as `%q` and `strconv.Quote` write it.
#[must_use]
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    push_quoted(&mut out, bytes, '"', false);
    out
}

/// The same in ASCII only, as `%+q` writes it.
#[must_use]
pub fn quoted_ascii(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    push_quoted(&mut out, bytes, '"', true);
    out
}

/// A character as a Go literal, as `%q` writes it for a number.
#[must_use]
pub fn quoted_char(c: char, ascii: bool) -> String {
    let mut out = String::from('\'');
    push_escaped(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

/// The characters of `bytes`, and in between the bytes that are not UTF-8.
pub fn characters(bytes: &[u8]) -> impl Iterator<Item = Result<char, u8>> + '_ {
    bytes
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars().map(Ok).chain(chunk.invalid().iter().map(|byte| Err(*byte))))
}

fn push_quoted(out: &mut String, bytes: &[u8], quote: char, ascii: bool) {
    out.push(quote);
    // Most texts need no escapes.
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\' && char::from(*byte) != quote;
    if bytes.iter().all(plain) {
        out.extend(bytes.iter().copied().map(char::from));
        out.push(quote);
        return;
    }
    for character in characters(bytes) {
        match character {
            Ok(c) => push_escaped(out, c, quote, ascii),
            Err(byte) => push_hex(out, 'x', u32::from(byte), 2),
        }
    }
    out.push(quote);
}

fn push_escaped(out: &mut String, c: char, quote: char, ascii: bool) {
    match c {
        '\\' => out.push_str("\\\\"),
        _ if c == quote => {
            out.push('\\');
            out.push(c);
        }
        _ if is_print(c) && (c.is_ascii() || !ascii) => out.push(c),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        '\0'..=' ' | '\u{7f}' => push_hex(out, 'x', c as u32, 2),
        '\0'..='\u{ffff}' => push_hex(out, 'u', c as u32, 4),
        _ => push_hex(out, 'U', c as u32, 8),
    }
}

fn push_hex(out: &mut String, letter: char, code: u32, digits: u32) {
    out.push('\\');
    out.push(letter);
    for place in (0..digits).rev() {
        out.push(char::from_digit(code >> (4 * place) & 15, 16).unwrap_or('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The answers are those of `printf "%q"` and `printf "%+q"` in Helm 4.3.1.
    #[test]
    fn literals_are_those_of_go() {
        assert_eq!(quoted(b"a\"b\\c\n\x07\x7f\x00"), r#""a\"b\\c\n\a\x7f\x00""#);
        assert_eq!(quoted("é日\u{a0}\u{feff}😀".as_bytes()), "\"é日\\u00a0\\ufeff😀\"");
        assert_eq!(quoted(b"\xff\xe9a"), r#""\xff\xe9a""#);
        assert_eq!(quoted_ascii("é😀'".as_bytes()), r#""\u00e9\U0001f600'""#);
        assert_eq!(quoted_char('\'', false), r"'\''");
        assert_eq!(quoted_char('"', false), "'\"'");
    }
}
