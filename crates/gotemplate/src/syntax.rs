//! From template text to trees: lexer, parser, and the nodes that execution walks.

mod lex;
mod node;
mod number;
mod parse;
mod scope;
mod show;
mod unquote;

pub(crate) use node::{
    Branch, Command, Ideal, Node, Number, Pipeline, Source, Span, TemplateCall, Term, Tree,
};
pub(crate) use parse::{File, parse};
pub(crate) use show::Show;
