//! Tokens to a tree: the grammatical half of reading YAML.
//!
//! Accepts and refuses what go-yaml's parser does, with its messages. A collection's children gather on a stack that
//! all collections share and move into a list of exactly their number when it ends.

mod collection;

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;

use crate::dialect::Dialect;
use crate::document::{Comment, Document, ParseOptions};
use crate::duplicate::{self, Duplicate, DuplicateKeys};
use crate::error::{Error, ErrorKind};
use crate::limits::MAX_DEPTH;
use crate::node::{Kind, Node, Props, Style, Tag};
use crate::scan::{Scanner, TagName, TokenKind, TokenStart};

/// Prefix of YAML's own tags.
const CORE_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The context of a node, which restricts its kind.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Block,
    /// A key or value of a block mapping: a sequence there may lie at the mapping's own column.
    BlockEntry,
    Flow,
}

/// The properties of a node: anchor and tag.
#[derive(Default)]
struct Properties<'t> {
    anchor: Option<&'t str>,
    tag: Option<(TagName, TokenStart)>,
    /// From the first to the last of them.
    place: Option<TokenStart>,
}

pub(crate) struct Composer<'t> {
    scanner: Scanner<'t>,
    options: ParseOptions,
    is_first: bool,
    /// The prefixes of `%TAG` handles.
    tag_prefixes: HashMap<String, String>,
    anchors: HashSet<&'t str>,
    depth: usize,
    /// The nodes whose collection has not ended yet; reading a node puts it on top.
    nodes: Vec<Node>,
    duplicates: Vec<Duplicate>,
}

impl<'t> Composer<'t> {
    pub(crate) fn new(mut scanner: Scanner<'t>, options: ParseOptions) -> Self {
        if options.comments {
            scanner.keep_comments();
        }
        Self {
            scanner,
            options,
            is_first: true,
            tag_prefixes: HashMap::new(),
            anchors: HashSet::new(),
            depth: 0,
            nodes: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    /// The next document; `None` at the end of the text. Not to be called again after either an error or the end.
    pub(crate) fn document(&mut self) -> Result<Option<Document>, Error> {
        let Some(is_explicit) = self.document_start()? else { return Ok(None) };
        match self.peek()? {
            TokenKind::VersionDirective(..)
            | TokenKind::TagDirective
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd
                if is_explicit =>
            {
                self.push_empty(self.scanner.head().start);
            }
            _ => self.node(Context::Block)?,
        }
        let comments = self.document_end()?;
        let root = self.nodes.pop().unwrap_or_default();
        let mut duplicates = std::mem::take(&mut self.duplicates);
        duplicates.sort_by_key(|duplicate| (duplicate.again.start, duplicate.first.start));
        if self.options.duplicate_keys == DuplicateKeys::Refuse && !duplicates.is_empty() {
            let ParseOptions { offset, dialect, .. } = self.options;
            return Err(duplicate::refusal(&root, self.scanner.text(), offset, dialect, &duplicates));
        }
        Ok(Some(Document { root, is_explicit, comments, duplicates }))
    }

    // Documents.

    /// Reads up to the root; says whether a `---` was there. `None` at the end of the text.
    fn document_start(&mut self) -> Result<Option<bool>, Error> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        while !is_first && self.peek()? == TokenKind::DocumentEnd {
            self.scanner.take();
        }
        match self.peek()? {
            TokenKind::StreamEnd => return Ok(None),
            TokenKind::VersionDirective(..) | TokenKind::TagDirective | TokenKind::DocumentStart => {}
            _ if is_first => return Ok(Some(false)),
            _ => {}
        }
        self.read_directives()?;
        if self.peek()? != TokenKind::DocumentStart {
            return Err(self.refuse(None, "did not find expected <document start>"));
        }
        self.scanner.take();
        Ok(Some(true))
    }

    fn read_directives(&mut self) -> Result<(), Error> {
        let mut has_version = false;
        loop {
            match self.peek()? {
                TokenKind::VersionDirective(..) if has_version => {
                    return Err(self.refuse(None, "found duplicate %YAML directive"));
                }
                TokenKind::VersionDirective(1, 1) => has_version = true,
                TokenKind::VersionDirective(..) => {
                    return Err(self.refuse(None, "found incompatible YAML document"));
                }
                TokenKind::TagDirective => {
                    let TagName { handle, suffix } = self.scanner.take_tag_name();
                    if self.tag_prefixes.insert(handle, suffix).is_some() {
                        return Err(self.refuse(None, "found duplicate %TAG directive"));
                    }
                }
                _ => return Ok(()),
            }
            self.scanner.take();
        }
    }

    /// Reads a `...`, if there is one, and returns the comments up to here.
    fn document_end(&mut self) -> Result<Vec<Comment>, Error> {
        let kind = self.peek()?;
        let comments = self.scanner.take_comments();
        if kind == TokenKind::DocumentEnd {
            self.scanner.take();
        }
        self.tag_prefixes.clear();
        self.anchors.clear();
        Ok(comments)
    }

    // Nodes.

    fn node(&mut self, context: Context) -> Result<(), Error> {
        match self.peek()? {
            TokenKind::Scalar(style) => self.scalar(style),
            TokenKind::CookedScalar(style) => self.cooked_scalar(style),
            TokenKind::Alias => self.alias()?,
            TokenKind::Anchor | TokenKind::Tag => self.node_with_properties(context)?,
            _ => self.collection(context, None)?,
        }
        Ok(())
    }

    fn node_with_properties(&mut self, context: Context) -> Result<(), Error> {
        let properties = self.properties()?;
        let (tag, tag_text) = match &properties.tag {
            Some((name, place)) => self.resolve_tag(name, *place, properties.place)?,
            None => (Tag::Implicit, None),
        };
        // Known before the content is: a node may, in vain, refer to itself.
        self.anchors.extend(properties.anchor);
        match self.peek()? {
            TokenKind::Scalar(style) => self.scalar(style),
            TokenKind::CookedScalar(style) => self.cooked_scalar(style),
            _ => self.collection(context, properties.place)?,
        }
        let Some(node) = self.nodes.last_mut() else { return Ok(()) };
        node.tag = tag;
        if properties.anchor.is_some() || tag_text.is_some() {
            let anchor = properties.anchor.map(CompactString::new);
            node.props = Some(Box::new(Props { anchor, tag: tag_text, alias_id: None, comment: None }));
        }
        Ok(())
    }

    /// Reads an anchor and a tag, in either order.
    fn properties(&mut self) -> Result<Properties<'t>, Error> {
        let mut properties = Properties::default();
        loop {
            let kind = self.peek()?;
            match kind {
                TokenKind::Anchor if properties.anchor.is_none() => {}
                TokenKind::Tag if properties.tag.is_none() => {}
                _ => return Ok(properties),
            }
            let place = self.scanner.take();
            if kind == TokenKind::Tag {
                properties.tag = Some((self.scanner.take_tag_name(), place));
            } else {
                properties.anchor = Some(self.scanner.slice(place.start + 1, place.end));
            }
            let first = properties.place.unwrap_or(place);
            properties.place = Some(TokenStart { end: place.end, ..first });
        }
    }

    fn resolve_tag(
        &self,
        name: &TagName,
        place: TokenStart,
        properties: Option<TokenStart>,
    ) -> Result<(Tag, Option<CompactString>), Error> {
        let prefix = match (self.tag_prefixes.get(&name.handle), &*name.handle) {
            (Some(prefix), _) => prefix,
            (None, "") => "",
            (None, "!") => "!",
            (None, "!!") => CORE_TAG_PREFIX,
            (None, _) => {
                let context = properties.map(|properties| properties.line);
                return Err(self.scanner.grammar_error(context, place, "found undefined tag handle"));
            }
        };
        let text = format!("{prefix}{}", name.suffix);
        Ok(match (text.strip_prefix(CORE_TAG_PREFIX), self.options.dialect) {
            (Some(core), _) => match core_tag(core) {
                Some(tag) => (tag, None),
                None => (Tag::Other, Some(CompactString::from(format!("!!{core}")))),
            },
            // `!` keeps text a string, but only go-yaml v2 heeds it.
            (None, Dialect::V2) if text == "!" => (Tag::Str, None),
            (None, Dialect::V3) if text == "!" => (Tag::Implicit, None),
            (None, _) => (Tag::Other, Some(CompactString::from(text))),
        })
    }

    fn alias(&mut self) -> Result<(), Error> {
        let place = self.scanner.head();
        let name = self.scanner.slice(place.start + 1, place.end);
        if !self.anchors.contains(name) {
            let message = format!("unknown anchor '{name}' referenced");
            let span = self.scanner.span(place.start, place.end);
            return Err(Error::new(ErrorKind::Invalid, message, span));
        }
        self.scanner.take();
        self.push(Kind::Alias(CompactString::new(name)), Style::Plain, place.start, place.end);
        Ok(())
    }

    fn scalar(&mut self, style: Style) {
        let place = self.scanner.take();
        let quote = u32::from(style != Style::Plain);
        let text = CompactString::new(self.scanner.slice(place.start + quote, place.end - quote));
        self.push(Kind::Scalar(text), style, place.start, place.end);
    }

    fn cooked_scalar(&mut self, style: Style) {
        let place = self.scanner.take();
        let text = self.scanner.take_text();
        self.push(Kind::Scalar(text), style, place.start, place.end);
    }

    /// A null that nothing is written for.
    fn push_empty(&mut self, at: u32) {
        self.push(Kind::default(), Style::Plain, at, at);
    }

    #[inline]
    fn push(&mut self, kind: Kind, style: Style, start: u32, end: u32) {
        let span = self.scanner.span(start, end);
        self.nodes.push(Node { kind, span, style, tag: Tag::Implicit, props: None });
    }

    /// Reads a collection, or an empty node that has only an anchor or a tag.
    fn collection(&mut self, context: Context, properties: Option<TokenStart>) -> Result<(), Error> {
        let is_block = context != Context::Flow;
        let read = match self.peek()? {
            TokenKind::BlockEntry if context == Context::BlockEntry => Self::indentless_sequence,
            TokenKind::FlowSequenceStart => Self::flow_sequence,
            TokenKind::FlowMappingStart => Self::flow_mapping,
            TokenKind::BlockSequenceStart if is_block => Self::block_sequence,
            TokenKind::BlockMappingStart if is_block => Self::block_mapping,
            _ => {
                let Some(properties) = properties else {
                    let line = self.scanner.head().line;
                    return Err(self.refuse(Some(line), "did not find expected node content"));
                };
                self.push_empty(properties.end);
                return Ok(());
            }
        };
        if self.depth == MAX_DEPTH {
            let head = self.scanner.head();
            let message = format!("exceeded max depth of {MAX_DEPTH}");
            let span = self.scanner.span(head.start, head.end);
            return Err(Error::new(ErrorKind::Limit, message, span).with_go_line(head.line + 1));
        }
        self.depth += 1;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    // Tokens.

    #[inline]
    fn peek(&mut self) -> Result<TokenKind, Error> {
        self.scanner.peek()
    }

    /// The fault that the token at the head is.
    fn refuse(&self, context: Option<u32>, message: &str) -> Error {
        self.scanner.grammar_error(context, self.scanner.head(), message)
    }
}

fn core_tag(name: &str) -> Option<Tag> {
    Some(match name {
        "str" => Tag::Str,
        "int" => Tag::Int,
        "float" => Tag::Float,
        "bool" => Tag::Bool,
        "null" => Tag::Null,
        "timestamp" => Tag::Timestamp,
        "binary" => Tag::Binary,
        "merge" => Tag::Merge,
        "map" => Tag::Map,
        "seq" => Tag::Seq,
        _ => return None,
    })
}
