//! Keys without `?`: candidates, until a `:` confirms one or rules it out.

use super::chars::is_blank;
use super::token::Token;
use super::{Mark, Scanner, TokenKind, TokenStart};
use crate::error::Error;

/// The maximum distance, in characters, from the start of a key without `?` to its `:`.
const MAX_SIMPLE_KEY_LEN: usize = 1024;

/// The possible start of a key without `?`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimpleKey {
    pub(super) possible: bool,
    /// True if only a key is valid there.
    pub(super) required: bool,
    /// The number of the token that would be the key.
    pub(super) token: usize,
    pub(super) mark: Mark,
    pub(super) column: i32,
}

impl Scanner<'_> {
    /// Returns true if the first token of the queue may still become a key.
    pub(super) fn head_may_be_key(&mut self) -> Result<bool, Error> {
        while let Some(&(token, level)) = self.key_tokens.front() {
            if token == self.taken {
                return self.key_is_valid(level);
            }
            if token > self.taken {
                break;
            }
            self.key_tokens.pop_front();
        }
        Ok(false)
    }

    /// Returns whether a `:` here would make a key of what a simple key stands for. One that is too far away is given up, but
    /// its token stays listed, as in go-yaml: the next key to take its place is then looked at in its stead.
    pub(super) fn key_is_valid(&mut self, level: usize) -> Result<bool, Error> {
        let Some(&key) = self.simple_keys.get(level) else { return Ok(false) };
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line == self.line && !self.is_too_long(key.mark.pos) {
            return Ok(true);
        }
        self.check_not_required(key)?;
        self.simple_keys[level].possible = false;
        Ok(false)
    }

    fn is_too_long(&self, start: usize) -> bool {
        self.pos - start > MAX_SIMPLE_KEY_LEN
            && self.text[start..self.pos].chars().count() > MAX_SIMPLE_KEY_LEN
    }

    /// Rejects dropping a candidate where only a key is valid.
    fn check_not_required(&self, key: SimpleKey) -> Result<(), Error> {
        if key.required {
            return Err(self.error_at(key.mark, key.mark.pos, "could not find expected ':'"));
        }
        Ok(())
    }

    /// Gives up the key that may have started last.
    pub(super) fn drop_last_key(&mut self) -> Result<(), Error> {
        let key = *self.last_key();
        if key.possible {
            self.check_not_required(key)?;
            self.last_key().possible = false;
            self.unlist_key(key.token);
        }
        Ok(())
    }

    fn last_key(&mut self) -> &mut SimpleKey {
        self.simple_keys.last_mut().expect("one for block context is always there")
    }

    pub(super) fn unlist_key(&mut self, token: usize) {
        if let Some(at) = self.key_tokens.iter().rposition(|&(listed, _)| listed == token) {
            self.key_tokens.remove(at);
        }
    }

    /// The key that may start here.
    pub(super) fn start_key(&mut self) -> Result<Option<SimpleKey>, Error> {
        if !self.simple_key_allowed {
            return Ok(None);
        }
        self.drop_last_key()?;
        let column = if self.flow_level == 0 { self.column() } else { 0 };
        Ok(Some(SimpleKey {
            possible: true,
            required: self.flow_level == 0 && self.indent == column,
            token: self.next_token_number(),
            mark: self.mark(),
            column,
        }))
    }

    /// Remembers a key that may have started.
    pub(super) fn save_key(&mut self, key: Option<SimpleKey>) {
        if let Some(key) = key {
            self.key_tokens.push_back((key.token, self.simple_keys.len() - 1));
            *self.last_key() = key;
        }
    }

    /// Puts the key that a `:` has proven in front of its first token.
    pub(super) fn insert_key(&mut self, at: usize) {
        self.simple_keys[at].possible = false;
        let key = self.simple_keys[at];
        self.unlist_key(key.token);
        // A token that was handed out early is out of reach; what should stand before it comes last instead.
        let index = key.token.checked_sub(self.taken).unwrap_or(self.tokens.len());
        let pos = key.mark.pos as u32;
        let place = TokenStart { start: pos, end: pos, line: key.mark.line };
        self.tokens.insert(index, Token { kind: TokenKind::Key, place });
        if self.roll_indent(key.column) {
            let index = key.token.checked_sub(self.taken).unwrap_or(self.tokens.len());
            self.tokens.insert(index, Token { kind: TokenKind::BlockMappingStart, place });
        }
    }

    /// Puts a scalar into the queue; as a key where a `:` follows, which saves the wait for the next token.
    pub(super) fn push_scalar(&mut self, kind: TokenKind, key: Option<SimpleKey>, start: Mark, end: usize) {
        if let (Some(key), Some(colon)) = (key, self.colon_behind(start)) {
            if self.roll_indent(key.column) {
                self.push(TokenKind::BlockMappingStart, start, start.pos);
            }
            *self.last_key() = SimpleKey { possible: false, ..key };
            self.push(TokenKind::Key, start, start.pos);
            self.push(kind, start, end);
            self.pos = colon;
            return self.push_indicator(TokenKind::Value, 1);
        }
        self.save_key(key);
        self.push(kind, start, end);
    }

    /// Turns the text between `start` and the current `:` into a key.
    fn colon_behind(&self, start: Mark) -> Option<usize> {
        let mut at = self.pos;
        while is_blank(self.byte(at)) {
            at += 1;
        }
        let is_value = self.byte(at) == b':' && (self.flow_level > 0 || self.is_space(at + 1));
        (is_value && start.line == self.line && at - start.pos <= MAX_SIMPLE_KEY_LEN).then_some(at)
    }
}
