//! Checks of a whole text before it is scanned.

use crate::error::{Error, ErrorKind};
use diagnostic::{SourceId, Span};

/// Traits of a text that allow the scanner shortcuts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextTraits {
    /// One byte is one character.
    pub(crate) ascii: bool,
    /// `\n` is the only line break. YAML 1.1 knows `\r`, U+0085, U+2028 and U+2029 too.
    pub(crate) only_lf: bool,
}

/// The number of bytes checked at a time.
const BLOCK: usize = 64;

/// Refuses characters that go-yaml does not let into a document.
pub(crate) fn check(text: &str, source: SourceId, base: u32) -> Result<TextTraits, Error> {
    let bytes = text.as_bytes();
    let mut traits = TextTraits { ascii: true, only_lf: true };
    for (block, start) in bytes.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        if block.iter().fold(false, |odd, &byte| odd | is_odd(byte)) {
            check_odd(bytes, start..start + block.len(), &mut traits).map_err(|(at, len)| {
                let span = Span { source, start: base + at as u32, end: base + (at + len) as u32 };
                Error::new(ErrorKind::Invalid, "control characters are not allowed", span)
            })?;
        }
    }
    Ok(traits)
}

/// Returns true if a byte is anything but printable ASCII, a tab or a line feed.
fn is_odd(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') > b'~' - b' ') & (byte != b'\n') & (byte != b'\t')
}

/// Looks at each byte; the place and length of a forbidden character is the error.
fn check_odd(
    bytes: &[u8],
    range: std::ops::Range<usize>,
    traits: &mut TextTraits,
) -> Result<(), (usize, usize)> {
    for at in range {
        let next = |ahead| bytes.get(at + ahead).copied().unwrap_or(0);
        match bytes[at] {
            b'\t' | b'\n' | b' '..=b'~' => {}
            b'\r' => traits.only_lf = false,
            0..0x80 => return Err((at, 1)),
            0xC2 if next(1) == 0x85 => *traits = TextTraits { ascii: false, only_lf: false },
            0xC2 if next(1) < 0xA0 => return Err((at, 2)),
            0xE2 if next(1) == 0x80 && matches!(next(2), 0xA8 | 0xA9) => {
                *traits = TextTraits { ascii: false, only_lf: false };
            }
            // U+FFFE and U+FFFF.
            0xEF if next(1) == 0xBF && next(2) >= 0xBE => return Err((at, 3)),
            _ => traits.ascii = false,
        }
    }
    Ok(())
}
