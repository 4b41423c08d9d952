//! Go's slice, without the capacity that two slices may share.

use std::cell::{Ref, RefCell};
use std::fmt;
use std::rc::Rc;

use super::release::release;
use super::{Str, Type, Value};

/// A slice. Clones are the same slice.
#[derive(Clone)]
pub struct List(Rc<Cell>);

struct Cell {
    ty: Type,
    is_nil: bool,
    items: RefCell<Vec<Value>>,
}

impl List {
    /// A `[]interface {}`.
    #[must_use]
    pub fn new(items: Vec<Value>) -> Self {
        Self::typed(Type::LIST, items)
    }

    /// A `[]string`.
    pub fn strings<S: Into<Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::typed(Type::STRINGS, items.into_iter().map(|item| Value::Str(item.into())).collect())
    }

    /// A slice of type `ty`, whose items the caller keeps to the element type.
    #[must_use]
    pub fn typed(ty: Type, items: Vec<Value>) -> Self {
        Self(Rc::new(Cell { ty, is_nil: false, items: RefCell::new(items) }))
    }

    /// The nil slice of type `ty`: empty, but written `null` in JSON.
    #[must_use]
    pub fn nil(ty: Type) -> Self {
        Self(Rc::new(Cell { ty, is_nil: true, items: RefCell::default() }))
    }

    /// The type, `[]interface {}` for most.
    #[must_use]
    pub fn go_type(&self) -> &Type {
        &self.0.ty
    }

    /// Returns true if this is a nil slice.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.0.is_nil
    }

    /// Returns how many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.items.borrow().len()
    }

    /// Returns true if there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Value> {
        self.0.items.borrow().get(index).cloned()
    }

    /// The items, to read: let go of them before anything else can write to this list.
    #[must_use]
    pub fn items(&self) -> Ref<'_, Vec<Value>> {
        self.0.items.borrow()
    }

    /// Copies the items: what is written to the list later does not show.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Value> {
        self.0.items.borrow().clone()
    }

    /// Puts `items` in place of all items, for every holder of this list.
    pub fn replace(&self, items: Vec<Value>) {
        let old = self.0.items.replace(items);
        drop(old);
    }

    /// Returns true if both are one and the same list.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A number that only this list has while it lives.
    pub(crate) fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Moves the items to `pending` if nobody else holds this list.
    pub(super) fn give_up(&mut self, pending: &mut Vec<Value>) {
        if let Some(cell) = Rc::get_mut(&mut self.0) {
            pending.append(cell.items.get_mut());
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.0.ty, self.len())
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        release(std::mem::take(self.items.get_mut()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_list_is_dropped_without_recursion() {
        let mut list = List::new(vec![]);
        for _ in 0..200_000 {
            list = List::new(vec![Value::List(list)]);
        }
        drop(list);
    }

    #[test]
    fn what_others_hold_survives() {
        let inner = List::new(vec![Value::int(1)]);
        let outer = List::new(vec![Value::List(inner.clone())]);
        drop(outer);
        assert_eq!(inner.len(), 1);
    }
}
