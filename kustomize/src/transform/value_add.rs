//! The plugin `ValueAddTransformer`: puts one value into fields of many resources, as a whole or as a part of a path.
//!
//! A field path leads through mappings by name, and into lists by number or by `[key=value]`. Missing fields are made.
//! Refused: a path without end, lists in place of mappings, and a value where a mapping or list stands.

use std::path::Path;

use diagnostic::{Error, Result};
use yamltree::{Entry, Node, Span};

use crate::context::Context;
use crate::decode::{self, Object};
use crate::resmap::ResMap;
use crate::resource::{Resource, is_null};
use crate::selector::Selector;
use crate::setter::set_scalar;
use crate::target::Target;

use super::namespace::put_into_namespace;
use super::{Builtin, Transformer};

pub(crate) const BUILTIN: Builtin =
    Builtin { kind: "ValueAddTransformer", from_fields: |_| Ok(Vec::new()), from_config };

const METADATA_NAMESPACE: &str = "metadata/namespace";

#[derive(Debug)]
struct ValueAdd {
    value: String,
    places: Vec<Destination>,
}

/// The destination of the value.
#[derive(Debug)]
struct Destination {
    /// The resources; all of them where it is absent.
    selector: Option<Selector>,
    path: String,
    /// The position in the path that the field contains, counted from one; zero means the whole field.
    position: usize,
    span: Span,
}

fn from_config(node: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Transformer>> {
    let object = Object::plugin(node, "a ValueAddTransformer")?;
    let mut value = object.text("value")?.trim().to_owned();
    if value.is_empty() {
        let folder = target.loader.root().file_name().unwrap_or_default();
        value = folder.to_string_lossy().into_owned();
    }
    let mut places = read_all(&object, target.cx)?;
    if let Some(file) = object.field("targetFilePath").map(|node| decode::Located::of(node, "targetFilePath"))
    {
        let documents = target.loader.documents(&file?, target.cx)?;
        if let Some(document) = documents.first() {
            places.extend(read_all(&Object::plugin(&document.root, "a list of targets")?, target.cx)?);
        }
    }
    object.close(target.cx)?;
    if places.is_empty() {
        return Err(Error::invalid("a ValueAddTransformer needs a target").at(node.span));
    }
    Ok(Box::new(ValueAdd { value, places }))
}

fn read_all(object: &Object<'_>, cx: &Context<'_>) -> Result<Vec<Destination>> {
    object.items("targets")?.iter().map(|node| Destination::read(node, object, cx)).collect()
}

impl Destination {
    fn read(node: &Node, parent: &Object<'_>, cx: &Context<'_>) -> Result<Self> {
        let object = Object::read(node, "a target", parent.reading())?;
        let selector = object.field("selector");
        let path = object.text("fieldPath")?;
        let position = object.integer("filePathPosition")?.unwrap_or(0);
        let place = |name| object.field(name).map_or(node.span, |field| field.span);
        if path.is_empty() {
            return Err(Error::invalid("the target lacks `fieldPath`").at(node.span));
        }
        let Ok(position) = usize::try_from(position) else {
            return Err(Error::invalid("`filePathPosition` cannot be negative").at(place("filePathPosition")));
        };
        let selector = selector
            .map(|selector| Selector::read(selector, "a selector", parent.reading(), cx))
            .transpose()?;
        let destination = Self { selector, path, position, span: place("fieldPath") };
        object.close(cx)?;
        Ok(destination)
    }
}

impl Transformer for ValueAdd {
    fn transform(&self, map: &mut ResMap, _: &Context<'_>) -> Result<()> {
        for place in &self.places {
            let positions = match &place.selector {
                Some(selector) => selector.select(map)?,
                None => (0..map.len()).collect(),
            };
            for position in positions {
                map.modify(position, |resource| self.put(resource, place))?;
            }
        }
        Ok(())
    }
}

impl ValueAdd {
    fn put(&self, resource: &mut Resource, place: &Destination) -> Result<()> {
        if place.path == METADATA_NAMESPACE {
            return put_into_namespace(resource, &self.value);
        }
        let (name, span) = (resource.id().described(), resource.span());
        let field = find(&mut resource.node, &split(&place.path))
            .map_err(|error| error.at(place.span).via(format!("while a value is put into {name}"), span))?;
        let Some(field) = field else { return Ok(()) };
        let text = match place.position {
            0 => self.value.clone(),
            position => insert(field.text().unwrap_or_default(), position - 1, &self.value),
        };
        set_scalar(field, &text)
    }
}

/// Splits a path at its slashes; `\/` belongs to a name, and empty parts do not count.
fn split(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in path.split('/') {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The node at the end of a path, made where it is missing; `None` where a list has no such item.
fn find<'n>(node: &'n mut Node, parts: &[String]) -> Result<Option<&'n mut Node>> {
    let Some((part, rest)) = parts.split_first() else { return Ok(Some(node)) };
    let next = if part == "-" || part.parse::<i64>().is_ok() {
        item_by_number(node, part)?
    } else if let Some((key, value)) = part
        .strip_prefix('[')
        .and_then(|part| part.strip_suffix(']'))
        .map(|inner| inner.split_once('=').unwrap_or(("", inner)))
    {
        Some(item_by_key(node, key, value)?)
    } else {
        Some(field(node, part, rest.first())?)
    };
    next.map_or(Ok(None), |next| find(next, rest))
}

fn item_by_number<'n>(node: &'n mut Node, part: &str) -> Result<Option<&'n mut Node>> {
    let items = items(node, part)?;
    let index = match part {
        "-" => items.len().checked_sub(1),
        number => match number.parse::<usize>() {
            Ok(index) => Some(index),
            Err(_) => return Err(Error::invalid(format!("the index `{number}` cannot be negative"))),
        },
    };
    Ok(index.and_then(|index| items.get_mut(index)))
}

/// The item whose key has a value, added at the end where there is none.
fn item_by_key<'n>(node: &'n mut Node, key: &str, value: &str) -> Result<&'n mut Node> {
    let items = items(node, key)?;
    let is_it = |item: &Node| match key {
        "" => item.text() == Some(value),
        key => item.get(key).and_then(Node::text) == Some(value),
    };
    let index = items.iter().position(is_it).unwrap_or_else(|| {
        items.push(match key {
            "" => Node::plain(value),
            key => Node::mapping(vec![Entry { key: Node::plain(key), value: Node::plain(value) }]),
        });
        items.len() - 1
    });
    Ok(&mut items[index])
}

fn items<'n>(node: &'n mut Node, part: &str) -> Result<&'n mut Vec<Node>> {
    if !node.is_sequence() {
        return Err(Error::invalid(format!("`{part}` asks for a list, not {}", decode::described(node))));
    }
    node.items_mut().ok_or_else(|| Error::invalid("not a list"))
}

fn field<'n>(node: &'n mut Node, name: &str, next: Option<&String>) -> Result<&'n mut Node> {
    if !node.is_mapping() {
        return Err(Error::invalid(format!("`{name}` asks for a mapping, not {}", decode::described(node))));
    }
    if node.get(name).is_none_or(is_null) {
        node.set(name, made_for(next));
    }
    node.get_mut(name).ok_or_else(|| Error::invalid(format!("no field `{name}`")))
}

/// Returns the value created for a missing field, by the rest of the path.
fn made_for(next: Option<&String>) -> Node {
    match next {
        None => Node::plain(""),
        Some(part) if part.starts_with('[') || part.parse::<i64>().is_ok() => Node::sequence(Vec::new()),
        Some(_) => Node::mapping(Vec::new()),
    }
}

/// Puts a part into a path at a position; beyond its end it comes last. An absolute path stays absolute.
fn insert(path: &str, position: usize, part: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> =
        path.trim_start_matches('/').split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    let joined = parts.join("/");
    if is_absolute { Path::new("/").join(joined).to_string_lossy().into_owned() } else { joined }
}

#[cfg(test)]
mod tests {
    use super::insert;

    /// The table that Kustomize's documentation of the option gives.
    #[test]
    fn a_part_is_put_into_a_path() {
        for (path, position, expected) in [
            ("", 1, "PEACH"),
            ("/", 1, "/PEACH"),
            ("pie", 1, "PEACH/pie"),
            ("/pie", 1, "/PEACH/pie"),
            ("raw", 2, "raw/PEACH"),
            ("/raw", 9999, "/raw/PEACH"),
            ("a/nice/warm/pie", 4, "a/nice/warm/PEACH/pie"),
            ("/a/nice/warm/pie", 4, "/a/nice/warm/PEACH/pie"),
        ] {
            assert_eq!(insert(path, position - 1, "PEACH"), expected, "{path} at {position}");
        }
    }
}
