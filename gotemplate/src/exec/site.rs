//! Where execution is: in goes the node that Go last turned to, out comes the place of an error.

use super::Executor;
use crate::error::{Error, ErrorKind, Executing, Place};
use crate::syntax::{Command, Pipeline, Show, TemplateCall, Term};

/// A node that an error can be at.
#[derive(Clone, Copy)]
pub(super) enum Site<'t> {
    None,
    Pipeline(&'t Pipeline),
    Command(&'t Command),
    Term(&'t Term),
    Template(&'t TemplateCall),
}

impl Executor<'_> {
    /// An error at the present site.
    pub(super) fn fail(&self, reason: impl Into<String>) -> Error {
        self.fail_with(ErrorKind::Execute, reason)
    }

    pub(super) fn fail_with(&self, kind: ErrorKind, reason: impl Into<String>) -> Error {
        Error::new(kind, Some(self.place()), reason)
    }

    /// The place of the present site.
    pub(super) fn place(&self) -> Place {
        let source = self.template.source;
        let (position, show) = match self.site {
            Site::None => (0, None),
            Site::Pipeline(pipe) => (pipe.position, Some(Show::Pipeline(source, pipe))),
            Site::Command(command) => (command.position, Some(Show::Command(source, command))),
            Site::Term(term) => (term.position(), Some(Show::Term(source, term))),
            Site::Template(call) => (call.position, Some(Show::Template(source, call))),
        };
        let offset = position as usize;
        Place {
            file: source.name.clone(),
            line: source.line(offset),
            column: Some(source.column(offset)),
            offset,
            executing: show.map(|show| Executing {
                template: self.template.tree.name.to_string(),
                context: show.to_string(),
            }),
        }
    }
}
