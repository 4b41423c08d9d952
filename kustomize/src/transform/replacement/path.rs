//! The path of a target's fields, and the walk along it.
//!
//! In: a path like `spec.containers.[name=web].env.*.value`, a tree, and what to do with each field found. Out: how many
//! were. What is missing is made where that is asked for. A path may lead on into a text that is YAML itself. It refuses
//! a path that does not fit the tree.

use std::borrow::Cow;

use diagnostic::{Error, ErrorKind, Result};
use goregex::Regex;
use yamltree::{EmitOptions, Entry, Node, Span, Tag, to_kyaml};

use super::structured;
use crate::decode::{Located, described};
use crate::dotted;
use crate::resource::is_null;

/// No resource is nested deeper, and each part costs stack.
const MAX_PARTS: usize = 500;

/// The path of a target's fields.
pub(super) struct FieldPath {
    pub(super) text: String,
    /// The parts as they are written.
    pub(super) names: Vec<String>,
    pub(super) parts: Vec<Part>,
    pub(super) span: Span,
}

/// One step of a path.
pub(super) enum Part {
    /// `name`
    Field(String),
    /// `2`: an item of a list.
    Index(usize),
    /// `*`: every item of a list.
    Every,
    /// `[key=pattern]`, or `[=pattern]` for the item itself: the items of a list that match.
    Matching { key: String, text: String, pattern: Result<Regex, String> },
    /// `[…]` without `=`, which nothing matches.
    Invalid(String),
}

/// The shape of a created field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Mapping,
    Sequence,
}

/// The handling of the fields at the end of a path.
pub(super) struct Walk<'w> {
    /// The shape of a field that is made where it is missing; `None` where none is made.
    pub(super) create: Option<Shape>,
    pub(super) change: &'w mut dyn FnMut(&mut Node) -> Result<()>,
    /// Warnings.
    pub(super) notes: &'w mut Vec<String>,
}

impl FieldPath {
    pub(super) fn new(path: &Located) -> Result<Self> {
        let names = dotted::parts(&path.text);
        if names.len() > MAX_PARTS {
            let sentence = format!("the path has more than {MAX_PARTS} parts");
            return Err(Error::new(ErrorKind::Limit, sentence).at(path.span));
        }
        let parts = names.iter().map(|name| Part::new(name)).collect();
        Ok(Self { text: path.text.clone(), names, parts, span: path.span })
    }
}

impl Part {
    fn new(name: &str) -> Self {
        if let Ok(index) = name.parse::<i64>()
            && let Ok(index) = usize::try_from(index)
        {
            return Self::Index(index);
        }
        if name == "*" {
            return Self::Every;
        }
        match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            None => Self::Field(name.to_owned()),
            Some(condition) => match condition.split_once('=') {
                None => Self::Invalid(name.to_owned()),
                Some((key, text)) => Self::Matching {
                    key: key.to_owned(),
                    text: text.to_owned(),
                    pattern: Regex::new(text).map_err(|error| error.to_string()),
                },
            },
        }
    }
}

impl Shape {
    pub(super) fn of(node: &Node) -> Self {
        match () {
            () if node.is_mapping() => Self::Mapping,
            () if node.is_sequence() => Self::Sequence,
            () => Self::Scalar,
        }
    }

    /// The shape of a field that a path leads through, by the next part.
    fn leading_to(next: Option<&Part>, last: Self) -> Self {
        match next {
            None => last,
            Some(Part::Field(name)) if name.is_empty() => last,
            Some(Part::Index(_) | Part::Matching { .. } | Part::Invalid(_)) => Self::Sequence,
            Some(Part::Field(_) | Part::Every) => Self::Mapping,
        }
    }

    fn node(self) -> Node {
        match self {
            Self::Scalar => Node::plain(""),
            Self::Mapping => Node::mapping(Vec::new()),
            Self::Sequence => Node::sequence(Vec::new()),
        }
    }
}

impl Walk<'_> {
    /// Changes the fields at the end of a path and returns how many there are.
    pub(super) fn follow(&mut self, node: &mut Node, parts: &[Part]) -> Result<usize> {
        let Some((part, rest)) = parts.split_first() else {
            (self.change)(node)?;
            return Ok(1);
        };
        match part {
            Part::Field(name) => self.field(node, name, rest),
            Part::Index(index) => self.item(node, *index, rest),
            Part::Every => {
                let Some(items) = sequence(node)? else { return Ok(0) };
                items.iter_mut().try_fold(0, |found, item| Ok(found + self.follow(item, rest)?))
            }
            Part::Matching { key, text, pattern } => match pattern {
                Ok(pattern) => self.matching(node, key, text, pattern, rest),
                Err(error) => Err(Error::invalid(error.clone())),
            },
            Part::Invalid(written) => Err(Error::invalid(format!("`{written}` selects no items of a list"))
                .hint("write `[key=value]`, or `[=value]` for a list of values")),
        }
    }

    fn field(&mut self, node: &mut Node, name: &str, rest: &[Part]) -> Result<usize> {
        if is_null(node) {
            if self.create.is_none() {
                return Ok(0);
            }
            self.fill_null(node, Shape::Mapping);
        }
        if !node.is_mapping() {
            return Err(Error::invalid(format!("no `{name}` in {}", described(node))));
        }
        if node.get(name).is_none() {
            let Some(last) = self.create else { return Ok(0) };
            let value = Shape::leading_to(rest.first(), last).node();
            if let Some(entries) = node.entries_mut() {
                entries.push(Entry { key: Node::plain(name), value });
            }
        }
        let Some(value) = node.get_mut(name) else { return Ok(0) };
        if rest.is_empty() || !value.is_scalar() {
            return self.follow(value, rest);
        }
        if is_null(value) && value.text() != Some("") {
            return self.follow(value, rest);
        }
        let found = structured::edit(value, rest, self)?;
        if found > 0 {
            self.notes.push(format!("Kustomize does not write into the text in `{name}` along this path"));
        }
        Ok(found)
    }

    fn item(&mut self, node: &mut Node, index: usize, rest: &[Part]) -> Result<usize> {
        if is_null(node) && index == 0 && self.create.is_some() {
            self.fill_null(node, Shape::Sequence);
        }
        let create = self.create;
        let none = &mut Vec::new();
        let items = sequence(node)?.unwrap_or(none);
        if let Some(last) = create
            && items.len() == index
        {
            items.push(Shape::leading_to(rest.first(), last).node());
        }
        let count = items.len();
        match items.get_mut(index) {
            Some(item) => self.follow(item, rest),
            None => Err(Error::invalid(format!("no item {index} in a list of {count}"))),
        }
    }

    fn matching(
        &mut self,
        node: &mut Node,
        key: &str,
        text: &str,
        pattern: &Regex,
        rest: &[Part],
    ) -> Result<usize> {
        if is_null(node) && self.create.is_some() {
            self.fill_null(node, Shape::Sequence);
        }
        let Some(items) = sequence(node)? else { return Ok(0) };
        let found = self.matching_items(items, key, pattern, rest)?;
        if found > 0 || self.create.is_none() {
            return Ok(found);
        }
        let value = Node::plain(text);
        let item =
            if key.is_empty() { value } else { Node::mapping(vec![Entry { key: Node::plain(key), value }]) };
        items.push(item);
        // What was made must match, or else Kustomize makes it again and again.
        let last = items.len() - 1;
        match self.matching_items(&mut items[last..], key, pattern, rest)? {
            0 => Err(Error::invalid(format!("an item made for `[{key}={text}]` does not match it"))),
            found => Ok(found),
        }
    }

    fn matching_items(
        &mut self,
        items: &mut [Node],
        key: &str,
        pattern: &Regex,
        rest: &[Part],
    ) -> Result<usize> {
        let mut found = 0;
        for item in items {
            let field = if key.is_empty() { Some(&*item) } else { item.get(key) };
            if !field.is_some_and(|field| pattern.is_match(&*printed(field))) {
                continue;
            }
            if key.is_empty() {
                // What follows a plain item's condition does not count.
                (self.change)(item)?;
                found += 1;
            } else {
                found += self.follow(item, rest)?;
            }
        }
        Ok(found)
    }

    fn fill_null(&mut self, node: &mut Node, shape: Shape) {
        self.notes.push("Kustomize loses a value that is put below a null; it was kept".to_owned());
        *node = shape.node().at(node.span);
    }
}

/// The items of a list, none of a null.
fn sequence(node: &mut Node) -> Result<Option<&mut Vec<Node>>> {
    if is_null(node) {
        return Ok(None);
    }
    if !node.is_sequence() {
        return Err(Error::invalid(format!("expected an item of a list in {}", described(node))));
    }
    Ok(node.items_mut())
}

/// The text by which an item is matched: as go-yaml prints it, quotes included.
fn printed(node: &Node) -> Cow<'_, str> {
    let is_plain = node.style == yamltree::Style::Plain && matches!(node.tag, Tag::Implicit | Tag::Str);
    match node.text() {
        Some(text) if is_plain && is_word(text) => Cow::Borrowed(text),
        _ => {
            let mut text = String::new();
            to_kyaml(node, EmitOptions::KYAML, &mut text);
            Cow::Owned(text.trim().to_owned())
        }
    }
}

/// A text that is printed as it is, whatever its type.
fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/'))
}
