//! Which fields of two objects differ.
//!
//! In: two prepared trees of one object. Out: the fields that differ, how much is hidden, and both trees as they are to
//! be shown: what counts as equal is equal in them, so that a diff of their lines shows the same as the fields.
//! Each node is seen once; mappings are walked by sorted keys, lists are matched by their keys or their content.

mod defaults;
mod list;
mod noise;
mod path;
mod quantity;
mod shape;

use std::cmp::Ordering;

use yamltree::{Entry, Node};

use crate::model::{FieldStatus, Hidden};
use crate::objects::{is_null, is_same, is_text};

pub(crate) use path::{Path, Segment};
pub(crate) use quantity::Quantity;
pub(crate) use shape::{Definitions, Shape};

/// The result of comparing two trees.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) changes: Vec<Change>,
    pub(crate) hidden: Hidden,
    /// The trees to show; `Some` unless the whole object was null.
    pub(crate) base: Option<Node>,
    pub(crate) head: Option<Node>,
}

impl Compared {
    /// An object that comes or goes.
    pub(crate) fn whole(base: Option<Node>, head: Option<Node>) -> Self {
        let status = if base.is_some() { FieldStatus::Removed } else { FieldStatus::Added };
        let change = Change { path: Path::default(), status, old: base.clone(), new: head.clone() };
        Self { changes: vec![change], hidden: Hidden::default(), base, head }
    }
}

/// One field that differs, with its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) path: Path,
    pub(crate) status: FieldStatus,
    pub(crate) old: Option<Node>,
    pub(crate) new: Option<Node>,
}

/// Maximum nesting that is compared field by field; deeper values are compared as a whole. Manifests stay below 60,
/// and the walk needs more stack per level than reading.
const MAX_DEPTH: usize = 120;

/// Compares two trees of objects of a kind.
pub(crate) fn compare(base: &Node, head: &Node, kind: &str, shape: Shape<'_>) -> Compared {
    let mut walk = Walk { kind, path: Path::default(), changes: Vec::new(), hidden: Hidden::default() };
    let (base, head) = walk.value(Some(base), Some(head), shape);
    Compared { changes: walk.changes, hidden: walk.hidden, base, head }
}

/// Both sides of a node, as shown in a diff.
type Shown = (Option<Node>, Option<Node>);

struct Walk<'k> {
    kind: &'k str,
    path: Path,
    changes: Vec<Change>,
    hidden: Hidden,
}

impl Walk<'_> {
    fn value(&mut self, base: Option<&Node>, head: Option<&Node>, shape: Shape<'_>) -> Shown {
        // A null is what is not there, to Go.
        let (base, head) = (base.filter(|node| !is_null(node)), head.filter(|node| !is_null(node)));
        match (base, head) {
            (None, None) => (None, None),
            (Some(one), Some(other)) if self.path.segments().len() >= MAX_DEPTH => {
                if is_same(one, other) {
                    return same(other);
                }
                self.record(base, head);
                (base.cloned(), head.cloned())
            }
            (Some(one), Some(other)) if one.is_mapping() && other.is_mapping() => {
                self.mapping(one, other, shape)
            }
            (Some(one), Some(other)) if one.is_sequence() && other.is_sequence() => {
                self.list(one, other, shape)
            }
            (Some(one), Some(other)) if self.is_equal(one, other) => same(other),
            (Some(one), None) if noise::may_be_noise(&self.path) && one.is_mapping() => {
                let (base, _) = self.mapping(one, &Node::mapping(Vec::new()), shape);
                (filled(base), None)
            }
            (None, Some(other)) if noise::may_be_noise(&self.path) && other.is_mapping() => {
                let (_, head) = self.mapping(&Node::mapping(Vec::new()), other, shape);
                (None, filled(head))
            }
            (old, new) => {
                self.record(old, new);
                (old.cloned(), new.cloned())
            }
        }
    }

    fn record(&mut self, old: Option<&Node>, new: Option<&Node>) {
        let status = match (old, new) {
            (None, _) => FieldStatus::Added,
            (_, None) => FieldStatus::Removed,
            _ => FieldStatus::Changed,
        };
        let (old, new) = (old.cloned(), new.cloned());
        self.changes.push(Change { path: self.path.clone(), status, old, new });
    }

    fn mapping(&mut self, base: &Node, head: &Node, shape: Shape<'_>) -> Shown {
        let shape = shape.of_value(base, head);
        let (old, new) = (sorted(base), sorted(head));
        let (mut base_shown, mut head_shown) = (Vec::new(), Vec::new());
        let mut each = |key: &Node, shown: Shown| {
            let entry = |value| Entry { key: key.clone(), value };
            base_shown.extend(shown.0.map(entry));
            head_shown.extend(shown.1.map(entry));
        };
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => one.key.text().cmp(&other.key.text()),
            };
            let one = if order.is_le() { old.next() } else { None };
            let other = if order.is_ge() { new.next() } else { None };
            let Some(key) = other.or(one).map(|entry| &entry.key) else { break };
            let pair = (one.map(|entry| &entry.value), other.map(|entry| &entry.value));
            self.path.push(Segment::Key(key.text().unwrap_or_default().to_owned()));
            let shown = self.field(pair, (base, head), shape.field(key.text().unwrap_or_default()));
            self.path.pop();
            each(key, shown);
        }
        (Some(Node::mapping(base_shown).at(base.span)), Some(Node::mapping(head_shown).at(head.span)))
    }

    fn field(
        &mut self,
        (old, new): (Option<&Node>, Option<&Node>),
        (base, head): (&Node, &Node),
        shape: Shape<'_>,
    ) -> Shown {
        if noise::is_noise(self.kind, &self.path) {
            let is_equal = match (old, new) {
                (Some(one), Some(other)) => self.is_equal(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            if is_equal {
                return (new.cloned(), new.cloned());
            }
            self.hidden.noise += 1;
            return (None, None);
        }
        let is_default = match (old, new) {
            (Some(value), None) => defaults::is_default(self.kind, &self.path, value, head),
            (None, Some(value)) => defaults::is_default(self.kind, &self.path, value, base),
            _ => false,
        };
        if is_default { (new.cloned(), new.cloned()) } else { self.value(old, new, shape) }
    }

    fn is_equal(&self, one: &Node, other: &Node) -> bool {
        let (Some(this), Some(that)) = (one.text(), other.text()) else { return false };
        if this == that && is_text(one) == is_text(other) {
            return true;
        }
        if quantity::is_quantity(self.kind, &self.path) {
            return Quantity::parse(this).is_some_and(|quantity| Quantity::parse(that) == Some(quantity));
        }
        match (is_text(one), is_text(other)) {
            (false, false) => is_same_number(this, that),
            (true, true) => false,
            _ => this == that && quantity::is_int_or_string(&self.path),
        }
    }
}

/// A mapping that has entries.
fn filled(mapping: Option<Node>) -> Option<Node> {
    mapping.filter(|mapping| mapping.entries().is_some_and(|entries| !entries.is_empty()))
}

/// Whole numbers are told apart beyond what a float holds.
fn is_same_number(this: &str, that: &str) -> bool {
    if this.parse::<i64>().is_ok() && that.parse::<i64>().is_ok() {
        return this == that;
    }
    let number = |text: &str| text.parse::<f64>().ok();
    number(this).is_some_and(|number_of_this| number(that) == Some(number_of_this))
}

fn same(node: &Node) -> Shown {
    (Some(node.clone()), Some(node.clone()))
}

/// The entries by their keys.
fn sorted(mapping: &Node) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = mapping.entries().into_iter().flatten().collect();
    entries.sort_by(|one, other| one.key.text().cmp(&other.key.text()));
    entries
}

#[cfg(test)]
mod tests;
