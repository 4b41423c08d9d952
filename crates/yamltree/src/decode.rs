//! Bytes to text: the encodings that YAML allows.
//!
//! In: a file's bytes. Out: its text, borrowed where it was UTF-8, or the first byte that go-yaml would stumble over. A
//! byte order mark stays, so that spans count the bytes of the file; the parser passes over it.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::text;
use diagnostic::{SourceId, Span};

/// Decodes the bytes of a file: UTF-8, or UTF-16 after its byte order mark.
///
/// # Errors
/// If the bytes are in neither encoding. The parser rejects forbidden characters, except for those before an invalid byte,
/// which are rejected here.
pub fn decode(bytes: &[u8], source: SourceId) -> Result<Cow<'_, str>, Error> {
    let read_unit = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return decode_utf8(bytes, source).map(Cow::Borrowed),
    };
    decode_utf16(&bytes[2..], read_unit)
        .map(Cow::Owned)
        .map_err(|(at, message)| refusal(message, source, 2 + at))
}

fn refusal(message: &str, source: SourceId, at: usize) -> Error {
    let start = u32::try_from(at).unwrap_or(u32::MAX);
    Error::new(ErrorKind::Invalid, message, Span { source, start, end: start.saturating_add(1) })
}

fn decode_utf8(bytes: &[u8], source: SourceId) -> Result<&str, Error> {
    std::str::from_utf8(bytes).or_else(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        text::check(std::str::from_utf8(valid).unwrap_or_default(), source, 0)?;
        let (at, message) = utf8_fault(rest);
        Err(refusal(message, source, valid.len() + at))
    })
}

/// Returns the error in bytes that do not start with a character, and its offset.
fn utf8_fault(bytes: &[u8]) -> (usize, &'static str) {
    let (len, smallest, lead) = match bytes {
        [lead @ 0xC0..=0xDF, ..] => (2, 0x80, lead & 0x1F),
        [lead @ 0xE0..=0xEF, ..] => (3, 0x800, lead & 0x0F),
        [lead @ 0xF0..=0xF7, ..] => (4, 0x1_0000, lead & 0x07),
        _ => return (0, "invalid leading UTF-8 octet"),
    };
    let Some(tail) = bytes.get(1..len) else { return (0, "incomplete UTF-8 octet sequence") };
    if let Some(at) = tail.iter().position(|octet| octet & 0xC0 != 0x80) {
        return (1 + at, "invalid trailing UTF-8 octet");
    }
    let value = tail.iter().fold(u32::from(lead), |value, octet| value << 6 | u32::from(octet & 0x3F));
    if value < smallest {
        return (0, "invalid length of a UTF-8 sequence");
    }
    (0, "invalid Unicode character")
}

/// Decodes what follows a byte order mark; an error is the place of a unit and what is wrong there.
fn decode_utf16(bytes: &[u8], read_unit: fn([u8; 2]) -> u16) -> Result<String, (usize, &'static str)> {
    let (pairs, rest) = bytes.as_chunks();
    let mut text = String::with_capacity(bytes.len());
    let mut at = 0;
    for unit in char::decode_utf16(pairs.iter().map(|&pair| read_unit(pair))) {
        let char = unit.map_err(|error| match (error.unpaired_surrogate(), at + 4 > bytes.len()) {
            (0xDC00.., _) => (at, "unexpected low surrogate area"),
            (_, true) => (at, "incomplete UTF-16 surrogate pair"),
            _ => (at + 2, "expected low surrogate area"),
        })?;
        text.push(char);
        at += 2 * char.len_utf16();
    }
    if !rest.is_empty() {
        return Err((at, "incomplete UTF-16 character"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        assert_eq!(decode("a: é".as_bytes(), 0).unwrap(), "a: é");
        assert_eq!(decode(b"\xEF\xBB\xBFa", 0).unwrap(), "\u{feff}a");
        assert_eq!(decode(b"\xFF\xFEa\0\x3D\xD8\0\xDE", 0).unwrap(), "a\u{1f600}");
        assert_eq!(decode(b"\xFE\xFF\0a\0\n", 0).unwrap(), "a\n");
    }

    /// The messages are those of go-yaml 3.0.4 for the same bytes.
    #[test]
    fn faults() {
        for (bytes, at, message) in [
            (&b"a\x80"[..], 1, "yaml: invalid leading UTF-8 octet"),
            (b"a\xFF", 1, "yaml: invalid leading UTF-8 octet"),
            (b"a\xC3", 1, "yaml: incomplete UTF-8 octet sequence"),
            (b"a\xE2\x80", 1, "yaml: incomplete UTF-8 octet sequence"),
            (b"\xE2\x80a", 2, "yaml: invalid trailing UTF-8 octet"),
            (b"\xC0\x80", 0, "yaml: invalid length of a UTF-8 sequence"),
            (b"\xED\xA0\x80", 0, "yaml: invalid Unicode character"),
            (b"\xF4\x90\x80\x80", 0, "yaml: invalid Unicode character"),
            (b"a\x01b\xFF", 1, "yaml: control characters are not allowed"),
            (b"\xFF\xFEa", 2, "yaml: incomplete UTF-16 character"),
            (b"\xFF\xFE\0\xDC", 2, "yaml: unexpected low surrogate area"),
            (b"\xFF\xFE\x3D\xD8", 2, "yaml: incomplete UTF-16 surrogate pair"),
            (b"\xFF\xFE\x3D\xD8\0", 2, "yaml: incomplete UTF-16 surrogate pair"),
            (b"\xFE\xFF\xD8\x3D\0a", 4, "yaml: expected low surrogate area"),
        ] {
            let error = decode(bytes, 7).unwrap_err();
            assert_eq!((error.go_text().as_str(), error.span().start), (message, at), "{bytes:?}");
        }
    }
}
