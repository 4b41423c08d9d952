//! The tree: what a document is once read, and what is written back.
//!
//! A node owns its children, so a subtree moves from a patch into a resource by value. It stays small: text up to
//! 24 bytes is stored inline, and what few nodes have (an anchor, a foreign tag) lives behind one pointer.

use compact_str::CompactString;

use diagnostic::Span;

/// One YAML node: a scalar, a mapping, a sequence, or an alias that is not resolved yet.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The kind, with the content.
    pub kind: Kind,
    /// The span in the file that it was read from; [`Span::NONE`] for a node made by code.
    pub span: Span,
    /// The style, which decides how a plain scalar is read.
    pub style: Style,
    /// The tag written on it, or given to it by code; [`Tag::Implicit`] where the text decides.
    pub tag: Tag,
    /// The rare properties.
    pub(crate) props: Option<Box<Props>>,
}

/// The kind of a node, with its content.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A scalar's text, after quotes, escapes and folding are undone. A null is an empty or `null`-like plain text.
    Scalar(CompactString),
    /// A mapping's entries in the order of the file.
    Mapping(Vec<Entry>),
    /// A sequence's items.
    Sequence(Vec<Node>),
    /// `*name`: refers to the node with the anchor `&name`. Replaced by [`Node::expand_aliases`].
    Alias(CompactString),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key: nearly always a scalar.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// The style of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A plain scalar, or a collection in block style.
    #[default]
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|` block scalar.
    Literal,
    /// `>` block scalar.
    Folded,
    /// `{…}` or `[…]`.
    Flow,
}

/// The type that a tag names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tag {
    /// No tag: a plain scalar's text decides, quoted text is a string.
    #[default]
    Implicit,
    /// `!!str`
    Str,
    /// `!!int`
    Int,
    /// `!!float`
    Float,
    /// `!!bool`
    Bool,
    /// `!!null`
    Null,
    /// `!!timestamp`
    Timestamp,
    /// `!!binary`
    Binary,
    /// `!!merge`
    Merge,
    /// `!!map`
    Map,
    /// `!!seq`
    Seq,
    /// Any other; its text is [`Node::tag_text`].
    Other,
}

/// Properties that few nodes have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Props {
    pub(crate) anchor: Option<CompactString>,
    pub(crate) tag: Option<CompactString>,
    pub(crate) alias_id: Option<AliasId>,
    pub(crate) comment: Option<CompactString>,
}

/// The id of a logical node that occurs in several places of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AliasId {
    pub(crate) id: u32,
    /// Set if this occurrence was overwritten and the others are not up to date yet.
    pub(crate) overwritten: bool,
}

impl Default for Kind {
    fn default() -> Self {
        Kind::Scalar(CompactString::const_new(""))
    }
}

impl Entry {
    /// An entry made by code, with a string key.
    #[must_use]
    pub fn new(key: &str, value: Node) -> Self {
        Self { key: Node::string(key), value }
    }
}

impl Node {
    /// A plain scalar whose text decides its type.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self { kind: Kind::Scalar(CompactString::new(text)), ..Self::default() }
    }

    /// A string, whatever its text looks like.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self { kind: Kind::Scalar(CompactString::new(text)), tag: Tag::Str, ..Self::default() }
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self { kind: Kind::Scalar(CompactString::const_new("null")), tag: Tag::Null, ..Self::default() }
    }

    /// A mapping made by code.
    #[must_use]
    pub fn mapping(entries: Vec<Entry>) -> Self {
        Self { kind: Kind::Mapping(entries), ..Self::default() }
    }

    /// A sequence made by code.
    #[must_use]
    pub fn sequence(items: Vec<Node>) -> Self {
        Self { kind: Kind::Sequence(items), ..Self::default() }
    }

    /// The same node with another place in a file.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// The same node in another style.
    #[must_use]
    pub fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The text of a scalar, whatever its type; `None` for anything else.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of a mapping.
    #[must_use]
    pub fn entries(&self) -> Option<&Vec<Entry>> {
        match &self.kind {
            Kind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entries of a mapping, to change.
    #[must_use]
    pub fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        match &mut self.kind {
            Kind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items of a sequence.
    #[must_use]
    pub fn items(&self) -> Option<&Vec<Node>> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The items of a sequence, to change.
    #[must_use]
    pub fn items_mut(&mut self) -> Option<&mut Vec<Node>> {
        match &mut self.kind {
            Kind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the value of a key; `None` if the key does not exist or the node is not a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| entry.key.text() == Some(key)).map(|entry| &entry.value)
    }

    /// The value of a mapping's key, to change.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries_mut()?
            .iter_mut()
            .find(|entry| entry.key.text() == Some(key))
            .map(|entry| &mut entry.value)
    }

    /// The value at a path of keys.
    #[must_use]
    pub fn lookup(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Puts a value under a key of a mapping: in place where the key exists, else at the end.
    /// Does nothing if the node is not a mapping.
    pub fn set(&mut self, key: &str, value: Node) {
        let Some(entries) = self.entries_mut() else { return };
        match entries.iter_mut().find(|entry| entry.key.text() == Some(key)) {
            Some(entry) => entry.value = value,
            None => entries.push(Entry::new(key, value)),
        }
    }

    /// Takes a key out of a mapping and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let entries = self.entries_mut()?;
        let index = entries.iter().position(|entry| entry.key.text() == Some(key))?;
        Some(entries.remove(index).value)
    }

    /// The anchor's name, without `&`.
    #[must_use]
    pub fn anchor(&self) -> Option<&str> {
        self.props.as_deref().and_then(|props| props.anchor.as_deref())
    }

    /// The comment that was put on the node. Reading puts none on any; see [`Document::comments`].
    ///
    /// [`Document::comments`]: crate::Document::comments
    #[must_use]
    pub fn comment(&self) -> Option<&str> {
        self.props.as_deref().and_then(|props| props.comment.as_deref())
    }

    /// Puts a comment on the node. Nothing writes it.
    pub fn set_comment(&mut self, text: &str) {
        self.props.get_or_insert_default().comment = Some(text.into());
    }

    /// The text of a tag that is [`Tag::Other`], such as `!Ref`.
    #[must_use]
    pub fn tag_text(&self) -> Option<&str> {
        self.props.as_deref().and_then(|props| props.tag.as_deref())
    }

    /// Returns true if this is a mapping.
    #[must_use]
    pub fn is_mapping(&self) -> bool {
        matches!(self.kind, Kind::Mapping(_))
    }

    /// Returns true if this is a sequence.
    #[must_use]
    pub fn is_sequence(&self) -> bool {
        matches!(self.kind, Kind::Sequence(_))
    }

    /// Returns true if this is a scalar.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        matches!(self.kind, Kind::Scalar(_))
    }
}
