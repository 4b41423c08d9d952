//! The path of a field: read as a person types it, and looked up in objects.
//!
//! In: `spec.template.spec.containers[0].image`, `containers[name=web]`, `metadata.annotations.a\.b/c`. Out: [`Step`]s, with
//! which the same field is found in earlier versions of the object, where an item of a list may stand elsewhere.
//! Refused: a path that is none, and one that leads nowhere, with what there is.

use std::fmt::Write as _;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::Node;

/// The fields by which an item of a list is known again, if each item has one of its own.
const ITEM_KEYS: &[&str] = &["name", "mountPath", "devicePath", "containerPort", "port", "key"];

/// One step of a path that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Typed {
    Key(String),
    Index(usize),
    Item(String, String),
}

/// One step of a path in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A key of a mapping.
    Key(String),
    /// An item of a list: its number, and the field by which it is known.
    Item(usize, Option<(&'static str, String)>),
}

/// Finds a field that is typed as a path.
///
/// # Errors
/// If the path is none, or there is no such field.
pub(crate) fn find(object: &Node, path: &str, shown: &str) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut node = object;
    for typed in parse(path)? {
        let (next, step) = step(node, &typed).ok_or_else(|| missing(node, &typed, &steps, shown))?;
        steps.push(step);
        node = next;
    }
    Ok(steps)
}

/// The field in another version of the object.
pub(crate) fn lookup<'n>(object: &'n Node, path: &[Step]) -> Option<&'n Node> {
    path.iter().try_fold(object, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Item(index, None) => node.items()?.get(*index),
        Step::Item(_, Some((key, value))) => {
            node.items()?.iter().find(|item| item.get(key).and_then(Node::text) == Some(value))
        }
    })
}

/// The step to each item of a list.
pub(crate) fn items(items: &[Node]) -> Vec<Step> {
    let texts = |key: &str| -> Option<Vec<&str>> {
        let texts: Vec<&str> =
            items.iter().map(|item| item.get(key).and_then(Node::text)).collect::<Option<_>>()?;
        let mut unique = texts.clone();
        unique.sort_unstable();
        unique.dedup();
        (unique.len() == texts.len()).then_some(texts)
    };
    let key = ITEM_KEYS.iter().find_map(|key| texts(key).map(|texts| (*key, texts)));
    let known = |index: usize| key.as_ref().map(|(key, texts)| (*key, texts[index].to_owned()));
    (0..items.len()).map(|index| Step::Item(index, known(index))).collect()
}

/// A path as it could be typed.
pub(crate) fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                let dot = if text.is_empty() { "" } else { "." };
                let key = key.replace('\\', "\\\\").replace('.', "\\.").replace('[', "\\[");
                let _ = write!(text, "{dot}{key}");
            }
            Step::Item(index, _) => {
                let _ = write!(text, "[{index}]");
            }
        }
    }
    text
}

fn step<'n>(node: &'n Node, typed: &Typed) -> Option<(&'n Node, Step)> {
    match typed {
        Typed::Key(key) => Some((node.get(key)?, Step::Key(key.clone()))),
        Typed::Index(index) => {
            let all = node.items()?;
            Some((all.get(*index)?, items(all).swap_remove(*index)))
        }
        Typed::Item(key, value) => {
            let all = node.items()?;
            let index = all.iter().position(|item| item.get(key).and_then(Node::text) == Some(value))?;
            Some((&all[index], items(all).swap_remove(index)))
        }
    }
}

fn parse(path: &str) -> Result<Vec<Typed>> {
    let refuse = || {
        Error::new(ErrorKind::Usage, format!("invalid field path `{path}`"))
            .hint("such as `spec.template.spec.containers[0].image`, or `containers[name=web]`; a dot in a key is `\\.`")
    };
    let mut steps = Vec::new();
    let mut chars = path.strip_prefix('.').unwrap_or(path).chars().peekable();
    let mut key = String::new();
    while let Some(char) = chars.next() {
        match char {
            '\\' => key.push(chars.next().ok_or_else(refuse)?),
            '.' if key.is_empty() => return Err(refuse()),
            '.' => steps.push(Typed::Key(std::mem::take(&mut key))),
            '[' => {
                if !key.is_empty() {
                    steps.push(Typed::Key(std::mem::take(&mut key)));
                }
                let inner: String = chars.by_ref().take_while(|char| *char != ']').collect();
                steps.push(bracket(&inner).ok_or_else(refuse)?);
                match chars.peek() {
                    Some('.') => drop(chars.next()),
                    Some('[') | None => {}
                    Some(_) => return Err(refuse()),
                }
            }
            char => key.push(char),
        }
    }
    if !key.is_empty() {
        steps.push(Typed::Key(key));
    }
    if steps.is_empty() || path.ends_with('.') && !path.ends_with("\\.") {
        return Err(refuse());
    }
    Ok(steps)
}

fn bracket(inner: &str) -> Option<Typed> {
    if let Ok(index) = inner.parse() {
        return Some(Typed::Index(index));
    }
    if let Some(key) = inner.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_suffix(['"', '\''])) {
        return Some(Typed::Key(key.to_owned()));
    }
    let (key, value) = inner.split_once('=')?;
    (!key.is_empty()).then(|| Typed::Item(key.to_owned(), value.to_owned()))
}

/// That a path leads no further, and what there is instead. No values are told, as they may be secret.
fn missing(node: &Node, typed: &Typed, so_far: &[Step], object: &str) -> Error {
    let place = match so_far {
        [] => object.to_owned(),
        path => format!("`{}` of {object}", shown(path)),
    };
    let wanted = match typed {
        Typed::Key(key) => format!("no field `{key}`"),
        Typed::Index(index) => format!("no item {index}"),
        Typed::Item(key, value) => format!("no item with the {key} `{value}`"),
    };
    let error = Error::new(ErrorKind::Invalid, format!("{place} has {wanted}"));
    let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    match (&node.entries(), node.items()) {
        (Some(entries), _) => {
            let keys = list(&mut entries.iter().filter_map(|entry| entry.key.text()));
            error.hint(format!("it has {keys}"))
        }
        (_, Some(items)) => {
            let key = match typed {
                Typed::Item(key, _) => key,
                _ => "name",
            };
            let names = list(&mut items.iter().filter_map(|item| item.get(key)?.text()));
            let count = items.len();
            error.hint(if names.is_empty() {
                format!("it is a list of {count}, counted from 0")
            } else {
                format!("it is a list of {count}: {names}")
            })
        }
        _ => error.hint("it is a single value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "metadata: {annotations: {a.b/c: x}}\nspec:\n  containers:\n  - {name: a, args: [x, y]}\n  - {name: b}\n";

    fn pod() -> Node {
        let options = yamltree::ParseOptions::default();
        yamltree::parse_first(POD, 0, &options).expect("YAML").expect("a document").root
    }

    #[test]
    fn paths_are_read_as_they_are_typed() {
        for (typed, wanted) in [
            ("spec.containers[1].name", "spec.containers[1].name"),
            (".spec.containers[name=b].name", "spec.containers[1].name"),
            ("spec.containers[0].args[1]", "spec.containers[0].args[1]"),
            ("metadata.annotations.a\\.b/c", "metadata.annotations.a\\.b/c"),
            ("metadata.annotations['a.b/c']", "metadata.annotations.a\\.b/c"),
        ] {
            assert_eq!(shown(&find(&pod(), typed, "Pod/x").expect(typed)), wanted);
        }
        for typed in ["", ".", "a..b", "a.", "a[", "a[]", "a[x]", "a[=x]", "a[0]b", "a\\"] {
            assert!(parse(typed).is_err(), "{typed:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_said_with_what_is() {
        for (typed, message, hint) in [
            ("spce", "Pod/x has no field `spce`", "it has metadata, spec"),
            (
                "spec.containers[name=c]",
                "`spec.containers` of Pod/x has no item with the name `c`",
                "it is a list of 2: a, b",
            ),
            (
                "spec.containers[0].args[2]",
                "`spec.containers[0].args` of Pod/x has no item 2",
                "it is a list of 2, counted from 0",
            ),
            (
                "spec.containers[0].name.x",
                "`spec.containers[0].name` of Pod/x has no field `x`",
                "it is a single value",
            ),
        ] {
            let error = find(&pod(), typed, "Pod/x").expect_err(typed);
            assert_eq!((error.message(), error.get_hint()), (message, Some(hint)));
        }
    }

    #[test]
    fn an_item_is_found_again_by_its_name() {
        let path = find(&pod(), "spec.containers[1].name", "Pod/x").expect("a path");
        let options = yamltree::ParseOptions::default();
        let text = "spec: {containers: [{name: b}, {name: a}]}";
        let other = yamltree::parse_first(text, 0, &options).expect("YAML").expect("a document").root;
        let node = lookup(&other, &path).expect("it is there");
        assert_eq!(node.span.start as usize, text.find("b}").expect("it is there"));
    }
}
