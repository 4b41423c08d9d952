//! Verifies that an edited text differs from the old one only as planned.
//!
//! Input: the old trees, the plan, and the trees of the new text. Both are walked together; every node must have the same
//! kind, text, style, tag and anchor, except where the plan changes it, and every comment must be kept.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use yamltree::{Comment, Document, Entry, Kind, Node, Span};

use crate::content::Content;
use crate::schema::is_string;

/// Identifies a node of the old text by its start and end.
pub(crate) type NodeKey = (u32, u32);

pub(crate) fn place(span: Span) -> NodeKey {
    (span.start, span.end)
}

/// The planned differences of the new tree.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The texts of scalars.
    pub(crate) set: HashMap<NodeKey, String>,
    /// The texts of keys.
    pub(crate) renamed: HashMap<NodeKey, String>,
    /// The keys whose entries go, and the items that go.
    pub(crate) removed: HashSet<NodeKey>,
    /// Content appended to mappings (with a key) and sequences.
    pub(crate) added: HashMap<NodeKey, Vec<(Option<String>, Content)>>,
    /// Content that replaces nodes.
    pub(crate) replaced: HashMap<NodeKey, Content>,
    /// The content of a file that had none.
    pub(crate) filled: Option<Content>,
}

impl Plan {
    /// Returns the span in the old text where the new documents differ from the plan, if they do. `replaced` are the
    /// replaced byte ranges of the old text, in order.
    pub(crate) fn check(
        &self,
        old: &[Document],
        new: &[Document],
        texts: (&str, &str),
        replaced: &[Range<usize>],
    ) -> Result<(), Span> {
        let whole = Span { source: 0, start: 0, end: 0 };
        if let Some(filled) = &self.filled {
            return match new {
                [document] if filled.is(&document.root) => Ok(()),
                _ => Err(whole),
            };
        }
        if old.len() != new.len() {
            return Err(whole);
        }
        for (old, new) in old.iter().zip(new) {
            if old.is_explicit != new.is_explicit {
                return Err(old.root.span);
            }
            self.value(&old.root, &new.root)?;
        }
        let is_kept = |comment: &&Comment| {
            let at = comment.span.start as usize;
            let after = replaced.partition_point(|range| range.start <= at);
            after.checked_sub(1).is_none_or(|before| !replaced[before].contains(&at))
        };
        let old = old.iter().flat_map(|document| &document.comments).filter(is_kept);
        let new = new.iter().flat_map(|document| &document.comments);
        same_comments(old.copied(), new.copied(), texts)
    }

    fn value(&self, old: &Node, new: &Node) -> Result<(), Span> {
        if let Some(content) = self.replaced.get(&place(old.span)) {
            return require(content.is(new) && same_properties(old, new), old);
        }
        match (&old.kind, &new.kind) {
            (Kind::Scalar(was), Kind::Scalar(is)) => match self.set.get(&place(old.span)) {
                Some(text) => require(is == text && is_string(new) && same_properties(old, new), old),
                None => require(was == is && old.style == new.style && same_properties(old, new), old),
            },
            (Kind::Alias(was), Kind::Alias(is)) => require(was == is, old),
            (Kind::Sequence(was), Kind::Sequence(is)) => {
                require(same_properties(old, new) && old.style == new.style, old)?;
                self.sequence(old, was, is)
            }
            (Kind::Mapping(was), Kind::Mapping(is)) => {
                require(same_properties(old, new) && old.style == new.style, old)?;
                self.mapping(old, was, is)
            }
            _ => Err(old.span),
        }
    }

    fn sequence(&self, old: &Node, was: &[Node], is: &[Node]) -> Result<(), Span> {
        let added = self.added_to(old);
        let was: Vec<&Node> = was.iter().filter(|item| !self.removed.contains(&place(item.span))).collect();
        require(was.len() + added.len() == is.len(), old)?;
        let (kept, new) = is.split_at(was.len());
        for (was, is) in was.iter().zip(kept) {
            self.value(was, is)?;
        }
        require(added.iter().zip(new).all(|((_, content), item)| content.is(item)), old)
    }

    fn mapping(&self, old: &Node, was: &[Entry], is: &[Entry]) -> Result<(), Span> {
        let added = self.added_to(old);
        let was: Vec<&Entry> =
            was.iter().filter(|entry| !self.removed.contains(&place(entry.key.span))).collect();
        require(was.len() + added.len() == is.len(), old)?;
        let (kept, new) = is.split_at(was.len());
        for (was, is) in was.iter().zip(kept) {
            if let Some(key) = self.renamed.get(&place(was.key.span)) {
                require(is.key.text() == Some(key) && same_properties(&was.key, &is.key), &was.key)?;
            } else {
                self.value(&was.key, &is.key)?;
            }
            self.value(&was.value, &is.value)?;
        }
        let is_added = |((key, content), entry): (&(Option<String>, Content), &Entry)| {
            entry.key.text() == key.as_deref() && content.is(&entry.value)
        };
        require(added.iter().zip(new).all(is_added), old)
    }

    fn added_to(&self, node: &Node) -> &[(Option<String>, Content)] {
        self.added.get(&place(node.span)).map(Vec::as_slice).unwrap_or_default()
    }
}

fn require(holds: bool, old: &Node) -> Result<(), Span> {
    if holds { Ok(()) } else { Err(old.span) }
}

fn same_properties(old: &Node, new: &Node) -> bool {
    old.tag == new.tag && old.tag_text() == new.tag_text() && old.anchor() == new.anchor()
}

fn same_comments(
    old: impl Iterator<Item = Comment>,
    mut new: impl Iterator<Item = Comment>,
    (old_text, new_text): (&str, &str),
) -> Result<(), Span> {
    let words = |text: &str, span: Span| text[span.start as usize..span.end as usize].to_owned();
    for comment in old {
        let is = new.next().map(|comment| words(new_text, comment.span));
        if is != Some(words(old_text, comment.span)) {
            return Err(comment.span);
        }
    }
    match new.next() {
        None => Ok(()),
        Some(_) => Err(Span { source: 0, start: 0, end: 0 }),
    }
}
