//! Skips blanks, line breaks and comments between tokens.

use super::chars::is_blank;
use super::token::Token;
use super::{Scanner, TokenKind};
use crate::dialect::Dialect;
use crate::document::Comment;

/// The maximum distance, in bytes, at which go-yaml v3 looks for the next comment.
const MAX_COMMENT_DISTANCE: usize = 512;

impl Scanner<'_> {
    pub(super) fn skip_to_token(&mut self) {
        let mut comment_end = None;
        loop {
            match self.current() {
                b' ' => self.pos += 1,
                b'\t' if self.flow_level > 0 || !self.simple_key_allowed => self.pos += 1,
                b'\t' => match comment_end.and_then(|end| self.chained_comment(end)) {
                    Some(at) => self.move_to(at),
                    None => return,
                },
                b'#' => {
                    self.skip_comment();
                    comment_end = (self.dialect == Dialect::V3).then_some(self.pos);
                }
                b'\n' => self.skip_break(1),
                _ => match self.break_len(self.pos) {
                    0 => return,
                    len => self.skip_break(len),
                },
            }
        }
    }

    #[inline]
    fn skip_break(&mut self, len: usize) {
        self.pass_break(len);
        if self.flow_level == 0 {
            self.simple_key_allowed = true;
        }
    }

    pub(super) fn skip_comment(&mut self) {
        let end = self.line_end(self.pos);
        if self.comments.is_some() {
            let comment =
                Comment { span: self.span(self.pos as u32, end as u32), own_line: self.is_line_blank() };
            self.comments.get_or_insert_default().push(comment);
        }
        self.pos = end;
    }

    /// Returns true if only blanks precede the current position on its line.
    fn is_line_blank(&mut self) -> bool {
        if self.filled_line == Some(self.line_start) {
            return false;
        }
        let blank = self.bytes[self.line_start..self.pos].iter().all(|&byte| is_blank(byte));
        if !blank {
            self.filled_line = Some(self.line_start);
        }
        blank
    }

    /// Takes the comment behind a token along with it, as go-yaml v3 does unless that is a `-`: tabs before it pass,
    /// and the comment is not part of a chain.
    pub(super) fn skip_trailing_comment(&mut self) {
        let is_entry = matches!(self.tokens.back(), Some(Token { kind: TokenKind::BlockEntry, .. }));
        if is_entry || self.is_line_blank() {
            return;
        }
        let mut at = self.pos;
        while is_blank(self.byte(at)) && at - self.pos < MAX_COMMENT_DISTANCE {
            at += 1;
        }
        if self.byte(at) == b'#' {
            self.pos = at;
            self.skip_comment();
        }
    }

    /// The comment after a comment that ended at `end`, when nothing but blanks and one-byte breaks lie between. go-yaml
    /// v3 reads such comments as one, so that the tabs between them, refused elsewhere, pass.
    fn chained_comment(&self, end: usize) -> Option<usize> {
        let between = self.bytes[end..].iter().take(MAX_COMMENT_DISTANCE);
        let len = between.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        (len < MAX_COMMENT_DISTANCE && self.byte(end + len) == b'#').then_some(end + len)
    }

    /// Moves on over blanks and breaks.
    fn move_to(&mut self, at: usize) {
        while self.pos < at {
            match self.break_len(self.pos) {
                0 => self.pos += 1,
                len => self.skip_break(len),
            }
        }
    }
}
