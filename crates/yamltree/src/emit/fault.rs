//! Which of a tree's faults Go names.
//!
//! The walk meets them in the order in which it writes. Go decodes the whole document first, in the order of the file,
//! then sorts the keys by bytes and makes JSON.

use std::collections::HashSet;

use super::go_syntax::go_syntax;
use super::walk::{KeyOrder, Scalar, Sink, binary, duplicate, invalid, walk_in_order};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::node::{Entry, Kind, Node};
use crate::resolve::Resolved;
use diagnostic::Span;

/// The first fault, given any.
pub(super) fn first(root: &Node, dialect: Dialect, found: Error) -> Error {
    decoding(root, dialect)
        .or_else(|| walk_in_order(root, dialect, KeyOrder::Bytes, &mut NullSink).err())
        .unwrap_or(found)
}

/// The part that a node has in the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Value,
    /// A key of Kustomize's outermost map, which takes strings only.
    RootKey,
    Key,
    /// A key that is a collection, after all it holds.
    EndOfKey,
}

/// The first fault that go-yaml finds when it decodes.
fn decoding(root: &Node, dialect: Dialect) -> Option<Error> {
    let mut repeated = None;
    let mut pending = vec![(root, Role::Value)];
    while let Some((node, role)) = pending.pop() {
        match (&node.kind, role) {
            (_, Role::EndOfKey) => {
                let message = format!("invalid map key: {}", go_syntax(node, dialect));
                return Some(invalid(message, node.span));
            }
            (Kind::Scalar(text), _) => match node.resolved(dialect) {
                Ok(Resolved::Binary) => {
                    if let Err(error) = binary(text, node.span) {
                        return Some(error);
                    }
                }
                Ok(_) => {}
                Err(error) => return Some(error),
            },
            (Kind::Mapping(_) | Kind::Sequence(_), Role::Key) => {
                pending.extend([(node, Role::EndOfKey), (node, Role::Value)]);
            }
            (Kind::Mapping(_), Role::RootKey) => {
                return Some(invalid("cannot unmarshal !!map into string", node.span));
            }
            (Kind::Sequence(_), Role::RootKey) => {
                return Some(invalid("cannot unmarshal !!seq into string", node.span));
            }
            // go-yaml v3 goes on after such a mapping, but not into it, in the hope of something worse.
            (Kind::Mapping(entries), Role::Value) if dialect == Dialect::V3 && repeats(entries).is_some() => {
                repeated = repeated.or_else(|| repeats(entries));
            }
            (Kind::Mapping(entries), Role::Value) => {
                let is_root = dialect == Dialect::V3 && std::ptr::eq(node, root);
                let key = if is_root { Role::RootKey } else { Role::Key };
                for entry in entries.iter().rev() {
                    pending.extend([(&entry.value, Role::Value), (&entry.key, key)]);
                }
            }
            (Kind::Sequence(items), Role::Value) => {
                pending.extend(items.iter().rev().map(|item| (item, Role::Value)));
            }
            (Kind::Alias(_), _) => return None,
        }
    }
    repeated
}

/// The refusal of the first key that a mapping has twice. To go-yaml all keys that are collections are the same.
fn repeats(entries: &[Entry]) -> Option<Error> {
    let mut seen = HashSet::with_capacity(entries.len());
    let key =
        |entry: &'_ Entry| (std::mem::discriminant(&entry.key.kind), entry.key.text().map(str::to_owned));
    let again = entries.iter().find(|entry| !seen.insert(key(entry)))?;
    Some(duplicate(&again.key))
}

/// Takes all values and keeps none.
struct NullSink;

impl Sink for NullSink {
    fn mapping_start(&mut self, _empty: bool) {}
    fn mapping_end(&mut self) {}
    fn sequence_start(&mut self, _empty: bool) {}
    fn sequence_end(&mut self) {}

    fn key(&mut self, _key: &str, _span: Span) -> Result<(), Error> {
        Ok(())
    }

    fn value(&mut self, _value: &Scalar<'_>, _span: Span) -> Result<(), Error> {
        Ok(())
    }
}
