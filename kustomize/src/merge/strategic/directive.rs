//! The keys of a patch that say how to merge: `$patch`, `$retainKeys`, `$setElementOrder/…`,
//! `$deleteFromPrimitiveList/…`.

use std::collections::{HashMap, HashSet};

use diagnostic::{Error, Result};
use yamltree::{Entry, Node, Span};

use super::Merge;
use crate::decode::wrong_type;
use crate::resource::is_null;
use crate::schema::Type;
use crate::warning::Code;

pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList/";

/// The strategy of `$patch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    Merge,
    Replace,
    Delete,
}

impl Strategy {
    /// Returns what a mapping of a patch asks for, and where.
    pub(super) fn of_mapping(mapping: &Node) -> Result<Option<(Self, Span)>> {
        mapping.get(PATCH).map(|value| Ok((Self::of(value)?, value.span))).transpose()
    }

    /// Returns what a list of a patch asks for by an item that is nothing but a directive.
    pub(super) fn of_list(items: &[Node]) -> Result<Option<Self>> {
        let lone = items.iter().find(|item| is_lone(item));
        lone.and_then(|item| item.get(PATCH)).map(Self::of).transpose()
    }

    fn of(value: &Node) -> Result<Self> {
        match value.text() {
            Some("merge") => Ok(Self::Merge),
            Some("replace") => Ok(Self::Replace),
            Some("delete") => Ok(Self::Delete),
            other => {
                let found = other.map_or_else(|| "a collection".to_owned(), |text| format!("`{text}`"));
                Err(Error::invalid(format!("`{PATCH}` must be `delete`, `replace` or `merge`, not {found}"))
                    .at(value.span))
            }
        }
    }
}

/// Returns true if a list has an item that is nothing but a directive, and kyaml does not see it: it looks only at the first
/// item that has one.
pub(super) fn is_overlooked(items: &[Node]) -> bool {
    let mut with_directive = items.iter().filter(|item| item.get(PATCH).is_some());
    with_directive.next().is_some_and(|first| !is_lone(first)) && with_directive.any(is_lone)
}

/// Returns true if a list's item is nothing but a directive.
pub(super) fn is_lone(item: &Node) -> bool {
    item.entries().is_some_and(|entries| entries.len() == 1) && item.get(PATCH).is_some()
}

/// Returns true if a key of a patch is none of the resource's.
pub(super) fn is_directive(key: &Node) -> bool {
    key.text().is_some_and(|text| {
        text.starts_with('$')
            && (text == PATCH
                || text == RETAIN_KEYS
                || text.starts_with(SET_ELEMENT_ORDER)
                || text.starts_with(DELETE_FROM_PRIMITIVE_LIST))
    })
}

/// A directive with a list of values.
#[derive(Clone, Copy, Debug)]
struct Values<'p> {
    /// The field it is about.
    field: &'p str,
    key: Span,
    values: &'p [Node],
}

/// The directives of a mapping, but `$patch`.
#[derive(Debug, Default)]
pub(super) struct Directives<'p> {
    retain: Option<Retain<'p>>,
    orders: Vec<Values<'p>>,
    deletions: Vec<Values<'p>>,
}

#[derive(Debug)]
struct Retain<'p> {
    key: Span,
    names: HashSet<&'p str>,
}

/// Places by the text that tells items apart.
pub(super) type Ranks = HashMap<String, usize>;

impl<'p> Directives<'p> {
    /// # Errors
    /// A directive whose value is no list, or that contradicts the patch.
    pub(super) fn read(changes: &'p [Entry]) -> Result<Self> {
        let mut directives = Self::default();
        for Entry { key, value } in changes.iter().filter(|change| is_directive(&change.key)) {
            let name = key.text().unwrap_or_default();
            if name == PATCH {
                continue;
            }
            let Some(values) = value.items() else { return Err(wrong_type(name, "a list", value)) };
            if name == RETAIN_KEYS {
                directives.retain = Some(Retain::read(key.span, values, changes)?);
            } else if let Some(field) = name.strip_prefix(SET_ELEMENT_ORDER) {
                directives.orders.push(Values { field, key: key.span, values });
            } else if let Some(field) = name.strip_prefix(DELETE_FROM_PRIMITIVE_LIST) {
                directives.deletions.push(Values { field, key: key.span, values });
            }
        }
        Ok(directives)
    }
}

impl<'p> Retain<'p> {
    fn read(key: Span, values: &'p [Node], changes: &[Entry]) -> Result<Self> {
        let names: HashSet<&str> = values.iter().filter_map(Node::text).collect();
        let is_lost = |change: &&Entry| {
            let name = change.key.text().unwrap_or_default();
            !is_directive(&change.key) && !is_null(&change.value) && !names.contains(name)
        };
        if let Some(lost) = changes.iter().find(is_lost) {
            let name = lost.key.text().unwrap_or_default();
            return Err(Error::invalid(format!(
                "the patch sets `{name}`, which its `{RETAIN_KEYS}` does not name"
            ))
            .at(lost.key.span)
            .via(format!("`{RETAIN_KEYS}` is set here"), key)
            .hint(format!("add `{name}` to `{RETAIN_KEYS}`")));
        }
        Ok(Self { key, names })
    }
}

impl<'s> Merge<'s> {
    /// Does what the directives ask of the resource's fields before they are merged. Returns the order of the lists
    /// that are to be put in order, as it is before.
    pub(super) fn prepare(
        &mut self,
        fields: &mut Vec<Entry>,
        directives: &Directives<'_>,
        known: Option<Type<'s>>,
    ) -> Vec<Ranks> {
        if let Some(Retain { key, names }) = &directives.retain {
            fields.retain(|field| field.key.text().is_none_or(|name| names.contains(name)));
            self.obeyed(RETAIN_KEYS, *key);
        }
        for deletion in &directives.deletions {
            let gone: HashSet<&str> = deletion.values.iter().filter_map(Node::text).collect();
            if let Some(items) = list(fields, deletion.field) {
                items.retain(|item| item.text().is_none_or(|text| !gone.contains(text)));
            }
            self.obeyed(DELETE_FROM_PRIMITIVE_LIST, deletion.key);
        }
        let order = |order: &Values<'_>| {
            let key = merge_key(known, order.field);
            list(fields, order.field).map_or_else(Ranks::new, |items| ranks(items, key))
        };
        directives.orders.iter().map(order).collect()
    }

    /// Puts the items of lists in the order that the patch asks for. An item that it does not name keeps its place
    /// among those of the resource as far as that can be, as in `kubectl patch`.
    pub(super) fn reorder(
        &mut self,
        fields: &mut [Entry],
        directives: &Directives<'_>,
        before: &[Ranks],
        known: Option<Type<'s>>,
    ) {
        for (order, before) in directives.orders.iter().zip(before) {
            self.obeyed(SET_ELEMENT_ORDER, order.key);
            let key = merge_key(known, order.field);
            let wanted = ranks(order.values, key);
            if let Some(items) = list(fields, order.field) {
                *items = interleaved(std::mem::take(items), &wanted, before, key);
            }
        }
    }

    fn obeyed(&mut self, directive: &str, span: Span) {
        let name = directive.trim_end_matches('/');
        self.warn(Code::PatchDirective, format!("`{name}` is obeyed; Kustomize would print it"), span);
    }
}

/// The list behind a key.
fn list<'n>(fields: &'n mut [Entry], name: &str) -> Option<&'n mut Vec<Node>> {
    fields.iter_mut().find(|field| field.key.text() == Some(name))?.value.items_mut()
}

/// The key that tells the items of a list apart; the text does where there is none.
fn merge_key<'s>(known: Option<Type<'s>>, field: &str) -> Option<&'s str> {
    known?.field(field)?.merge_keys()?.iter().next()
}

fn rank_of<'r>(item: &Node, key: Option<&str>, ranks: &'r Ranks) -> Option<&'r usize> {
    ranks.get(text_of(item, key)?)
}

fn text_of<'n>(item: &'n Node, key: Option<&str>) -> Option<&'n str> {
    match key {
        Some(key) => item.get(key)?.text(),
        None => item.text(),
    }
}

fn ranks(items: &[Node], key: Option<&str>) -> Ranks {
    let mut ranks = Ranks::with_capacity(items.len());
    for (rank, item) in items.iter().enumerate() {
        if let Some(text) = text_of(item, key) {
            ranks.entry(text.to_owned()).or_insert(rank);
        }
    }
    ranks
}

/// The named items in the wanted order, and among them the others: each before the first named one that stood behind
/// it in the resource.
fn interleaved(items: Vec<Node>, wanted: &Ranks, before: &Ranks, key: Option<&str>) -> Vec<Node> {
    let size = items.len();
    let (mut named, mut others): (Vec<Node>, Vec<Node>) =
        items.into_iter().partition(|item| rank_of(item, key, wanted).is_some());
    named.sort_by_key(|item| rank_of(item, key, wanted).copied());
    others.sort_by_key(|item| rank_of(item, key, before).copied().unwrap_or(usize::MAX));
    let mut ordered = Vec::with_capacity(size);
    let mut others = others.into_iter().peekable();
    for item in named {
        let rank = rank_of(&item, key, before);
        let stood_before = |other: &Node| match (rank_of(other, key, before), rank) {
            (Some(other), Some(rank)) => other < rank,
            _ => false,
        };
        while let Some(other) = others.next_if(stood_before) {
            ordered.push(other);
        }
        ordered.push(item);
    }
    ordered.extend(others);
    ordered
}
