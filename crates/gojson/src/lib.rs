//! A JSON tokenizer that accepts what Go's `encoding/json` accepts.
//!
//! Input: bytes. Output: strings, numbers and literals, each returned by the method for it. Rejects what Go rejects. An
//! [`TokenError`] holds the position and the kind of the fault; the reader on top turns it into a message, so that each reader
//! keeps its own wording. The grammar of arrays and objects, and the limit on nesting, are the reader's too.
//!
//! ```
//! let mut tokens = gojson::Tokenizer::new(br#"  "a\u00e9" 1.5e3"#);
//! assert_eq!(tokens.peek(), Some(b'"'));
//! assert_eq!(tokens.string()?, "a\u{e9}");
//! assert_eq!(tokens.peek(), Some(b'1'));
//! assert_eq!(tokens.number()?, 12..17);
//! assert_eq!(tokens.peek(), None);
//! # Ok::<(), gojson::TokenError>(())
//! ```

use std::borrow::Cow;
use std::ops::Range;

/// Reads JSON tokens from bytes.
#[derive(Clone, Debug)]
pub struct Tokenizer<'t> {
    bytes: &'t [u8],
    /// The position of the next byte.
    pub position: usize,
}

/// A token that Go rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenError {
    /// The position of the first byte that does not fit; the length of the input if that ends too early.
    pub position: usize,
    /// The token that the byte does not fit.
    pub fault: Fault,
}

/// The token that is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `true`, `false` or `null`.
    Literal {
        /// The literal.
        name: &'static str,
        /// The letter of it that is missing.
        expected: u8,
    },
    /// A number.
    Number,
    /// A string without its closing quote, or with a control character.
    String,
    /// The letter after a backslash.
    Escape,
    /// The four digits of a `\u` escape, whose backslash is at `start`.
    UnicodeEscape {
        /// The position of the backslash.
        start: usize,
    },
}

impl std::fmt::Display for TokenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invalid JSON at byte {}: {:?}", self.position, self.fault)
    }
}

impl std::error::Error for TokenError {}

impl<'t> Tokenizer<'t> {
    /// Creates a tokenizer at the start of the input.
    #[must_use]
    pub fn new(bytes: &'t [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Skips white space and returns the next byte; `None` at the end.
    pub fn peek(&mut self) -> Option<u8> {
        while matches!(self.next_byte(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
        self.next_byte()
    }

    /// Skips white space, then consumes the next byte if it is the given one.
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    /// Reads one of `true`, `false` and `null`, which the next byte starts.
    ///
    /// # Errors
    /// [`Fault::Literal`]
    pub fn literal(&mut self, name: &'static str) -> Result<(), TokenError> {
        for expected in name.bytes() {
            if self.next_byte() != Some(expected) {
                return Err(self.error(Fault::Literal { name, expected }));
            }
            self.position += 1;
        }
        Ok(())
    }

    /// Reads a number and returns its bytes.
    ///
    /// # Errors
    /// [`Fault::Number`]
    pub fn number(&mut self) -> Result<Range<usize>, TokenError> {
        let start = self.position;
        self.take_one_of(b"-");
        if !self.take_one_of(b"0") {
            self.digits()?;
        }
        if self.take_one_of(b".") {
            self.digits()?;
        }
        if self.take_one_of(b"eE") {
            self.take_one_of(b"+-");
            self.digits()?;
        }
        Ok(start..self.position)
    }

    /// Reads a string, whose opening quote is the next byte. Half of a surrogate pair becomes U+FFFD, and so does a byte
    /// that is not UTF-8.
    ///
    /// # Errors
    /// [`Fault::String`], [`Fault::Escape`], [`Fault::UnicodeEscape`]
    pub fn string(&mut self) -> Result<Cow<'t, str>, TokenError> {
        self.position += 1;
        let mut string = Cow::Borrowed("");
        loop {
            let rest = &self.bytes[self.position..];
            let is_plain = |byte: &&u8| **byte >= b' ' && !matches!(**byte, b'"' | b'\\');
            let plain = &rest[..rest.iter().take_while(is_plain).count()];
            self.position += plain.len();
            if string.is_empty() {
                string = String::from_utf8_lossy(plain);
            } else {
                string.to_mut().push_str(&String::from_utf8_lossy(plain));
            }
            match self.next_byte() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.to_mut().push(self.escape()?),
                _ => return Err(self.error(Fault::String)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, TokenError> {
        self.position += 1;
        let character = match self.next_byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.error(Fault::Escape)),
        };
        self.position += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, TokenError> {
        let first = self.code_unit()?;
        if (0xD800..0xDC00).contains(&first) && self.bytes[self.position..].starts_with(b"\\u") {
            let before = self.position;
            self.position += 1;
            let second = self.code_unit()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.position = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u32, TokenError> {
        let start = self.position - 1;
        self.position += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next_byte().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.error(Fault::UnicodeEscape { start }))?;
            self.position += 1;
        }
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), TokenError> {
        if !self.next_byte().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.error(Fault::Number));
        }
        self.position += self.bytes[self.position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        Ok(())
    }

    fn take_one_of(&mut self, bytes: &[u8]) -> bool {
        let found = self.next_byte().is_some_and(|byte| bytes.contains(&byte));
        self.position += usize::from(found);
        found
    }

    fn next_byte(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn error(&self, fault: Fault) -> TokenError {
        TokenError { position: self.position, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unescaped() {
        for (text, wanted) in [
            (r#""""#, ""),
            (r#""a\"\u00e9\ud83d\ude00\n\/""#, "a\"\u{e9}\u{1f600}\n/"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
            (r#""\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        ] {
            assert_eq!(Tokenizer::new(text.as_bytes()).string().unwrap(), wanted, "{text}");
        }
        assert_eq!(Tokenizer::new(b"\"a\xffb\"").string().unwrap(), "a\u{fffd}b");
        assert!(matches!(Tokenizer::new(br#""plain""#).string().unwrap(), Cow::Borrowed("plain")));
    }

    #[test]
    fn errors_hold_the_position_and_the_token() {
        for (text, position, fault) in [
            ("\"a", 2, Fault::String),
            ("\"a\nb\"", 2, Fault::String),
            (r#""\x""#, 2, Fault::Escape),
            (r#""\u12g4""#, 5, Fault::UnicodeEscape { start: 1 }),
            (r#""\ud83d\u12""#, 11, Fault::UnicodeEscape { start: 7 }),
        ] {
            assert_eq!(
                Tokenizer::new(text.as_bytes()).string(),
                Err(TokenError { position, fault }),
                "{text}"
            );
        }
        assert_eq!(Tokenizer::new(b"nulx").literal("null").unwrap_err().position, 3);
        for (text, position) in [("-", 1), ("1.", 2), ("1e+x", 3), ("-a", 1), (".5", 0)] {
            let error = Tokenizer::new(text.as_bytes()).number();
            assert_eq!(error, Err(TokenError { position, fault: Fault::Number }), "{text}");
        }
        assert_eq!(Tokenizer::new(b"01").number(), Ok(0..1));
    }
}
