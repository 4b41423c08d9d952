//! Tokens to a tree: the grammatical half of reading YAML.
//!
//! Accepts and refuses what go-yaml's parser does, with its messages. A collection's children gather on a stack that
//! all collections share and move into a list of exactly their number when it ends.

use std::collections::HashSet;

use compact_str::CompactString;

use crate::dialect::Dialect;
use crate::duplicate::{self, Duplicate};
use crate::error::{Error, ErrorKind};
use crate::limits::MAX_DEPTH;
use crate::node::{Entry, Kind, Node, Props, Style, Tag};
use crate::parse::{Document, ParseOptions};
use crate::scan::{Place, Scanner, TagDirective, TagName, TokenKind};
use crate::source::Span;

/// What YAML's own tags begin with.
const CORE_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// Where a node stands, which decides what it may be.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Block,
    /// A key or value of a block mapping: a sequence there may lie at the mapping's own column.
    BlockEntry,
    Flow,
}

/// What stands in front of a node's content.
#[derive(Default)]
struct Properties<'t> {
    anchor: Option<&'t str>,
    tag: Option<(Box<TagName>, Place)>,
    /// From the first to the last of them.
    place: Option<Place>,
}

pub(crate) struct Composer<'t> {
    scanner: Scanner<'t>,
    options: ParseOptions,
    is_first: bool,
    directives: Vec<TagDirective>,
    anchors: HashSet<&'t str>,
    depth: usize,
    entries: Vec<Entry>,
    items: Vec<Node>,
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
            directives: Vec::new(),
            anchors: HashSet::new(),
            depth: 0,
            entries: Vec::new(),
            items: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    /// The next document; `None` at the end of the text. Not to be called again after either an error or the end.
    pub(crate) fn document(&mut self) -> Result<Option<Document>, Error> {
        let Some(is_explicit) = self.document_start()? else { return Ok(None) };
        let root = if is_explicit { self.explicit_root()? } else { self.node(Context::Block)? };
        self.document_end()?;
        let mut duplicates = std::mem::take(&mut self.duplicates);
        duplicates.sort_by_key(|duplicate| (duplicate.again.start, duplicate.first.start));
        Ok(Some(Document { root, is_explicit, comments: self.scanner.take_comments(), duplicates }))
    }

    // Documents.

    /// Reads up to the root; says whether a `---` was there. `None` at the end of the text.
    fn document_start(&mut self) -> Result<Option<bool>, Error> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        while !is_first && matches!(self.peek()?, TokenKind::DocumentEnd) {
            self.scanner.take();
        }
        match self.peek()? {
            TokenKind::StreamEnd => return Ok(None),
            TokenKind::VersionDirective(..) | TokenKind::TagDirective(_) | TokenKind::DocumentStart => {}
            _ if is_first => return Ok(Some(false)),
            _ => {}
        }
        self.read_directives()?;
        if !matches!(self.peek()?, TokenKind::DocumentStart) {
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
                TokenKind::TagDirective(new) => {
                    let handle = new.handle.clone();
                    if self.directives.iter().any(|known| known.handle == handle) {
                        return Err(self.refuse(None, "found duplicate %TAG directive"));
                    }
                }
                _ => return Ok(()),
            }
            if let TokenKind::TagDirective(new) = self.scanner.take().kind {
                self.directives.push(*new);
            }
        }
    }

    fn explicit_root(&mut self) -> Result<Node, Error> {
        match self.peek()? {
            TokenKind::VersionDirective(..)
            | TokenKind::TagDirective(_)
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                let at = self.scanner.head().start;
                Ok(self.empty(at))
            }
            _ => self.node(Context::Block),
        }
    }

    fn document_end(&mut self) -> Result<(), Error> {
        if matches!(self.peek()?, TokenKind::DocumentEnd) {
            self.scanner.take();
        }
        self.directives.clear();
        self.anchors.clear();
        Ok(())
    }

    // Nodes.

    fn node(&mut self, context: Context) -> Result<Node, Error> {
        match self.peek()? {
            TokenKind::Scalar(..) => Ok(self.scalar()),
            TokenKind::Alias => self.alias(),
            TokenKind::Anchor | TokenKind::Tag(_) => self.node_with_properties(context),
            _ => self.collection(context, None),
        }
    }

    fn node_with_properties(&mut self, context: Context) -> Result<Node, Error> {
        let properties = self.properties()?;
        let (tag, tag_text) = match &properties.tag {
            Some((name, place)) => self.resolve_tag(name, *place, properties.place)?,
            None => (Tag::Implicit, None),
        };
        // Known before the content is: a node may, in vain, refer to itself.
        self.anchors.extend(properties.anchor);
        let mut node = match self.peek()? {
            TokenKind::Scalar(..) => self.scalar(),
            _ => self.collection(context, properties.place)?,
        };
        node.tag = tag;
        if properties.anchor.is_some() || tag_text.is_some() {
            let anchor = properties.anchor.map(CompactString::new);
            node.props = Some(Box::new(Props { anchor, tag: tag_text }));
        }
        Ok(node)
    }

    /// Reads an anchor and a tag, in either order.
    fn properties(&mut self) -> Result<Properties<'t>, Error> {
        let mut properties = Properties::default();
        loop {
            match self.peek()? {
                TokenKind::Anchor if properties.anchor.is_none() => {}
                TokenKind::Tag(_) if properties.tag.is_none() => {}
                _ => return Ok(properties),
            }
            let token = self.scanner.take();
            let start = properties.place.map_or(token.place.start, |place| place.start);
            let line = properties.place.map_or(token.place.line, |place| place.line);
            properties.place = Some(Place { start, line, end: token.place.end });
            match token.kind {
                TokenKind::Tag(name) => properties.tag = Some((name, token.place)),
                _ => properties.anchor = Some(self.scanner.slice(token.place.start + 1, token.place.end)),
            }
        }
    }

    fn resolve_tag(
        &mut self,
        name: &TagName,
        place: Place,
        properties: Option<Place>,
    ) -> Result<(Tag, Option<CompactString>), Error> {
        let prefix = match &*name.handle {
            "" => "",
            handle => match (self.directives.iter().find(|directive| directive.handle == handle), handle) {
                (Some(directive), _) => &directive.prefix,
                (None, "!") => "!",
                (None, "!!") => CORE_TAG_PREFIX,
                (None, _) => {
                    let context = properties.map(|properties| properties.line);
                    return Err(self.scanner.grammar_error(context, place, "found undefined tag handle"));
                }
            },
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

    fn alias(&mut self) -> Result<Node, Error> {
        let place = self.scanner.head();
        let name = self.scanner.slice(place.start + 1, place.end);
        if !self.anchors.contains(name) {
            let message = format!("unknown anchor '{name}' referenced");
            let span = self.scanner.span(place.start, place.end);
            return Err(Error::new(ErrorKind::Invalid, message, span));
        }
        self.scanner.take();
        Ok(self.made(Kind::Alias(CompactString::new(name)), Style::Plain, place.start, place.end))
    }

    fn scalar(&mut self) -> Node {
        let token = self.scanner.take();
        let TokenKind::Scalar(style, text) = token.kind else { unreachable!("the caller has seen a scalar") };
        self.made(Kind::Scalar(text), style, token.place.start, token.place.end)
    }

    /// A null that nothing is written for.
    fn empty(&self, at: u32) -> Node {
        self.made(Kind::default(), Style::Plain, at, at)
    }

    fn made(&self, kind: Kind, style: Style, start: u32, end: u32) -> Node {
        Node { kind, style, span: self.scanner.span(start, end), ..Node::default() }
    }

    /// Reads a collection, or nothing where an anchor or a tag stands for it.
    fn collection(&mut self, context: Context, properties: Option<Place>) -> Result<Node, Error> {
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
                return Ok(self.empty(properties.end));
            }
        };
        if self.depth == MAX_DEPTH {
            let head = self.scanner.head();
            let message = format!("exceeded max depth of {MAX_DEPTH}");
            let span = self.scanner.span(head.start, head.end);
            return Err(Error::new(ErrorKind::Limit, message, span).with_go_line(head.line + 1));
        }
        self.depth += 1;
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    // Block collections.

    fn block_sequence(&mut self) -> Result<Node, Error> {
        let place = self.scanner.take().place;
        let first = self.items.len();
        loop {
            match self.peek()? {
                TokenKind::BlockEntry => {}
                TokenKind::BlockEnd => break,
                _ => return Err(self.refuse(Some(place.line), "did not find expected '-' indicator")),
            }
            let dash = self.scanner.take().place;
            let item = match self.peek()? {
                TokenKind::BlockEntry | TokenKind::BlockEnd => self.empty(dash.end),
                _ => self.node(Context::Block)?,
            };
            self.items.push(item);
        }
        self.scanner.take();
        Ok(self.sequence(first, Style::Plain, place.start, None))
    }

    /// A sequence at the column of the mapping that it is a value of.
    fn indentless_sequence(&mut self) -> Result<Node, Error> {
        let start = self.scanner.head().start;
        let first = self.items.len();
        while matches!(self.peek()?, TokenKind::BlockEntry) {
            let dash = self.scanner.take().place;
            let item = match self.peek()? {
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                    self.empty(dash.end)
                }
                _ => self.node(Context::Block)?,
            };
            self.items.push(item);
        }
        Ok(self.sequence(first, Style::Plain, start, None))
    }

    fn block_mapping(&mut self) -> Result<Node, Error> {
        let place = self.scanner.take().place;
        let first = self.entries.len();
        loop {
            match self.peek()? {
                TokenKind::Key => {}
                TokenKind::BlockEnd => break,
                _ => return Err(self.refuse(Some(place.line), "did not find expected key")),
            }
            let indicator = self.scanner.take().place;
            let key = self.block_entry(indicator.end)?;
            let value = match self.peek()? {
                TokenKind::Value => {
                    let colon = self.scanner.take().place;
                    self.block_entry(colon.end)?
                }
                _ => self.empty_after(&key),
            };
            self.entries.push(Entry { key, value });
        }
        self.scanner.take();
        Ok(self.mapping(first, Style::Plain, place.start, None))
    }

    /// A key or value behind its indicator, which may be nothing.
    fn block_entry(&mut self, after: u32) -> Result<Node, Error> {
        match self.peek()? {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(self.empty(after)),
            _ => self.node(Context::BlockEntry),
        }
    }

    /// The value of a key without a colon.
    fn empty_after(&self, key: &Node) -> Node {
        Node { span: Span { start: key.span.end, ..key.span }, ..Node::default() }
    }

    // Flow collections.

    fn flow_sequence(&mut self) -> Result<Node, Error> {
        let place = self.scanner.take().place;
        let first = self.items.len();
        let mut is_first = true;
        while !matches!(self.peek()?, TokenKind::FlowSequenceEnd) {
            if !std::mem::replace(&mut is_first, false) {
                if !matches!(self.peek()?, TokenKind::FlowEntry) {
                    return Err(self.refuse(Some(place.line), "did not find expected ',' or ']'"));
                }
                self.scanner.take();
            }
            match self.peek()? {
                TokenKind::Key => {
                    let pair = self.flow_pair()?;
                    self.items.push(pair);
                }
                TokenKind::FlowSequenceEnd => break,
                _ => {
                    let item = self.node(Context::Flow)?;
                    self.items.push(item);
                }
            }
        }
        let end = self.scanner.take().place.end;
        Ok(self.sequence(first, Style::Flow, place.start, Some(end)))
    }

    /// `key: value` as an item of a flow sequence: a mapping of one entry.
    fn flow_pair(&mut self) -> Result<Node, Error> {
        let indicator = self.scanner.take().place;
        let key = match self.peek()? {
            // go-yaml forgets to leave the token that ends an empty key for what follows, and so refuses it there.
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                let end = self.scanner.take().place.end;
                self.empty(end)
            }
            _ => self.node(Context::Flow)?,
        };
        let value = self.flow_value(&key, |kind| matches!(kind, TokenKind::FlowSequenceEnd))?;
        self.peek()?;
        let first = self.entries.len();
        self.entries.push(Entry { key, value });
        Ok(self.mapping(first, Style::Flow, indicator.start, None))
    }

    fn flow_mapping(&mut self) -> Result<Node, Error> {
        let place = self.scanner.take().place;
        let first = self.entries.len();
        let is_end = |kind: &TokenKind| matches!(kind, TokenKind::FlowMappingEnd);
        let mut is_first = true;
        while !is_end(self.peek()?) {
            if !std::mem::replace(&mut is_first, false) {
                if !matches!(self.peek()?, TokenKind::FlowEntry) {
                    return Err(self.refuse(Some(place.line), "did not find expected ',' or '}'"));
                }
                self.scanner.take();
            }
            let entry = match self.peek()? {
                TokenKind::Key => {
                    let indicator = self.scanner.take().place;
                    let key = match self.peek()? {
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                            self.empty(indicator.end)
                        }
                        _ => self.node(Context::Flow)?,
                    };
                    let value = self.flow_value(&key, is_end)?;
                    Entry { key, value }
                }
                kind if is_end(kind) => break,
                _ => {
                    let key = self.node(Context::Flow)?;
                    self.peek()?;
                    let value = self.empty_after(&key);
                    Entry { key, value }
                }
            };
            self.entries.push(entry);
        }
        let end = self.scanner.take().place.end;
        Ok(self.mapping(first, Style::Flow, place.start, Some(end)))
    }

    /// The value of a key in a flow collection, which may be nothing.
    fn flow_value(&mut self, key: &Node, is_end: impl Fn(&TokenKind) -> bool) -> Result<Node, Error> {
        if !matches!(self.peek()?, TokenKind::Value) {
            return Ok(self.empty_after(key));
        }
        let colon = self.scanner.take().place;
        match self.peek()? {
            TokenKind::FlowEntry => Ok(self.empty(colon.end)),
            kind if is_end(kind) => Ok(self.empty(colon.end)),
            _ => self.node(Context::Flow),
        }
    }

    // Ends of collections.

    /// Makes a sequence of the items since `first`; one in block style ends with its last item.
    fn sequence(&mut self, first: usize, style: Style, start: u32, end: Option<u32>) -> Node {
        let items: Vec<Node> = self.items.drain(first..).collect();
        let mut node = self.made(Kind::Sequence(Vec::new()), style, start, end.unwrap_or(start));
        if let (None, Some(last)) = (end, items.last()) {
            node.span.end = last.span.end;
        }
        node.kind = Kind::Sequence(items);
        node
    }

    /// Makes a mapping of the entries since `first`; one in block style ends with its last value.
    fn mapping(&mut self, first: usize, style: Style, start: u32, end: Option<u32>) -> Node {
        let entries: Vec<Entry> = self.entries.drain(first..).collect();
        duplicate::find(&entries, &mut self.duplicates);
        let mut node = self.made(Kind::Mapping(Vec::new()), style, start, end.unwrap_or(start));
        if let (None, Some(last)) = (end, entries.last()) {
            node.span.end = last.value.span.end;
        }
        node.kind = Kind::Mapping(entries);
        node
    }

    // Tokens.

    fn peek(&mut self) -> Result<&TokenKind, Error> {
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
