//! The values of a tree, with the error that Go would report.

use super::fault;
use super::walk::{KeyOrder, Sink, walk_in_order};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::node::Node;

/// Sends the values of a tree to a sink, with the keys of each mapping in byte order. For callers that store values in
/// their own types.
///
/// # Errors
/// If Go rejects the tree when it converts YAML to JSON, or if the sink returns an error.
pub fn send_values(root: &Node, dialect: Dialect, sink: &mut impl Sink) -> Result<(), Error> {
    walk(root, dialect, KeyOrder::Bytes, sink)
}

/// Sends the values of a tree to a sink. If the tree has several errors, returns the one that Go reports first.
pub(super) fn walk(
    root: &Node,
    dialect: Dialect,
    order: KeyOrder,
    sink: &mut impl Sink,
) -> Result<(), Error> {
    walk_in_order(root, dialect, order, sink).map_err(|error| fault::first(root, dialect, error))
}
