//! The lexer: in goes template text, out come tokens one at a time, or Go's words about what is none.

use gostd::quoted;
use gostd::unicode::{is_digit, is_letter, is_print};

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";
const LEFT_COMMENT: &[u8] = b"/*";
const RIGHT_COMMENT: &[u8] = b"*/";

/// Time `- ` and ` -` are, which trim the text beside an action.
const TRIM_MARKER: usize = 2;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text that is no token; see [`Lexer::message`].
    Error,
    Bool,
    /// A printable character that means nothing by itself.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Keyword(Keyword),
}

/// The words of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

/// A token: what, and where in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Takes template text apart.
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    left: memchr::memmem::Finder<'static>,
    start: usize,
    position: usize,
    inside_action: bool,
    parens: usize,
    /// Tells whether `break` and `continue` are words of the language, and not functions.
    words: LoopWords,
    /// Go's error message for invalid text, after which lexing stops.
    message: Option<Box<str>>,
}

/// Which loop words the functions leave to the language.
#[derive(Clone, Copy)]
pub(super) struct LoopWords {
    pub(super) r#break: bool,
    pub(super) r#continue: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8], words: LoopWords) -> Self {
        Self {
            text,
            left: memchr::memmem::Finder::new(LEFT),
            start: 0,
            position: 0,
            inside_action: false,
            parens: 0,
            words,
            message: None,
        }
    }

    /// The next token; after an error there is nothing more to come.
    pub(super) fn next(&mut self) -> Token {
        self.start = self.position;
        if self.inside_action { self.action() } else { self.outside() }
    }

    /// Returns the error message of an invalid token.
    pub(super) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    fn token(&mut self, kind: Kind) -> Token {
        let token = Token { kind, start: self.start, end: self.position };
        self.start = self.position;
        token
    }

    fn error(&mut self, message: impl Into<Box<str>>) -> Token {
        let token = Token { kind: Kind::Error, start: self.start, end: self.position };
        self.message = Some(message.into());
        self.position = self.text.len();
        self.inside_action = false;
        token
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.position.min(self.text.len())..]
    }

    /// The character ahead, U+FFFD for a byte that is none.
    fn peek(&self) -> Option<char> {
        let rest = self.rest();
        match rest.first()? {
            byte if byte.is_ascii() => Some(char::from(*byte)),
            _ => Some(gostd::characters(&rest[..rest.len().min(4)]).next()?.unwrap_or('\u{fffd}')),
        }
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        // U+FFFD stands for one byte, unless the text has it.
        let replaced = c == '\u{fffd}' && !self.rest().starts_with("\u{fffd}".as_bytes());
        self.position += if replaced { 1 } else { c.len_utf8() };
        Some(c)
    }

    fn accept(&mut self, accepted: &[u8]) -> bool {
        let found = self.rest().first().is_some_and(|byte| accepted.contains(byte));
        self.position += usize::from(found);
        found
    }

    fn accept_run(&mut self, accepted: &[u8]) {
        while self.accept(accepted) {}
    }

    /// Text up to an action, or that action's start; comments are passed over.
    fn outside(&mut self) -> Token {
        loop {
            let Some(delimiter) = self.left.find(self.rest()) else {
                self.position = self.text.len();
                return self.token(if self.position > self.start { Kind::Text } else { Kind::Eof });
            };
            let delimiter = self.position + delimiter;
            let after = delimiter + LEFT.len();
            let trimmed = has_left_marker(&self.text[after..]);
            self.position = delimiter;
            if trimmed {
                self.position -= trailing_space(&self.text[self.start..delimiter]);
            }
            if self.position > self.start {
                let token = self.token(Kind::Text);
                self.position = delimiter;
                return token;
            }
            self.start = delimiter;
            let inner = after + if trimmed { TRIM_MARKER } else { 0 };
            if !self.text[inner..].starts_with(LEFT_COMMENT) {
                self.position = after;
                let token = self.token(Kind::LeftDelim);
                self.position = inner;
                self.inside_action = true;
                self.parens = 0;
                return token;
            }
            self.start = inner;
            self.position = inner + LEFT_COMMENT.len();
            if let Some(error) = self.comment() {
                return error;
            }
            self.start = self.position;
        }
    }

    /// Passes over a comment whose start has been read, and its delimiter.
    fn comment(&mut self) -> Option<Token> {
        let Some(end) = find(self.rest(), RIGHT_COMMENT) else { return Some(self.error("unclosed comment")) };
        self.position += end + RIGHT_COMMENT.len();
        let Some(trim) = self.right_delimiter() else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        self.position += trim.marker() + RIGHT.len();
        self.trim_following(trim);
        None
    }

    /// Returns whether the closing delimiter is next, and whether it trims.
    fn right_delimiter(&self) -> Option<Trim> {
        let rest = self.rest();
        if has_right_marker(rest) && rest[TRIM_MARKER..].starts_with(RIGHT) {
            return Some(Trim::Yes);
        }
        rest.starts_with(RIGHT).then_some(Trim::No)
    }

    fn trim_following(&mut self, trim: Trim) {
        if trim == Trim::Yes {
            let rest = self.rest();
            self.position += rest.iter().take_while(|byte| is_space(char::from(**byte))).count();
        }
    }

    fn close_action(&mut self, trim: Trim) -> Token {
        self.position += trim.marker();
        self.start = self.position;
        self.position += RIGHT.len();
        let token = self.token(Kind::RightDelim);
        self.trim_following(trim);
        self.inside_action = false;
        token
    }

    fn action(&mut self) -> Token {
        if let Some(trim) = self.right_delimiter() {
            return if self.parens == 0 {
                self.close_action(trim)
            } else {
                self.error("unclosed left paren")
            };
        }
        let Some(c) = self.advance() else { return self.error("unclosed action") };
        match c {
            _ if is_space(c) => self.space(),
            '=' => self.token(Kind::Assign),
            ':' if self.accept(b"=") => self.token(Kind::Declare),
            ':' => self.error("expected :="),
            '|' => self.token(Kind::Pipe),
            '"' => self.quote(b'"', Kind::String, "unterminated quoted string"),
            '`' => self.raw_quote(),
            '\'' => self.quote(b'\'', Kind::CharConstant, "unterminated character constant"),
            '$' => self.field_or_variable(Kind::Variable),
            '.' if !self.rest().first().is_some_and(u8::is_ascii_digit) && !self.rest().is_empty() => {
                self.field_or_variable(Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => self.number(),
            _ if is_alphanumeric(c) => self.identifier(),
            '(' => {
                self.parens += 1;
                self.token(Kind::LeftParen)
            }
            ')' if self.parens == 0 => self.error("unexpected right paren"),
            ')' => {
                self.parens -= 1;
                self.token(Kind::RightParen)
            }
            _ if c.is_ascii() && is_print(c) => self.token(Kind::Char),
            _ => self.error(format!("unrecognized character in action: {}", code_point(c))),
        }
    }

    /// A run of spaces, but for the one that belongs to a closing ` -}}`.
    fn space(&mut self) -> Token {
        self.position += self.rest().iter().take_while(|byte| is_space(char::from(**byte))).count();
        let last = &self.text[self.position - 1..];
        if has_right_marker(last) && last[TRIM_MARKER..].starts_with(RIGHT) {
            self.position -= 1;
            if self.position == self.start {
                return self.close_space();
            }
        }
        self.token(Kind::Space)
    }

    /// One space before `-}}`: Go goes to the delimiter without a look at the parentheses.
    fn close_space(&mut self) -> Token {
        self.close_action(Trim::Yes)
    }

    fn identifier(&mut self) -> Token {
        self.word_end();
        if let Some(c) = self.bad_terminator() {
            return self.error(format!("bad character {}", code_point(c)));
        }
        let kind = match &self.text[self.start..self.position] {
            b"true" | b"false" => Kind::Bool,
            b"block" => Kind::Keyword(Keyword::Block),
            b"break" if self.words.r#break => Kind::Keyword(Keyword::Break),
            b"continue" if self.words.r#continue => Kind::Keyword(Keyword::Continue),
            b"define" => Kind::Keyword(Keyword::Define),
            b"else" => Kind::Keyword(Keyword::Else),
            b"end" => Kind::Keyword(Keyword::End),
            b"if" => Kind::Keyword(Keyword::If),
            b"nil" => Kind::Keyword(Keyword::Nil),
            b"range" => Kind::Keyword(Keyword::Range),
            b"template" => Kind::Keyword(Keyword::Template),
            b"with" => Kind::Keyword(Keyword::With),
            _ => Kind::Identifier,
        };
        self.token(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token {
        if self.bad_terminator().is_none() {
            return self.token(if kind == Kind::Variable { kind } else { Kind::Keyword(Keyword::Dot) });
        }
        self.word_end();
        if let Some(c) = self.bad_terminator() {
            return self.error(format!("bad character {}", code_point(c)));
        }
        self.token(kind)
    }

    fn word_end(&mut self) {
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        self.position += self.rest().iter().take_while(is_plain).count();
        while self.peek().is_some_and(is_alphanumeric) {
            self.advance();
        }
    }

    /// The character ahead, if no word can end before it.
    fn bad_terminator(&self) -> Option<char> {
        let c = self.peek()?;
        let good =
            is_space(c) || matches!(c, '.' | ',' | '|' | ':' | ')' | '(') || self.rest().starts_with(RIGHT);
        (!good).then_some(c)
    }

    fn quote(&mut self, quote: u8, kind: Kind, unterminated: &str) -> Token {
        loop {
            let escaped = self.accept(b"\\");
            match self.rest().first() {
                None | Some(b'\n') => return self.error(unterminated),
                Some(byte) => {
                    self.position += 1;
                    if *byte == quote && !escaped {
                        return self.token(kind);
                    }
                }
            }
        }
    }

    fn raw_quote(&mut self) -> Token {
        match find(self.rest(), b"`") {
            Some(end) => {
                self.position += end + 1;
                self.token(Kind::RawString)
            }
            None => self.error("unterminated raw quoted string"),
        }
    }

    /// A number, or what looks like one: whether it is one the parser will say.
    fn number(&mut self) -> Token {
        self.position = self.start;
        let mut good = self.scan_number();
        let complex = good && matches!(self.rest().first(), Some(b'+' | b'-'));
        if complex {
            good = self.scan_number() && self.text[self.position - 1] == b'i';
        }
        if !good {
            let text = quoted(&self.text[self.start..self.position]);
            return self.error(format!("bad number syntax: {text}"));
        }
        self.token(if complex { Kind::Complex } else { Kind::Number })
    }

    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut digits: &[u8] = b"0123456789_";
        let mut exponent: &[u8] = b"eE";
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = b"0123456789abcdefABCDEF_";
                exponent = b"pP";
            } else if self.accept(b"oO") {
                digits = b"01234567_";
                exponent = b"";
            } else if self.accept(b"bB") {
                digits = b"01_";
                exponent = b"";
            }
        }
        self.accept_run(digits);
        if self.accept(b".") {
            self.accept_run(digits);
        }
        if self.accept(exponent) {
            self.accept(b"+-");
            self.accept_run(b"0123456789_");
        }
        self.accept(b"i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.advance();
            return false;
        }
        true
    }
}

/// Tells whether a delimiter trims the text beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trim {
    Yes,
    No,
}

impl Trim {
    fn marker(self) -> usize {
        if self == Self::Yes { TRIM_MARKER } else { 0 }
    }
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, pattern)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

fn has_left_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if is_space(char::from(*space)))
}

fn has_right_marker(text: &[u8]) -> bool {
    matches!(text, [space, b'-', ..] if is_space(char::from(*space)))
}

fn trailing_space(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| is_space(char::from(**byte))).count()
}

/// `%#U`.
fn code_point(c: char) -> String {
    let code = format!("U+{:04X}", c as u32);
    if is_print(c) { format!("{code} '{c}'") } else { code }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        let mut lexer = Lexer::new(text.as_bytes(), LoopWords { r#break: true, r#continue: true });
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            match token.kind {
                Kind::Eof => return tokens,
                Kind::Space => {}
                Kind::Error => {
                    tokens.push((Kind::Error, lexer.message().unwrap().to_owned()));
                    return tokens;
                }
                kind => tokens.push((kind, text[token.start..token.end].to_owned())),
            }
        }
    }

    fn words(text: &str) -> Vec<String> {
        kinds(text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn trim_markers_take_the_space_beside_them() {
        assert_eq!(words("a \n{{- 1 -}}\n b"), ["a", "{{", "1", "}}", "b"]);
        assert_eq!(words("a {{-1-}} b"), ["a ", "{{", "bad number syntax: \"-1-\""]);
        assert_eq!(words("a {{- /* x */ -}} b"), ["a", "b"]);
        assert_eq!(words("a {{/* x */}} b"), ["a ", " b"]);
    }

    #[test]
    fn words_end_at_a_dot_but_not_at_a_bracket() {
        assert_eq!(words("{{.a.b $x.y now.Year}}"), ["{{", ".a", ".b", "$x", ".y", "now", ".Year", "}}"]);
        assert_eq!(words("{{.a[0]}}"), ["{{", "bad character U+005B '['"]);
        assert_eq!(kinds("{{..}}")[1].0, Kind::Keyword(Keyword::Dot));
    }

    #[test]
    fn numbers_may_be_anything_that_starts_like_one() {
        for text in ["0x1F", "1_000", "1e3", "0x1p-2", "3i", "1+2i", "-7", ".5", "0o17"] {
            assert_eq!(words(&format!("{{{{{text}}}}}")), ["{{", text, "}}"]);
        }
        assert_eq!(words("{{1.foo}}"), ["{{", "bad number syntax: \"1.f\""]);
    }
}
