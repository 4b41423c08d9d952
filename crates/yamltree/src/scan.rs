//! Text to tokens: the lexical half of reading YAML.
//!
//! Accepts and refuses what go-yaml does, with its messages. As there, an indentation stack turns columns into the
//! starts and ends of block collections, and a scalar becomes a key only when a `:` follows it on its line, so tokens
//! wait in a queue until that is known. Of several faults go-yaml names the one that it meets first, so the queue is
//! filled as far, and keys are given up as late, as they are there.

mod block_scalar;
mod chars;
mod fetch;
mod flow_scalar;
mod plain;
mod properties;
mod simple_key;
mod space;
mod token;

use std::collections::VecDeque;

use compact_str::CompactString;

pub(crate) use token::{TagName, TokenKind, TokenStart};

use crate::dialect::Dialect;
use crate::document::Comment;
use crate::error::{Error, ErrorKind};
use crate::text::TextTraits;
use diagnostic::{SourceId, Span};

use simple_key::SimpleKey;
use token::Token;

/// A place that a fault is counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) pos: usize,
    pub(crate) line: u32,
}

pub(crate) struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    traits: TextTraits,
    dialect: Dialect,
    source: SourceId,
    base: u32,
    pos: usize,
    line: u32,
    line_start: usize,
    /// The start of the last line that something was found on.
    filled_line: Option<usize>,
    /// The last place whose column was counted, for lines that are not ASCII.
    counted: (usize, i32),
    flow_level: usize,
    indent: i32,
    indents: Vec<i32>,
    simple_key_allowed: bool,
    /// One for block context and one for each open flow collection.
    simple_keys: Vec<SimpleKey>,
    /// The tokens that may turn out to be keys, with their place in `simple_keys`, which another key may have by now.
    key_tokens: VecDeque<(usize, usize)>,
    tokens: VecDeque<Token>,
    /// The texts of the cooked scalars and the names of the tags in the queue.
    texts: VecDeque<CompactString>,
    tag_names: VecDeque<TagName>,
    /// Number of tokens to queue before the first can be returned.
    look_ahead: usize,
    /// Number of tokens the composer has taken.
    taken: usize,
    head_ready: bool,
    comments: Option<Vec<Comment>>,
}

impl<'t> Scanner<'t> {
    /// A scanner of a text whose bytes were checked.
    pub(crate) fn new(
        text: &'t str,
        traits: TextTraits,
        dialect: Dialect,
        source: SourceId,
        base: u32,
    ) -> Self {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let key = SimpleKey {
            possible: false,
            required: false,
            token: 0,
            mark: Mark { pos: 0, line: 0 },
            column: 0,
        };
        Self {
            text,
            bytes: text.as_bytes(),
            traits,
            dialect,
            source,
            base,
            pos: start,
            line: 0,
            line_start: start,
            filled_line: None,
            counted: (start, 0),
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            simple_keys: vec![key],
            key_tokens: VecDeque::new(),
            tokens: VecDeque::with_capacity(16),
            texts: VecDeque::new(),
            tag_names: VecDeque::new(),
            look_ahead: if dialect == Dialect::V3 { 3 } else { 1 },
            taken: 0,
            head_ready: false,
            comments: None,
        }
    }

    /// Keeps comments from here on.
    pub(crate) fn keep_comments(&mut self) {
        self.comments = Some(Vec::new());
    }

    /// Takes the comments before the token at the head.
    pub(crate) fn take_comments(&mut self) -> Vec<Comment> {
        let end = self.span(self.head().start, self.head().end).start;
        let Some(comments) = &mut self.comments else { return Vec::new() };
        let len = comments.partition_point(|comment| comment.span.start < end);
        comments.drain(..len).collect()
    }

    /// Returns the kind of the next token, which stays in the queue.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<TokenKind, Error> {
        if !self.head_ready {
            self.fill_queue()?;
        }
        Ok(self.tokens[0].kind)
    }

    fn fill_queue(&mut self) -> Result<(), Error> {
        while self.must_fetch()? {
            self.fetch_next()?;
        }
        self.head_ready = true;
        Ok(())
    }

    /// Returns the location of the token that [`Self::peek`] returned.
    pub(crate) fn head(&self) -> TokenStart {
        self.tokens[0].place
    }

    /// Takes the token that [`Self::peek`] has shown.
    pub(crate) fn take(&mut self) -> TokenStart {
        self.head_ready = false;
        self.taken += 1;
        self.tokens.pop_front().expect("peek put a token there").place
    }

    /// The text of the cooked scalar that was taken.
    pub(crate) fn take_text(&mut self) -> CompactString {
        self.texts.pop_front().unwrap_or_default()
    }

    /// The name of the tag, or of the directive, that was taken.
    pub(crate) fn take_tag_name(&mut self) -> TagName {
        self.tag_names.pop_front().expect("each tag has left its name")
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The text between two bytes.
    pub(crate) fn slice(&self, start: u32, end: u32) -> &'t str {
        &self.text[start as usize..end as usize]
    }

    /// The place of some bytes of the text in its file.
    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        Span { source: self.source, start: self.base + start, end: self.base + end }
    }

    /// A fault in the grammar, which go-yaml reports one line further up than one in the text.
    pub(crate) fn grammar_error(&self, context: Option<u32>, at: TokenStart, message: &str) -> Error {
        let context = context.unwrap_or(0);
        let line = match self.dialect {
            Dialect::V3 if context != 0 => context,
            Dialect::V2 if at.line == 0 => context,
            _ => at.line,
        };
        let span = self.span(at.start, at.end.max(self.char_end(at.start as usize) as u32));
        Error::new(ErrorKind::Invalid, message, span).with_go_line(line)
    }

    /// A fault in the text at the current place, met while reading what began at `context`.
    fn error(&self, context: Mark, message: &str) -> Error {
        self.error_at(context, self.pos, message)
    }

    fn error_at(&self, context: Mark, at: usize, message: &str) -> Error {
        let line = match self.dialect {
            Dialect::V3 if context.line != 0 => context.line + 1,
            Dialect::V2 if self.line == 0 => context.line,
            _ if self.line == 0 => 0,
            _ => self.line + 1,
        };
        Error::new(ErrorKind::Invalid, message, self.span(at as u32, self.char_end(at) as u32))
            .with_go_line(line)
    }

    fn char_end(&self, at: usize) -> usize {
        at + self.text[at.min(self.text.len())..].chars().next().map_or(0, char::len_utf8)
    }

    // Bytes, breaks and columns.

    /// The byte at an offset, 0 past the end: a text never holds one.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn current(&self) -> u8 {
        self.byte(self.pos)
    }

    /// Returns how many bytes the line break at an offset takes, 0 where there is none.
    #[inline]
    fn break_len(&self, at: usize) -> usize {
        match self.byte(at) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.byte(at + 1) == b'\n'),
            0xC2 => 2 * usize::from(self.byte(at + 1) == 0x85),
            0xE2 if self.byte(at + 1) == 0x80 => 3 * usize::from(matches!(self.byte(at + 2), 0xA8 | 0xA9)),
            _ => 0,
        }
    }

    /// Returns true if a blank, a line break or the end of the text is at an offset.
    #[inline]
    fn is_space(&self, at: usize) -> bool {
        match self.byte(at) {
            0 | b' ' | b'\t' | b'\n' | b'\r' => true,
            0xC2 | 0xE2 => self.break_len(at) > 0,
            _ => false,
        }
    }

    #[inline]
    fn is_break_or_end(&self, at: usize) -> bool {
        at >= self.bytes.len() || self.break_len(at) > 0
    }

    /// Moves past a line break of a known length.
    #[inline]
    fn pass_break(&mut self, len: usize) {
        self.pos += len;
        self.line += 1;
        self.line_start = self.pos;
        self.counted = (self.pos, 0);
    }

    /// The end of the line that an offset is on.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.bytes[at..];
        if self.traits.only_lf {
            return memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |len| at + len);
        }
        (at..self.bytes.len()).find(|&at| self.break_len(at) > 0).unwrap_or(self.bytes.len())
    }

    /// The current column in characters.
    #[inline]
    fn column(&mut self) -> i32 {
        if self.traits.ascii {
            return (self.pos - self.line_start) as i32;
        }
        self.count_column()
    }

    fn count_column(&mut self) -> i32 {
        let (at, column) = self.counted;
        let added = self.bytes[at..self.pos].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self.counted = (self.pos, column + added as i32);
        self.counted.1
    }

    fn mark(&self) -> Mark {
        Mark { pos: self.pos, line: self.line }
    }

    /// Returns true if the current line starts with `---` or `...`, followed by a blank or the end.
    fn at_document_indicator(&self) -> bool {
        self.pos == self.line_start
            && matches!(self.bytes.get(self.pos..self.pos + 3), Some(b"---" | b"..."))
            && self.is_space(self.pos + 3)
    }

    // The queue.

    fn push(&mut self, kind: TokenKind, start: Mark, end: usize) {
        let place = TokenStart { start: start.pos as u32, end: end as u32, line: start.line };
        self.tokens.push_back(Token { kind, place });
    }

    fn next_token_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    /// Returns true if the first token of the queue cannot be returned yet.
    fn must_fetch(&mut self) -> Result<bool, Error> {
        let is_at_end = matches!(self.tokens.back(), Some(Token { kind: TokenKind::StreamEnd, .. }));
        if self.tokens.len() < self.look_ahead && !is_at_end {
            return Ok(true);
        }
        Ok(self.head_may_be_key()? && !is_at_end)
    }
}
