//! Anchors, aliases, tags and directives.

use super::chars::{is_blank, is_uri, is_word};
use super::{Mark, Scanner, TagName, TokenKind};
use crate::error::Error;

impl Scanner<'_> {
    pub(super) fn fetch_anchor(&mut self, kind: TokenKind) -> Result<(), Error> {
        let key = self.start_key()?;
        self.save_key(key);
        self.simple_key_allowed = false;
        let start = self.mark();
        self.pos += 1;
        self.pass_word();
        let is_ended = self.is_space(self.pos)
            || matches!(self.current(), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if self.pos == start.pos + 1 || !is_ended {
            return Err(self.error(start, "did not find expected alphabetic or numeric character"));
        }
        self.push(kind, start, self.pos);
        Ok(())
    }

    pub(super) fn fetch_tag(&mut self) -> Result<(), Error> {
        let key = self.start_key()?;
        self.save_key(key);
        self.simple_key_allowed = false;
        let start = self.mark();
        let name = self.scan_tag_name(start)?;
        if !self.is_space(self.pos) {
            return Err(self.error(start, "did not find expected whitespace or line break"));
        }
        self.tag_names.push_back(name);
        self.push(TokenKind::Tag, start, self.pos);
        Ok(())
    }

    fn scan_tag_name(&mut self, start: Mark) -> Result<TagName, Error> {
        if self.byte(self.pos + 1) == b'<' {
            self.pos += 2;
            let suffix = self.scan_tag_uri(start, String::new())?;
            if self.current() != b'>' {
                return Err(self.error(start, "did not find the expected '>'"));
            }
            self.pos += 1;
            return Ok(TagName { handle: String::new(), suffix });
        }
        let handle = self.scan_tag_handle(start, false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.scan_tag_uri(start, String::new())?;
            return Ok(TagName { handle, suffix });
        }
        // What looked like a handle is `!` and the start of the suffix. It may be all there is.
        let head = handle[1..].to_owned();
        let suffix = if head.is_empty() && !is_uri(self.current()) {
            String::new()
        } else {
            self.scan_tag_uri(start, head)?
        };
        if suffix.is_empty() {
            return Ok(TagName { handle: String::new(), suffix: "!".to_owned() });
        }
        Ok(TagName { handle: "!".to_owned(), suffix })
    }

    fn scan_tag_handle(&mut self, start: Mark, in_directive: bool) -> Result<String, Error> {
        let from = self.pos;
        if self.current() != b'!' {
            return Err(self.error(start, "did not find expected '!'"));
        }
        self.pos += 1;
        self.pass_word();
        if self.current() == b'!' {
            self.pos += 1;
        } else if in_directive && self.pos > from + 1 {
            return Err(self.error(start, "did not find expected '!'"));
        }
        Ok(self.text[from..self.pos].to_owned())
    }

    /// Reads the rest of a tag behind what is known of it.
    fn scan_tag_uri(&mut self, start: Mark, head: String) -> Result<String, Error> {
        let from = self.pos;
        let mut uri = head.into_bytes();
        let has_head = !uri.is_empty();
        while is_uri(self.current()) {
            if self.current() == b'%' {
                self.scan_uri_escape(start, &mut uri)?;
            } else {
                uri.push(self.current());
                self.pos += 1;
            }
        }
        if self.pos == from && !has_head {
            return Err(self.error(start, "did not find expected tag URI"));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// Reads the escaped bytes of one character.
    fn scan_uri_escape(&mut self, start: Mark, uri: &mut Vec<u8>) -> Result<(), Error> {
        let mut left = None;
        while left != Some(0) {
            let digit = |at| char::from(self.byte(at)).to_digit(16);
            let octet = match (self.current(), digit(self.pos + 1), digit(self.pos + 2)) {
                (b'%', Some(high), Some(low)) => (high << 4 | low) as u8,
                _ => return Err(self.error(start, "did not find URI escaped octet")),
            };
            left = Some(match left {
                None => match octet {
                    0x00..=0x7F => 0,
                    0xC0..=0xDF => 1,
                    0xE0..=0xEF => 2,
                    0xF0..=0xF7 => 3,
                    _ => return Err(self.error(start, "found an incorrect leading UTF-8 octet")),
                },
                Some(left) if octet & 0xC0 == 0x80 => left - 1,
                Some(_) => return Err(self.error(start, "found an incorrect trailing UTF-8 octet")),
            });
            uri.push(octet);
            self.pos += 3;
        }
        Ok(())
    }

    /// Reads `%YAML 1.1` or `%TAG ! prefix` with its line break.
    pub(super) fn scan_directive(&mut self) -> Result<TokenKind, Error> {
        let start = self.mark();
        self.pos += 1;
        let from = self.pos;
        self.pass_word();
        let name = &self.text[from..self.pos];
        if name.is_empty() {
            return Err(self.error(start, "could not find expected directive name"));
        }
        if !self.is_space(self.pos) {
            return Err(self.error(start, "found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => self.scan_version(start)?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => return Err(self.error(start, "found unknown directive name")),
        };
        self.pass_blanks();
        if self.current() == b'#' {
            self.skip_comment();
        }
        if !self.is_break_or_end(self.pos) {
            return Err(self.error(start, "did not find expected comment or line break"));
        }
        if self.break_len(self.pos) > 0 {
            self.pass_break(self.break_len(self.pos));
        }
        Ok(kind)
    }

    fn scan_version(&mut self, start: Mark) -> Result<TokenKind, Error> {
        self.pass_blanks();
        let major = self.scan_version_number(start)?;
        if self.current() != b'.' {
            return Err(self.error(start, "did not find expected digit or '.' character"));
        }
        self.pos += 1;
        let minor = self.scan_version_number(start)?;
        Ok(TokenKind::VersionDirective(major, minor))
    }

    fn scan_version_number(&mut self, start: Mark) -> Result<u8, Error> {
        let from = self.pos;
        while self.current().is_ascii_digit() {
            if self.pos - from == 2 {
                return Err(self.error(start, "found extremely long version number"));
            }
            self.pos += 1;
        }
        self.text[from..self.pos]
            .parse()
            .map_err(|_| self.error(start, "did not find expected version number"))
    }

    fn scan_tag_directive(&mut self, start: Mark) -> Result<TokenKind, Error> {
        self.pass_blanks();
        let handle = self.scan_tag_handle(start, true)?;
        if !is_blank(self.current()) {
            return Err(self.error(start, "did not find expected whitespace"));
        }
        self.pass_blanks();
        let suffix = self.scan_tag_uri(start, String::new())?;
        if !self.is_space(self.pos) {
            return Err(self.error(start, "did not find expected whitespace or line break"));
        }
        self.tag_names.push_back(TagName { handle, suffix });
        Ok(TokenKind::TagDirective)
    }

    fn pass_word(&mut self) {
        while is_word(self.current()) {
            self.pos += 1;
        }
    }

    fn pass_blanks(&mut self) {
        while is_blank(self.current()) {
            self.pos += 1;
        }
    }
}
