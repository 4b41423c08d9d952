//! Which part of a template wrote which part of a rendered file.

use std::sync::Arc;

use gotemplate::Marks;
use yamltree::{Location, Span};

use crate::sources::Sources;

/// The writer of a rendered file.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) template: Arc<[u8]>,
    pub(crate) marks: Marks,
    /// The offsets of text that was removed from the template's output, and the length of each.
    pub(crate) removed: (Vec<usize>, usize),
}

/// Leads from the text of a document back to the template that wrote it.
#[derive(Clone, Debug)]
pub struct Origin {
    writer: Arc<Writer>,
    /// The offset of the document in the rendered file.
    start: usize,
}

impl Writer {
    /// The place in the template of what stands at an offset of the file.
    pub(crate) fn place(&self, path: &str, offset: usize) -> Option<Location> {
        place(path, &self.template, self.offset(offset)?, 1)
    }

    fn offset(&self, offset: usize) -> Option<usize> {
        let (removed, length) = &self.removed;
        self.marks.origin(offset + length * removed.partition_point(|at| *at <= offset))
    }
}

impl Origin {
    pub(crate) fn new(writer: &Arc<Writer>, start: usize) -> Self {
        Self { writer: Arc::clone(writer), start }
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<[u8]> {
        &self.writer.template
    }

    /// The offset in the template of what wrote the document's text at an offset. What an action printed leads to the
    /// action, and what a named template printed to what called it.
    #[must_use]
    pub fn offset(&self, offset: usize) -> Option<usize> {
        self.writer.offset(self.start + offset)
    }
}

/// A place in a template.
pub(crate) fn place(path: &str, template: &[u8], offset: usize, length: usize) -> Option<Location> {
    let text = std::str::from_utf8(template).ok()?;
    let mut sources = Sources::default();
    let source = sources.add(path, text);
    let start = u32::try_from(offset).ok()?;
    let end = u32::try_from(offset.saturating_add(length).min(text.len())).ok()?;
    sources.place(Span { source, start, end: end.max(start) })
}
