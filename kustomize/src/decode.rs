//! Reads the fields of an object as Go's JSON decoder does after sigs.k8s.io/yaml: YAML 1.1 scalars, keys matched
//! without regard to case, no conversion between types, null as absent.

use std::cell::RefCell;

use yamltree::{Dialect, Entry, Node, Resolved, Span};

use crate::error::{Error, Result};

/// The fields of one object. Each getter takes a field; [`Object::finish`] refuses those that nobody took.
pub(crate) struct Object<'n> {
    entries: &'n [Entry],
    /// What the object is, for messages: `a patch`.
    what: &'static str,
    span: Span,
    known: RefCell<Vec<&'static str>>,
}

impl<'n> Object<'n> {
    /// # Errors
    /// When the node is no mapping. A null is an object without fields.
    pub(crate) fn new(node: &'n Node, what: &'static str) -> Result<Self> {
        let entries = match node.entries() {
            Some(entries) => entries.as_slice(),
            None if is_null(node) => &[],
            None => return Err(wrong_type(what, "a mapping", node)),
        };
        Ok(Self { entries, what, span: node.span, known: RefCell::new(Vec::new()) })
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// A field's value; `None` where it is absent or null.
    pub(crate) fn field(&self, name: &'static str) -> Option<&'n Node> {
        self.known.borrow_mut().push(name);
        find(self.entries, name)
    }

    pub(crate) fn string(&self, name: &'static str) -> Result<Option<String>> {
        self.field(name).map(|node| string(node, name)).transpose()
    }

    /// A string, empty where it is absent.
    pub(crate) fn text(&self, name: &'static str) -> Result<String> {
        Ok(self.string(name)?.unwrap_or_default())
    }

    /// A boolean, false where it is absent.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool> {
        self.field(name).map_or(Ok(false), |node| boolean(node, name))
    }

    pub(crate) fn boolean(&self, name: &'static str) -> Result<Option<bool>> {
        self.field(name).map(|node| boolean(node, name)).transpose()
    }

    pub(crate) fn integer(&self, name: &'static str) -> Result<Option<i64>> {
        self.field(name).map(|node| integer(node, name)).transpose()
    }

    /// The items of a list, none where it is absent.
    pub(crate) fn items(&self, name: &'static str) -> Result<&'n [Node]> {
        self.field(name).map_or(Ok(&[]), |node| items(node, name))
    }

    /// A list of strings with their places.
    pub(crate) fn strings(&self, name: &'static str) -> Result<Vec<Located>> {
        self.items(name)?.iter().map(|node| Located::of(node, name)).collect()
    }

    /// A map of strings in the order of the file.
    pub(crate) fn string_map(&self, name: &'static str) -> Result<Vec<(String, String)>> {
        self.field(name).map_or(Ok(Vec::new()), |node| string_map(node, name))
    }

    /// The keys that no getter asked for.
    pub(crate) fn unknown(&self) -> Vec<&'n Node> {
        let known = self.known.borrow();
        let is_unknown = |key: &Node| {
            !key.text().is_some_and(|text| known.iter().any(|name| name.eq_ignore_ascii_case(text)))
        };
        self.entries.iter().map(|entry| &entry.key).filter(|key| is_unknown(key)).collect()
    }

    /// # Errors
    /// Names the first field that is not known, and the one that was perhaps meant.
    pub(crate) fn finish(self) -> Result<()> {
        match self.unknown().first() {
            None => Ok(()),
            Some(key) => Err(unknown_field(key, self.what, &self.known.borrow())),
        }
    }

    /// The names asked for so far.
    pub(crate) fn known(&self) -> Vec<&'static str> {
        self.known.borrow().clone()
    }
}

/// A string with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Located {
    pub(crate) fn of(node: &Node, name: &'static str) -> Result<Self> {
        // A null in a list of strings decodes as the empty string.
        let text = if is_null(node) { String::new() } else { string(node, name)? };
        Ok(Self { text, span: node.span })
    }
}

/// The value of a key, matched without regard to case; the last one wins, an exact match before others.
pub(crate) fn find<'n>(entries: &'n [Entry], name: &str) -> Option<&'n Node> {
    let matches = |entry: &&Entry, exact: bool| match entry.key.text() {
        Some(key) if exact => key == name,
        Some(key) => key.eq_ignore_ascii_case(name),
        None => false,
    };
    let entry = entries
        .iter()
        .rfind(|entry| matches(entry, true))
        .or_else(|| entries.iter().rfind(|entry| matches(entry, false)))?;
    Some(&entry.value).filter(|value| !is_null(value))
}

pub(crate) fn unknown_field(key: &Node, what: &str, known: &[&str]) -> Error {
    let name = key.text().unwrap_or("(not a string)");
    let error = Error::invalid(format!("unknown field `{name}` in {what}")).at(key.span);
    match closest(name, known.iter().copied()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// The name most like a given one, when one is like enough to have been meant.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= candidate.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

pub(crate) fn is_null(node: &Node) -> bool {
    matches!(node.resolved(Dialect::V2), Ok(Resolved::Null))
}

pub(crate) fn string(node: &Node, name: &str) -> Result<String> {
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Str | Resolved::Timestamp(_)) => Ok(node.text().unwrap_or_default().to_owned()),
        _ => Err(wrong_type(name, "a string", node)),
    }
}

pub(crate) fn boolean(node: &Node, name: &str) -> Result<bool> {
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Bool(value)) => Ok(value),
        _ => Err(wrong_type(name, "a boolean", node)),
    }
}

pub(crate) fn integer(node: &Node, name: &str) -> Result<i64> {
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Int(value)) => Ok(value),
        Ok(Resolved::Float(value)) if value.fract() == 0.0 && value.abs() < 9.0e15 =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53, as just checked")]
            Ok(value as i64)
        }
        _ => Err(wrong_type(name, "an integer", node)),
    }
}

pub(crate) fn items<'n>(node: &'n Node, name: &str) -> Result<&'n [Node]> {
    match node.items() {
        Some(items) => Ok(items),
        None if is_null(node) => Ok(&[]),
        None => Err(wrong_type(name, "a list", node)),
    }
}

pub(crate) fn string_map(node: &Node, name: &str) -> Result<Vec<(String, String)>> {
    let Some(entries) = node.entries() else {
        return if is_null(node) { Ok(Vec::new()) } else { Err(wrong_type(name, "a mapping", node)) };
    };
    let mut map: Vec<(String, String)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let key = entry.key.text().unwrap_or_default().to_owned();
        let value = if is_null(&entry.value) { String::new() } else { string(&entry.value, &key)? };
        match map.iter_mut().find(|(known, _)| *known == key) {
            Some(slot) => slot.1 = value,
            None => map.push((key, value)),
        }
    }
    Ok(map)
}

/// An error that says what stands where something else is wanted.
pub(crate) fn wrong_type(name: &str, wanted: &str, node: &Node) -> Error {
    let found = described(node);
    let error = Error::invalid(format!("`{name}` must be {wanted}, not {found}")).at(node.span);
    match (wanted, node.text()) {
        ("a string", Some(text)) => error.hint(format!("quote it: \"{text}\"")),
        _ => error,
    }
}

/// What a node is, in words.
pub(crate) fn described(node: &Node) -> String {
    if node.is_mapping() {
        return "a mapping".to_owned();
    }
    if node.is_sequence() {
        return "a list".to_owned();
    }
    let text = node.text().unwrap_or_default();
    match node.resolved(Dialect::V2) {
        Ok(Resolved::Null) => "null".to_owned(),
        Ok(Resolved::Bool(_)) => format!("the boolean `{text}`"),
        Ok(Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_)) => format!("the number `{text}`"),
        _ => format!("the string `{text}`"),
    }
}
