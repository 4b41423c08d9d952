//! Collections: in block and in flow style.

use super::{Composer, Context};
use crate::duplicate::{self, DuplicateKeys};
use crate::error::Error;
use crate::node::{Entry, Kind, Node, Style};
use crate::scan::{TokenKind, TokenStart};
use diagnostic::Span;

impl Composer<'_> {
    // Block collections.

    pub(super) fn block_sequence(&mut self) -> Result<(), Error> {
        let place = self.scanner.take();
        let first = self.nodes.len();
        loop {
            match self.peek()? {
                TokenKind::BlockEntry => {}
                TokenKind::BlockEnd => break,
                _ => return Err(self.refuse(Some(place.line), "did not find expected '-' indicator")),
            }
            let dash = self.scanner.take();
            match self.peek()? {
                TokenKind::BlockEntry | TokenKind::BlockEnd => self.push_empty(dash.end),
                _ => self.node(Context::Block)?,
            }
        }
        self.scanner.take();
        self.end_sequence(first, Style::Plain, place.start, None);
        Ok(())
    }

    /// A sequence at the column of the mapping that it is a value of.
    pub(super) fn indentless_sequence(&mut self) -> Result<(), Error> {
        let start = self.scanner.head().start;
        let first = self.nodes.len();
        while self.peek()? == TokenKind::BlockEntry {
            let dash = self.scanner.take();
            match self.peek()? {
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                    self.push_empty(dash.end);
                }
                _ => self.node(Context::Block)?,
            }
        }
        self.end_sequence(first, Style::Plain, start, None);
        Ok(())
    }

    pub(super) fn block_mapping(&mut self) -> Result<(), Error> {
        let place = self.scanner.take();
        let first = self.nodes.len();
        loop {
            match self.peek()? {
                TokenKind::Key => {}
                TokenKind::BlockEnd => break,
                _ => return Err(self.refuse(Some(place.line), "did not find expected key")),
            }
            self.block_entry()?;
            if self.peek()? == TokenKind::Value {
                self.block_entry()?;
            } else {
                self.push_empty_after_key();
            }
        }
        self.scanner.take();
        self.end_mapping(first, Style::Plain, place.start, None);
        Ok(())
    }

    /// A key or value with its indicator, which may be all there is.
    fn block_entry(&mut self) -> Result<(), Error> {
        let indicator = self.scanner.take();
        match self.peek()? {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.push_empty(indicator.end);
                Ok(())
            }
            _ => self.node(Context::BlockEntry),
        }
    }

    /// The value of a key without a colon.
    fn push_empty_after_key(&mut self) {
        let key = self.nodes.last().map_or(Span::NONE, |key| key.span);
        self.nodes.push(Node { span: Span { start: key.end, ..key }, ..Node::default() });
    }

    // Flow collections.

    pub(super) fn flow_sequence(&mut self) -> Result<(), Error> {
        let place = self.scanner.take();
        let first = self.nodes.len();
        while self.flow_continues(first, place, TokenKind::FlowSequenceEnd)? {
            if self.peek()? == TokenKind::Key {
                self.flow_pair()?;
            } else {
                self.node(Context::Flow)?;
            }
        }
        let end = self.scanner.take().end;
        self.end_sequence(first, Style::Flow, place.start, Some(end));
        Ok(())
    }

    /// `key: value` as an item of a flow sequence: a mapping of one entry.
    fn flow_pair(&mut self) -> Result<(), Error> {
        let indicator = self.scanner.take();
        let first = self.nodes.len();
        match self.peek()? {
            // go-yaml forgets to leave the token that ends an empty key for what follows, and so refuses it there.
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                let end = self.scanner.take().end;
                self.push_empty(end);
            }
            _ => self.node(Context::Flow)?,
        }
        self.flow_value(TokenKind::FlowSequenceEnd)?;
        self.end_mapping(first, Style::Flow, indicator.start, None);
        Ok(())
    }

    pub(super) fn flow_mapping(&mut self) -> Result<(), Error> {
        let place = self.scanner.take();
        let first = self.nodes.len();
        while self.flow_continues(first, place, TokenKind::FlowMappingEnd)? {
            if self.peek()? == TokenKind::Key {
                let indicator = self.scanner.take();
                match self.peek()? {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        self.push_empty(indicator.end);
                    }
                    _ => self.node(Context::Flow)?,
                }
                self.flow_value(TokenKind::FlowMappingEnd)?;
            } else {
                self.node(Context::Flow)?;
                self.push_empty_after_key();
            }
        }
        let end = self.scanner.take().end;
        self.end_mapping(first, Style::Flow, place.start, Some(end));
        Ok(())
    }

    /// Reads the comma before another item of a flow collection that began at `place`, or finds its end.
    fn flow_continues(&mut self, first: usize, place: TokenStart, end: TokenKind) -> Result<bool, Error> {
        if self.peek()? == end {
            return Ok(false);
        }
        if self.nodes.len() > first {
            if self.peek()? != TokenKind::FlowEntry {
                let closing = if end == TokenKind::FlowSequenceEnd { ']' } else { '}' };
                let message = format!("did not find expected ',' or '{closing}'");
                return Err(self.refuse(Some(place.line), &message));
            }
            self.scanner.take();
        }
        Ok(self.peek()? != end)
    }

    /// Reads the value of a key in a flow collection, which may be empty.
    fn flow_value(&mut self, end: TokenKind) -> Result<(), Error> {
        if self.peek()? != TokenKind::Value {
            self.push_empty_after_key();
            return Ok(());
        }
        let colon = self.scanner.take();
        let kind = self.peek()?;
        if kind == TokenKind::FlowEntry || kind == end {
            self.push_empty(colon.end);
            return Ok(());
        }
        self.node(Context::Flow)
    }

    // Ends of collections.

    /// Makes a sequence of the nodes since `first`; one in block style ends with its last item.
    fn end_sequence(&mut self, first: usize, style: Style, start: u32, end: Option<u32>) {
        let span = self.collection_span(first, start, end);
        let items = self.nodes.drain(first..).collect();
        self.nodes.push(Node { kind: Kind::Sequence(items), span, style, ..Node::default() });
    }

    /// Makes a mapping of the nodes since `first`, keys and values in turn.
    fn end_mapping(&mut self, first: usize, style: Style, start: u32, end: Option<u32>) {
        let span = self.collection_span(first, start, end);
        let mut entries = Vec::with_capacity((self.nodes.len() - first) / 2);
        let mut nodes = self.nodes.drain(first..);
        while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
            entries.push(Entry { key, value });
        }
        drop(nodes);
        let known = self.duplicates.len();
        duplicate::find(&entries, self.options.dialect, &mut self.duplicates);
        if self.options.duplicate_keys == DuplicateKeys::KeepLast && self.duplicates.len() > known {
            duplicate::drop_overridden(&mut entries, self.options.dialect);
        }
        self.nodes.push(Node { kind: Kind::Mapping(entries), span, style, ..Node::default() });
    }

    fn collection_span(&self, first: usize, start: u32, end: Option<u32>) -> Span {
        let mut span = self.scanner.span(start, end.unwrap_or(start));
        if let (None, Some(last)) = (end, self.nodes[first..].last()) {
            span.end = last.span.end;
        }
        span
    }
}
