//! Nodes as text: in goes a part of a tree and its source, out comes what Go prints for it in errors.

use std::fmt;

use gostd::quoted;

use super::node::{Command, Pipeline, Source, Span, TemplateCall, Term};

/// A part of a tree, to be displayed.
#[derive(Clone, Copy)]
pub(crate) enum Show<'t> {
    Pipeline(&'t Source, &'t Pipeline),
    Command(&'t Source, &'t Command),
    Term(&'t Source, &'t Term),
    /// A term without those of its fields that start there or later.
    Before(&'t Source, &'t Term, u32),
    Template(&'t Source, &'t TemplateCall),
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipeline(source, pipe) => pipeline(f, source, pipe),
            Self::Command(source, node) => command(f, source, node),
            Self::Term(source, node) => term(f, source, node, u32::MAX),
            Self::Before(source, node, end) => term(f, source, node, *end),
            Self::Template(source, node) => {
                write!(f, "{{{{template {}", quoted(&node.name))?;
                if let Some(pipe) = &node.pipe {
                    f.write_str(" ")?;
                    pipeline(f, source, pipe)?;
                }
                f.write_str("}}")
            }
        }
    }
}

fn pipeline(f: &mut fmt::Formatter<'_>, source: &Source, pipe: &Pipeline) -> fmt::Result {
    for (index, declared) in pipe.declared.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        text(f, source, declared.name)?;
    }
    if !pipe.declared.is_empty() {
        f.write_str(if pipe.assigns { " = " } else { " := " })?;
    }
    for (index, node) in pipe.commands.iter().enumerate() {
        if index > 0 {
            f.write_str(" | ")?;
        }
        command(f, source, node)?;
    }
    Ok(())
}

fn command(f: &mut fmt::Formatter<'_>, source: &Source, node: &Command) -> fmt::Result {
    for (index, argument) in node.terms.iter().enumerate() {
        if index > 0 {
            f.write_str(" ")?;
        }
        match argument {
            Term::Pipe(pipe) => parenthesized(f, source, pipe)?,
            _ => term(f, source, argument, u32::MAX)?,
        }
    }
    Ok(())
}

fn parenthesized(f: &mut fmt::Formatter<'_>, source: &Source, pipe: &Pipeline) -> fmt::Result {
    f.write_str("(")?;
    pipeline(f, source, pipe)?;
    f.write_str(")")
}

/// Writes a term, and of its fields those that start before `end`.
fn term(f: &mut fmt::Formatter<'_>, source: &Source, node: &Term, end: u32) -> fmt::Result {
    match node {
        Term::Dot(span)
        | Term::Nil(span)
        | Term::Bool(span, _)
        | Term::Number(span, _)
        | Term::String(span, _)
        | Term::Function(span, _) => text(f, source, *span),
        Term::Field { names, .. } => fields(f, source, names, end),
        Term::Variable { name, fields: names, .. } => {
            text(f, source, *name)?;
            fields(f, source, names, end)
        }
        Term::Chain { base, fields: names, .. } => {
            match &**base {
                Term::Pipe(pipe) => parenthesized(f, source, pipe)?,
                base => term(f, source, base, end)?,
            }
            fields(f, source, names, end)
        }
        Term::Pipe(pipe) => pipeline(f, source, pipe),
    }
}

fn fields(f: &mut fmt::Formatter<'_>, source: &Source, names: &[Span], end: u32) -> fmt::Result {
    for name in names.iter().take_while(|name| name.start < end) {
        f.write_str(".")?;
        text(f, source, *name)?;
    }
    Ok(())
}

fn text(f: &mut fmt::Formatter<'_>, source: &Source, span: Span) -> fmt::Result {
    f.write_str(&String::from_utf8_lossy(source.slice(span)))
}
