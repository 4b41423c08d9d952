//! Dotted paths to a field: `spec.ports[0].port`, `metadata.annotations.[example.com/a]`, `spec.containers.[name=web]`.

use yamltree::{Kind, Node};

/// Splits a path at its dots. `\.` belongs to a name; so does what stands in brackets, which are taken off unless they
/// hold `=`. An index in brackets behind a name becomes a part of its own.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut with_index = Vec::new();
    for part in parts(path) {
        push_with_index(&mut with_index, part);
    }
    with_index
}

/// As [`split`], but an index in brackets stays where it is.
pub(crate) fn parts(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut pieces = split_unescaped(path).into_iter();
    while let Some(mut piece) = pieces.next() {
        if piece.starts_with('[') && !piece.ends_with(']') {
            for next in pieces.by_ref() {
                piece.push('.');
                piece.push_str(&next);
                if next.ends_with(']') {
                    break;
                }
            }
            if !piece.contains('=') {
                piece = piece.trim_matches(['[', ']']).to_owned();
            }
        }
        parts.push(piece);
    }
    parts
}

/// The value that a split path leads to.
pub(crate) fn lookup<'n>(root: &'n Node, parts: &[String]) -> Option<&'n Node> {
    names(parts).try_fold(root, |node, part| child(node, position(node, part)?))
}

/// The value that a split path leads to, to change.
pub(crate) fn lookup_mut<'n>(root: &'n mut Node, parts: &[String]) -> Option<&'n mut Node> {
    names(parts).try_fold(root, |node, part| {
        let position = position(node, part)?;
        match &mut node.kind {
            Kind::Mapping(entries) => entries.get_mut(position).map(|entry| &mut entry.value),
            Kind::Sequence(items) => items.get_mut(position),
            Kind::Scalar(_) | Kind::Alias(_) => None,
        }
    })
}

fn names(parts: &[String]) -> impl Iterator<Item = &str> {
    parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty())
}

fn child(node: &Node, position: usize) -> Option<&Node> {
    match &node.kind {
        Kind::Mapping(entries) => entries.get(position).map(|entry| &entry.value),
        Kind::Sequence(items) => items.get(position),
        Kind::Scalar(_) | Kind::Alias(_) => None,
    }
}

/// Which entry or item of a node a part means.
fn position(node: &Node, part: &str) -> Option<usize> {
    if let Ok(index) = part.parse::<i64>() {
        node.items()?;
        return usize::try_from(index).ok();
    }
    if part == "-" {
        return node.items()?.len().checked_sub(1);
    }
    match part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(condition) => {
            let (key, value) = condition.split_once('=')?;
            let holds = |item: &Node| {
                let field = if key.is_empty() { Some(item) } else { item.get(key) };
                field.and_then(Node::text) == Some(value)
            };
            node.items()?.iter().position(holds)
        }
        None => node.entries()?.iter().position(|entry| entry.key.text() == Some(part)),
    }
}

/// Splits at the dots that no backslash stands before; one at the start does not count.
fn split_unescaped(path: &str) -> Vec<String> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut pieces: Vec<String> = Vec::new();
    for piece in path.split('.') {
        match pieces.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('.');
                last.push_str(piece);
            }
            _ => pieces.push(piece.to_owned()),
        }
    }
    pieces
}

/// `ports[0]` is `ports` and `0`.
fn push_with_index(parts: &mut Vec<String>, piece: String) {
    let split = piece.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match split {
        Some((name, index)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
            if !name.is_empty() {
                parts.push(name.to_owned());
            }
            parts.push(index.to_owned());
        }
        _ => parts.push(piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_as_kyaml_splits_them() {
        let cases: &[(&str, &[&str])] = &[
            ("metadata.name", &["metadata", "name"]),
            (".spec.a", &["spec", "a"]),
            ("data.a\\.b.c", &["data", "a.b", "c"]),
            ("metadata.annotations.[example.com/a].b", &["metadata", "annotations", "example.com/a", "b"]),
            ("spec.containers.[name=web.x].image", &["spec", "containers", "[name=web.x]", "image"]),
            ("spec.ports[0].port", &["spec", "ports", "0", "port"]),
            ("spec.ports.[0].port", &["spec", "ports", "0", "port"]),
            ("a[x]", &["a[x]"]),
            ("[a.b", &["a.b"]),
        ];
        for (path, parts) in cases {
            assert_eq!(split(path), *parts, "{path}");
        }
    }

    #[test]
    fn a_path_leads_through_mappings_and_lists() {
        let text = "{a: {b: [{name: x, v: 1}, {name: y.z, v: 2}]}, c: [p, q], d: null}";
        let root = yamltree::parse_first(text, 0, &yamltree::ParseOptions::default()).unwrap().unwrap().root;
        let found = |path: &str| lookup(&root, &split(path)).and_then(Node::text);
        assert_eq!(found("a.b.[name=y.z].v"), Some("2"));
        assert_eq!(found("a.b.0.v"), Some("1"));
        assert_eq!(found("a.b[1].name"), Some("y.z"));
        assert_eq!(found("c.-"), Some("q"));
        assert_eq!(found("c.[=p]"), Some("p"));
        assert_eq!(found("d"), Some("null"));
        for missing in ["a.x", "c.2", "c.-1", "a.0", "d.x", "a.b.[nonsense]", "a.*"] {
            assert_eq!(found(missing), None, "{missing}");
        }
    }
}
