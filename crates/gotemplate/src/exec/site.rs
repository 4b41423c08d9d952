//! Tracks the current node. Input: the node that Go last evaluated. Output: the location of an error.

use super::Executor;
use crate::error::{Error, ErrorKind, Executing, Place};
use crate::syntax::{Command, Pipeline, Show, TemplateCall, Term};
use crate::watch::Event;

/// A node that an error can be at.
#[derive(Clone, Copy)]
pub(super) enum Site<'t> {
    None,
    Pipeline(&'t Pipeline),
    Command(&'t Command),
    Term(&'t Term),
    Template(&'t TemplateCall),
}

impl Site<'_> {
    fn position(self) -> u32 {
        match self {
            Site::None => 0,
            Site::Pipeline(pipe) => pipe.position,
            Site::Command(command) => command.position,
            Site::Term(term) => term.position(),
            Site::Template(call) => call.position,
        }
    }
}

impl Executor<'_> {
    /// An error at the present site.
    pub(super) fn fail(&self, reason: impl Into<String>) -> Error {
        self.fail_with(ErrorKind::Execute, reason)
    }

    pub(super) fn fail_with(&self, kind: ErrorKind, reason: impl Into<String>) -> Error {
        Error::new(kind, Some(self.place()), reason)
    }

    /// Tells the host of an event.
    pub(super) fn tell(&self, event: Event, site: Site<'_>) {
        if let Some(watch) = self.context.options().watch {
            watch(event, &self.template.source.name, site.position() as usize);
        }
    }

    /// The place of the present site.
    pub(super) fn place(&self) -> Place {
        let source = self.template.source;
        let show = match self.site {
            Site::None => None,
            Site::Pipeline(pipe) => Some(Show::Pipeline(source, pipe)),
            Site::Command(command) => Some(Show::Command(source, command)),
            Site::Term(term) => Some(Show::Term(source, term)),
            Site::Template(call) => Some(Show::Template(source, call)),
        };
        let offset = self.site.position() as usize;
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
