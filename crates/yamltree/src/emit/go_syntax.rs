//! Decoded values as Go's `%#v` prints them, for the errors that quote one.

use std::fmt::Write as _;

use crate::dialect::Dialect;
use crate::node::{Entry, Kind, Node};
use crate::number::push_yaml_float;
use crate::resolve::Resolved;

/// A top-level value, for which Go prints a bare `<nil>`.
pub(super) fn go_syntax(node: &Node, dialect: Dialect) -> String {
    let mut out = String::new();
    match node.resolved(dialect) {
        Ok(Resolved::Null) => out.push_str("<nil>"),
        _ => push(&mut out, node, dialect),
    }
    out
}

/// The parser limits the depth of the tree, and thereby this recursion.
fn push(out: &mut String, node: &Node, dialect: Dialect) {
    match &node.kind {
        Kind::Sequence(items) => {
            out.push_str("[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push(out, item, dialect);
            }
            out.push('}');
        }
        Kind::Mapping(entries) => push_mapping(out, entries, dialect),
        Kind::Scalar(text) | Kind::Alias(text) => push_scalar(out, node, text, dialect),
    }
}

fn push_mapping(out: &mut String, entries: &[Entry], dialect: Dialect) {
    let is_string =
        |entry: &Entry| entry.key.resolved(dialect).is_ok_and(|resolved| resolved == Resolved::Str);
    let key_type =
        if dialect == Dialect::V3 && entries.iter().all(is_string) { "string" } else { "interface {}" };
    let _ = write!(out, "map[{key_type}]interface {{}}{{");
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.key.text());
    for (at, entry) in sorted.into_iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        push(out, &entry.key, dialect);
        out.push(':');
        push(out, &entry.value, dialect);
    }
    out.push('}');
}

fn push_scalar(out: &mut String, node: &Node, text: &str, dialect: Dialect) {
    let _ = match node.resolved(dialect) {
        Ok(Resolved::Null) => write!(out, "interface {{}}(nil)"),
        Ok(Resolved::Bool(value)) => write!(out, "{value}"),
        Ok(Resolved::Int(int)) => write!(out, "{int}"),
        Ok(Resolved::Uint(uint)) => write!(out, "{uint:#x}"),
        Ok(Resolved::Float(float)) if float.is_finite() => {
            push_yaml_float(out, float);
            Ok(())
        }
        _ => {
            out.push_str(&gostd::quoted(text.as_bytes()));
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_with_their_go_types() {
        let list = Node::sequence(vec![
            Node::plain("1"),
            Node::plain("~"),
            Node::plain("a\"\n\u{A0}\u{200B}e\u{301}"),
        ]);
        let map = Node::mapping(vec![Entry::new("b", list), Entry::new("a", Node::plain("1e6"))]);
        let inner =
            "\"a\":1e+06, \"b\":[]interface {}{1, interface {}(nil), \"a\\\"\\n\\u00a0\\u200be\u{301}\"}";
        assert_eq!(go_syntax(&map, Dialect::V2), format!("map[interface {{}}]interface {{}}{{{inner}}}"));
        assert_eq!(go_syntax(&map, Dialect::V3), format!("map[string]interface {{}}{{{inner}}}"));
        assert_eq!(go_syntax(&Node::null(), Dialect::V3), "<nil>");
    }
}
