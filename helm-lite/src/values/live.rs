//! Tables while they are coalesced, with Go's aliasing: where Helm has one map in two places, this has too.
//!
//! It shows: a default that a sub-chart adds deep in its globals appears in those of its parent and siblings, and so
//! does what a template sets there. What is not changed stays the shared [`Table`] that it was.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use compact_str::CompactString;
use gotemplate::{Map, Value};
use yamltree::Span;

use super::table::{Data, Item, Table};

/// A table that is changed. Clones are the same table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live(Rc<RefCell<BTreeMap<CompactString, Slot>>>);

/// A value in such a table.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// A value as it was read, which nothing else holds as far as Go can tell.
    Item(Item),
    /// A table that is changed, and where the first of its kind is written.
    Live(Live, Span),
}

impl Live {
    /// A table to change that begins as a copy of another.
    pub(crate) fn new(table: &Table) -> Self {
        let slots = table.entries().iter().map(|(key, item)| (key.clone(), Slot::Item(item.clone())));
        Self(Rc::new(RefCell::new(slots.collect())))
    }

    pub(crate) fn get(&self, key: &str) -> Option<Slot> {
        self.0.borrow().get(key).cloned()
    }

    pub(crate) fn insert(&self, key: CompactString, slot: Slot) {
        self.0.borrow_mut().insert(key, slot);
    }

    pub(crate) fn remove(&self, key: &str) {
        self.0.borrow_mut().remove(key);
    }

    /// The table under a key, to change it in its place; none where there is something else.
    pub(crate) fn table(&self, key: &str) -> Option<Self> {
        self.0.borrow_mut().get_mut(key)?.thaw()
    }

    /// The value at a path of keys.
    pub(crate) fn lookup(&self, path: &[&str]) -> Option<Slot> {
        let (last, tables) = path.split_last()?;
        tables.iter().try_fold(self.clone(), |table, key| table.table(key))?.get(last)
    }

    /// The entries as they are now. Tables among them are the same ones.
    pub(crate) fn entries(&self) -> Vec<(CompactString, Slot)> {
        self.thaw_tables();
        self.0.borrow().iter().map(|(key, slot)| (key.clone(), slot.clone())).collect()
    }

    /// Another table with the same values: tables in it are the same ones.
    pub(crate) fn shallow_copy(&self) -> Self {
        self.thaw_tables();
        Self(Rc::new(RefCell::new(self.0.borrow().clone())))
    }

    fn thaw_tables(&self) {
        self.0.borrow_mut().values_mut().for_each(|slot| {
            slot.thaw();
        });
    }

    /// The table as it is now.
    pub(crate) fn freeze(&self) -> Table {
        self.freeze_known(&mut HashMap::new())
    }

    fn freeze_known(&self, known: &mut HashMap<usize, Table>) -> Table {
        if let Some(table) = known.get(&self.address()) {
            return table.clone();
        }
        let slots = self.0.borrow();
        let frozen = slots.iter().map(|(key, slot)| {
            let item = match slot {
                Slot::Item(item) => item.clone(),
                Slot::Live(live, span) => Item { data: Data::Table(live.freeze_known(known)), span: *span },
            };
            (key.clone(), item)
        });
        let table = Table::from_sorted(frozen.collect());
        known.insert(self.address(), table.clone());
        table
    }

    /// The map for templates: what is one table here is one map there.
    pub(crate) fn to_map(&self) -> Map {
        self.to_known_map(&mut HashMap::new())
    }

    fn to_known_map(&self, known: &mut HashMap<usize, Map>) -> Map {
        if let Some(map) = known.get(&self.address()) {
            return map.clone();
        }
        let slots = self.0.borrow();
        let map = Map::new(slots.iter().map(|(key, slot)| {
            let value = match slot {
                Slot::Item(item) => item.data.to_value(),
                Slot::Live(live, _) => Value::Map(live.to_known_map(known)),
            };
            (key.as_str(), value)
        }));
        known.insert(self.address(), map.clone());
        map
    }

    fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }
}

impl Slot {
    /// The slot of a new table.
    pub(crate) fn empty(span: Span) -> Self {
        Self::Live(Live::default(), span)
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Item(item) if item.data.is_null())
    }

    pub(crate) fn is_table(&self) -> bool {
        match self {
            Self::Item(item) => item.data.as_table().is_some(),
            Self::Live(..) => true,
        }
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Item(item) => item.span,
            Self::Live(_, span) => *span,
        }
    }

    /// The entries of a table.
    pub(crate) fn entries(&self) -> Option<Vec<(CompactString, Self)>> {
        match self {
            Self::Item(item) => Some(entries(item.data.as_table()?)),
            Self::Live(live, _) => Some(live.entries()),
        }
    }

    /// Makes a table one that can be changed.
    fn thaw(&mut self) -> Option<Live> {
        if let Self::Item(Item { data: Data::Table(table), span }) = self {
            *self = Self::Live(Live::new(table), *span);
        }
        match self {
            Self::Live(live, _) => Some(live.clone()),
            Self::Item(_) => None,
        }
    }
}

/// The entries of a table that does not change.
pub(crate) fn entries(table: &Table) -> Vec<(CompactString, Slot)> {
    table.entries().iter().map(|(key, item)| (key.clone(), Slot::Item(item.clone()))).collect()
}
