//! Pipelines: in go the tokens between an action's word and its end, out come commands and their terms.

use gostd::quoted;

use super::tokens::offset;
use super::{DEEPEST, LONGEST, Parsed, Parser};
use crate::syntax::lex::{Keyword, Kind, Token};
use crate::syntax::node::{Command, Declared, Pipeline, Span, Term};
use crate::syntax::number;
use crate::syntax::show::Show;

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipeline> {
        self.check_depth()?;
        let position = offset(self.peek_word().start);
        let mut pipe = Pipeline { position, declared: Vec::new(), assigns: false, commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        let start = self.commands.len();
        loop {
            let token = self.next_word();
            if token.kind == end {
                pipe.commands = self.commands.drain(start..).collect();
                self.check_pipeline(&pipe, context)?;
                self.bind(&mut pipe);
                return Ok(pipe);
            }
            if !starts_operand(token.kind) {
                return Err(self.unexpected(&token, context));
            }
            self.back_up();
            let command = self.command()?;
            self.commands.push(command);
            if self.commands.len() - start > LONGEST {
                return Err(self.error("pipeline too long"));
            }
        }
    }

    /// `$x :=`, `$x =` or for ranges `$i, $x :=`.
    fn declarations(&mut self, pipe: &mut Pipeline, context: &str) -> Parsed<()> {
        loop {
            let variable = self.peek_word();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // In `$x foo` only the word after the space tells that nothing is declared.
            let after = self.peek();
            let next = self.peek_word();
            let comma = next.kind == Kind::Char && self.word(&next) == b",";
            if !comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
                if after.kind == Kind::Space {
                    self.back_up_three(variable, after);
                } else {
                    self.back_up_two(variable);
                }
                return Ok(());
            }
            self.next_word();
            pipe.declared.push(Declared { name: self.span(&variable), slot: None });
            self.frame.scope.know(self.word(&variable));
            if !comma {
                pipe.assigns = next.kind == Kind::Assign;
                return Ok(());
            }
            if context != "range" || pipe.declared.len() >= 2 {
                return Err(self.error(format!("too many declarations in {context}")));
            }
            if !matches!(self.peek_word().kind, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                return Err(self.error("range can only initialize variables"));
            }
        }
    }

    /// Finds the slots of the variables that a pipeline declares or assigns: it does so when it has its value.
    fn bind(&mut self, pipe: &mut Pipeline) {
        for declared in &mut pipe.declared {
            let name = self.source.slice(declared.name);
            declared.slot =
                if pipe.assigns { self.frame.scope.slot(name) } else { self.frame.scope.declare(name) };
        }
    }

    fn check_pipeline(&self, pipe: &Pipeline, context: &str) -> Parsed<()> {
        if pipe.commands.is_empty() {
            return Err(self.error(format!("missing value for {context}")));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            if let Some(Term::Bool(..) | Term::Dot(_) | Term::Nil(_) | Term::Number(..) | Term::String(..)) =
                command.terms.first()
            {
                return Err(self.error(format!("non executable command in pipeline stage {}", index + 1)));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parsed<Command> {
        let position = offset(self.peek_word().start);
        let start = self.terms.len();
        loop {
            self.peek_word();
            if let Some(operand) = self.operand()? {
                self.terms.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.back_up(),
                Kind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            if self.terms.len() == start {
                return Err(self.error("empty command"));
            }
            return Ok(Command { position, terms: self.terms.drain(start..).collect() });
        }
    }

    /// A term and the fields after it.
    fn operand(&mut self) -> Parsed<Option<Term>> {
        let Some(term) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(term));
        }
        let mut fields = Vec::new();
        while self.peek().kind == Kind::Field {
            let token = self.next();
            fields.push(self.field_name(&token));
        }
        let position = offset(first.start);
        Ok(Some(match term {
            Term::Field { names, .. } => {
                Term::Field { position, names: [&names, &fields[..]].concat().into() }
            }
            Term::Variable { name, slot, .. } => {
                Term::Variable { position, name, slot, fields: fields.into() }
            }
            Term::Pipe(_) | Term::Function(..) | Term::Chain { .. } => {
                Term::Chain { position, base: Box::new(term), fields: fields.into() }
            }
            _ => {
                let shown = Show::Term(self.source, &term).to_string();
                return Err(self.error(format!("unexpected . after term {}", quoted(shown.as_bytes()))));
            }
        }))
    }

    fn field_name(&self, token: &Token) -> Span {
        Span { start: offset(token.start + 1), end: offset(token.end) }
    }

    fn term(&mut self) -> Parsed<Option<Term>> {
        let token = self.next_word();
        let span = self.span(&token);
        let word = self.word(&token);
        Ok(Some(match token.kind {
            Kind::Identifier => Term::Function(
                span,
                self.functions
                    .get(word)
                    .ok_or_else(|| self.error(format!("function {} not defined", quoted(word))))?,
            ),
            Kind::Keyword(Keyword::Dot) => Term::Dot(span),
            Kind::Keyword(Keyword::Nil) => Term::Nil(span),
            Kind::Variable => self.variable(&token)?,
            Kind::Field => Term::Field { position: span.start, names: Box::new([self.field_name(&token)]) },
            Kind::Bool => Term::Bool(span, word == b"true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                let number = match token.kind {
                    Kind::CharConstant => number::character(word),
                    Kind::Complex => number::complex(word),
                    _ => number::number(word),
                };
                Term::Number(span, Box::new(number.map_err(|reason| self.error(reason))?))
            }
            Kind::LeftParen => self.parenthesized()?,
            Kind::String | Kind::RawString => Term::String(span, self.string(&token)?),
            _ => {
                self.back_up();
                return Ok(None);
            }
        }))
    }

    fn variable(&self, token: &Token) -> Parsed<Term> {
        let word = self.word(token);
        if !self.frame.scope.is_known(word) {
            return Err(self.error(format!("undefined variable {}", quoted(word))));
        }
        let name = self.span(token);
        let slot = self.frame.scope.slot(word);
        Ok(Term::Variable { position: name.start, name, slot, fields: Box::default() })
    }

    fn parenthesized(&mut self) -> Parsed<Term> {
        if self.frame.parens >= DEEPEST {
            return Err(self.error("max expression depth exceeded"));
        }
        self.frame.parens += 1;
        let pipe = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
        self.frame.parens -= 1;
        Ok(Term::Pipe(Box::new(pipe)))
    }
}

fn starts_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Keyword(Keyword::Dot | Keyword::Nil)
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::RawString
            | Kind::String
            | Kind::Variable
            | Kind::LeftParen
    )
}
