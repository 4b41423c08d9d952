//! Base64 as Go's `base64.StdEncoding` reads it: with padding, and line breaks anywhere.

/// The bytes that a text stands for; `None` where it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut digits = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n'));
    loop {
        let Some(first) = digits.next() else { return Some(bytes) };
        let group = [first, digits.next()?, digits.next()?, digits.next()?];
        let padding = group.iter().rev().take_while(|&&byte| byte == b'=').count();
        if padding > 2 || (padding > 0 && digits.next().is_some()) {
            return None;
        }
        let mut bits = 0_u32;
        for &byte in &group[..4 - padding] {
            bits = bits << 6 | u32::from(digit(byte)?);
        }
        bits <<= 6 * padding;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_text_with_line_breaks() {
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        assert_eq!(decode("YWJj").as_deref(), Some(&b"abc"[..]));
        assert_eq!(decode("YW\r\nI=\n").as_deref(), Some(&b"ab"[..]));
        assert_eq!(decode("/+==").as_deref(), Some(&[0xFF][..]));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["YQ", "YQ=", "Y===", "====", "YQ==YQ==", "Y Q=", "YW-_", "YQ==="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
