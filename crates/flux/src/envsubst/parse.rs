//! From a text to its parts (envsubst/parse/parse.go, scan.go).

use std::str::Chars;
use std::sync::OnceLock;

use super::ExpressionError;

/// Expressions nest no deeper; Flux has no such limit, and nobody nests three.
const MAX_DEPTH: usize = 100;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Expression(Expression),
}

/// `${name operator arguments}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) name: String,
    /// As it is written; empty for a bare variable.
    pub(super) operator: String,
    pub(super) arguments: Vec<Part>,
    /// The offset of its first byte.
    pub(super) offset: usize,
    /// The offset behind its last byte.
    pub(super) end: usize,
}

/// Which characters lose their special meaning behind which.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    /// `$$`
    Dollar,
    /// `$$`, `\/` and `\\`
    All,
}

/// Returns true if a text is the name of a variable (`^[_[:alpha:]][_[:alpha:][:digit:]]*$`).
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let begins = bytes.next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic());
    begins && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The parts of a text.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, ExpressionError> {
    let mut parser = Parser { text, rest: text.chars(), depth: 0 };
    let mut parts = Vec::new();
    loop {
        let plain = parser.run(|_| false, Escapes::Dollar);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        if !parser.opens() {
            return Ok(parts);
        }
        parts.push(parser.expression()?);
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: Chars<'t>,
    depth: usize,
}

impl Parser<'_> {
    fn offset(&self) -> usize {
        self.text.len() - self.rest.as_str().len()
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn follows(&self, text: &str) -> bool {
        self.rest.as_str().starts_with(text)
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest.next();
        }
        is_there
    }

    fn opens(&self) -> bool {
        self.follows("${")
    }

    /// The text up to an expression or to a character that ends it.
    fn run(&mut self, ends: impl Fn(char) -> bool, escapes: Escapes) -> String {
        let mut text = String::new();
        while let Some(next) = self.peek() {
            if self.opens() {
                break;
            }
            let is_escape = match escapes {
                Escapes::None => false,
                Escapes::Dollar => self.follows("$$"),
                Escapes::All => self.follows("$$") || self.follows("\\/") || self.follows("\\\\"),
            };
            if is_escape {
                self.rest.next();
                text.extend(self.rest.next());
                continue;
            }
            if ends(next) {
                break;
            }
            self.rest.next();
            text.push(next);
        }
        text
    }

    /// The characters that an operator may have at a position, as many as there are.
    fn operator(&mut self, positions: &[&str]) -> String {
        let mut operator = String::new();
        for allowed in positions {
            match self.peek() {
                Some(next) if allowed.contains(next) => operator.push(next),
                _ => break,
            }
            self.rest.next();
        }
        operator
    }

    /// An expression, whose `${` is next.
    fn expression(&mut self) -> Result<Part, ExpressionError> {
        let offset = self.offset();
        if self.depth == MAX_DEPTH {
            return Err(ExpressionError::new(format!("`${{…}}` nests deeper than {MAX_DEPTH}"), offset));
        }
        self.depth += 1;
        self.rest.nth(1);
        let mut expression = Expression {
            name: String::new(),
            operator: String::new(),
            arguments: Vec::new(),
            offset,
            end: offset,
        };
        self.fill(&mut expression)?;
        expression.end = self.offset();
        self.depth -= 1;
        Ok(Part::Expression(expression))
    }

    fn fill(&mut self, expression: &mut Expression) -> Result<(), ExpressionError> {
        if self.take('#') {
            expression.operator = "#".to_owned();
            expression.name = self.name();
            return match expression.name.as_str() {
                "" => Err(self.bad(expression)),
                _ => self.close(expression),
            };
        }
        expression.name = self.name();
        if expression.name.is_empty() {
            return Err(self.fault("lacks a variable", expression));
        }
        match self.peek() {
            Some(':') => self.colon(expression),
            Some('=') => {
                expression.operator = self.operator(&["="]);
                self.defaults(expression)
            }
            Some(',' | '^') => {
                expression.operator = self.operator(&[",^", ",^"]);
                self.close(expression)
            }
            Some('/') => self.replacement(expression),
            Some(sign @ ('#' | '%')) => {
                let sign = sign.to_string();
                expression.operator = self.operator(&[&sign, &sign]);
                self.argument(expression, |next| next == '}', Escapes::None)?;
                self.close(expression)
            }
            Some('}') => self.close(expression),
            Some(sign @ ('-' | '+' | '?')) => {
                let fault =
                    self.fault(&format!("has the operator `{sign}`, which Flux does not know"), expression);
                Err(fault.hint(format!("write `${{{}:{sign}…}}`", expression.name)))
            }
            _ => Err(self.fault("is not closed behind its variable", expression)),
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(next) = self.peek().filter(|next| is_word(*next)) {
            self.rest.next();
            name.push(next);
        }
        name
    }

    /// `:` and what follows it: a default, or the bounds of a part.
    fn colon(&mut self, expression: &mut Expression) -> Result<(), ExpressionError> {
        let mut behind = self.rest.clone();
        behind.next();
        let next = behind.next();
        if next.is_some_and(|next| "=-?+".contains(next)) {
            expression.operator = self.operator(&[":", "=-?+"]);
            return self.defaults(expression);
        }
        // Flux steps back by as many bytes as the next character has, and no longer finds the colon.
        if next.is_some_and(|next| next.len_utf8() > 1) {
            return Err(self.bad(expression));
        }
        expression.operator = self.operator(&[":"]);
        self.argument(expression, |next| next == ':' || next == '}', Escapes::None)?;
        if self.take('}') {
            return Ok(());
        }
        if !self.take(':') {
            return Err(self.bad(expression));
        }
        while self.take(':') {}
        self.argument(expression, |next| next == '}', Escapes::None)?;
        self.close(expression)
    }

    /// Texts and expressions up to the brace.
    fn defaults(&mut self, expression: &mut Expression) -> Result<(), ExpressionError> {
        while !self.take('}') {
            self.argument(expression, |next| next == '}', Escapes::None)?;
        }
        Ok(())
    }

    fn replacement(&mut self, expression: &mut Expression) -> Result<(), ExpressionError> {
        expression.operator = self.operator(&["/", "/#%"]);
        // A brace is no end here: what is sought goes to the next slash, wherever that is.
        self.argument(expression, |next| next == '/', Escapes::All)?;
        if !self.take('/') {
            return Err(self.bad(expression));
        }
        while self.take('/') {}
        if self.take('}') {
            return Ok(());
        }
        self.argument(expression, |next| next == '}', Escapes::All)?;
        self.close(expression)
    }

    /// One argument: an expression, or a text that is not empty.
    fn argument(
        &mut self,
        expression: &mut Expression,
        ends: impl Fn(char) -> bool,
        escapes: Escapes,
    ) -> Result<(), ExpressionError> {
        let argument = if self.opens() { self.expression()? } else { Part::Text(self.run(ends, escapes)) };
        if matches!(&argument, Part::Text(text) if text.is_empty()) {
            return Err(self.fault(&format!("is empty after `{}`", expression.operator), expression));
        }
        expression.arguments.push(argument);
        Ok(())
    }

    fn close(&mut self, expression: &Expression) -> Result<(), ExpressionError> {
        if self.take('}') { Ok(()) } else { Err(self.bad(expression)) }
    }

    fn bad(&self, expression: &Expression) -> ExpressionError {
        self.fault("is not a substitution that Flux supports", expression)
    }

    /// The expression as far as it was read is shown: it has no values in it.
    fn fault(&self, what: &str, expression: &Expression) -> ExpressionError {
        let shown: String =
            self.text[expression.offset..].chars().take_while(|c| *c != '\n').take(40).collect();
        let end = shown.find('}').map_or(shown.len(), |end| end + 1);
        let message = format!("`{}` {what}", &shown[..end]);
        ExpressionError::new(message, expression.offset).hint("for a dollar sign before a brace write `$${`")
    }
}

/// A letter, a digit, or an underscore.
fn is_word(c: char) -> bool {
    static WORD: OnceLock<Option<goregex::Regex>> = OnceLock::new();
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    let word = WORD.get_or_init(|| goregex::Regex::new(r"^[\pL\p{Nd}]$").ok());
    word.as_ref().is_some_and(|word| word.is_match(c.encode_utf8(&mut [0; 4])))
}
