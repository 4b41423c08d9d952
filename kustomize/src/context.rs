//! The state that every step of a build shares: the environment, options, files read, and warnings.

use std::cell::RefCell;
use std::sync::Arc;

use yamltree::{Node, Span};

use crate::growth::Growth;
use crate::history::{Recorder, Step};
use crate::loader::File;
use crate::options::Options;
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::sources::Sources;
use crate::warning::{Code, Warning};
use crate::world::World;

/// The state of one build.
pub(crate) struct Context<'a> {
    pub(crate) world: World<'a>,
    pub(crate) options: &'a Options,
    pub(crate) sources: &'a Sources,
    pub(crate) cache: &'a crate::loader::Cache,
    /// Records how resources change, if attached.
    pub(crate) recorder: Option<Recorder>,
    /// The growth of the build, which has limits.
    pub(crate) growth: Growth,
    warnings: RefCell<Vec<Warning>>,
    schema: RefCell<Arc<Schema>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        world: World<'a>,
        options: &'a Options,
        sources: &'a Sources,
        cache: &'a crate::loader::Cache,
    ) -> Self {
        Self {
            world,
            options,
            sources,
            cache,
            recorder: None,
            growth: Growth::default(),
            warnings: RefCell::new(Vec::new()),
            schema: RefCell::new(Schema::builtin()),
        }
    }

    /// Hands the resources after a step to who watches.
    pub(crate) fn note(&self, map: &ResMap, step: impl FnOnce() -> Step) {
        if let Some(recorder) = &self.recorder {
            recorder.after(map, &step());
        }
    }

    /// The schema in force. It changes when a kustomization brings its own.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema.borrow())
    }

    pub(crate) fn set_schema(&self, schema: Arc<Schema>) {
        *self.schema.borrow_mut() = schema;
    }

    /// A scalar's text as a file of its own, whose spans lead back to where it is written.
    pub(crate) fn inline(&self, scalar: &Node) -> Option<File> {
        self.sources.inline(scalar)
    }

    /// Notes a warning.
    pub(crate) fn warn(&self, code: Code, message: impl Into<String>, span: Span) {
        self.push_warning(Warning::new(code, message).at(span));
    }

    /// Notes a warning that has a hint.
    pub(crate) fn push_warning(&self, warning: Warning) {
        self.warnings.borrow_mut().push(warning);
    }

    /// The warnings so far, tied to their files, each once, in the order in which they arose.
    pub(crate) fn take_warnings(&self) -> Vec<Warning> {
        let mut seen = std::collections::HashSet::new();
        let warnings = std::mem::take(&mut *self.warnings.borrow_mut());
        warnings
            .into_iter()
            .filter(|warning| {
                seen.insert((
                    warning.code,
                    warning.span().source,
                    warning.span().start,
                    warning.message.clone(),
                ))
            })
            .map(|warning| warning.located(|span| self.sources.place(span)))
            .collect()
    }
}
