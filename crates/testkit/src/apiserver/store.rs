//! The storage, like etcd: objects with one revision counter, and the changes since the last compaction, so that
//! lists can be continued and watches can begin there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::metadata;

/// The first revision: a new cluster has none that is 0, which means something else in requests.
const FIRST: u64 = 100;

/// The objects of all resources.
#[derive(Debug)]
pub(super) struct Store {
    revision: u64,
    /// Changes up to this one are forgotten.
    compacted: u64,
    tables: BTreeMap<String, Table>,
    history: VecDeque<Change>,
}

/// Objects by `NAMESPACE/NAME`, or `NAME`.
pub(super) type Table = BTreeMap<String, Arc<Value>>;

/// One change of one object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) table: String,
    pub(super) key: String,
    /// None where it was made.
    pub(super) before: Option<Arc<Value>>,
    /// None where it was deleted.
    pub(super) after: Option<Arc<Value>>,
}

impl Store {
    pub(super) fn new() -> Self {
        Self { revision: FIRST, compacted: FIRST, tables: BTreeMap::new(), history: VecDeque::new() }
    }

    /// That of the newest change.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest revision that can still be gone back to.
    pub(super) fn oldest(&self) -> u64 {
        self.compacted
    }

    pub(super) fn get(&self, table: &str, key: &str) -> Option<&Arc<Value>> {
        self.tables.get(table)?.get(key)
    }

    /// All objects of a table.
    pub(super) fn table(&self, table: &str) -> Table {
        self.tables.get(table).cloned().unwrap_or_default()
    }

    /// All objects of a table as they were at a revision that is not forgotten.
    pub(super) fn table_at(&self, table: &str, revision: u64) -> Table {
        let mut objects = self.table(table);
        for change in self.history.iter().rev().take_while(|change| change.revision > revision) {
            if change.table == table {
                match &change.before {
                    Some(before) => objects.insert(change.key.clone(), Arc::clone(before)),
                    None => objects.remove(&change.key),
                };
            }
        }
        objects
    }

    /// Writes an object, and gives it as it is kept, with its `resourceVersion`.
    pub(super) fn put(&mut self, table: &str, key: &str, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        metadata::of(&mut object).insert("resourceVersion".to_owned(), self.revision.to_string().into());
        let object = Arc::new(object);
        let objects = self.tables.entry(table.to_owned()).or_default();
        let before = objects.insert(key.to_owned(), Arc::clone(&object));
        self.note(table, key, before, Some(Arc::clone(&object)));
        object
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, table: &str, key: &str) {
        if let Some(before) = self.tables.get_mut(table).and_then(|objects| objects.remove(key)) {
            self.revision += 1;
            self.note(table, key, Some(before), None);
        }
    }

    fn note(&mut self, table: &str, key: &str, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        let (table, key) = (table.to_owned(), key.to_owned());
        self.history.push_back(Change { revision: self.revision, table, key, before, after });
    }

    /// Forgets what was.
    pub(super) fn compact(&mut self) {
        self.compacted = self.revision;
        self.history.clear();
    }

    /// Returns what has changed in a table since a revision; nothing where that is forgotten.
    pub(super) fn changes_since(&self, revision: u64, table: &str) -> Option<Vec<Change>> {
        if revision < self.compacted {
            return None;
        }
        let start = self.history.partition_point(|change| change.revision <= revision);
        Some(self.history.range(start..).filter(|change| change.table == table).cloned().collect())
    }
}

impl Change {
    /// The object as it was last, at the revision of its deletion.
    pub(super) fn last_state(&self, before: &Value) -> Value {
        let mut object = before.clone();
        metadata::of(&mut object).insert("resourceVersion".to_owned(), self.revision.to_string().into());
        object
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_can_be_gone_back_to_until_it_is_compacted() {
        let mut store = Store::new();
        store.put("t", "a", json!({"n": 1}));
        let then = store.revision();
        store.put("t", "a", json!({"n": 2}));
        store.put("t", "b", json!({"n": 3}));
        store.remove("t", "a");
        store.put("other", "a", json!({}));
        let old = store.table_at("t", then);
        assert_eq!(old.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(old["a"]["n"], 1);
        let changes = store.changes_since(then, "t").expect("it is known");
        assert_eq!(changes.len(), 3);
        assert_eq!(
            changes[2].last_state(changes[2].before.as_ref().unwrap())["metadata"]["resourceVersion"],
            "104"
        );
        store.compact();
        assert!(store.changes_since(then, "t").is_none());
        assert_eq!(store.changes_since(store.revision(), "t").map(|changes| changes.len()), Some(0));
    }
}
