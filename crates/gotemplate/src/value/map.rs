//! Go's map with string keys, in the order in which templates walk it.

use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::release::release;
use super::{Str, Type, Value};

/// The entries of a map, ordered by the bytes of their keys.
pub type Entries = BTreeMap<Str, Value>;

/// A map. Clones are the same map.
#[derive(Clone)]
pub struct Map(Rc<Cell>);

struct Cell {
    ty: Type,
    is_nil: bool,
    entries: RefCell<Entries>,
}

impl Map {
    /// A `map[string]interface {}`. Of two entries with one key the later counts.
    pub fn new<K: Into<Str>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::typed(Type::MAP, entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A map of type `ty`, whose values the caller keeps to the element type.
    #[must_use]
    pub fn typed(ty: Type, entries: Entries) -> Self {
        Self(Rc::new(Cell { ty, is_nil: false, entries: RefCell::new(entries) }))
    }

    /// The nil map of type `ty`: empty, and an error to write to.
    #[must_use]
    pub fn nil(ty: Type) -> Self {
        Self(Rc::new(Cell { ty, is_nil: true, entries: RefCell::default() }))
    }

    /// The type, `map[string]interface {}` for most.
    #[must_use]
    pub fn go_type(&self) -> &Type {
        &self.0.ty
    }

    /// Returns true if this is a nil map. The caller of [`insert`](Self::insert) refuses it as Go does.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    /// Returns how many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.entries.borrow().len()
    }

    /// Returns true if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        self.0.entries.borrow().get(key.as_ref()).cloned()
    }

    /// Returns true if there is an entry for `key`.
    #[must_use]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.0.entries.borrow().contains_key(key.as_ref())
    }

    /// Writes an entry, for every holder of this map.
    pub fn insert(&self, key: impl Into<Str>, value: Value) {
        let old = self.0.entries.borrow_mut().insert(key.into(), value);
        drop(old);
    }

    /// Takes an entry out, for every holder of this map.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Option<Value> {
        self.0.entries.borrow_mut().remove(key.as_ref())
    }

    /// The entries, to read: let go of them before anything else can write to this map.
    #[must_use]
    pub fn entries(&self) -> Ref<'_, Entries> {
        self.0.entries.borrow()
    }

    /// Copies the entries: what is written to the map later does not show.
    #[must_use]
    pub fn to_vec(&self) -> Vec<(Str, Value)> {
        self.0.entries.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Returns true if both are one and the same map.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A number that only this map has while it lives.
    pub(crate) fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Moves the values to `pending` if nobody else holds this map.
    pub(super) fn give_up(&mut self, pending: &mut Vec<Value>) {
        if let Some(cell) = Rc::get_mut(&mut self.0) {
            pending.extend(std::mem::take(cell.entries.get_mut()).into_values());
        }
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.0.ty, self.len())
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        if entries.values().any(|value| matches!(value, Value::List(_) | Value::Map(_))) {
            release(entries.into_values().collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_map_is_dropped_without_recursion() {
        let mut map = Map::new([("a", Value::Nil)]);
        for _ in 0..200_000 {
            map = Map::new([("a", Value::Map(map))]);
        }
        drop(map);
    }

    #[test]
    fn keys_are_in_the_order_of_their_bytes() {
        let map = Map::new([("a10", Value::Nil), ("a9", Value::Nil), ("B", Value::Nil), ("_", Value::Nil)]);
        let keys: Vec<String> = map.entries().keys().map(Str::to_string).collect();
        assert_eq!(keys, ["B", "_", "a10", "a9"]);
    }
}
