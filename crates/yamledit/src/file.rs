//! A text with the trees of its documents.

use diagnostic::Result;
use yamltree::{Dialect, Document, Expansion, Kind, Node, ParseOptions, SourceId, Span, Style};

use crate::anchors::Anchors;
use crate::content::Content;

/// A text with the trees of its documents.
#[derive(Debug)]
pub struct File<'t> {
    text: &'t str,
    documents: Vec<Document>,
}

impl<'t> File<'t> {
    /// Reads a text. Keys that a mapping has twice are refused only where an edit meets them.
    ///
    /// # Errors
    /// If any document is not valid YAML.
    pub fn parse(text: &'t str, source: SourceId) -> Result<Self> {
        let options = ParseOptions { comments: true, ..ParseOptions::default() };
        Ok(Self { text, documents: yamltree::parse(text, source, &options)? })
    }

    /// The text as it was read.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Its documents.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The content of the first document, with what aliases and merge keys bring in, as go-yaml's version 2 reads it.
    ///
    /// # Errors
    /// If an alias contains itself, or if the expanded content is too large.
    pub fn content(&self) -> Result<Content> {
        let mut root = self.documents.first().map_or_else(Node::null, |document| document.root.clone());
        root.expand_aliases(Expansion::Decoded(Dialect::V2))?;
        Ok(Content::of(&root))
    }

    /// Returns the anchors of the file, to resolve aliases by.
    #[must_use]
    pub fn anchors(&self) -> Anchors<'_> {
        Anchors::of(&self.documents)
    }

    /// Returns true if a place lies in a collection in flow style, where plain scalars end earlier.
    pub(crate) fn is_in_flow(&self, span: Span) -> bool {
        let after = self.documents.partition_point(|document| document.root.span.start <= span.start);
        let mut next = after.checked_sub(1).map(|at| &self.documents[at].root);
        while let Some(node) = next {
            if node.style == Style::Flow && node.span.start < span.start && span.start < node.span.end {
                return true;
            }
            next = child_towards(node, span.start);
        }
        false
    }
}

/// The child that holds a place, or that lies last before it.
fn child_towards(node: &Node, start: u32) -> Option<&Node> {
    match &node.kind {
        Kind::Scalar(_) | Kind::Alias(_) => None,
        Kind::Sequence(items) => {
            let after = items.partition_point(|item| item.span.start <= start);
            after.checked_sub(1).map(|at| &items[at])
        }
        Kind::Mapping(entries) => {
            let after = entries.partition_point(|entry| entry.key.span.start <= start);
            let entry = after.checked_sub(1).map(|at| &entries[at])?;
            Some(if entry.value.span.start <= start { &entry.value } else { &entry.key })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_style_is_known_of_a_place() {
        let text = "a: {b: [c], d}\ne: f\n---\n[g, {h: }]\n";
        let file = File::parse(text, 0).unwrap();
        for (start, is_in_flow) in [(0, false), (4, true), (8, true), (12, true), (15, false), (18, false)] {
            let span = Span { source: 0, start, end: start + 1 };
            assert_eq!(file.is_in_flow(span), is_in_flow, "{start}");
        }
        let empty = text.find("h: ").unwrap() as u32 + 2;
        assert!(file.is_in_flow(Span { source: 0, start: empty, end: empty }));
    }
}
