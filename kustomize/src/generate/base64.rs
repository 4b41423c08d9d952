//! Base64 as Kustomize writes it into ConfigMaps and Secrets: in lines of 70 characters once it is longer than one.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LINE: usize = 70;

/// The text for some bytes. Where there are several lines, each ends in a line feed.
pub(super) fn encode(bytes: &[u8]) -> String {
    let length = bytes.len().div_ceil(3) * 4;
    let wraps = length >= LINE;
    let mut text = String::with_capacity(length + length / LINE + 1);
    let mut column = 0;
    for digit in bytes.chunks(3).flat_map(digits) {
        if wraps && column == LINE {
            text.push('\n');
            column = 0;
        }
        text.push(char::from(digit));
        column += 1;
    }
    if wraps {
        text.push('\n');
    }
    text
}

/// The four digits for one to three bytes.
fn digits(chunk: &[u8]) -> [u8; 4] {
    let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    let digit = |at: usize| {
        if at > chunk.len() { b'=' } else { ALPHABET[(bits >> (18 - 6 * at)) as usize & 63] }
    };
    [digit(0), digit(1), digit(2), digit(3)]
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn pads_to_four_digits() {
        // RFC 4648, section 10.
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(encode(&[0xFF, 0xFE, 0xFB]), "//77");
    }

    #[test]
    fn breaks_lines_after_seventy_characters() {
        assert_eq!(encode(&[0; 51]), "A".repeat(68));
        assert_eq!(encode(&[0; 54]), format!("{}\nAA\n", "A".repeat(70)));
        let line = "A".repeat(70);
        assert_eq!(encode(&[0; 105]), format!("{line}\n{line}\n"));
    }
}
