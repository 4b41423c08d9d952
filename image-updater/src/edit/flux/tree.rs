//! Markers in YAML: which scalar each comment is of.
//!
//! As in Flux a comment behind a value is the value's; one alone on its line is that of the key or item on the next,
//! unless the value has one behind it or more comments stand around. A key behind a dash does not count: there the
//! comment is the item's as a whole.

use diagnostic::Result;
use std::collections::HashSet;

use yamledit::{Edits, File};
use yamltree::{Comment, Kind, Node, Style};

use super::marker::{Marker, Policy};
use super::{Outcome, Source, Version, at, wanted};

pub(super) fn edit(
    source: &Source<'_>,
    file: &File<'_>,
    version: &Version,
    policy: &Policy,
) -> Result<Outcome> {
    let mut edits = Edits::new(file);
    let marked = marked_nodes(source.text, file).into_iter().filter(|(marker, _)| marker.policy == *policy);
    let mut is_there = false;
    for (marker, node) in marked {
        is_there = true;
        let text = wanted(marker.part, version, node.text().unwrap_or_default())
            .map_err(|error| at(source, &error, node.span.start as usize))?;
        edits.set(node, &text).map_err(|error| source.error(&error))?;
    }
    if !is_there {
        return Ok(Outcome::NotThere);
    }
    edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// The markers of a file, each with the text of its scalar.
pub(super) fn marked(text: &str, file: &File<'_>) -> Vec<(Marker, String)> {
    let found = marked_nodes(text, file).into_iter();
    found.map(|(marker, node)| (marker, node.text().unwrap_or_default().to_owned())).collect()
}

fn marked_nodes<'f>(text: &str, file: &'f File<'_>) -> Vec<(Marker, &'f Node)> {
    let mut found = Vec::new();
    for document in file.documents() {
        let mut places = Places { text, values: Vec::new() };
        places.collect(&document.root);
        places.mark(&document.comments, &mut found);
    }
    found
}

/// A value that a marker can be of.
struct Value<'f> {
    node: &'f Node,
    /// The offset of its key or dash, if it starts its line.
    head: Option<usize>,
}

struct Places<'t, 'f> {
    text: &'t str,
    /// In the order of the text.
    values: Vec<Value<'f>>,
}

impl<'f> Places<'_, 'f> {
    fn collect(&mut self, node: &'f Node) {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => {
                for item in items {
                    self.add(item, self.head(item, "-"));
                }
            }
            Kind::Mapping(entries) => {
                for entry in entries {
                    self.add(&entry.value, self.head(&entry.key, ""));
                }
            }
        }
    }

    fn add(&mut self, node: &'f Node, head: Option<usize>) {
        if node.is_mapping() || node.is_sequence() {
            self.collect(node);
        } else {
            self.values.push(Value { node, head });
        }
    }

    /// Returns where the line of a node begins, if nothing but an indicator is before the node.
    fn head(&self, node: &Node, indicator: &str) -> Option<usize> {
        let start = node.span.start as usize;
        let line = line_start(self.text, start);
        let before = self.text[line..start].trim_start_matches('\u{FEFF}');
        (before.trim_matches([' ', '\t']) == indicator).then_some(line)
    }

    fn mark(&self, comments: &[Comment], found: &mut Vec<(Marker, &'f Node)>) {
        let mut has_own = HashSet::new();
        for comment in comments.iter().filter(|comment| !comment.own_line) {
            let Some(at) = self.value_before(comment) else { continue };
            has_own.insert(at);
            let marker = Marker::parse(self.words(comment));
            found.extend(marker.map(|marker| (marker, self.values[at].node)));
        }
        for (number, comment) in comments.iter().enumerate().filter(|(_, comment)| comment.own_line) {
            let neighbours = [number.checked_sub(1), number.checked_add(1)];
            let neighbours = neighbours.into_iter().flatten().filter_map(|number| comments.get(number));
            if neighbours.filter(|other| other.own_line).any(|other| self.is_next_line(comment, other)) {
                continue;
            }
            let Some(marker) = Marker::parse(self.words(comment)) else { continue };
            let Some(at) = self.value_below(comment) else { continue };
            if !has_own.contains(&at) {
                found.push((marker, self.values[at].node));
            }
        }
    }

    /// The value that a comment stands behind.
    fn value_before(&self, comment: &Comment) -> Option<usize> {
        let start = comment.span.start;
        let at = self.values.partition_point(|value| value.node.span.start < start).checked_sub(1)?;
        let node = self.values[at].node;
        if matches!(node.style, Style::Literal | Style::Folded) && start < node.span.end {
            // Behind the header of a block.
            return Some(at);
        }
        let between = self.text.get(node.span.end as usize..start as usize)?;
        let is_beside = between.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b','));
        is_beside.then_some(at)
    }

    /// The value whose key or dash begins the line below a comment.
    fn value_below(&self, comment: &Comment) -> Option<usize> {
        let below = next_line(self.text, comment.span.end as usize)?;
        // A value may stand on a line below that of its key, so the first one behind the comment is meant.
        let at = self.values.partition_point(|value| value.node.span.start < comment.span.end);
        (self.values.get(at)?.head == Some(below)).then_some(at)
    }

    fn is_next_line(&self, one: &Comment, other: &Comment) -> bool {
        let (first, second) = if one.span.start < other.span.start { (one, other) } else { (other, one) };
        next_line(self.text, first.span.end as usize)
            == Some(line_start(self.text, second.span.start as usize))
    }

    fn words(&self, comment: &Comment) -> &str {
        &self.text[comment.span.start as usize..comment.span.end as usize]
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line_break| line_break + 1)
}

fn next_line(text: &str, at: usize) -> Option<usize> {
    text[at..].find('\n').map(|line_break| at + line_break + 1)
}
