//! A place in a pattern: reads runes, numbers and escapes, and makes errors about what was read.

use std::ops::Range;

use crate::error::{Error, Reason};

/// A code point as Go has it: may be a surrogate, which a pattern can name but no text holds.
pub(crate) type Rune = u32;

/// The value of [`Cursor::rune`] at the end of the pattern, as in Go's decoder.
const RUNE_ERROR: Rune = 0xFFFD;

/// Maximum number of parts (characters, ranges, subexpressions) that may be put together, counting a part again
/// each time a group around it is closed. Keeps memory to about 100 MB and time to about a second
/// for any pattern; Go stops at 32 million runes in classes.
const MAX_WORK: usize = 8 << 20;

pub(crate) struct Cursor<'p> {
    pub(crate) pattern: &'p [u8],
    pub(crate) pos: usize,
    work: usize,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(pattern: &'p [u8]) -> Self {
        Cursor { pattern, pos: 0, work: 0 }
    }

    pub(crate) fn rest(&self) -> &'p [u8] {
        &self.pattern[self.pos..]
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.pattern.get(self.pos + ahead).copied()
    }

    /// Steps over `byte` if it is next.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    /// Steps over the next rune. At the end it answers U+FFFD and stays.
    pub(crate) fn rune(&mut self) -> Result<Rune, Error> {
        let Some(&first) = self.rest().first() else { return Ok(RUNE_ERROR) };
        if first.is_ascii() {
            self.pos += 1;
            return Ok(Rune::from(first));
        }
        let (rune, width) = decode(self.rest()).ok_or_else(|| self.error_to_end(Reason::Utf8, self.pos))?;
        self.pos += width;
        Ok(Rune::from(rune))
    }

    /// Refuses bytes of `span` that are not UTF-8; the error quotes from there to the span's end.
    pub(crate) fn check_utf8(&self, span: Range<usize>) -> Result<(), Error> {
        match std::str::from_utf8(&self.pattern[span.clone()]) {
            Ok(_) => Ok(()),
            Err(e) => Err(Error::new(Reason::Utf8, self.pattern, span.start + e.valid_up_to()..span.end)),
        }
    }

    /// An error about what was read since `start`.
    pub(crate) fn error_since(&self, reason: Reason, start: usize) -> Error {
        Error::new(reason, self.pattern, start..self.pos)
    }

    /// An error about everything from `start` on.
    pub(crate) fn error_to_end(&self, reason: Reason, start: usize) -> Error {
        Error::new(reason, self.pattern, start..self.pattern.len())
    }

    /// Takes `parts` from what the pattern as a whole may have.
    pub(crate) fn spend(&mut self, parts: usize) -> Result<(), Error> {
        self.work = self.work.saturating_add(parts);
        if self.work > MAX_WORK { Err(self.error_to_end(Reason::Large, 0)) } else { Ok(()) }
    }

    /// The first place of `needle` at or after `from`.
    pub(crate) fn find(&self, needle: &[u8], from: usize) -> Option<usize> {
        memchr::memmem::find(self.pattern.get(from..)?, needle).map(|at| from + at)
    }

    /// `{2}`, `{2,}` or `{2,5}`. None, and nothing read, if this is no count: then `{` is itself.
    /// A number of nine digits or more is read as too big to be allowed.
    pub(crate) fn repeat_count(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.pos;
        let count = self.repeat_count_or_stray();
        if count.is_none() {
            self.pos = start;
        }
        count
    }

    fn repeat_count_or_stray(&mut self) -> Option<(u32, Option<u32>)> {
        if !self.eat(b'{') {
            return None;
        }
        let min = self.number()?;
        let max = if !self.eat(b',') {
            Some(min)
        } else if self.peek() == Some(b'}') {
            None
        } else {
            Some(self.number()?)
        };
        self.eat(b'}').then_some((min, max))
    }

    /// Decimal digits without a leading zero.
    fn number(&mut self) -> Option<u32> {
        let rest = self.rest();
        let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if len == 0 || (len > 1 && rest[0] == b'0') {
            return None;
        }
        self.pos += len;
        let text = std::str::from_utf8(&rest[..len]).ok()?;
        Some(text.parse().unwrap_or(u32::MAX))
    }

    /// An escape for one rune: the cursor is at the backslash.
    pub(crate) fn escape(&mut self) -> Result<Rune, Error> {
        let start = self.pos;
        self.pos += 1;
        if self.peek().is_none() {
            return Err(self.error_since(Reason::TrailingBackslash, start));
        }
        let rune = self.rune()?;
        let found = match u8::try_from(rune).unwrap_or(0xFF) {
            // A backreference.
            b'1'..=b'7' if !self.peek().is_some_and(is_octal) => None,
            digit @ b'0'..=b'7' => Some(self.octal(digit)),
            b'x' => self.hex()?,
            b'a' => Some(0x07),
            b'f' => Some(0x0C),
            b'n' => Some(0x0A),
            b'r' => Some(0x0D),
            b't' => Some(0x09),
            b'v' => Some(0x0B),
            byte if byte.is_ascii() && !byte.is_ascii_alphanumeric() => Some(rune),
            _ => None,
        };
        found.ok_or_else(|| self.error_since(Reason::Escape, start))
    }

    fn octal(&mut self, first: u8) -> Rune {
        let mut rune = Rune::from(first - b'0');
        for _ in 0..2 {
            let Some(digit) = self.peek().filter(|&b| is_octal(b)) else { break };
            rune = rune * 8 + Rune::from(digit - b'0');
            self.pos += 1;
        }
        rune
    }

    /// Returns what follows `\x`: two digits, or any number of them in braces.
    fn hex(&mut self) -> Result<Option<Rune>, Error> {
        if self.peek().is_none() {
            return Ok(None);
        }
        if self.eat(b'{') {
            return self.hex_braced();
        }
        let (high, low) = (hex_digit(self.rune()?), hex_digit(self.rune()?));
        Ok(high.zip(low).map(|(high, low)| high * 16 + low))
    }

    fn hex_braced(&mut self) -> Result<Option<Rune>, Error> {
        let mut value = None;
        while self.peek().is_some() {
            let rune = self.rune()?;
            if rune == Rune::from(b'}') {
                return Ok(value);
            }
            let Some(digit) = hex_digit(rune) else { return Ok(None) };
            let sum = value.unwrap_or(0) * 16 + digit;
            if sum > Rune::from(char::MAX) {
                return Ok(None);
            }
            value = Some(sum);
        }
        Ok(None)
    }
}

/// The first character of `bytes` and its width, if they begin with one.
pub(crate) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let head = &bytes[..bytes.len().min(4)];
    let first = head.utf8_chunks().next()?.valid().chars().next()?;
    Some((first, first.len_utf8()))
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

fn hex_digit(rune: Rune) -> Option<u32> {
    char::from_u32(rune)?.to_digit(16)
}
