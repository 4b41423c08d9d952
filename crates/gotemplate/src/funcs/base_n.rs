//! Base64 and base32 of RFC 4648 with padding, and Go's words about text that is neither.

pub(super) const BASE64: Base64 = Base64;
pub(super) const BASE32: Base32 = Base32;

const DIGITS64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) struct Base64;
pub(super) struct Base32;

fn encode(bytes: &[u8], group: usize, digits: usize, bits: usize, alphabet: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(group) * digits);
    for chunk in bytes.chunks(group) {
        let number = chunk.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let number = number << (8 * (group - chunk.len()));
        let used = (chunk.len() * 8).div_ceil(bits);
        for place in 0..digits {
            let digit = number >> (bits * (digits - 1 - place)) & ((1 << bits) - 1);
            out.push(if place < used { char::from(alphabet[digit as usize]) } else { '=' });
        }
    }
    out
}

/// Appends the bytes that `used` digits make, of a number of `digits` digits.
fn push_group(out: &mut Vec<u8>, number: u64, group: usize, used: usize, bits: usize) {
    let bytes = number.to_be_bytes();
    out.extend_from_slice(&bytes[8 - group..][..used * bits / 8]);
}

impl Base64 {
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        encode(bytes, 3, 4, 6, DIGITS64)
    }

    /// Ends of lines do not count; bits that belong to no byte may be set.
    pub(super) fn decode(self, text: &[u8]) -> Result<Vec<u8>, String> {
        let corrupt = |index: usize| format!("illegal base64 data at input byte {index}");
        let mut out = Vec::with_capacity(text.len() / 4 * 3);
        let (mut number, mut used) = (0u64, 0);
        for (index, byte) in text.iter().enumerate() {
            match digit64(*byte) {
                Some(digit) => {
                    number = number << 6 | u64::from(digit);
                    used += 1;
                    if used == 4 {
                        push_group(&mut out, number, 3, 4, 6);
                        (number, used) = (0, 0);
                    }
                }
                None if is_line_end(byte) => {}
                None if *byte == b'=' && used >= 2 => {
                    check_padding64(text, index, used).map_err(corrupt)?;
                    push_group(&mut out, number << (6 * (4 - used)), 3, used, 6);
                    return Ok(out);
                }
                None => return Err(corrupt(index)),
            }
        }
        if used > 0 { Err(corrupt(text.len() - used)) } else { Ok(out) }
    }
}

/// Looks at what follows the first sign of padding, and returns where it goes wrong.
fn check_padding64(text: &[u8], first: usize, used: usize) -> Result<(), usize> {
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

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn digit64(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

impl Base32 {
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        encode(bytes, 5, 8, 5, DIGITS32)
    }

    /// Ends of lines do not count.
    pub(super) fn decode(self, text: &[u8]) -> Result<Vec<u8>, String> {
        let text: Vec<u8> = text.iter().filter(|byte| !is_line_end(byte)).copied().collect();
        let corrupt = |index: usize| format!("illegal base32 data at input byte {index}");
        let mut out = Vec::with_capacity(text.len() / 8 * 5);
        for (index, chunk) in text.chunks(8).enumerate() {
            let start = index * 8;
            // Padding is looked for in what is the last group only.
            let last = start + 8 >= text.len();
            let padding = chunk.iter().position(|byte| *byte == b'=').filter(|used| last && *used >= 2);
            let used = padding.unwrap_or(chunk.len());
            let mut number = 0u64;
            for (place, byte) in chunk[..used].iter().enumerate() {
                let digit = digit32(*byte).ok_or_else(|| corrupt(start + place))?;
                number = number << 5 | u64::from(digit);
            }
            if chunk.len() < 8 {
                return Err(corrupt(if padding.is_some() { text.len() } else { start }));
            }
            if let Some(used) = padding {
                if let Some(wrong) = chunk[used..].iter().position(|byte| *byte != b'=') {
                    return Err(corrupt(start + used + wrong - 1));
                }
                // So many digits are a byte too few and a digit too many.
                if matches!(used, 3 | 6) {
                    return Err(corrupt(start + used));
                }
            }
            push_group(&mut out, number << (5 * (8 - used)), 5, used, 5);
        }
        Ok(out)
    }
}

fn digit32(byte: u8) -> Option<u8> {
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
            let bytes = &bytes[..length];
            assert_eq!(BASE64.decode(BASE64.encode(bytes).as_bytes()).unwrap(), bytes);
            assert_eq!(BASE32.decode(BASE32.encode(bytes).as_bytes()).unwrap(), bytes);
        }
    }

    // The answers are those of `b64dec` and `b32dec` in Helm 4.3.1, of which the number is the byte
    // that they complain about.
    #[test]
    fn what_is_wrong_is_pointed_at() {
        let cases = [
            ("a", Err(0)),
            ("YQ", Err(0)),
            ("Y!==", Err(1)),
            ("YQ==\nYQ==", Err(5)),
            ("YW\nJj", Ok("abc")),
            ("YR==", Ok("a")),
            ("YQ==x", Err(4)),
            ("=", Err(0)),
            ("YWJj=", Err(4)),
            ("YWJjZ", Err(4)),
            ("Y=Q=", Err(1)),
        ];
        for (text, answer) in cases {
            let answer = answer.map(|text| text.as_bytes().to_vec());
            let answer = answer.map_err(|index| format!("illegal base64 data at input byte {index}"));
            assert_eq!(BASE64.decode(text.as_bytes()), answer, "{text}");
        }
        let cases = [
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
        ];
        for (text, answer) in cases {
            let answer = answer.map(|text| text.as_bytes().to_vec());
            let answer = answer.map_err(|index| format!("illegal base32 data at input byte {index}"));
            assert_eq!(BASE32.decode(text.as_bytes()), answer, "{text}");
        }
    }
}
