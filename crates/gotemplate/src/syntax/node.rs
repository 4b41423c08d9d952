//! The trees that execution walks. They refer to the text they were parsed from by offsets, so
//! that an error can say where it happened and print the part that failed.

use crate::function::Function;
use crate::value::Str;

/// A text that templates were parsed from.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name it was parsed under, mostly a file's.
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
}

impl Source {
    /// The line of the byte at `offset`, from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        let before = &self.text[..offset.min(self.text.len())];
        u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
    }

    /// The byte's place in its line, from 0.
    pub(crate) fn column(&self, offset: usize) -> u32 {
        let before = &self.text[..offset.min(self.text.len())];
        let line = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        u32::try_from(before.len() - line).unwrap_or(u32::MAX)
    }

    pub(crate) fn slice(&self, span: Span) -> &[u8] {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// A part of a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// One template: a file's own, or that of a `define` or `block`.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) name: Str,
    pub(crate) nodes: Vec<Node>,
    /// Number of variables live at once at most, `$` included.
    pub(crate) slots: usize,
    /// True if there is nothing but space, so that it does not replace another template.
    pub(crate) blank: bool,
}

#[derive(Debug)]
pub(crate) enum Node {
    Text(Span),
    Action(Pipeline),
    If(Box<Branch>),
    With(Box<Branch>),
    Range(Box<Branch>),
    Template(Box<TemplateCall>),
    Break,
    Continue,
}

/// `if`, `with` or `range`.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) pipe: Pipeline,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

/// `{{template "name" pipe}}`.
#[derive(Debug)]
pub(crate) struct TemplateCall {
    pub(crate) position: u32,
    pub(crate) name: Str,
    pub(crate) pipe: Option<Pipeline>,
}

/// Commands, each of which gets the result of the one before it as its last argument.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) position: u32,
    pub(crate) declared: Vec<Declared>,
    /// `=` and not `:=`.
    pub(crate) assigns: bool,
    pub(crate) commands: Vec<Command>,
}

/// A variable that a pipeline declares or assigns.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: Span,
    pub(crate) slot: Slot,
}

/// The slot of a variable, if one of that name is in scope.
pub(crate) type Slot = Option<u32>;

/// An operand, or a function or method and its arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) position: u32,
    /// One or more.
    pub(crate) terms: Vec<Term>,
}

#[derive(Debug)]
pub(crate) enum Term {
    Dot(Span),
    Nil(Span),
    Bool(Span, bool),
    Number(Span, Box<Number>),
    String(Span, Str),
    /// `.a.b`: at the position of the second name, if there is one.
    Field {
        position: u32,
        names: Box<[Span]>,
    },
    /// `$x.a.b`: at the position of the first field, if there is one.
    Variable {
        position: u32,
        name: Span,
        slot: Slot,
        fields: Box<[Span]>,
    },
    /// `(pipe).a.b`, or a function in place of the parentheses.
    Chain {
        position: u32,
        base: Box<Term>,
        fields: Box<[Span]>,
    },
    Function(Span, &'static Function),
    Pipe(Box<Pipeline>),
}

impl Term {
    /// Returns where it is in the text, as Go counts.
    pub(crate) fn position(&self) -> u32 {
        match self {
            Self::Dot(span)
            | Self::Nil(span)
            | Self::Bool(span, _)
            | Self::Number(span, _)
            | Self::String(span, _)
            | Self::Function(span, _) => span.start,
            Self::Field { position, .. } | Self::Variable { position, .. } | Self::Chain { position, .. } => {
                *position
            }
            Self::Pipe(pipe) => pipe.position,
        }
    }
}

/// A number as it is written, in every type that it can be taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number {
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
    pub(crate) ideal: Ideal,
}

/// The type that a number has where nothing asks for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ideal {
    Complex,
    Float,
    Int,
    /// None, as it is larger than any `int`.
    #[default]
    Overflow,
}
