//! Which part of a template wrote which part of a rendered file.

use std::sync::Arc;

use gotemplate::Trace;
use yamltree::{Place, Span};

use crate::sources::Sources;

/// What wrote a rendered file.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub(crate) template: Arc<[u8]>,
    pub(crate) trace: Trace,
    /// Where in the file something was taken out that the template wrote, and how long each of it was.
    pub(crate) removed: (Vec<usize>, usize),
}

impl Origin {
    /// The place in the template of what stands at an offset of the file.
    pub(crate) fn place(&self, path: &str, offset: usize) -> Option<Place> {
        let (removed, length) = &self.removed;
        let written = offset + length * removed.partition_point(|at| *at <= offset);
        let at = self.trace.origin(written)?;
        place(path, &self.template, at, 1)
    }
}

/// A place in a template.
pub(crate) fn place(path: &str, template: &[u8], offset: usize, length: usize) -> Option<Place> {
    let text = std::str::from_utf8(template).ok()?;
    let mut sources = Sources::default();
    let source = sources.add(path, text);
    let start = u32::try_from(offset).ok()?;
    let end = u32::try_from(offset.saturating_add(length).min(text.len())).ok()?;
    sources.place(Span { source, start, end: end.max(start) })
}
