//! `strconv.Unquote`: in goes a Go literal with its quotes, out come the bytes it stands for.

/// The bytes of a string literal in `"` or backquotes, or nothing if it is none.
pub(super) fn unquote(literal: &[u8]) -> Option<Vec<u8>> {
    match literal {
        [b'`', raw @ .., b'`'] => Some(raw.iter().copied().filter(|byte| *byte != b'\r').collect()),
        [b'"', text @ .., b'"'] if is_plain(text) => Some(text.to_vec()),
        [b'"', text @ .., b'"'] => {
            let mut out = Vec::with_capacity(text.len());
            let mut rest = text;
            while !rest.is_empty() {
                let (unit, after) = unit(rest, b'"')?;
                unit.push(&mut out);
                rest = after;
            }
            Some(out)
        }
        _ => None,
    }
}

/// The code of the first character of a character literal whose opening quote is off, and what follows it.
pub(super) fn unquote_char(text: &[u8]) -> Option<(u32, &[u8])> {
    let (unit, rest) = unit(text, b'\'')?;
    let code = match unit {
        Unit::Byte(byte) => u32::from(byte),
        Unit::Char(c) => c as u32,
    };
    Some((code, rest))
}

/// Returns true if a text stands for itself, as most do.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b' '..=b'~').contains(byte) && !matches!(byte, b'"' | b'\\'))
}

enum Unit {
    Byte(u8),
    Char(char),
}

impl Unit {
    fn push(self, out: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => out.push(byte),
            Self::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Returns what the start of `text` stands for, and the rest.
fn unit(text: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    let (first, rest) = text.split_first()?;
    match *first {
        byte if byte == quote || byte == b'\n' => None,
        b'\\' => escape(rest, quote),
        byte if byte.is_ascii() => Some((Unit::Byte(byte), rest)),
        _ => match gostd::characters(&text[..text.len().min(4)]).next()? {
            Ok(c) => Some((Unit::Char(c), &text[c.len_utf8()..])),
            Err(byte) if quote == b'"' => Some((Unit::Byte(byte), rest)),
            Err(_) => Some((Unit::Char(char::REPLACEMENT_CHARACTER), rest)),
        },
    }
}

fn escape(text: &[u8], quote: u8) -> Option<(Unit, &[u8])> {
    let (letter, rest) = text.split_first()?;
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'\'' | b'"' if *letter == quote => *letter,
        b'x' => {
            return code(rest, 2, 16)
                .and_then(|(code, rest)| Some((Unit::Byte(u8::try_from(code).ok()?), rest)));
        }
        b'u' => {
            return code(rest, 4, 16)
                .and_then(|(code, rest)| Some((Unit::Char(char::from_u32(code)?), rest)));
        }
        b'U' => {
            return code(rest, 8, 16)
                .and_then(|(code, rest)| Some((Unit::Char(char::from_u32(code)?), rest)));
        }
        b'0'..=b'7' => {
            return code(text, 3, 8)
                .and_then(|(code, rest)| Some((Unit::Byte(u8::try_from(code).ok()?), rest)));
        }
        _ => return None,
    };
    Some((Unit::Byte(byte), rest))
}

fn code(text: &[u8], digits: usize, base: u32) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(digits)?;
    let code = digits.iter().try_fold(0u32, |code, digit| {
        code.checked_mul(base)?.checked_add(char::from(*digit).to_digit(base)?)
    })?;
    Some((code, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(unquote(br#""a\n\x41\101\u00e9\"""#).unwrap(), "a\nAA\u{e9}\"".as_bytes());
        assert_eq!(unquote(br#""\xff""#).unwrap(), b"\xff");
        assert_eq!(unquote(b"`a\\n\r\n`").unwrap(), b"a\\n\n");
        for bad in [r#""\q""#, r#""\'""#, r#""\400""#, r#""\ud800""#, r#""\x4""#] {
            assert_eq!(unquote(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_character_literal_may_be_an_escape() {
        assert_eq!(unquote_char(b"a'"), Some((97, &b"'"[..])));
        assert_eq!(unquote_char(br"\''"), Some((39, &b"'"[..])));
        assert_eq!(unquote_char(br"\x80'"), Some((128, &b"'"[..])));
        assert_eq!(unquote_char(b"'"), None);
    }
}
