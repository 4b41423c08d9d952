//! A tree as JSON on one line.

use yamltree::{JsonOptions, Node, to_json};

/// Returns a tree as JSON on one line; empty if JSON cannot hold it.
pub(crate) fn text_of(node: &Node) -> String {
    let mut json = String::new();
    match to_json(node, JsonOptions::SIGS, &mut json) {
        Ok(()) => json,
        Err(_) => String::new(),
    }
}
