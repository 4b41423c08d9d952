//! A tree as go-yaml v3 writes it: styles, tags, anchors and the order of keys stay.
//!
//! In: any node, aliases as well. Out: a document as kyaml's `RNode.String` gives it, but without comments, which the
//! tree does not keep. Rejects nothing: a scalar that its style cannot hold gets the next style that can.

use super::emitter::{EmitOptions, Emitter, Properties, Start};
use crate::dialect::Dialect;
use crate::node::{Entry, Kind, Node, Style, Tag};
use crate::resolve::resolve;

/// Appends a node as a document, which ends in a line break.
pub fn to_kyaml(node: &Node, options: EmitOptions, out: &mut String) {
    let mut writer = KyamlWriter { emitter: Emitter::new(out, options), frames: Vec::new() };
    writer.node(node);
    while let Some(frame) = writer.frames.last_mut() {
        match frame.next() {
            Some(node) => writer.node(node),
            None => writer.end(),
        }
    }
    writer.emitter.document_end();
}

struct KyamlWriter<'n, 'o> {
    emitter: Emitter<'o>,
    frames: Vec<Frame<'n>>,
}

/// An open collection and what is still to be written of it.
enum Frame<'n> {
    Sequence(std::slice::Iter<'n, Node>),
    Mapping { entries: std::slice::Iter<'n, Entry>, value: Option<&'n Node> },
}

impl<'n> Frame<'n> {
    /// The next item, key or value.
    fn next(&mut self) -> Option<&'n Node> {
        match self {
            Self::Sequence(items) => items.next(),
            Self::Mapping { entries, value } => value.take().or_else(|| {
                let entry = entries.next()?;
                *value = Some(&entry.value);
                Some(&entry.key)
            }),
        }
    }
}

impl<'n> KyamlWriter<'n, '_> {
    fn node(&mut self, node: &'n Node) {
        let start = |empty, own_tag| Start {
            empty,
            flow: node.style == Style::Flow,
            properties: Properties {
                anchor: node.anchor(),
                tag: written_tag(node).filter(|&tag| tag != own_tag),
            },
        };
        match &node.kind {
            Kind::Alias(name) => self.emitter.alias(name),
            Kind::Scalar(text) => {
                let (style, tag) = style_and_tag(node, text);
                self.emitter.scalar(text, style, Properties { anchor: node.anchor(), tag });
            }
            Kind::Mapping(entries) => {
                self.emitter.mapping_start(start(entries.is_empty(), Tag::Map.name()));
                self.frames.push(Frame::Mapping { entries: entries.iter(), value: None });
            }
            Kind::Sequence(items) => {
                self.emitter.sequence_start(start(items.is_empty(), Tag::Seq.name()));
                self.frames.push(Frame::Sequence(items.iter()));
            }
        }
    }

    fn end(&mut self) {
        match self.frames.pop() {
            Some(Frame::Sequence(_)) => self.emitter.sequence_end(),
            Some(Frame::Mapping { .. }) => self.emitter.mapping_end(),
            None => {}
        }
    }
}

/// The tag as it would be written.
fn written_tag(node: &Node) -> Option<&str> {
    match node.tag {
        Tag::Implicit => None,
        Tag::Other => node.tag_text(),
        tag => Some(tag.name()),
    }
}

/// The style of a scalar, and its tag where the text does not say as much.
fn style_and_tag<'n>(node: &'n Node, text: &str) -> (Style, Option<&'n str>) {
    let quoted = !matches!(node.style, Style::Plain | Style::Flow);
    let own_style = if quoted {
        node.style
    } else if text.contains('\n') {
        Style::Literal
    } else {
        Style::Plain
    };
    match node.tag {
        // go-yaml gives `<<` this tag when it reads it, and never finds it again in the text.
        Tag::Implicit if text == "<<" && !quoted => (own_style, Some(Tag::Merge.name())),
        Tag::Implicit => (own_style, None),
        Tag::Str if quoted => (own_style, None),
        tag if resolve(text, Dialect::V3).tag() == tag => (own_style, None),
        Tag::Str if own_style == Style::Plain => (Style::DoubleQuoted, None),
        Tag::Str => (own_style, None),
        _ => (own_style, written_tag(node)),
    }
}
