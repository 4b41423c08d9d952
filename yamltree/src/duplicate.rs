//! Keys that a mapping has twice.

use std::collections::HashMap;

use crate::node::{Entry, Kind, Node};
use crate::source::Span;

/// A key of a mapping that an earlier entry has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The first entry's key.
    pub first: Span,
    /// The later entry's key.
    pub again: Span,
}

/// The most keys that are compared each with each; above that they are hashed.
const FEW: usize = 16;

/// What makes two keys the same to go-yaml v3: tag and style are not heeded, and all collections are alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'n> {
    Scalar(&'n str),
    Alias(&'n str),
    Mapping,
    Sequence,
}

fn identity(key: &Node) -> Identity<'_> {
    match &key.kind {
        Kind::Scalar(text) => Identity::Scalar(text),
        Kind::Alias(name) => Identity::Alias(name),
        Kind::Mapping(_) => Identity::Mapping,
        Kind::Sequence(_) => Identity::Sequence,
    }
}

/// Adds the keys that repeat an earlier one, each with the first of its kind.
pub(crate) fn find(entries: &[Entry], found: &mut Vec<Duplicate>) {
    if entries.len() <= FEW {
        for (index, entry) in entries.iter().enumerate() {
            let again = identity(&entry.key);
            if let Some(first) = entries[..index].iter().find(|first| identity(&first.key) == again) {
                found.push(Duplicate { first: first.key.span, again: entry.key.span });
            }
        }
        return;
    }
    let mut seen = HashMap::with_capacity(entries.len());
    for entry in entries {
        let first = *seen.entry(identity(&entry.key)).or_insert(entry.key.span);
        if first != entry.key.span {
            found.push(Duplicate { first, again: entry.key.span });
        }
    }
}
