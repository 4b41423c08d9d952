//! Base64 as Kustomize writes it into ConfigMaps and Secrets: in lines of 70 characters once it is longer than one.

const LINE: usize = 70;

/// Encodes bytes. If the text has several lines, each ends in a line feed.
pub(super) fn encode(bytes: &[u8]) -> String {
    let text = gostd::base64::encode(bytes);
    if text.len() <= LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        lines.push_str(line);
        lines.push('\n');
        rest = after;
    }
    lines
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
