//! JSON as Go's encoding/json reads and writes it: in go values, out comes text, and the other way.
//!
//! Refused, with Go's words: what is no JSON, values that JSON has none for, and more than 10,000
//! lists and maps within each other. A map that contains itself is refused too; so is, where Go
//! would write it, anything nested deeper than a thousand levels.

mod read;
mod write;

pub use read::{Decoded, OutOfRange, decode};
pub use write::{Style, encode};

/// Maximum number of lists and maps that may be within each other in a text.
const DEEPEST_TEXT: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let text = r#"{"a":[1,2.5,null,true,"s\n\"\\"],"b":{},"c":[]}"#;
        let value = decode(text.as_bytes()).unwrap().value;
        assert_eq!(encode(&value, Style::COMPACT, 1000).unwrap(), text.as_bytes());
    }
}
