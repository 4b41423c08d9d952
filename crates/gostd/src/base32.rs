//! Go's `base32.StdEncoding`: with padding; line breaks anywhere are skipped.

use std::fmt;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The error of a text that is not base32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptInputError {
    /// The byte that Go names: of the text without its line breaks.
    pub offset: usize,
}

impl fmt::Display for CorruptInputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal base32 data at input byte {}", self.offset)
    }
}

impl std::error::Error for CorruptInputError {}

/// Encodes bytes, on one line.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let number = chunk.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let number = number << (8 * (5 - chunk.len()));
        let used = (chunk.len() * 8).div_ceil(5);
        for place in 0..8 {
            let digit = number >> (5 * (7 - place)) & 31;
            text.push(if place < used { char::from(ALPHABET[digit as usize]) } else { '=' });
        }
    }
    text
}

/// Decodes a text.
///
/// # Errors
/// If the text is not base32.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, CorruptInputError> {
    let text: Vec<u8> = text.iter().filter(|byte| !is_line_end(byte)).copied().collect();
    let corrupt = |offset: usize| CorruptInputError { offset };
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5);
    for (index, chunk) in text.chunks(8).enumerate() {
        let start = index * 8;
        // Only the last group may be padded.
        let last = start + 8 >= text.len();
        let padding = chunk.iter().position(|byte| *byte == b'=').filter(|used| last && *used >= 2);
        let used = padding.unwrap_or(chunk.len());
        let mut number = 0_u64;
        for (place, byte) in chunk[..used].iter().enumerate() {
            let digit = digit(*byte).ok_or_else(|| corrupt(start + place))?;
            number = number << 5 | u64::from(digit);
        }
        if chunk.len() < 8 {
            return Err(corrupt(if padding.is_some() { text.len() } else { start }));
        }
        if let Some(used) = padding {
            if let Some(wrong) = chunk[used..].iter().position(|byte| *byte != b'=') {
                return Err(corrupt(start + used + wrong - 1));
            }
            // The last digit of three or six completes no byte.
            if matches!(used, 3 | 6) {
                return Err(corrupt(start + used));
            }
        }
        let number = number << (5 * (8 - used));
        bytes.extend_from_slice(&number.to_be_bytes()[3..][..used * 5 / 8]);
    }
    Ok(bytes)
}

pub(crate) fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    }
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

    // The answers are those of `b32dec` in Helm 4.3.1; the number is the byte that its error names.
    #[test]
    fn texts_are_decoded_as_go_does() {
        for (text, answer) in [
            ("a", Err(0)),
            ("NBSWY3DP", Ok("hello")),
            ("NBSWY3D", Err(0)),
            ("NBSWY===", Ok("hel")),
            ("NB======", Ok("h")),
            ("NBSWY3DPx", Err(8)),
            ("N=======", Err(1)),
            ("NBSWY3DP\n", Ok("hello")),
            ("nbswy3dp", Err(0)),
            ("NBS=====", Err(3)),
        ] {
            let answer = answer.map(|text| text.as_bytes().to_vec());
            assert_eq!(
                decode(text.as_bytes()),
                answer.map_err(|offset| CorruptInputError { offset }),
                "{text}"
            );
        }
    }
}
