//! PEM: DER in base64 between lines that say what it is.

use gostd::base64;

const LINE: usize = 64;

/// The first block of a PEM text.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn encode(label: &str, bytes: &[u8]) -> String {
    let base64 = base64::encode(bytes);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// The first block, after whatever text.
pub(super) fn decode(text: &[u8]) -> Option<Block> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    loop {
        let line = lines.next()?.trim_end();
        let Some(label) = line.strip_prefix("-----BEGIN ").and_then(|line| line.strip_suffix("-----")) else {
            continue;
        };
        let end = format!("-----END {label}-----");
        let mut content = lines.clone().take_while(|line| line.trim_end() != end);
        // Headers stand before an empty line.
        let body: String = content.by_ref().filter(|line| !line.contains(": ")).map(str::trim).collect();
        let closed = lines.clone().any(|line| line.trim_end() == end);
        if let (true, Ok(bytes)) = (closed, base64::decode(body.as_bytes())) {
            return Some(Block { label: label.to_owned(), bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let bytes: Vec<u8> = (0..100).collect();
        let text = encode("X KEY", &bytes);
        assert!(text.starts_with("-----BEGIN X KEY-----\nAAECAwQF"));
        assert!(text.lines().all(|line| line.len() <= LINE));
        let block = decode(format!("before\n{text}after").as_bytes()).unwrap();
        assert_eq!((block.label.as_str(), block.bytes), ("X KEY", bytes));
    }

    #[test]
    fn a_block_that_is_broken_is_passed_over() {
        assert!(decode(b"-----BEGIN A-----\nYWJj\n").is_none());
        assert!(decode(b"-----BEGIN A-----\n!\n-----END A-----\n").is_none());
        let second =
            decode(b"-----BEGIN A-----\n!\n-----END A-----\n-----BEGIN B-----\nYWJj\n-----END B-----\n");
        assert_eq!(second.unwrap().bytes, b"abc");
    }
}
