//! Puts values into fields as kyaml does: what it keeps of the old node, and what it refuses.

use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Node, Resolved, Style, Tag};

use crate::decode;
use crate::resource::{is_null, new_style};

/// Puts a text into a scalar. Its style stays, and with it a quoted text stays a string; its tag does not.
pub(crate) fn set_scalar(node: &mut Node, text: &str) -> Result<()> {
    set_tagged(node, text, Tag::Implicit)
}

/// Puts a text of a certain type into a scalar. In one that was quoted, a number is a string too.
pub(crate) fn set_tagged(node: &mut Node, text: &str, tag: Tag) -> Result<()> {
    expect_scalar(node)?;
    let mut value = Node::plain(text).at(node.span);
    value.style = node.style;
    value.tag = if node.style == Style::Plain { tag } else { Tag::Implicit };
    node.overwrite(value);
    Ok(())
}

/// Puts a string under a key of a mapping and tells whether one was there. A null takes none. With a number, a value
/// that is new is one of those that share it.
pub(crate) fn set_entry(node: &mut Node, key: &str, text: &str, share: Option<u32>) -> Result<bool> {
    if is_null(node) {
        return Ok(false);
    }
    if !node.is_mapping() {
        let sentence = format!("expected a mapping to hold `{key}`, not {}", decode::described(node));
        return Err(Error::invalid(sentence).at(node.span));
    }
    if let Some(value) = node.get_mut(key) {
        value.overwrite(Node::string(text).with_style(value.style).at(value.span));
        return Ok(true);
    }
    if key == "<<" || key.is_empty() || yamltree::resolve(key, Dialect::V3) != Resolved::Str {
        // Kustomize writes the key unquoted and then fails to read it, with a dump of the resource.
        let sentence = format!("the new key `{key}` is not a string in YAML");
        return Err(Error::invalid(sentence).at(node.span));
    }
    let mut value = Node::string(text).with_style(new_style(text));
    if let Some(number) = share {
        value.set_alias_id(number);
    }
    if let Some(entries) = node.entries_mut() {
        entries.push(Entry { key: Node::plain(key), value });
    }
    Ok(false)
}

/// Refuses a mapping or a list.
pub(crate) fn expect_scalar(node: &Node) -> Result<()> {
    if node.is_scalar() {
        return Ok(());
    }
    Err(Error::invalid(format!("expected a scalar, not {}", decode::described(node))).at(node.span))
}
