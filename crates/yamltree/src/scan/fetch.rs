//! One token after the other, and the block collections that columns open and close.

use super::chars::starts_plain;
use super::simple_key::SimpleKey;
use super::{Scanner, TokenKind};
use crate::dialect::Dialect;
use crate::error::Error;

impl Scanner<'_> {
    // Indentation.

    /// Opens a block collection where a column lies deeper than the last one; says whether it did.
    pub(super) fn roll_indent(&mut self, column: i32) -> bool {
        if self.flow_level > 0 || self.indent >= column {
            return false;
        }
        self.indents.push(self.indent);
        self.indent = column;
        true
    }

    /// Closes the block collections that a column lies outside of.
    #[inline]
    fn unroll_indent(&mut self, column: i32) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.mark(), self.pos);
            self.indent = self.indents.pop().expect("every indent but the first was pushed");
        }
    }

    // Tokens.

    pub(super) fn fetch_next(&mut self) -> Result<(), Error> {
        self.skip_to_token();
        if self.flow_level == 0 {
            let column = self.column();
            self.unroll_indent(column);
        }
        if self.pos >= self.bytes.len() {
            return self.fetch_stream_end();
        }
        if self.pos == self.line_start {
            if self.current() == b'%' {
                return self.fetch_directive();
            }
            if self.at_document_indicator() {
                return self.fetch_document_indicator();
            }
        }
        self.fetch_content()?;
        if self.dialect == Dialect::V3 && matches!(self.current(), b' ' | b'\t' | b'#') {
            self.skip_trailing_comment();
        }
        Ok(())
    }

    fn fetch_content(&mut self) -> Result<(), Error> {
        let next_is_space = || self.is_space(self.pos + 1);
        let in_flow = self.flow_level > 0;
        match self.current() {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if next_is_space() => self.fetch_block_entry(),
            b'?' if in_flow || next_is_space() => self.fetch_key(),
            b':' if in_flow || next_is_space() => self.fetch_value(),
            b'*' => self.fetch_anchor(TokenKind::Alias),
            b'&' => self.fetch_anchor(TokenKind::Anchor),
            b'!' => self.fetch_tag(),
            b'|' if !in_flow => self.fetch_block_scalar(true),
            b'>' if !in_flow => self.fetch_block_scalar(false),
            b'\'' => self.fetch_flow_scalar(true),
            b'"' => self.fetch_flow_scalar(false),
            byte if starts_plain(byte) || matches!(byte, b'-' | b'?' | b':') => self.fetch_plain(),
            _ => Err(self.error(self.mark(), "found character that cannot start any token")),
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), Error> {
        if self.pos != self.line_start {
            self.pass_break(0);
        }
        self.unroll_indent(-1);
        self.drop_last_key()?;
        self.simple_key_allowed = false;
        self.push(TokenKind::StreamEnd, self.mark(), self.pos);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), Error> {
        self.unroll_indent(-1);
        self.drop_last_key()?;
        self.simple_key_allowed = false;
        let start = self.mark();
        let kind = self.scan_directive()?;
        self.push(kind, start, self.pos);
        Ok(())
    }

    fn fetch_document_indicator(&mut self) -> Result<(), Error> {
        self.unroll_indent(-1);
        self.drop_last_key()?;
        self.simple_key_allowed = false;
        let kind = if self.current() == b'-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd };
        self.push_indicator(kind, 3);
        Ok(())
    }

    pub(super) fn push_indicator(&mut self, kind: TokenKind, len: usize) {
        let start = self.mark();
        self.pos += len;
        self.push(kind, start, self.pos);
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Error> {
        let key = self.start_key()?;
        self.save_key(key);
        let key = SimpleKey {
            possible: false,
            required: false,
            token: self.next_token_number(),
            mark: self.mark(),
            column: 0,
        };
        self.simple_keys.push(key);
        self.flow_level += 1;
        self.simple_key_allowed = true;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.drop_last_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            // Where nothing in the collection could be a key, this is the collection's own token: go-yaml forgets that
            // the collection may be a key, and hands it out early.
            if let Some(key) = self.simple_keys.pop() {
                self.unlist_key(key.token);
            }
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Error> {
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        // Within a flow collection the composer refuses it, as it knows which one is open.
        if self.flow_level == 0 {
            self.open_block(
                TokenKind::BlockSequenceStart,
                "block sequence entries are not allowed in this context",
            )?;
        }
        self.drop_last_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            self.open_block(TokenKind::BlockMappingStart, "mapping keys are not allowed in this context")?;
        }
        self.drop_last_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let last = self.simple_keys.len() - 1;
        if self.key_is_valid(last)? {
            self.insert_key(last);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                self.open_block(
                    TokenKind::BlockMappingStart,
                    "mapping values are not allowed in this context",
                )?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value, 1);
        Ok(())
    }

    /// Starts a block collection at the current column unless it is already open.
    fn open_block(&mut self, kind: TokenKind, refusal: &str) -> Result<(), Error> {
        if !self.simple_key_allowed {
            return Err(self.error(self.mark(), refusal));
        }
        let column = self.column();
        if self.roll_indent(column) {
            self.push(kind, self.mark(), self.pos);
        }
        Ok(())
    }
}
