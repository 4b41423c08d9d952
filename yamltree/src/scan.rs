//! Text to tokens: the lexical half of reading YAML.
//!
//! Accepts and refuses what go-yaml does, with its messages. As there, an indentation stack turns columns into the
//! starts and ends of block collections, and a scalar becomes a key only when a `:` follows it on its line, so tokens
//! wait in a queue until that is known. Of several faults go-yaml names the one that it meets first, so the queue is
//! filled as far, and keys are given up as late, as they are there.

mod block_scalar;
mod chars;
mod flow_scalar;
mod plain;
mod properties;
mod token;

use std::collections::VecDeque;

use compact_str::CompactString;

pub(crate) use token::{Place, TagName, TokenKind};

use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::parse::Comment;
use crate::source::{SourceId, Span};
use crate::text::TextTraits;

use chars::{is_blank, starts_plain};
use token::Token;

/// How far a key without `?` may be from its `:`, in characters.
const MAX_SIMPLE_KEY_LEN: usize = 1024;

/// How far from the end of a comment go-yaml v3 looks for the next one, in bytes.
const COMMENT_REACH: usize = 512;

/// A place that a fault is counted from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) pos: usize,
    pub(crate) line: u32,
}

/// Where a key without `?` may have started.
#[derive(Clone, Copy, Debug)]
struct SimpleKey {
    possible: bool,
    /// Whether nothing but a key can stand there.
    required: bool,
    /// The number of the token that would be the key.
    token: usize,
    mark: Mark,
    column: i32,
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
    /// How many tokens must be known before the first is handed out.
    look_ahead: usize,
    /// How many tokens the composer has taken.
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

    /// What the next token is; it stays in the queue.
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

    /// Where the token stands that [`Self::peek`] has shown.
    pub(crate) fn head(&self) -> Place {
        self.tokens[0].place
    }

    /// Takes the token that [`Self::peek`] has shown.
    pub(crate) fn take(&mut self) -> Place {
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
    pub(crate) fn grammar_error(&self, context: Option<u32>, at: Place, message: &str) -> Error {
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

    /// How many bytes the line break at an offset takes, 0 where there is none.
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

    /// Whether a blank, a line break or the end of the text is at an offset.
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

    /// Whether `---` or `...` stands alone at the start of the current line.
    fn at_document_indicator(&self) -> bool {
        self.pos == self.line_start
            && matches!(self.bytes.get(self.pos..self.pos + 3), Some(b"---" | b"..."))
            && self.is_space(self.pos + 3)
    }

    // The queue.

    fn push(&mut self, kind: TokenKind, start: Mark, end: usize) {
        let place = Place { start: start.pos as u32, end: end as u32, line: start.line };
        self.tokens.push_back(Token { kind, place });
    }

    fn next_token_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    /// Whether the head of the queue is not ready to be handed out.
    fn must_fetch(&mut self) -> Result<bool, Error> {
        let is_at_end = matches!(self.tokens.back(), Some(Token { kind: TokenKind::StreamEnd, .. }));
        if self.tokens.len() < self.look_ahead && !is_at_end {
            return Ok(true);
        }
        Ok(self.head_may_be_key()? && !is_at_end)
    }

    /// Whether the head of the queue still may turn out to be a key.
    fn head_may_be_key(&mut self) -> Result<bool, Error> {
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

    /// Whether a `:` here would make a key of what a simple key stands for. One that is too far away is given up, but
    /// its token stays listed, as in go-yaml: the next key to take its place is then looked at in its stead.
    fn key_is_valid(&mut self, level: usize) -> Result<bool, Error> {
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

    /// Refuses to give up a key where nothing else may stand.
    fn check_not_required(&self, key: SimpleKey) -> Result<(), Error> {
        if key.required {
            return Err(self.error_at(key.mark, key.mark.pos, "could not find expected ':'"));
        }
        Ok(())
    }

    /// Gives up the key that may have started last.
    fn drop_last_key(&mut self) -> Result<(), Error> {
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

    fn unlist_key(&mut self, token: usize) {
        if let Some(at) = self.key_tokens.iter().rposition(|&(listed, _)| listed == token) {
            self.key_tokens.remove(at);
        }
    }

    /// The key that may start here.
    fn start_key(&mut self) -> Result<Option<SimpleKey>, Error> {
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
    fn save_key(&mut self, key: Option<SimpleKey>) {
        if let Some(key) = key {
            self.key_tokens.push_back((key.token, self.simple_keys.len() - 1));
            *self.last_key() = key;
        }
    }

    // Indentation.

    /// Opens a block collection where a column lies deeper than the last one; says whether it did.
    fn roll_indent(&mut self, column: i32) -> bool {
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

    fn fetch_next(&mut self) -> Result<(), Error> {
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

    fn push_indicator(&mut self, kind: TokenKind, len: usize) {
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

    /// Puts the key that a `:` has proven in front of its first token.
    fn insert_key(&mut self, at: usize) {
        self.simple_keys[at].possible = false;
        let key = self.simple_keys[at];
        self.unlist_key(key.token);
        // A token that was handed out early is out of reach; what should stand before it comes last instead.
        let index = key.token.checked_sub(self.taken).unwrap_or(self.tokens.len());
        let pos = key.mark.pos as u32;
        let place = Place { start: pos, end: pos, line: key.mark.line };
        self.tokens.insert(index, Token { kind: TokenKind::Key, place });
        if self.roll_indent(key.column) {
            let index = key.token.checked_sub(self.taken).unwrap_or(self.tokens.len());
            self.tokens.insert(index, Token { kind: TokenKind::BlockMappingStart, place });
        }
    }

    /// Puts a scalar into the queue; as a key where a `:` follows, which saves the wait for the next token.
    fn push_scalar(&mut self, kind: TokenKind, key: Option<SimpleKey>, start: Mark, end: usize) {
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

    /// The `:` that makes a key of what stands between `start` and here.
    fn colon_behind(&self, start: Mark) -> Option<usize> {
        let mut at = self.pos;
        while is_blank(self.byte(at)) {
            at += 1;
        }
        let is_value = self.byte(at) == b':' && (self.flow_level > 0 || self.is_space(at + 1));
        (is_value && start.line == self.line && at - start.pos <= MAX_SIMPLE_KEY_LEN).then_some(at)
    }

    // What stands between tokens.

    fn skip_to_token(&mut self) {
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

    fn skip_comment(&mut self) {
        let end = self.line_end(self.pos);
        if self.comments.is_some() {
            let comment =
                Comment { span: self.span(self.pos as u32, end as u32), own_line: self.is_line_blank() };
            self.comments.get_or_insert_default().push(comment);
        }
        self.pos = end;
    }

    /// Whether only blanks stand before the current place on its line.
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
    fn skip_trailing_comment(&mut self) {
        let is_entry = matches!(self.tokens.back(), Some(Token { kind: TokenKind::BlockEntry, .. }));
        if is_entry || self.is_line_blank() {
            return;
        }
        let mut at = self.pos;
        while is_blank(self.byte(at)) && at - self.pos < COMMENT_REACH {
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
        let between = self.bytes[end..].iter().take(COMMENT_REACH);
        let len = between.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        (len < COMMENT_REACH && self.byte(end + len) == b'#').then_some(end + len)
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
