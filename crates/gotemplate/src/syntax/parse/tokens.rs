//! The parser's tokens: in goes the lexer, out come tokens that can be put back, and what is wrong
//! with one that should not be there.

use gostd::quoted;

use super::{Parsed, Parser};
use crate::error::{Error, ErrorKind, Place};
use crate::syntax::lex::{Kind, Token};
use crate::syntax::node::Span;

impl<'a> Parser<'a> {
    pub(super) fn next(&mut self) -> Token {
        if self.frame.put_back > 0 {
            self.frame.put_back -= 1;
        } else {
            self.frame.tokens[0] = Some(self.lexer.next());
        }
        // A place that was counted back to holds a token.
        self.frame.tokens[self.frame.put_back].unwrap_or_else(|| self.lexer.next())
    }

    pub(super) fn back_up(&mut self) {
        self.frame.put_back += 1;
    }

    /// Puts back `first`, and the token read after it.
    pub(super) fn back_up_two(&mut self, first: Token) {
        self.frame.tokens[1] = Some(first);
        self.frame.put_back = 2;
    }

    /// Puts back `first` and `second`, and the token read after them.
    pub(super) fn back_up_three(&mut self, first: Token, second: Token) {
        self.frame.tokens[1] = Some(second);
        self.frame.tokens[2] = Some(first);
        self.frame.put_back = 3;
    }

    pub(super) fn peek(&mut self) -> Token {
        let token = self.next();
        self.back_up();
        token
    }

    pub(super) fn next_word(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    pub(super) fn peek_word(&mut self) -> Token {
        let token = self.next_word();
        self.back_up();
        token
    }

    pub(super) fn word(&self, token: &Token) -> &'a [u8] {
        &self.source.text[token.start..token.end]
    }

    pub(super) fn span(&self, token: &Token) -> Span {
        Span { start: offset(token.start), end: offset(token.end) }
    }

    pub(super) fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_word();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, context)) }
    }
}

impl Parser<'_> {
    pub(super) fn error(&self, reason: impl Into<String>) -> Error {
        self.error_of_kind(ErrorKind::Parse, reason)
    }

    pub(super) fn error_of_kind(&self, kind: ErrorKind, reason: impl Into<String>) -> Error {
        let offset = self.frame.tokens[0].as_ref().map(|token| token.start);
        let place = Place {
            file: self.source.name.clone(),
            line: offset.map_or(0, |offset| self.source.line(offset)),
            column: None,
            offset: offset.unwrap_or(0),
            executing: None,
        };
        Error::new(kind, Some(place), reason)
    }

    pub(super) fn unexpected(&self, token: &Token, context: &str) -> Error {
        let Some(message) = self.lexer.message().filter(|_| token.kind == Kind::Error) else {
            return self.error(format!("unexpected {} in {context}", self.show_token(token)));
        };
        let line = self.source.line(token.start);
        let started = self.frame.action.map(|action| self.source.line(action));
        let Some(started) = started.filter(|started| *started != line) else { return self.error(message) };
        let action = if message.ends_with(" action") { "" } else { " in action" };
        self.error(format!("{message}{action} started at {}:{started}", self.source.name))
    }

    pub(super) fn show_token(&self, token: &Token) -> String {
        let word = self.word(token);
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Keyword(_) => format!("<{}>", String::from_utf8_lossy(word)),
            _ => {
                let short: usize =
                    gostd::characters(word).take(10).map(|c| c.map_or(1, char::len_utf8)).sum();
                let dots = if word.len() > 10 { "..." } else { "" };
                let shown = if word.len() > 10 { &word[..short] } else { word };
                format!("{}{dots}", quoted(shown))
            }
        }
    }

    /// Refuses to go deeper when there is not enough stack.
    pub(super) fn check_depth(&self) -> Parsed<()> {
        if self.stack.is_used_up() {
            return Err(self.error_of_kind(ErrorKind::Limit, "template is nested too deep"));
        }
        Ok(())
    }
}

/// A place in the text, which is known to be short enough.
pub(super) fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
