//! The parser: in go a name, a text and the functions there are, out come the templates that the
//! text defines, or Go's words and line for what is wrong with it.
//!
//! Refused, beyond what Go refuses: text of 2 GiB, and actions nested so deep in each other that
//! the stack would not do.

use std::collections::HashMap;

use super::lex::{Keyword, Kind, Lexer, LoopWords, Token};
use super::node::{Branch, Command, Declared, Node, Pipeline, Source, Span, TemplateCall, Term, Tree};
use super::number;
use super::scope::Scope;
use super::show::Show;
use super::unquote::unquote;
use crate::error::{Error, ErrorKind, Place};
use crate::fmt::quoted;
use crate::functions::Functions;
use crate::stack::Stack;
use crate::value::Str;

/// How deep parentheses may be nested, as in Go.
const DEEPEST: usize = 10_000;

/// How many commands a pipeline may have, as in Go.
const LONGEST: usize = 100_000;

/// How much stack parsing may use, also amid execution: a thread has at least two megabytes.
const STACK: usize = 1 << 19;

/// The templates of one text.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) source: Source,
    /// The text's own template comes last.
    pub(crate) trees: Vec<Tree>,
}

/// Parses a text and every template in it.
pub(crate) fn parse(name: &str, text: &[u8], functions: &Functions) -> Result<File, Error> {
    let source = Source { name: name.to_owned(), text: text.to_vec() };
    if text.len() > i32::MAX as usize {
        return Err(Error::new(ErrorKind::Limit, None, format!("template: {name}: text is too long")));
    }
    let words = LoopWords {
        r#break: functions.get(b"break").is_none(),
        r#continue: functions.get(b"continue").is_none(),
    };
    let mut parser = Parser {
        source: &source,
        functions,
        lexer: Lexer::new(&source.text, words),
        frame: Frame::new(),
        trees: Vec::new(),
        named: HashMap::new(),
        stack: Stack::here(STACK),
    };
    parser.text()?;
    let trees = parser.trees;
    Ok(File { source, trees })
}

struct Parser<'a> {
    source: &'a Source,
    functions: &'a Functions,
    lexer: Lexer<'a>,
    frame: Frame,
    trees: Vec<Tree>,
    /// Where in `trees` the template of a name is.
    named: HashMap<Str, usize>,
    stack: Stack,
}

/// What the parser keeps for one template: those within each other share only the lexer.
struct Frame {
    /// The last token read, and up to two that were put back before it.
    tokens: [Option<Token>; 3],
    put_back: usize,
    scope: Scope,
    /// Where the action that is being parsed starts.
    action: Option<usize>,
    ranges: usize,
    parens: usize,
}

impl Frame {
    fn new() -> Self {
        Self {
            tokens: [const { None }; 3],
            put_back: 0,
            scope: Scope::new(),
            action: None,
            ranges: 0,
            parens: 0,
        }
    }
}

/// A node of a list, or what ends the list.
enum Item {
    Node(Node),
    End,
    Else,
}

impl Item {
    fn end_name(&self) -> &'static str {
        if matches!(self, Self::Else) { "{{else}}" } else { "{{end}}" }
    }
}

/// Which of the three a control action is, and what its pipeline is called in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    If,
    With,
    Range,
}

impl Control {
    fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::With => "with",
            Self::Range => "range",
        }
    }
}

type Parsed<T> = Result<T, Error>;

// Reading tokens.
impl<'a> Parser<'a> {
    fn next(&mut self) -> Token {
        if self.frame.put_back > 0 {
            self.frame.put_back -= 1;
        } else {
            self.frame.tokens[0] = Some(self.lexer.next());
        }
        // A place that was counted back to holds a token.
        self.frame.tokens[self.frame.put_back].clone().unwrap_or_else(|| self.lexer.next())
    }

    fn back_up(&mut self) {
        self.frame.put_back += 1;
    }

    /// Puts back `first`, and the token read after it.
    fn back_up_two(&mut self, first: Token) {
        self.frame.tokens[1] = Some(first);
        self.frame.put_back = 2;
    }

    /// Puts back `first` and `second`, and the token read after them.
    fn back_up_three(&mut self, first: Token, second: Token) {
        self.frame.tokens[1] = Some(second);
        self.frame.tokens[2] = Some(first);
        self.frame.put_back = 3;
    }

    fn peek(&mut self) -> Token {
        let token = self.next();
        self.back_up();
        token
    }

    fn next_word(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_word(&mut self) -> Token {
        let token = self.next_word();
        self.back_up();
        token
    }

    fn word(&self, token: &Token) -> &'a [u8] {
        &self.source.text[token.start..token.end]
    }

    fn span(&self, token: &Token) -> Span {
        Span { start: offset(token.start), end: offset(token.end) }
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_word();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, context)) }
    }
}

// Saying what is wrong.
impl Parser<'_> {
    fn error(&self, reason: impl Into<String>) -> Error {
        self.error_of_kind(ErrorKind::Parse, reason)
    }

    fn error_of_kind(&self, kind: ErrorKind, reason: impl Into<String>) -> Error {
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

    fn unexpected(&self, token: &Token, context: &str) -> Error {
        let Some(message) = &token.error else {
            return self.error(format!("unexpected {} in {context}", self.show_token(token)));
        };
        let line = self.source.line(token.start);
        let started = self.frame.action.map(|action| self.source.line(action));
        let Some(started) = started.filter(|started| *started != line) else { return self.error(&**message) };
        let action = if message.ends_with(" action") { "" } else { " in action" };
        self.error(format!("{message}{action} started at {}:{started}", self.source.name))
    }

    fn show_token(&self, token: &Token) -> String {
        let word = self.word(token);
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Keyword(_) => format!("<{}>", String::from_utf8_lossy(word)),
            _ => {
                let short: usize =
                    crate::fmt::characters(word).take(10).map(|c| c.map_or(1, char::len_utf8)).sum();
                let dots = if word.len() > 10 { "..." } else { "" };
                let shown = if word.len() > 10 { &word[..short] } else { word };
                format!("{}{dots}", quoted(shown))
            }
        }
    }

    /// Refuses to go deeper when there is not enough stack.
    fn check_depth(&self) -> Parsed<()> {
        if self.stack.is_used_up() {
            return Err(self.error_of_kind(ErrorKind::Limit, "template is nested too deep"));
        }
        Ok(())
    }
}

// Templates and the actions in them.
impl Parser<'_> {
    /// The whole text.
    fn text(&mut self) -> Parsed<()> {
        let mut nodes = Vec::new();
        loop {
            let token = self.peek();
            if token.kind == Kind::Eof {
                break;
            }
            if token.kind == Kind::LeftDelim {
                self.next();
                if self.next_word().kind == Kind::Keyword(Keyword::Define) {
                    self.definition()?;
                    continue;
                }
                self.back_up_two(token);
            }
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                end => return Err(self.error(format!("unexpected {}", end.end_name()))),
            }
        }
        let name = self.source.name.as_str().into();
        self.add(name, nodes)
    }

    /// Parses a template that is within another, up to its `end`.
    fn within(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let outer = std::mem::replace(&mut self.frame, Frame::new());
        let parsed = parse(self);
        if parsed.is_ok() {
            self.frame = outer;
        }
        parsed
    }

    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        self.within(|parser| {
            let token = parser.next_word();
            let name = parser.template_name(&token, CONTEXT)?;
            parser.expect(Kind::RightDelim, CONTEXT)?;
            let (nodes, end) = parser.list()?;
            if matches!(end, Item::Else) {
                return Err(parser.error(format!("unexpected {} in {CONTEXT}", end.end_name())));
            }
            parser.add(name, nodes)
        })
    }

    /// Keeps a template. Of two with a name one has to be blank, and the other stays.
    fn add(&mut self, name: Str, nodes: Vec<Node>) -> Parsed<()> {
        let blank = nodes.iter().all(|node| self.is_blank(node));
        let tree = Tree { name: name.clone(), nodes, slots: self.frame.scope.most(), blank };
        let Some(&index) = self.named.get(&name) else {
            self.named.insert(name, self.trees.len());
            self.trees.push(tree);
            return Ok(());
        };
        if self.trees[index].blank {
            self.trees[index] = tree;
        } else if !blank {
            return Err(self.error(format!("template: multiple definition of template {}", quoted(&name))));
        }
        Ok(())
    }

    fn is_blank(&self, node: &Node) -> bool {
        match node {
            Node::Text(span) => crate::fmt::characters(self.source.slice(*span))
                .all(|character| character.is_ok_and(char::is_whitespace)),
            _ => false,
        }
    }

    /// Nodes up to the `end` or `else` that closes them.
    fn list(&mut self) -> Parsed<(Vec<Node>, Item)> {
        self.check_depth()?;
        let mut nodes = Vec::new();
        while self.peek_word().kind != Kind::Eof {
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                end => return Ok((nodes, end)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    fn item(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(self.span(&token)))),
            Kind::LeftDelim => {
                self.frame.action = Some(token.start);
                let item = self.action()?;
                self.frame.action = None;
                Ok(item)
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    fn action(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        if let Kind::Keyword(keyword) = token.kind {
            let node = match keyword {
                Keyword::Else => return self.else_action(),
                Keyword::End => return self.expect(Kind::RightDelim, "end").map(|_| Item::End),
                Keyword::Block => Some(self.block()?),
                Keyword::Break => Some(self.loop_word("{{break}}", Node::Break)?),
                Keyword::Continue => Some(self.loop_word("{{continue}}", Node::Continue)?),
                Keyword::If => Some(self.control(Control::If)?),
                Keyword::Range => Some(self.control(Control::Range)?),
                Keyword::With => Some(self.control(Control::With)?),
                Keyword::Template => Some(self.template()?),
                Keyword::Dot | Keyword::Nil | Keyword::Define => None,
            };
            if let Some(node) = node {
                return Ok(Item::Node(node));
            }
        }
        self.back_up();
        Ok(Item::Node(Node::Action(self.pipeline("command", Kind::RightDelim)?)))
    }

    fn else_action(&mut self) -> Parsed<Item> {
        // `else if` and `else with` are for the control action to read on.
        if !matches!(self.peek_word().kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Item::Else)
    }

    fn loop_word(&mut self, word: &str, node: Node) -> Parsed<Node> {
        self.expect(Kind::RightDelim, word)?;
        if self.frame.ranges == 0 {
            return Err(self.error(format!("{word} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    fn control(&mut self, control: Control) -> Parsed<Node> {
        self.check_depth()?;
        let mark = self.frame.scope.mark();
        let branch = Box::new(self.branch(control)?);
        self.frame.scope.reset(mark);
        Ok(match control {
            Control::If => Node::If(branch),
            Control::With => Node::With(branch),
            Control::Range => Node::Range(branch),
        })
    }

    fn branch(&mut self, control: Control) -> Parsed<Branch> {
        let pipe = self.pipeline(control.name(), Kind::RightDelim)?;
        let in_range = usize::from(control == Control::Range);
        self.frame.ranges += in_range;
        let (body, end) = self.list()?;
        self.frame.ranges -= in_range;
        let otherwise = match end {
            Item::Else => Some(self.otherwise(control)?),
            _ => None,
        };
        Ok(Branch { pipe, body, otherwise })
    }

    /// What follows `else`, and the `end`.
    fn otherwise(&mut self, control: Control) -> Parsed<Vec<Node>> {
        let next = self.peek().kind;
        let chained = control == Control::If && next == Kind::Keyword(Keyword::If)
            || control == Control::With && next == Kind::Keyword(Keyword::With);
        if chained {
            // The `end` of the inner action ends both.
            self.next();
            return Ok(vec![self.control(control)?]);
        }
        let (nodes, end) = self.list()?;
        if matches!(end, Item::Else) {
            return Err(self.error(format!("expected end; found {}", end.end_name())));
        }
        Ok(nodes)
    }

    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_word();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let mut wrong_end = None;
        self.within(|parser| {
            let (nodes, end) = parser.list()?;
            if matches!(end, Item::Else) {
                wrong_end = Some(end);
                return Ok(());
            }
            parser.add(name.clone(), nodes)
        })?;
        if let Some(end) = wrong_end {
            return Err(self.error(format!("unexpected {} in {CONTEXT}", end.end_name())));
        }
        Ok(Node::Template(Box::new(TemplateCall { position: offset(token.start), name, pipe: Some(pipe) })))
    }

    fn template(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_word();
        let name = self.template_name(&token, CONTEXT)?;
        let mut pipe = None;
        if self.next_word().kind != Kind::RightDelim {
            self.back_up();
            pipe = Some(self.pipeline(CONTEXT, Kind::RightDelim)?);
        }
        Ok(Node::Template(Box::new(TemplateCall { position: offset(token.start), name, pipe })))
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Parsed<Str> {
        match token.kind {
            Kind::String | Kind::RawString => self.string(token),
            _ => Err(self.unexpected(token, context)),
        }
    }

    fn string(&self, token: &Token) -> Parsed<Str> {
        let text = unquote(self.word(token)).ok_or_else(|| self.error("invalid syntax"))?;
        Ok(text.into())
    }
}

// Pipelines.
impl Parser<'_> {
    fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipeline> {
        self.check_depth()?;
        let position = offset(self.peek_word().start);
        let mut pipe = Pipeline { position, declared: Vec::new(), assigns: false, commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.next_word();
            if token.kind == end {
                self.check_pipeline(&pipe, context)?;
                self.bind(&mut pipe);
                return Ok(pipe);
            }
            if !starts_operand(token.kind) {
                return Err(self.unexpected(&token, context));
            }
            self.back_up();
            let command = self.command()?;
            pipe.commands.push(command);
            if pipe.commands.len() > LONGEST {
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
        let mut command = Command { position: offset(self.peek_word().start), terms: Vec::new() };
        loop {
            self.peek_word();
            if let Some(operand) = self.operand()? {
                command.terms.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.back_up(),
                Kind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            if command.terms.is_empty() {
                return Err(self.error("empty command"));
            }
            return Ok(command);
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

/// A place in the text, which is known to be short enough.
fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
