//! Reads the fields of an object as Go's JSON decoder does after sigs.k8s.io/yaml: keys matched without regard to
//! case, null as absent. [`Reading`] says by which rules: those of a kustomization, or of a plugin's configuration.

use std::cell::RefCell;
use std::collections::HashMap;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Node, Resolved, Span};

use crate::context::Context;
use crate::warning::{Code, Warning};

/// By which rules an object is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    dialect: Dialect,
    /// True if a number or a boolean may stand for a string.
    converts: bool,
    /// True if an unknown field is an error, and not only without effect.
    strict: bool,
}

impl Reading {
    /// A kustomization: YAML 1.1, every field known, every value of the wanted type.
    pub(crate) const KUSTOMIZATION: Reading = Reading { dialect: Dialect::V2, converts: false, strict: true };
    /// A file that `configurations` names.
    pub(crate) const CONFIGURATION: Reading = Reading { dialect: Dialect::V2, converts: true, strict: true };
    /// A file of replacements.
    pub(crate) const LENIENT: Reading = Reading { dialect: Dialect::V2, converts: true, strict: false };
    /// The configuration of a plugin, which is read as a resource.
    pub(crate) const PLUGIN: Reading = Reading { dialect: Dialect::V3, converts: true, strict: false };
}

/// Fields of every resource, and so of a plugin's configuration.
const RESOURCE_FIELDS: &[&str] = &["apiVersion", "kind", "metadata"];

/// The fields of one object. Each getter takes a field; [`Object::finish`] refuses those that nobody took.
pub(crate) struct Object<'n> {
    entries: &'n [Entry],
    /// The kind of object, for messages: `a patch`.
    what: &'static str,
    span: Span,
    reading: Reading,
    known: RefCell<Vec<&'static str>>,
}

impl<'n> Object<'n> {
    /// An object in a kustomization.
    pub(crate) fn new(node: &'n Node, what: &'static str) -> Result<Self> {
        Self::read(node, what, Reading::KUSTOMIZATION)
    }

    /// The configuration of a plugin.
    pub(crate) fn plugin(node: &'n Node, what: &'static str) -> Result<Self> {
        let object = Self::read(node, what, Reading::PLUGIN)?;
        object.known.borrow_mut().extend(RESOURCE_FIELDS);
        Ok(object)
    }

    /// # Errors
    /// If the node is no mapping. A null is an object without fields.
    pub(crate) fn read(node: &'n Node, what: &'static str, reading: Reading) -> Result<Self> {
        let entries = match node.entries() {
            Some(entries) => entries.as_slice(),
            None if reading.is_null(node) => &[],
            None => return Err(wrong_type(what, "a mapping", node)),
        };
        Ok(Self { entries, what, span: node.span, reading, known: RefCell::new(Vec::new()) })
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// By which rules the object is read, for the objects in it.
    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    /// A field's value; `None` where it is absent or null.
    pub(crate) fn field(&self, name: &'static str) -> Option<&'n Node> {
        self.known.borrow_mut().push(name);
        find_entry(self.entries, name).map(|entry| &entry.value).filter(|value| !self.reading.is_null(value))
    }

    pub(crate) fn string(&self, name: &'static str) -> Result<Option<String>> {
        self.field(name).map(|node| self.reading.string(node, name)).transpose()
    }

    /// A string, empty where it is absent.
    pub(crate) fn text(&self, name: &'static str) -> Result<String> {
        Ok(self.string(name)?.unwrap_or_default())
    }

    /// A boolean, false where it is absent.
    pub(crate) fn flag(&self, name: &'static str) -> Result<bool> {
        Ok(self.boolean(name)?.unwrap_or_default())
    }

    pub(crate) fn boolean(&self, name: &'static str) -> Result<Option<bool>> {
        self.field(name).map(|node| self.reading.boolean(node, name)).transpose()
    }

    pub(crate) fn integer(&self, name: &'static str) -> Result<Option<i64>> {
        self.field(name).map(|node| self.reading.integer(node, name)).transpose()
    }

    /// The items of a list, none where it is absent.
    pub(crate) fn items(&self, name: &'static str) -> Result<&'n [Node]> {
        self.field(name).map_or(Ok(&[]), |node| self.reading.items(node, name))
    }

    /// A list of strings with their places.
    pub(crate) fn strings(&self, name: &'static str) -> Result<Vec<Located>> {
        let located = |node: &Node| {
            let text =
                if self.reading.is_null(node) { String::new() } else { self.reading.string(node, name)? };
            Ok(Located { text, span: node.span })
        };
        self.items(name)?.iter().map(located).collect()
    }

    /// A map of strings in the order of the file.
    pub(crate) fn string_map(&self, name: &'static str) -> Result<Vec<(String, String)>> {
        self.field(name).map_or(Ok(Vec::new()), |node| self.reading.string_map(node, name))
    }

    /// The keys that no getter asked for.
    pub(crate) fn unknown(&self) -> Vec<&'n Node> {
        let known = self.known.borrow();
        let is_unknown = |key: &Node| {
            !key.text().is_some_and(|text| known.iter().any(|name| name.eq_ignore_ascii_case(text)))
        };
        self.entries.iter().map(|entry| &entry.key).filter(|key| is_unknown(key)).collect()
    }

    /// Refuses fields that nobody took, or warns of them where they are only without effect.
    pub(crate) fn close(self, cx: &Context<'_>) -> Result<()> {
        if self.reading.strict {
            return self.finish();
        }
        for key in self.unknown() {
            let name = key.text().unwrap_or("(not a string)");
            let sentence = format!("unknown field `{name}` in {}; ignored", self.what);
            let warning = Warning::new(Code::UnknownPluginField, sentence).at(key.span);
            cx.push_warning(match closest(name, self.known.borrow().iter().copied()) {
                Some(meant) => warning.hint(format!("did you mean `{meant}`?")),
                None => warning,
            });
        }
        Ok(())
    }

    /// # Errors
    /// Names the first field that is not known, and the one that was perhaps meant.
    pub(crate) fn finish(self) -> Result<()> {
        match self.unknown().first() {
            None => Ok(()),
            Some(key) => Err(unknown_field(key, self.what, &self.known.borrow())),
        }
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
    find_entry(entries, name).map(|entry| &entry.value).filter(|value| !is_null(value))
}

fn find_entry<'n>(entries: &'n [Entry], name: &str) -> Option<&'n Entry> {
    let matches = |entry: &&Entry, exact: bool| match entry.key.text() {
        Some(key) if exact => key == name,
        Some(key) => key.eq_ignore_ascii_case(name),
        None => false,
    };
    entries
        .iter()
        .rfind(|entry| matches(entry, true))
        .or_else(|| entries.iter().rfind(|entry| matches(entry, false)))
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
    Reading::KUSTOMIZATION.is_null(node)
}

pub(crate) fn string(node: &Node, name: &str) -> Result<String> {
    Reading::KUSTOMIZATION.string(node, name)
}

pub(crate) fn items<'n>(node: &'n Node, name: &str) -> Result<&'n [Node]> {
    Reading::KUSTOMIZATION.items(node, name)
}

pub(crate) fn string_map(node: &Node, name: &str) -> Result<Vec<(String, String)>> {
    Reading::KUSTOMIZATION.string_map(node, name)
}

impl Reading {
    /// Which YAML it is.
    pub(crate) fn dialect(self) -> Dialect {
        self.dialect
    }

    pub(crate) fn is_null(self, node: &Node) -> bool {
        matches!(node.resolved(self.dialect), Ok(Resolved::Null))
    }

    fn string(self, node: &Node, name: &str) -> Result<String> {
        match node.resolved(self.dialect) {
            Ok(Resolved::Str | Resolved::Timestamp(_)) => Ok(node.text().unwrap_or_default().to_owned()),
            Ok(Resolved::Bool(value)) if self.converts => Ok(value.to_string()),
            Ok(Resolved::Int(value)) if self.converts => Ok(value.to_string()),
            Ok(Resolved::Uint(value)) if self.converts => Ok(value.to_string()),
            Ok(Resolved::Float(value)) if self.converts => Ok(value.to_string()),
            _ => Err(wrong_type(name, "a string", node)),
        }
    }

    fn boolean(self, node: &Node, name: &str) -> Result<bool> {
        match node.resolved(self.dialect) {
            Ok(Resolved::Bool(value)) => Ok(value),
            _ => Err(wrong_type(name, "a boolean", node)),
        }
    }

    fn integer(self, node: &Node, name: &str) -> Result<i64> {
        match node.resolved(self.dialect) {
            Ok(Resolved::Int(value)) => Ok(value),
            Ok(Resolved::Float(value)) if value.fract() == 0.0 && value.abs() < 9.0e15 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53, as just checked")]
                Ok(value as i64)
            }
            _ => Err(wrong_type(name, "an integer", node)),
        }
    }

    fn items<'n>(self, node: &'n Node, name: &str) -> Result<&'n [Node]> {
        match node.items() {
            Some(items) => Ok(items),
            None if self.is_null(node) => Ok(&[]),
            None => Err(wrong_type(name, "a list", node)),
        }
    }

    /// A key that is no string has become one, as the key of a JSON object: `y` is `true` in YAML 1.1.
    fn string_map(self, node: &Node, name: &str) -> Result<Vec<(String, String)>> {
        let Some(entries) = node.entries() else {
            return if self.is_null(node) {
                Ok(Vec::new())
            } else {
                Err(wrong_type(name, "a mapping", node))
            };
        };
        let mut map: Vec<(String, String)> = Vec::with_capacity(entries.len());
        let mut positions: HashMap<String, usize> = HashMap::with_capacity(entries.len());
        for entry in entries {
            let key = Reading { converts: true, ..self }.string(&entry.key, "a key")?;
            let value =
                if self.is_null(&entry.value) { String::new() } else { self.string(&entry.value, &key)? };
            match positions.get(&key) {
                Some(known) => map[*known].1 = value,
                None => {
                    positions.insert(key.clone(), map.len());
                    map.push((key, value));
                }
            }
        }
        Ok(map)
    }
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

/// Returns what a node is, in words.
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
