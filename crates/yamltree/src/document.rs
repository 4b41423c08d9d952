//! A parsed document, and the options of the parser.

use diagnostic::Span;

use crate::dialect::Dialect;
use crate::duplicate::{Duplicate, DuplicateKeys};
use crate::node::Node;

/// Options of `parse` and `parse_first`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions {
    /// The version of go-yaml to follow where the two differ.
    pub dialect: Dialect,
    /// Collect comments.
    pub comments: bool,
    /// The treatment of duplicate keys.
    pub duplicate_keys: DuplicateKeys,
    /// The position of the text in its file, if it is only a part of the file. Spans count from the start of the file.
    pub offset: u32,
}

/// One document of a YAML text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The root node; a null with empty text if the document is empty.
    pub root: Node,
    /// True if the document starts with `---`.
    pub is_explicit: bool,
    /// The comments before and in the document, and those after it up to `...` or the next `---`. Empty unless
    /// [`ParseOptions::comments`] is set.
    pub comments: Vec<Comment>,
    /// Duplicate keys, in the order of the text.
    pub duplicates: Vec<Duplicate>,
}

/// A comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The bytes of the comment, `#` included.
    pub span: Span,
    /// True if the line holds nothing but the comment.
    pub own_line: bool,
}
