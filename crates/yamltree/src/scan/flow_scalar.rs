//! Quoted scalars.

use compact_str::CompactString;

use super::chars::is_blank;
use super::plain::Breaks;
use super::{Mark, Scanner, TokenKind};
use crate::error::Error;
use crate::node::Style;

impl Scanner<'_> {
    pub(super) fn fetch_flow_scalar(&mut self, single: bool) -> Result<(), Error> {
        let key = self.start_key()?;
        self.simple_key_allowed = false;
        let start = self.mark();
        self.pos += 1;
        let style = if single { Style::SingleQuoted } else { Style::DoubleQuoted };
        let kind = if self.pass_simple_quoted(single) {
            TokenKind::Scalar(style)
        } else {
            let text = self.scan_quoted(start, single)?;
            self.texts.push_back(CompactString::new(text));
            TokenKind::CookedScalar(style)
        };
        self.push_scalar(kind, key, start, self.pos);
        Ok(())
    }

    /// The common case: one line without escapes. Moves past the closing quote.
    fn pass_simple_quoted(&mut self, single: bool) -> bool {
        if !self.traits.only_lf {
            return false;
        }
        let rest = &self.bytes[self.pos..];
        let found = if single {
            memchr::memchr2(b'\'', b'\n', rest)
        } else {
            memchr::memchr3(b'"', b'\\', b'\n', rest)
        };
        let Some(end) = found.map(|len| self.pos + len) else { return false };
        let closes = match self.byte(end) {
            b'\'' => self.byte(end + 1) != b'\'',
            byte => byte == b'"',
        };
        if closes {
            self.pos = end + 1;
        }
        closes
    }

    fn scan_quoted(&mut self, start: Mark, single: bool) -> Result<String, Error> {
        let quote = if single { b'\'' } else { b'"' };
        let mut text = String::new();
        loop {
            if self.at_document_indicator() {
                return Err(self.error(start, "found unexpected document indicator"));
            }
            if self.pos >= self.bytes.len() {
                return Err(self.error_at(start, start.pos, "found unexpected end of stream"));
            }
            let mut breaks = Breaks::default();
            self.scan_quoted_word(start, single, &mut text, &mut breaks)?;
            if self.current() == quote {
                self.pos += 1;
                return Ok(text);
            }
            self.pass_quoted_space(&mut text, &mut breaks);
        }
    }

    /// Reads up to a blank, a line break, the closing quote or an escaped line break.
    fn scan_quoted_word(
        &mut self,
        start: Mark,
        single: bool,
        text: &mut String,
        breaks: &mut Breaks,
    ) -> Result<(), Error> {
        loop {
            let from = self.pos;
            while !matches!(
                self.current(),
                0 | b' ' | b'\t' | b'\n' | b'\r' | b'\'' | b'"' | b'\\' | 0xC2 | 0xE2
            ) {
                self.pos += 1;
            }
            text.push_str(&self.text[from..self.pos]);
            match self.current() {
                b'\'' if single && self.byte(self.pos + 1) == b'\'' => {
                    text.push('\'');
                    self.pos += 2;
                }
                b'\'' if single => return Ok(()),
                b'"' if !single => return Ok(()),
                b'\\' if !single => match self.break_len(self.pos + 1) {
                    0 => self.scan_escape(start, text)?,
                    len => {
                        self.pass_break(1 + len);
                        breaks.push_escaped();
                        return Ok(());
                    }
                },
                _ if self.is_space(self.pos) => return Ok(()),
                _ => {
                    let end = self.char_end(self.pos);
                    text.push_str(&self.text[self.pos..end]);
                    self.pos = end;
                }
            }
        }
    }

    /// Reads the blanks and breaks between two words: breaks are folded, blanks beside them dropped.
    fn pass_quoted_space(&mut self, text: &mut String, breaks: &mut Breaks) {
        let from = self.pos;
        let mut blanks_end = self.pos;
        loop {
            let len = self.break_len(self.pos);
            if len > 0 {
                breaks.push(&self.text[self.pos..self.pos + len]);
                self.pass_break(len);
            } else if is_blank(self.current()) {
                self.pos += 1;
                blanks_end = self.pos;
            } else {
                break;
            }
        }
        if breaks.is_empty() {
            text.push_str(&self.text[from..blanks_end]);
        } else {
            breaks.fold_into(text);
        }
    }

    fn scan_escape(&mut self, start: Mark, text: &mut String) -> Result<(), Error> {
        let code_len = match self.byte(self.pos + 1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            byte => {
                let Some(char) = simple_escape(byte) else {
                    return Err(self.error(start, "found unknown escape character"));
                };
                text.push(char);
                self.pos += 2;
                return Ok(());
            }
        };
        self.pos += 2;
        let mut code = 0_u32;
        for at in self.pos..self.pos + code_len {
            let Some(digit) = char::from(self.byte(at)).to_digit(16) else {
                return Err(self.error(start, "did not find expected hexdecimal number"));
            };
            code = code << 4 | digit;
        }
        let Some(char) = char::from_u32(code) else {
            return Err(self.error(start, "found invalid Unicode character escape code"));
        };
        text.push(char);
        self.pos += code_len;
        Ok(())
    }
}

/// Returns the character of an escape. go-yaml lacks YAML 1.2's `\/` and has `\'` in addition.
fn simple_escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'0' => '\0',
        b'a' => '\x07',
        b'b' => '\x08',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\x0B',
        b'f' => '\x0C',
        b'r' => '\r',
        b'e' => '\x1B',
        b' ' => ' ',
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
