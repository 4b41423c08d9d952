//! The parser: in go a name, a text and the functions there are, out come the templates that the
//! text defines, or Go's words and line for what is wrong with it.
//!
//! Refused, beyond what Go refuses: text of 2 GiB, and actions nested so deep in each other that
//! the stack would not do.

mod pipeline;
mod tokens;

use std::collections::HashMap;

use super::lex::{Keyword, Kind, Lexer, LoopWords, Token};
use super::node::{Branch, Command, Node, Source, TemplateCall, Term, Tree};
use super::scope::Scope;
use super::unquote::unquote;
use crate::error::{Error, ErrorKind};
use crate::functions::Functions;
use crate::stack::Stack;
use crate::value::Str;
use gostd::quoted;
use tokens::offset;

/// Maximum depth to which parentheses may be nested, as in Go.
const DEEPEST: usize = 10_000;

/// Maximum number of commands a pipeline that may have, as in Go.
const LONGEST: usize = 100_000;

/// Maximum stack of parsing, also during execution: a thread has at least two megabytes.
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
        named: HashMap::default(),
        stack: Stack::here(STACK),
        nodes: Vec::new(),
        commands: Vec::new(),
        terms: Vec::new(),
    };
    parser.text()?;
    let trees = parser.trees;
    Ok(File { source, trees })
}

struct Parser<'a> {
    source: &'a Source,
    functions: &'a Functions,
    lexer: Lexer<'a>,
    frame: Frame<'a>,
    trees: Vec<Tree>,
    /// The indices in `trees` of templates by name.
    named: HashMap<Str, usize, foldhash::fast::RandomState>,
    stack: Stack,
    /// The collected nodes: inner lists lie on top of outer ones, and each is taken at its end.
    nodes: Vec<Node>,
    commands: Vec<Command>,
    terms: Vec<Term>,
}

/// The parser state of one template; nested templates share the lexer.
struct Frame<'a> {
    /// The last token read, and up to two that were put back before it.
    tokens: [Option<Token>; 3],
    put_back: usize,
    scope: Scope<'a>,
    /// The start of the current action.
    action: Option<usize>,
    ranges: usize,
    parens: usize,
}

impl Frame<'_> {
    fn new() -> Self {
        Self { tokens: [None; 3], put_back: 0, scope: Scope::new(), action: None, ranges: 0, parens: 0 }
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

impl Parser<'_> {
    /// The whole text.
    fn text(&mut self) -> Parsed<()> {
        let start = self.nodes.len();
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
                Item::Node(node) => self.nodes.push(node),
                end => return Err(self.error(format!("unexpected {}", end.end_name()))),
            }
        }
        let name = self.source.name.as_str().into();
        let nodes = self.nodes.drain(start..).collect();
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
            Node::Text(span) => gostd::characters(self.source.slice(*span))
                .all(|character| character.is_ok_and(char::is_whitespace)),
            _ => false,
        }
    }

    /// Nodes up to the `end` or `else` that closes them.
    fn list(&mut self) -> Parsed<(Vec<Node>, Item)> {
        self.check_depth()?;
        let start = self.nodes.len();
        while self.peek_word().kind != Kind::Eof {
            match self.item()? {
                Item::Node(node) => self.nodes.push(node),
                end => return Ok((self.nodes.drain(start..).collect(), end)),
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
        let mark = self.frame.scope.mark();
        let (body, end) = self.list()?;
        self.frame.scope.leave(mark);
        self.frame.ranges -= in_range;
        let otherwise = match end {
            Item::Else => Some(self.otherwise(control)?),
            _ => None,
        };
        Ok(Branch { pipe, body, otherwise })
    }

    /// Returns what follows `else`, and the `end`.
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
