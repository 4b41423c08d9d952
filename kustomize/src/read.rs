//! Reads the resources in a text as Kustomize does: documents split at `---` lines, lists unrolled, aliases expanded,
//! and whatever is no resource refused.

use std::collections::VecDeque;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Document, Expansion, Node, ParseOptions, SourceId, Span};

use crate::decode;
use crate::schema::written;

/// The resources of a text with what is worth a warning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) nodes: Vec<Node>,
}

/// The documents of a text in the dialect of sigs.k8s.io/yaml, aliases expanded, the last of equal keys kept.
pub(crate) fn documents(text: &str, source: SourceId) -> Result<Vec<Document>> {
    let options = ParseOptions { dialect: Dialect::V2, ..ParseOptions::default() };
    let mut documents = yamltree::parse(text, source, &options).map_err(malformed)?;
    for document in &mut documents {
        document.root.expand_aliases(Expansion::Decoded(Dialect::V2))?;
    }
    Ok(documents)
}

/// A text that is no YAML, in go-yaml's words.
fn malformed(error: yamltree::Error) -> Error {
    match error.kind() {
        yamltree::ErrorKind::Invalid => Error::from(error).prefix("invalid YAML"),
        yamltree::ErrorKind::Limit => error.into(),
    }
}

/// The resources in a text.
pub(crate) fn resources(text: &str, source: SourceId) -> Result<Kept> {
    let mut nodes = VecDeque::new();
    let chunks = split(text, source)?;
    let single = chunks.len() == 1;
    for (start, chunk) in chunks {
        let comments = written::may_matter(chunk);
        let options =
            ParseOptions { dialect: Dialect::V3, offset: start, comments, ..ParseOptions::default() };
        let Some(document) = yamltree::parse_first(chunk, source, &options).map_err(malformed)? else {
            continue;
        };
        if let Some(duplicate) = document.duplicates.first() {
            return Err(Error::invalid("duplicate key")
                .at(duplicate.again)
                .via("first defined here", duplicate.first));
        }
        let mut node = document.root;
        node.expand_aliases(Expansion::Kyaml)?;
        if comments {
            written::attach(&mut node, &document.comments, chunk, start);
        }
        if decode::is_null(&node) {
            continue;
        }
        let wrapped =
            single && matches!(node.get("kind").and_then(Node::text), Some("List" | "ResourceList"));
        if wrapped && (node.get("items").is_some() || node.get("functionConfig").is_some()) {
            nodes.extend(take_items(&mut node));
        } else {
            nodes.push_back(node);
        }
    }
    unroll(nodes)
}

/// The items of a list, taken out of it.
fn take_items(list: &mut Node) -> Vec<Node> {
    list.get_mut("items").and_then(Node::items_mut).map(std::mem::take).unwrap_or_default()
}

/// Refuses what is no resource and puts the items of every `…List` behind the rest, as Kustomize does.
fn unroll(mut nodes: VecDeque<Node>) -> Result<Kept> {
    let mut kept = Vec::with_capacity(nodes.len());
    while let Some(mut node) = nodes.pop_front() {
        if is_empty(&node) {
            continue;
        }
        check(&node)?;
        let is_list = node.get("kind").and_then(Node::text).is_some_and(|kind| kind.ends_with("List"));
        match (is_list, node.get("items")) {
            (true, Some(items)) if items.is_sequence() => nodes.extend(take_items(&mut node)),
            (true, Some(items)) if decode::is_null(items) => {}
            (true, Some(items)) => return Err(decode::wrong_type("items", "a list", items)),
            _ => kept.push(node),
        }
    }
    Ok(Kept { nodes: kept })
}

fn is_empty(node: &Node) -> bool {
    match &node.kind {
        yamltree::Kind::Mapping(entries) => entries.is_empty(),
        yamltree::Kind::Sequence(items) => items.is_empty(),
        _ => decode::is_null(node),
    }
}

/// Returns whether a node can be a resource.
fn check(node: &Node) -> Result<()> {
    if !node.is_mapping() {
        return Err(decode::wrong_type("a resource", "a mapping", node));
    }
    let text = |node: Option<&Node>| {
        node.filter(|node| !decode::is_null(node)).and_then(Node::text).unwrap_or_default().to_owned()
    };
    let kind = text(node.get("kind"));
    if kind.is_empty() {
        return Err(missing("kind", node));
    }
    if !kind.ends_with("List") && text(node.lookup(&["metadata", "name"])).is_empty() {
        return Err(missing("metadata.name", node));
    }
    Ok(())
}

fn missing(field: &str, node: &Node) -> Error {
    Error::invalid(format!("the resource lacks `{field}`")).at(first_line(node))
}

/// The place of a mapping's first key, which is a better excerpt than the whole.
fn first_line(node: &Node) -> Span {
    node.entries().and_then(|entries| entries.first()).map_or(node.span, |entry| entry.key.span)
}

/// Cuts a text at the lines that begin with `---`, as Kustomize does before it parses: the rest of such a line may be
/// blank or a comment. Each piece comes with its first byte's place.
fn split(text: &str, source: SourceId) -> Result<Vec<(u32, &str)>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut search = 0;
    while let Some(found) = text[search..].find("\n---") {
        let at = search + found;
        let Some(line_end) = text[at + 1..].find('\n').map(|length| at + 1 + length) else { break };
        let rest = text[at + 4..line_end].trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            let span = Span { source, start: offset(at + 1), end: offset(line_end) };
            let sentence = format!("invalid document separator: {}", text[at + 1..line_end].trim());
            return Err(Error::invalid(sentence).at(span).hint("put the content on the next line"));
        }
        pieces.push((offset(from), &text[from..=at]));
        from = line_end + 1;
        // The line feed that ends a separator is consumed with it, so it cannot begin the next one.
        search = from;
    }
    if from < text.len() || pieces.is_empty() || from == text.len() {
        pieces.push((offset(from), &text[from..]));
    }
    Ok(pieces)
}

/// Texts are bounded far below 4 GiB when they are read.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
