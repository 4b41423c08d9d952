//! Go's `base64.StdEncoding`: with padding; line breaks anywhere are skipped.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::base32::is_line_end;

/// The error of a text that is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptInputError {
    /// The byte that Go names.
    pub offset: usize,
}

impl fmt::Display for CorruptInputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal base64 data at input byte {}", self.offset)
    }
}

impl std::error::Error for CorruptInputError {}

/// Encodes bytes, on one line.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text. The bits of the last digit that belong to no byte may be set.
///
/// # Errors
/// If the text is not base64.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, CorruptInputError> {
    let corrupt = |offset: usize| CorruptInputError { offset };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut number, mut used) = (0_u32, 0);
    for (index, byte) in text.iter().enumerate() {
        match digit(*byte) {
            Some(digit) => {
                number = number << 6 | u32::from(digit);
                used += 1;
                if used == 4 {
                    bytes.extend_from_slice(&number.to_be_bytes()[1..]);
                    (number, used) = (0, 0);
                }
            }
            None if is_line_end(byte) => {}
            None if *byte == b'=' && used >= 2 => {
                check_padding(text, index, used).map_err(corrupt)?;
                let number = number << (6 * (4 - used));
                bytes.extend_from_slice(&number.to_be_bytes()[1..used]);
                return Ok(bytes);
            }
            None => return Err(corrupt(index)),
        }
    }
    if used > 0 { Err(corrupt(text.len() - used)) } else { Ok(bytes) }
}

/// Checks what follows the first `=`, and returns the offset where it goes wrong.
fn check_padding(text: &[u8], first: usize, used: usize) -> Result<(), usize> {
    let skip = |from: usize| from + text[from..].iter().take_while(|byte| is_line_end(byte)).count();
    let mut next = skip(first + 1);
    if used == 2 {
        match text.get(next) {
            None => return Err(text.len()),
            Some(b'=') => next = skip(next + 1),
            Some(_) => return Err(next - 1),
        }
    }
    if next < text.len() { Err(next) } else { Ok(()) }
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_reads_back() {
        let bytes: Vec<u8> = (0..36).map(|byte| byte * 7).collect();
        for length in 0..bytes.len() {
            assert_eq!(decode(encode(&bytes[..length]).as_bytes()).unwrap(), bytes[..length]);
        }
    }

    #[test]
    fn line_breaks_are_skipped() {
        for (text, bytes) in [("", ""), ("YW\r\nI=\n", "ab"), ("YW\nJj", "abc"), ("YR==", "a")] {
            assert_eq!(decode(text.as_bytes()).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert_eq!(decode(b"/+==").unwrap(), [0xff]);
    }

    // The offsets are those that `b64dec` names in Helm 4.3.1.
    #[test]
    fn the_error_names_the_byte_that_go_names() {
        for (text, offset) in [
            ("a", 0),
            ("YQ", 0),
            ("Y!==", 1),
            ("YQ==\nYQ==", 5),
            ("YQ==x", 4),
            ("=", 0),
            ("YWJj=", 4),
            ("YWJjZ", 4),
            ("Y=Q=", 1),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(CorruptInputError { offset }), "{text}");
        }
        for text in ["YQ=", "Y===", "====", "YQ==YQ==", "Y Q=", "YW-_", "YQ==="] {
            assert!(decode(text.as_bytes()).is_err(), "{text}");
        }
    }
}
