//! The tokens that the scanner passes to the composer.

use crate::node::Style;

/// A lexical unit with its place. Small, as each passes through a queue: what few of them hold waits beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) place: TokenStart,
}

/// The position of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenStart {
    /// The first byte, counted from the start of the text.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// The line of the first byte, counted from zero as go-yaml does.
    pub(crate) line: u32,
}

/// The units of YAML's grammar. Those of block style that no byte stands for (a collection's start and end, a key
/// without `?`) are made up by the scanner from indentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    StreamEnd,
    VersionDirective(u8, u8),
    TagDirective,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    /// `*name`; the name is what follows the first byte.
    Alias,
    /// `&name`; the name is what follows the first byte.
    Anchor,
    Tag,
    /// The text is what lies between the quotes, if any.
    Scalar(Style),
    /// A scalar whose text is not what is written.
    CookedScalar(Style),
}

/// A tag as written: `!!str` is the handle `!!` and the suffix `str`; `!<text>` has no handle. In `%TAG` a prefix
/// stands in the suffix's place.
#[derive(Debug)]
pub(crate) struct TagName {
    pub(crate) handle: String,
    pub(crate) suffix: String,
}
