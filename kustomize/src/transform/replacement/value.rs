//! The value of a replacement, and how it is put into a field.

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Dialect, Kind, MAX_DEPTH, Node, Resolved, Tag};

use super::comments::OLD_TEXT;
use super::config::FieldOptions;
use super::path::{FieldPath, Shape};
use crate::decode::Located;
use crate::growth::measure;
use crate::resource::is_null;

/// Maximum size that the replacements of one kustomization write: copied values can double each time.
const MAX_WRITTEN: usize = 64 << 20;

/// A value to be put into fields.
pub(super) struct Value {
    node: Node,
    /// The memory that a copy takes, about.
    size: usize,
    depth: usize,
}

/// Number of bytes written so far.
#[derive(Default)]
pub(super) struct Budget(usize);

impl Budget {
    fn take(&mut self, size: usize) -> Result<()> {
        self.0 += size;
        if self.0 <= MAX_WRITTEN {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Limit,
            format!("the replacements write more than {} MiB", MAX_WRITTEN >> 20),
        ))
    }
}

impl Value {
    /// A text that stands in the configuration.
    pub(super) fn literal(text: &Located) -> Self {
        let mut node = Node::plain("");
        set_text(&mut node, &text.text);
        Self::new(node)
    }

    /// The value of a field, or the part of it that the options ask for.
    pub(super) fn of(field: &Node, options: &FieldOptions) -> Result<Self> {
        if options.delimiter.is_empty() {
            return Ok(Self::new(field.clone()));
        }
        let text = text_to_split(field)?;
        let part =
            usize::try_from(options.index).ok().and_then(|index| text.split(&options.delimiter).nth(index));
        let Some(part) = part else {
            let sentence = format!("no part {} in `{text}`", options.index);
            return Err(Error::invalid(sentence).hint("parts are counted from 0"));
        };
        let mut node = field.clone();
        set_text(&mut node, part);
        Ok(Self::new(node))
    }

    fn new(mut node: Node) -> Self {
        node.clear_alias_ids();
        let (size, depth) = measure(&node);
        Self { node, size, depth }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::of(&self.node)
    }

    fn text(&self) -> &str {
        self.node.text().unwrap_or_default()
    }

    /// Puts the value into a field. A scalar keeps its type and takes only the text; anything else is replaced whole.
    pub(super) fn put(&self, field: &mut Node, path: &FieldPath, budget: &mut Budget) -> Result<()> {
        budget.take(self.size)?;
        if field.is_scalar() {
            set_replaced_text(field, self.text(), path);
            return Ok(());
        }
        if self.depth + path.parts.len() > MAX_DEPTH {
            return Err(Error::new(ErrorKind::Limit, "the replacement nests values too deep"));
        }
        *field = self.node.clone();
        Ok(())
    }

    /// Puts the value into a field, or into the part of it that the options ask for: an index before the first part
    /// adds one in front, one behind the last at the end.
    pub(super) fn put_part(
        &self,
        field: &mut Node,
        options: &FieldOptions,
        path: &FieldPath,
        budget: &mut Budget,
    ) -> Result<()> {
        if options.delimiter.is_empty() {
            return self.put(field, path, budget);
        }
        let text = text_to_split(field)?;
        budget.take(self.size + text.len())?;
        let value = if is_null(&self.node) { "" } else { self.text() };
        let mut parts: Vec<&str> = text.split(&options.delimiter).collect();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, value),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = value,
                None => parts.push(value),
            },
        }
        let joined = parts.join(&options.delimiter);
        set_replaced_text(field, &joined, path);
        Ok(())
    }
}

/// Returns true if Kustomize takes a source for missing.
pub(super) fn is_empty(node: &Node) -> bool {
    match &node.kind {
        Kind::Mapping(entries) => entries.is_empty(),
        Kind::Sequence(items) => items.is_empty(),
        _ => is_null(node),
    }
}

fn text_to_split(node: &Node) -> Result<&str> {
    node.text().ok_or_else(|| Error::invalid("a `delimiter` requires a string, not a mapping or a list"))
}

/// An error about the new text shall point to where it came from.
fn set_replaced_text(field: &mut Node, text: &str, path: &FieldPath) {
    if set_text(field, text) && field.span.source != OLD_TEXT {
        field.span = path.span;
    }
}

/// Gives a scalar another text but leaves its type as it was read. What was made by code and not read has no type of its
/// own: whatever the text means, it becomes, but for an empty one, which go-yaml writes in quotes.
fn set_text(node: &mut Node, text: &str) -> bool {
    let was_read = node.span.is_some();
    if was_read && node.tag == Tag::Implicit {
        node.tag = match node.resolved(Dialect::V3) {
            Ok(Resolved::Null) => Tag::Null,
            Ok(Resolved::Bool(_)) => Tag::Bool,
            Ok(Resolved::Int(_) | Resolved::Uint(_)) => Tag::Int,
            Ok(Resolved::Float(_)) => Tag::Float,
            Ok(Resolved::Timestamp(_)) => Tag::Timestamp,
            Ok(Resolved::Binary | Resolved::Str) | Err(_) => Tag::Str,
        };
    }
    if node.tag == Tag::Implicit && text.is_empty() {
        node.tag = Tag::Str;
    }
    node.set_text(text);
    was_read
}
