//! Places in files, for reports that point at lines.
//!
//! In: nodes of objects. Out: their lines. The beginnings of lines are found once for each file, so that many places in a
//! large file cost no more than the file.

use std::collections::HashMap;

use argocd::objects::Object;
use yamltree::{Node, Source, Span};

use crate::model::FileLocation;

/// The lines of the files that objects come from.
#[derive(Default)]
pub(crate) struct Lines {
    /// The beginnings of lines, by the address of the file's text: two lists of sources can share a file.
    starts: HashMap<(usize, usize), Vec<usize>>,
}

impl Lines {
    /// Returns the location of a node.
    pub(crate) fn of(&mut self, node: &Node, object: &Object) -> Option<FileLocation> {
        let source = object.sources().get(node.span.source as usize)?;
        Some(self.at(source, node.span))
    }

    /// Returns the location of an object.
    pub(crate) fn of_object(&mut self, object: &Object) -> Option<FileLocation> {
        let place = object.place()?;
        Some(self.at(&place.source, place.span))
    }

    fn at(&mut self, source: &Source, span: Span) -> FileLocation {
        let text = &source.text;
        let address = (text.as_ptr() as usize, text.len());
        let starts = self.starts.entry(address).or_insert_with(|| {
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
        });
        let offset = (span.start as usize).min(text.len());
        let line = starts.partition_point(|start| *start <= offset);
        let before = text.get(starts[line - 1]..offset).unwrap_or_default();
        FileLocation { path: source.name.clone(), line, column: before.chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::object;

    #[test]
    fn lines_and_columns_count_from_one() {
        let object = object("kind: Pod\nmetadata:\n  name: ä\n  labels: {é: x}\n");
        let mut lines = Lines::default();
        let name = object.node().lookup(&["metadata", "labels", "é"]).unwrap();
        assert_eq!(lines.of(name, &object).unwrap().to_string(), "a.yaml:4:15");
        assert_eq!(lines.of_object(&object).unwrap().to_string(), "a.yaml:1:1");
        assert_eq!(lines.of(&Node::null(), &object), None);
    }
}
