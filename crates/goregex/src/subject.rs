//! The text to search, made valid UTF-8 without losing the places in it.

use std::borrow::Cow;
use std::ops::Range;

use crate::cursor::decode;

/// The replacement character that Go reads for a byte that is not UTF-8.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A text in which every stray byte has become a U+FFFD, as Go's matcher sees it.
pub(crate) struct Subject<'t> {
    pub(crate) text: Cow<'t, [u8]>,
    /// The offsets in `text` of replacements for invalid bytes, in order.
    widened: Vec<usize>,
}

impl<'t> Subject<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        if std::str::from_utf8(text).is_ok() {
            return Subject::verbatim(text);
        }
        let mut valid = Vec::with_capacity(text.len() + 16);
        let mut widened = Vec::new();
        for chunk in text.utf8_chunks() {
            valid.extend_from_slice(chunk.valid().as_bytes());
            for _ in chunk.invalid() {
                widened.push(valid.len());
                valid.extend_from_slice(REPLACEMENT);
            }
        }
        Subject { text: Cow::Owned(valid), widened }
    }

    /// `text` as it is, which may hold stray bytes.
    pub(crate) fn verbatim(text: &'t [u8]) -> Self {
        Subject { text: Cow::Borrowed(text), widened: Vec::new() }
    }

    /// A range of `text` as a range of the text as it came.
    pub(crate) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    /// The width of the character at `pos`, or of the stray byte; 0 at the end.
    pub(crate) fn width(&self, pos: usize) -> usize {
        let rest = self.text.get(pos..).unwrap_or_default();
        decode(rest).map_or(rest.len().min(1), |(_, width)| width)
    }

    fn place(&self, pos: usize) -> usize {
        pos - self.widened.partition_point(|&at| at < pos) * (REPLACEMENT.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_stray_bytes() {
        // A cut three-byte character is two stray bytes to Go, one fault to Rust.
        let subject = Subject::new(b"a\xE2\x82b\xFF");
        assert_eq!(&*subject.text, "a\u{FFFD}\u{FFFD}b\u{FFFD}".as_bytes());
        assert_eq!(subject.original(&(1..4)), 1..2);
        assert_eq!(subject.original(&(4..7)), 2..3);
        assert_eq!(subject.original(&(7..8)), 3..4);
        assert_eq!(subject.original(&(0..11)), 0..5);
    }
}
