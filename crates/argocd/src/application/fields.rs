//! Typed values out of a tree, as Kubernetes' API reads them: a number is no text, an unknown field is passed over.
//!
//! In: a mapping. Out: values, each error with its place, and a warning for each field that the type does not have.

use std::collections::BTreeMap;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, Location, Node, Resolved, Span};

use crate::objects::Sources;
use crate::warning::{Code, Warning};

/// A value and where it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its bytes.
    pub span: Span,
}

/// Reads fields; knows the texts and collects warnings.
pub(crate) struct Reading<'t> {
    pub(crate) sources: &'t Sources,
    pub(crate) warnings: Vec<Warning>,
}

/// The fields of a mapping.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'n> {
    entries: &'n [Entry],
    span: Span,
    /// The path of the mapping, for messages.
    path: &'n str,
}

impl<'t> Reading<'t> {
    pub(crate) fn new(sources: &'t Sources) -> Self {
        Self { sources, warnings: Vec::new() }
    }

    /// An error at some bytes.
    pub(crate) fn error(&self, message: impl Into<String>, span: Span) -> Error {
        Error::invalid(message).at(place_of(self.sources, span))
    }

    /// The fields of a node; `None` for a null. Fields that are not among `known` are warned of.
    pub(crate) fn fields<'n>(
        &mut self,
        node: &'n Node,
        path: &'n str,
        known: &[&str],
    ) -> Result<Option<Fields<'n>>> {
        if is_null(node) {
            return Ok(None);
        }
        let Some(entries) = node.entries() else {
            return Err(self.error(format!("`{path}` must be a mapping"), node.span));
        };
        for entry in entries.iter().filter(|_| !known.is_empty()) {
            let name = entry.key.text().unwrap_or_default();
            if !known.contains(&name) {
                let meant = known.iter().find(|field| field.eq_ignore_ascii_case(name));
                let warning = Warning::new(Code::UnknownField, format!("unknown field `{name}` in `{path}`"))
                    .at(place_of(self.sources, entry.key.span));
                self.warnings.push(match meant {
                    Some(meant) => warning.hint(format!("did you mean `{meant}`?")),
                    None => warning,
                });
            }
        }
        Ok(Some(Fields { entries, span: node.span, path }))
    }

    /// A text; a null is none.
    pub(crate) fn text(&self, node: &Node, what: &str) -> Result<Option<String>> {
        match node.resolved(Dialect::V2) {
            Ok(Resolved::Null) => Ok(None),
            Ok(Resolved::Str | Resolved::Timestamp(_)) => Ok(node.text().map(str::to_owned)),
            _ if node.is_scalar() => {
                Err(self.error(format!("`{what}` must be a string"), node.span).hint("quote it"))
            }
            _ => Err(self.error(format!("`{what}` must be a string"), node.span)),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, node: &Node, what: &str) -> Result<Vec<At<String>>> {
        let items = self.items(node, what)?;
        let text =
            |item: &Node| Ok(At { value: self.text(item, what)?.unwrap_or_default(), span: item.span });
        items.iter().map(text).collect()
    }

    /// The items of a list; none of a null.
    pub(crate) fn items<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node]> {
        match node.items() {
            Some(items) => Ok(items),
            None if is_null(node) => Ok(&[]),
            None => Err(self.error(format!("`{what}` must be a list"), node.span)),
        }
    }

    /// A mapping from texts to texts.
    pub(crate) fn map(&self, node: &Node, what: &str) -> Result<BTreeMap<String, String>> {
        let entries = match node.entries() {
            Some(entries) => entries,
            None if is_null(node) => return Ok(BTreeMap::new()),
            None => return Err(self.error(format!("`{what}` must be a mapping"), node.span)),
        };
        let entry = |entry: &Entry| {
            let key = entry.key.text().unwrap_or_default();
            let value = self.text(&entry.value, &format!("{what}.{key}"))?;
            Ok((key.to_owned(), value.unwrap_or_default()))
        };
        entries.iter().map(entry).collect()
    }

    /// `true` or `false`; a null is false.
    pub(crate) fn flag(&self, node: &Node, what: &str) -> Result<bool> {
        match node.resolved(Dialect::V2) {
            Ok(Resolved::Null) => Ok(false),
            Ok(Resolved::Bool(value)) => Ok(value),
            _ => Err(self.error(format!("`{what}` must be `true` or `false`"), node.span)),
        }
    }
}

impl<'n> Fields<'n> {
    /// Returns where the mapping is.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// The value of a field that is there, which may be null.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|entry| entry.key.text() == Some(name)).map(|entry| &entry.value)
    }

    /// Returns where a field is; the mapping where it is absent.
    pub(crate) fn place(&self, name: &str) -> Span {
        self.get(name).map_or(self.span, |node| node.span)
    }

    /// A text, empty where it is absent.
    pub(crate) fn text(&self, name: &str, reading: &Reading<'_>) -> Result<String> {
        let text = self.get(name).map(|node| reading.text(node, &self.path_of(name)));
        Ok(text.transpose()?.flatten().unwrap_or_default())
    }

    /// A text with its place.
    pub(crate) fn placed(&self, name: &str, reading: &Reading<'_>) -> Result<At<String>> {
        Ok(At { value: self.text(name, reading)?, span: self.place(name) })
    }

    /// A flag, false where it is absent.
    pub(crate) fn flag(&self, name: &str, reading: &Reading<'_>) -> Result<bool> {
        self.get(name).map_or(Ok(false), |node| reading.flag(node, &self.path_of(name)))
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str, reading: &Reading<'_>) -> Result<Vec<At<String>>> {
        self.get(name).map_or(Ok(Vec::new()), |node| reading.texts(node, &self.path_of(name)))
    }

    /// A list of texts without places.
    pub(crate) fn words(&self, name: &str, reading: &Reading<'_>) -> Result<Vec<String>> {
        Ok(self.texts(name, reading)?.into_iter().map(|text| text.value).collect())
    }

    /// The items of a list.
    pub(crate) fn items(&self, name: &str, reading: &Reading<'_>) -> Result<&'n [Node]> {
        self.get(name).map_or(Ok(&[]), |node| reading.items(node, &self.path_of(name)))
    }

    /// A mapping from texts to texts.
    pub(crate) fn map(&self, name: &str, reading: &Reading<'_>) -> Result<BTreeMap<String, String>> {
        self.get(name).map_or(Ok(BTreeMap::new()), |node| reading.map(node, &self.path_of(name)))
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

/// Returns true if a node is a null.
pub(crate) fn is_null(node: &Node) -> bool {
    matches!(node.resolved(Dialect::V2), Ok(Resolved::Null))
}

/// The place that a span stands for; `None` for what is in no file.
pub(crate) fn place_of(sources: &Sources, span: Span) -> Option<Location> {
    let source = sources.get(span.source as usize)?;
    Some(Location { source: Arc::clone(source), span })
}
